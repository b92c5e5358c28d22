#include "engine/look/join.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/signature/signature_math.h"

namespace vmafx::look {
namespace {

/* Measured numbers of parts of one stream differ by less than this, relatively; counts and degrees differ by more. */
constexpr double kSameEvidence = 0.02;

/* Pairs from the end of one part's finding to the beginning of the next one's: frames with detail lie so far apart. */
constexpr int64_t kMostBetween = kDetailPeriod;

bool is_same(double a, double b) {
  return std::abs(a - b) <= kSameEvidence * std::max({std::abs(a), std::abs(b), 1.0});
}

/* The numbers by which findings of a kind differ; others say how well they fit. */
std::vector<std::string_view> defining(Kind kind) {
  switch (kind) {
    case Kind::kOffset:
    case Kind::kDropped:
    case Kind::kDoubled: return {"frames"};
    case Kind::kCadence: return {"repeated", "dropped", "of"};
    case Kind::kRotated: return {"degrees"};
    case Kind::kCropped:
    case Kind::kPadded:
    case Kind::kBars: return {"left", "top", "right", "bottom"};
    case Kind::kScaled:
    case Kind::kShifted: return {"x", "y"};
    case Kind::kRange: return {"gain"};
    case Kind::kMatrix:
    case Kind::kPrimaries:
    case Kind::kTransfer: return {"from", "to"};
    case Kind::kBrightness: return {"gain", "offset"};
    case Kind::kGray: return {"plane"};
    default: return {};
  }
}

/* 0: the finding has no evidence of this name. */
double value(const Finding& finding, std::string_view name) {
  for (const auto& [evidence, number] : finding.evidence)
    if (evidence == name) return number;
  return 0;
}

bool has_same_evidence(const Finding& a, const Finding& b) {
  return std::ranges::all_of(defining(a.kind),
                             [&](std::string_view name) { return is_same(value(a, name), value(b, name)); });
}

/* Whether a kind is of one place in the stream, where something happened: two such places stay two. */
bool is_event(Kind kind) { return kind == Kind::kDropped || kind == Kind::kDoubled || kind == Kind::kSwapped; }

bool adjoin(const Finding& before, const Finding& after) {
  return before.kind == after.kind && !is_event(after.kind) && after.from - before.end <= kMostBetween &&
         has_same_evidence(before, after);
}

}  // namespace

std::vector<Finding> join(std::vector<Finding> findings) {
  std::ranges::stable_sort(findings, {}, [](const Finding& finding) { return std::tuple(finding.kind, finding.from); });
  std::vector<Finding> joined;
  for (Finding& finding : findings) {
    if (joined.empty() || !adjoin(joined.back(), finding)) {
      joined.push_back(std::move(finding));
      continue;
    }
    Finding& whole = joined.back();
    if (finding.end - finding.from > whole.end - whole.from) whole.evidence = std::move(finding.evidence);
    whole.end = std::max(whole.end, finding.end);
    whole.certainty = std::max(whole.certainty, finding.certainty);
  }
  return joined;
}

}  // namespace vmafx::look
