#include "engine/look/settle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace vmafx::look {

namespace {

/* Places and sizes fit at least so well where they are sure: below, borders of one side were missed or took
 * another size in clips that are short of bits. */
constexpr double kSureFit = 0.985;
/* Crops of so few samples need a better fit: what others are off by is a quarter of them. */
constexpr double kSmallCrop = 6, kSureFitOfSmall = 0.995;

/* A scale nearer to 1, and borders and unsure crops of fewer samples, are within what blur and noise do to a picture
 * that hardly moves and has few edges. */
constexpr double kLeastScale = 0.012, kLeastBorder = 1.5, kLeastCrop = 1.75;

/* Gains so near those of a mistaken range are likely to be it, even where the offset does not fit. */
constexpr double kNearRange = 0.055, kLikelyRange = 0.02;
constexpr double kFullOfLimited = 255. / 219, kLimitedOfFull = 219. / 255;

/* Freezes of fewer frames are likely at most, and nothing where the encode's error there is not so many times its usual
 * one: encoders that are short of bits leave out a frame's changes. */
constexpr double kShortFreeze = 3, kErrorOfFreeze = 6;

/* What is just possible goes where the other shift leaves more than this part of the votes, or where a line fits levels
 * nearly as well as another curve. */
constexpr double kPossibleRatio = 0.6, kLeastMisfit = 5.5;

/* Another place in time that leaves this part of the votes explains a shift of the picture, in all of its pairs: a
 * camera that pans. */
constexpr double kClearOffset = 0.1;

/* So large a part of all pairs shows something else, which has other edges and colors, too; unless these are the same
 * pictures in another place. */
constexpr double kAllOther = 0.9;

/* Pairs by which the ends of other pictures may be told wrong. */
constexpr int64_t kErrorOfOther = 120;

/* Whether all pairs of a finding are sure to show other moments. */
bool is_move(const Finding& finding) { return finding.kind <= Kind::kDoubled && finding.certainty == Certainty::kSure; }

bool is_time(Kind kind) { return kind <= Kind::kSwapped; }

void doubt(Finding* finding, Certainty most) { finding->certainty = std::min(finding->certainty, most); }

double off_range(double gain) { return std::min(std::abs(gain - kFullOfLimited), std::abs(gain - kLimitedOfFull)); }

double widest_side(const Finding& finding) {
  double widest = 0;
  for (const char* side : {"left", "top", "right", "bottom"}) widest = std::max(widest, finding.value(side, 0));
  return widest;
}

/* A frame or two that repeat the one before. */
bool is_short_freeze(const Finding& finding) {
  return finding.kind == Kind::kFrozen && finding.value("frames", kShortFreeze) < kShortFreeze;
}

/* Numbers as good encodes have them, too. */
bool is_trivial(const Finding& finding) {
  const bool sure = finding.certainty == Certainty::kSure, possible = finding.certainty == Certainty::kPossible;
  if (is_short_freeze(finding)) return finding.value("error", 1e9) < kErrorOfFreeze * finding.value("noise", 0);
  if (is_time(finding.kind)) return possible && finding.value("ratio", 0) > kPossibleRatio;
  switch (finding.kind) {
    case Kind::kScaled:
      return std::max(std::abs(finding.value("x", 1) - 1), std::abs(finding.value("y", 1) - 1)) < kLeastScale;
    case Kind::kPadded: return widest_side(finding) < kLeastBorder;
    case Kind::kCropped: return !sure && widest_side(finding) < kLeastCrop;
    case Kind::kRange: return !sure && off_range(finding.value("gain", kFullOfLimited)) > kLikelyRange;
    case Kind::kTransfer: return possible && finding.value("line_misfit", 1e9) < kLeastMisfit;
    default: return false;
  }
}

void doubt_weak_numbers(Finding* finding) {
  const bool placed = finding->kind >= Kind::kCropped && finding->kind <= Kind::kShifted;
  const bool small = finding->kind == Kind::kCropped && widest_side(*finding) < kSmallCrop;
  if (placed && finding->value("fit", 1) < (small ? kSureFitOfSmall : kSureFit)) doubt(finding, Certainty::kLikely);
  if (is_short_freeze(*finding)) doubt(finding, Certainty::kLikely);
  const bool near_range = off_range(finding->value("gain", 1)) < kNearRange || finding->has("range_error");
  if (finding->kind == Kind::kBrightness && near_range) doubt(finding, Certainty::kLikely);
}

/* Several changes of one kind, of which one is of several frames, may be a rhythm whose steps stand still. */
void doubt_repeated_changes(std::vector<Finding>* findings, Kind kind) {
  int changes = 0;
  bool several = false;
  for (const Finding& finding : *findings) {
    if (finding.kind != kind) continue;
    changes++;
    several = several || finding.value("frames", 1) > 1;
  }
  if (changes < 2 || !several) return;
  for (Finding& finding : *findings)
    if (finding.kind == kind) doubt(&finding, Certainty::kLikely);
}

}  // namespace

void settle(std::vector<Finding>* findings) {
  int64_t from = INT64_MAX, end = INT64_MIN;
  for (const Finding& f : *findings) from = std::min(from, f.from), end = std::max(end, f.end);
  const auto sure = [&](const Finding& f) { return f.certainty == Certainty::kSure && f.from == from && f.end == end; };
  const auto any = [&](auto is) { return std::ranges::any_of(*findings, is); };

  std::erase_if(*findings, is_trivial);
  for (Finding& finding : *findings) doubt_weak_numbers(&finding);
  const auto is_other = [](const Finding& f) {
    return f.kind == Kind::kOtherPictures && f.value("part", 0) > kAllOther;
  };
  /* Pictures that were registered all along are no others. */
  std::vector<Finding> registered, others;
  std::ranges::copy_if(*findings, std::back_inserter(registered),
                       [](const Finding& f) { return is_geometry(f.kind) && f.certainty == Certainty::kSure; });
  std::erase_if(*findings, [&](const Finding& f) {
    const auto covers = [&](const Finding& sure) {
      return sure.from - kErrorOfOther <= f.from && f.end <= sure.end + kErrorOfOther;
    };
    return is_other(f) && std::ranges::any_of(registered, covers);
  });
  std::ranges::copy_if(*findings, std::back_inserter(others), is_other);
  const auto is_clear = [](const Finding& f) { return is_move(f) && f.value("ratio", 1) < kClearOffset; };
  const bool late = any([&](const Finding& f) { return f.kind == Kind::kOffset && is_clear(f) && sure(f); });

  const auto is_placed = [](const Finding& f) { return is_geometry(f.kind) && f.certainty != Certainty::kPossible; };
  const auto hides_chroma = [&](const Finding& f) {
    return is_placed(f) || f.kind == Kind::kChromaSwapped || f.kind >= Kind::kCombed;
  };
  if (any(hides_chroma)) std::erase_if(*findings, [](const Finding& f) { return f.kind == Kind::kChromaShifted; });
  std::vector<Finding> moves;
  std::ranges::copy_if(*findings, std::back_inserter(moves), is_clear);
  /* The field of another moment lies elsewhere, so that the whole picture seems to. */
  std::ranges::copy_if(*findings, std::back_inserter(moves), [](const Finding& f) {
    return f.kind >= Kind::kCombed && f.kind <= Kind::kFieldOrder && f.certainty != Certainty::kPossible;
  });
  std::erase_if(*findings, [&](const Finding& f) {
    const auto covers = [&](const Finding& move) { return move.from <= f.from && f.end <= move.end; };
    return f.kind == Kind::kShifted && std::ranges::any_of(moves, covers);
  });
  const bool placed = any(is_placed);
  for (Finding& finding : *findings) {
    const auto overlaps = [&](const Finding& other) { return other.from < finding.end && finding.from < other.end; };
    const bool of_pictures = is_geometry(finding.kind) || is_level(finding.kind);
    if (of_pictures && std::ranges::any_of(others, overlaps)) doubt(&finding, Certainty::kPossible);
    if (!of_pictures && !others.empty()) doubt(&finding, Certainty::kLikely);
    if (placed && !late && is_time(finding.kind)) doubt(&finding, Certainty::kLikely);
  }
  for (const Kind kind : {Kind::kDropped, Kind::kDoubled}) doubt_repeated_changes(findings, kind);
}

}  // namespace vmafx::look
