#include "engine/look/join.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/look/local.h"
#include "engine/look/neighbors.h"
#include "kernels/signature/signature_math.h"

namespace vmafx::look {
namespace {

/* Measured numbers of parts of one stream differ by less than this, relatively; counts and degrees differ by more. */
constexpr double kSameEvidence = 0.02;

/* Samples and levels that differ by less are the same place and the same brightness: short parts measure less well. */
constexpr double kSameSamples = 0.5, kSameLevels = 2;

/* Pairs from the end of one part's finding to the beginning of the next one's: frames with detail lie so far apart. */
constexpr int64_t kMostBetween = kDetailPeriod;

double room_of(Kind kind, std::string_view name, double largest) {
  const bool is_place =
      kind == Kind::kCropped || kind == Kind::kPadded || kind == Kind::kBars || kind == Kind::kShifted;
  if (is_place) return kSameSamples;
  if (kind == Kind::kBrightness && name == "offset") return kSameLevels;
  return kSameEvidence * std::max(largest, 1.0);
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

bool has_same_evidence(const Finding& a, const Finding& b) {
  return std::ranges::all_of(defining(a.kind), [&](std::string_view name) {
    const double of_a = a.value(name), of_b = b.value(name);
    return std::abs(of_a - of_b) <= room_of(a.kind, name, std::max(std::abs(of_a), std::abs(of_b)));
  });
}

/* Whether a kind is of one place in the stream, where something happened: two such places stay two. */
bool is_event(Kind kind) { return kind == Kind::kDropped || kind == Kind::kDoubled || kind == Kind::kSwapped; }

bool adjoin(const Finding& before, const Finding& after) {
  return before.kind == after.kind && !is_event(after.kind) && after.from - before.end <= kMostBetween &&
         has_same_evidence(before, after);
}

/* Follows the offset of an encode from part to part, by the findings that change it, in the order of pairs. */
class OffsetOfParts {
 public:
  explicit OffsetOfParts(std::span<const int64_t> borders) : borders_(borders) {}

  /* True: the finding says no more than an earlier one, which now lasts as long. */
  bool explains(Finding& finding) {
    const auto frames = static_cast<int64_t>(finding.value("frames"));
    if (finding.kind != Kind::kOffset) {
      go_on_at(offset_ + (finding.kind == Kind::kDropped ? frames : -frames), finding);
      return false;
    }
    if (lasting_ && frames == offset_) {
      lasting_->end = std::max(lasting_->end, finding.end);
      if (lasting_->kind == Kind::kOffset) lasting_->certainty = std::max(lasting_->certainty, finding.certainty);
      return true;
    }
    if (begins_a_part(finding.from)) become_change(frames - offset_, finding);
    go_on_at(frames, finding);
    return false;
  }

 private:
  /* The first frames of a part have few neighbors, and may not tell their offset. */
  bool begins_a_part(int64_t from) const {
    return std::ranges::any_of(borders_, [&](int64_t border) { return from >= border && from - border <= kMostShift; });
  }

  void go_on_at(int64_t offset, Finding& finding) {
    offset_ = offset;
    lasting_ = offset ? &finding : nullptr;
  }

  /* An offset that does not hold for the parts before begins with a change. No part has seen that, so it is not
   * sure. */
  static void become_change(int64_t frames, Finding& finding) {
    finding.kind = frames > 0 ? Kind::kDropped : Kind::kDoubled;
    finding.certainty = std::min(finding.certainty, Certainty::kLikely);
    for (auto& [name, number] : finding.evidence)
      if (name == "frames") number = static_cast<double>(std::abs(frames));
  }

  const std::span<const int64_t> borders_;
  int64_t offset_ = 0;
  Finding* lasting_ = nullptr;  // since when the offset is another than 0
};

/* Leaves out offsets that changes in earlier parts explain. */
std::vector<Finding> without_repeated_offsets(std::vector<Finding> findings, std::span<const int64_t> borders) {
  std::vector<Finding*> changes;
  for (Finding& finding : findings)
    if (finding.kind <= Kind::kDoubled) changes.push_back(&finding);
  std::ranges::stable_sort(changes, {}, &Finding::from);
  OffsetOfParts offset(borders);
  std::set<const Finding*> explained;
  for (Finding* finding : changes)
    if (offset.explains(*finding)) explained.insert(finding);
  std::vector<Finding> kept;
  for (Finding& finding : findings)
    if (!explained.contains(&finding)) kept.push_back(std::move(finding));
  return kept;
}

/* Findings that begin or end at a border, because the part beyond it has too few of their pairs, go on to a break. */
class Beyond {
 public:
  explicit Beyond(const Parts& parts) : parts_(parts) {}

  void reach(Finding& finding) const {
    const size_t first = part_at(finding.from), next = part_at(finding.end);
    if (first > 0 && parts_.begins[first] == finding.from)
      finding.from = largest(finding.from - most(first - 1), finding.from, finding.from);
    if (next > 0 && parts_.begins[next] == finding.end)
      finding.end = largest(finding.end, finding.end + most(next), finding.end);
  }

 private:
  size_t part_at(int64_t pair) const {
    const auto later = std::ranges::upper_bound(parts_.begins, pair);
    return later == parts_.begins.begin() ? 0 : static_cast<size_t>(later - parts_.begins.begin()) - 1;
  }

  /* How many pairs a part may have of something that it does not find. */
  int64_t most(size_t part) const {
    const bool is_last = part + 1 == parts_.begins.size();
    const int64_t pairs = std::max<int64_t>((is_last ? parts_.end : parts_.begins[part + 1]) - parts_.begins[part], 0);
    return std::min(least_run(pairs), pairs);
  }

  int64_t largest(int64_t from, int64_t to, int64_t otherwise) const {
    return parts_.breaks.largest(from, to).value_or(otherwise);
  }

  const Parts& parts_;
};

}  // namespace

std::vector<Finding> join(std::vector<Finding> findings, const Parts& parts) {
  const std::span<const int64_t> begins(parts.begins);
  findings = without_repeated_offsets(std::move(findings), begins.subspan(std::min<size_t>(begins.size(), 1)));
  findings.insert(findings.end(), parts.brief.begin(), parts.brief.end());
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
    whole.brief = whole.brief && finding.brief;
  }
  const int64_t least = least_run(begins.empty() ? 0 : parts.end - begins[0]);
  std::erase_if(joined, [&](const Finding& finding) { return finding.brief && finding.end - finding.from < least; });
  for (Finding& finding : joined)
    if (finding.brief) finding.certainty = std::min(finding.certainty, most_certain(finding.end - finding.from));
  const Beyond beyond(parts);
  for (Finding& finding : joined)
    if (breaks_show(finding.kind)) beyond.reach(finding);
  return joined;
}

}  // namespace vmafx::look
