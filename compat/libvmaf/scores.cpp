#include "compat/libvmaf/scores.h"

#include <cerrno>

#include "compat/libvmaf/log.h"
#include "vmafx/vmafx.h"

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

int pool(const std::string& key, VmafPoolingMethod method, const std::vector<double>& scores, double* pooled) {
  const auto pool_by = [&](const char* name) {
    return scores.empty() ? -EINVAL : vmafx_pool_key(key.c_str(), name, scores.data(), scores.size(), pooled);
  };
  switch (method) {
    case VMAF_POOL_METHOD_MIN: return pool_by("min");
    case VMAF_POOL_METHOD_MAX: return pool_by("max");
    case VMAF_POOL_METHOD_MEAN: return pool_by("mean");
    case VMAF_POOL_METHOD_HARMONIC_MEAN: return pool_by("harmonic_mean");
    default: return COMPAT_INVALID("there is no pooling method %u in libvmaf 3.2.1: use 1 to 4", unsigned{method});
  }
}

}  // namespace compat
