#include "compat/libvmaf/scores.h"

#include <algorithm>
#include <cerrno>

#include "compat/libvmaf/log.h"

namespace compat {

int Scores::put(const std::string& name, unsigned index, double score) {
  auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    all_.push_back({name, {}});
    found = by_name_.emplace(name, &all_.back().column).first;
  }
  if (found->second->emplace(index, score).second) return 0;
  log(VMAF_LOG_LEVEL_WARNING, "%s has a score at index %u already, which stays", name.c_str(), index);
  return -EINVAL;
}

std::optional<double> Scores::get(const std::string& name, unsigned index) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  const auto score = found->second->find(index);
  return score == found->second->end() ? std::nullopt : std::optional(score->second);
}

/* Sums in libvmaf's order, so that the last bit is libvmaf's, too. */
int pool(VmafPoolingMethod method, const std::vector<double>& scores, double* pooled) {
  if (scores.empty()) return -EINVAL;
  const auto count = static_cast<double>(scores.size());
  double sum = 0;
  switch (method) {
    case VMAF_POOL_METHOD_MIN: *pooled = *std::ranges::min_element(scores); return 0;
    case VMAF_POOL_METHOD_MAX: *pooled = *std::ranges::max_element(scores); return 0;
    case VMAF_POOL_METHOD_MEAN:
      for (const double score : scores) sum += score;
      *pooled = sum / count;
      return 0;
    case VMAF_POOL_METHOD_HARMONIC_MEAN:
      for (const double score : scores) sum += 1. / (score + 1.);
      *pooled = count / sum - 1.0;
      return 0;
    default: return -EINVAL;
  }
}

}  // namespace compat
