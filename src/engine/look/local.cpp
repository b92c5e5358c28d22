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
    const Certainty least_certain = whole_has_it ? Certainty::kLikely : Certainty::kSure;
    const size_t n = divided_.chapters.size();
    std::vector<bool> denied(n);
    for (size_t i = 0; i < n; i++) denied[i] = divided_.denies(i, kind);
    std::vector<Finding> found;
    for (size_t first = 0, end = 0; first < n; first = end + 1) {
      for (end = first; end < n && !denied[end];) end++;
      if (end - first == n) return {};  // nothing divides the stream
      if (end == first) continue;
      const bool is_short = pairs(first, end) < least_, is_at_end = first == 0 || end == n;
      if (is_short && !is_at_end) continue;
      if (const auto finding = best_of(kind, first, end, is_short ? Certainty::kSure : least_certain))
        found.push_back(*finding);
    }
    return found;
  }

 private:
  int64_t pairs(size_t first, size_t end) const {
    return divided_.chapters[end - 1].end - divided_.chapters[first].from;
  }

  /* A chapter at an end of a run may have begun before it. */
  std::optional<Finding> best_of(Kind kind, size_t first, size_t end, Certainty least_certain) {
    const bool is_short = pairs(first, end) < least_;
    std::optional<Finding> best;
    for (const auto& [before, after] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
      if ((before && first == 0) || (after && end == divided_.chapters.size())) continue;
      const size_t from = first + before, to = end - after;
      if (from >= to || (!is_short && 2 * pairs(from, to) < least_)) continue;
      for (const Finding& finding : judged(from, to)) {
        if (finding.kind != kind || (best && best->certainty >= finding.certainty)) continue;
        best = finding;
        best->from = divided_.chapters[from].from;
        best->end = divided_.chapters[to - 1].end;
      }
    }
    if (!best || best->certainty < least_certain) return std::nullopt;
    best->brief = is_short;
    if (!is_short) best->certainty = std::min(best->certainty, most_certain(best->end - best->from));
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

Certainty most_certain(int64_t pairs) { return pairs < kSurePairs ? Certainty::kLikely : Certainty::kSure; }

int64_t least_run(int64_t pairs) { return std::max(kLeastPairs, pairs / kLeastPart); }

void find_locally(const Divided& divided, std::span<const Kind> kinds, std::vector<Finding>* findings) {
  if (divided.chapters.size() < 3) return;
  Runs runs(divided);
  std::vector<Finding> local, brief;
  for (const Kind kind : kinds) {
    const bool whole = std::ranges::any_of(
        *findings, [&](const Finding& f) { return f.kind == kind && f.certainty != Certainty::kPossible; });
    std::vector<Finding> found = runs.of(kind, whole);
    const auto others = std::ranges::stable_partition(found, [](const Finding& f) { return !f.brief; });
    brief.insert(brief.end(), others.begin(), others.end());
    found.erase(others.begin(), others.end());
    if (found.empty()) continue;
    std::erase_if(*findings, [&](const Finding& f) { return f.kind == kind; });
    local.insert(local.end(), found.begin(), found.end());
  }
  if (!local.empty()) {
    std::erase_if(*findings, [&](const Finding& f) {
      return f.certainty != Certainty::kSure && std::ranges::find(kinds, f.kind) != kinds.end();
    });
  }
  findings->insert(findings->end(), local.begin(), local.end());
  findings->insert(findings->end(), brief.begin(), brief.end());
}

}  // namespace vmafx::look
