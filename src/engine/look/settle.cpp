#include "engine/look/settle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace vmafx::look {

namespace {

/* Findings of geometry fit at least so well where they are sure: below, borders of one side were missed or took
 * another size in clips that are short of bits. */
constexpr double kSureFit = 0.985;

/* A scale nearer to 1, and borders of fewer samples, are within what blur and noise do to a picture that hardly moves
 * and has few edges. */
constexpr double kLeastScale = 0.012, kLeastBorder = 1.5;

/* Gains so near those of a mistaken range are likely to be it, even where the offset does not fit. */
constexpr double kNearRange = 0.055;
constexpr double kFullOfLimited = 255. / 219, kLimitedOfFull = 219. / 255;

/* One offset of the whole stream that leaves this part of the votes explains a shift of the picture: a camera that
 * pans. */
constexpr double kClearOffset = 0.1;

/* So large a part of all pairs shows something else, which has other edges and colors, too; unless these are the same
 * pictures in another place. */
constexpr double kAllOther = 0.9;

bool is_time(Kind kind) { return kind <= Kind::kSwapped; }
bool is_geometry(Kind kind) { return kind >= Kind::kMirrored && kind <= Kind::kShifted; }
bool is_level(Kind kind) { return kind >= Kind::kRange && kind <= Kind::kGray; }

double number(const Finding& finding, std::string_view name, double otherwise) {
  for (const auto& [known, value] : finding.evidence)
    if (known == name) return value;
  return otherwise;
}

void doubt(Finding* finding, Certainty most) { finding->certainty = std::min(finding->certainty, most); }

bool is_near_range(double gain) {
  return std::abs(gain - kFullOfLimited) < kNearRange || std::abs(gain - kLimitedOfFull) < kNearRange;
}

/* Nothing that anyone could see. */
bool is_trivial(const Finding& finding) {
  if (finding.kind == Kind::kScaled)
    return std::max(std::abs(number(finding, "x", 1) - 1), std::abs(number(finding, "y", 1) - 1)) < kLeastScale;
  if (finding.kind != Kind::kPadded) return false;
  double widest = 0;
  for (const char* side : {"left", "top", "right", "bottom"}) widest = std::max(widest, number(finding, side, 0));
  return widest < kLeastBorder;
}

void doubt_weak_numbers(Finding* finding) {
  const bool borders = finding->kind == Kind::kCropped || finding->kind == Kind::kPadded;
  if (borders && number(*finding, "fit", 1) < kSureFit) doubt(finding, Certainty::kLikely);
  if (finding->kind == Kind::kBrightness && is_near_range(number(*finding, "gain", 1)))
    doubt(finding, Certainty::kLikely);
}

}  // namespace

void settle(std::vector<Finding>* findings) {
  int64_t from = INT64_MAX, end = INT64_MIN;
  for (const Finding& f : *findings) from = std::min(from, f.from), end = std::max(end, f.end);
  const auto sure = [&](const Finding& f) { return f.certainty == Certainty::kSure && f.from == from && f.end == end; };
  const auto any = [&](auto is) { return std::ranges::any_of(*findings, is); };

  std::erase_if(*findings, is_trivial);
  for (Finding& finding : *findings) doubt_weak_numbers(&finding);
  const bool registered = any([&](const Finding& f) { return is_geometry(f.kind) && sure(f); });
  const auto is_other = [](const Finding& f) {
    return f.kind == Kind::kOtherPictures && number(f, "part", 0) > kAllOther;
  };
  const bool other = !registered && any(is_other);
  const bool late =
      any([&](const Finding& f) { return f.kind == Kind::kOffset && sure(f) && number(f, "ratio", 1) < kClearOffset; });
  const bool shifted = !late && any([&](const Finding& f) { return f.kind == Kind::kShifted && sure(f); });

  if (registered) std::erase_if(*findings, is_other);
  if (late) std::erase_if(*findings, [](const Finding& f) { return f.kind == Kind::kShifted; });
  for (Finding& finding : *findings) {
    if (other)
      doubt(&finding, is_geometry(finding.kind) || is_level(finding.kind) ? Certainty::kPossible : Certainty::kLikely);
    if (shifted && is_time(finding.kind)) doubt(&finding, Certainty::kLikely);
  }
}

}  // namespace vmafx::look
