#include "engine/look/local.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "kernels/signature/signature_math.h"

namespace vmafx::look {

namespace {

/* A run has so many pairs at least, and such a part of the stream; to be sure it needs more. */
constexpr int64_t kLeastPairs = 2 * kDetailPeriod, kLeastPart = 16, kSurePairs = 3 * kDetailPeriod;

class Runs {
 public:
  explicit Runs(const Divided& divided) : divided_(divided), least_(least_run(pairs(0, divided.chapters.size()))) {}

  std::vector<Finding> of(Kind kind, bool whole_has_it) {
    const size_t n = divided_.chapters.size();
    std::vector<bool> denied(n);
    for (size_t i = 0; i < n; i++) denied[i] = divided_.denies(i, kind);
    std::vector<Finding> found;
    for (size_t first = 0, end = 0; first < n; first = end + 1) {
      for (end = first; end < n && !denied[end];) end++;
      if (end - first == n) return {};  // nothing divides the stream
      if (end == first) continue;
      if (const auto finding = best_of(kind, first, end, whole_has_it)) found.push_back(*finding);
    }
    return found;
  }

 private:
  int64_t pairs(size_t first, size_t end) const {
    return divided_.chapters[end - 1].end - divided_.chapters[first].from;
  }

  /* A chapter at an end of a run may have begun before it. */
  std::optional<Finding> best_of(Kind kind, size_t first, size_t end, bool whole_has_it) {
    if (pairs(first, end) < least_) return std::nullopt;
    std::optional<Finding> best;
    for (const auto& [before, after] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
      if ((before && first == 0) || (after && end == divided_.chapters.size())) continue;
      const size_t from = first + before, to = end - after;
      if (from >= to || 2 * pairs(from, to) < least_) continue;
      for (const Finding& finding : judged(from, to)) {
        if (finding.kind != kind || (best && best->certainty >= finding.certainty)) continue;
        best = finding;
        best->from = divided_.chapters[from].from;
        best->end = divided_.chapters[to - 1].end;
      }
    }
    if (!best || best->certainty < (whole_has_it ? Certainty::kLikely : Certainty::kSure)) return std::nullopt;
    if (best->end - best->from < kSurePairs) best->certainty = Certainty::kLikely;
    return best;
  }

  const std::vector<Finding>& judged(size_t first, size_t end) {
    const auto [at, is_new] = judged_.try_emplace({first, end});
    if (is_new) at->second = divided_.judge(first, end);
    return at->second;
  }

  const Divided& divided_;
  const int64_t least_;
  std::map<std::pair<size_t, size_t>, std::vector<Finding>> judged_;
};

}  // namespace

int64_t least_run(int64_t pairs) { return std::max(kLeastPairs, pairs / kLeastPart); }

void find_locally(const Divided& divided, std::span<const Kind> kinds, std::vector<Finding>* findings) {
  if (divided.chapters.size() < 3) return;
  Runs runs(divided);
  std::vector<Finding> local;
  for (const Kind kind : kinds) {
    const bool whole = std::ranges::any_of(
        *findings, [&](const Finding& f) { return f.kind == kind && f.certainty != Certainty::kPossible; });
    const std::vector<Finding> found = runs.of(kind, whole);
    if (found.empty()) continue;
    std::erase_if(*findings, [&](const Finding& f) { return f.kind == kind; });
    local.insert(local.end(), found.begin(), found.end());
  }
  if (local.empty()) return;
  std::erase_if(*findings, [&](const Finding& f) {
    return f.certainty != Certainty::kSure && std::ranges::find(kinds, f.kind) != kinds.end();
  });
  findings->insert(findings->end(), local.begin(), local.end());
}

}  // namespace vmafx::look
