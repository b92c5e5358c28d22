#include "engine/look/chroma_place.h"

#include <algorithm>
#include <cmath>

#include "engine/look/numbers.h"

namespace vmafx::look {

namespace {

/* A shift counts that is so large, in samples of chroma, so many times its error, and explains so much of what the
 * profiles differ by, a large one more; each of Cb and Cr must have this part of it, if it has edges at all. Places of
 * chroma samples that are mistaken lie a quarter of a sample apart at least, and measure as 0.23 and more. */
constexpr double kLeast = 0.22, kLeastErrors = 5, kLeastExplained = 0.16, kLeastOfPlane = 0.4;
constexpr double kLarge = 0.5, kLargeExplained = 0.4;
/* Sure are large ones. */
constexpr double kSureErrors = 10, kSureExplained = 0.5;
/* Times the wide error that all are at least, those with few slopes, and those that the first frame does not have this
 * part of, with such a part as its error: what encoders shift is less in a picture that is predicted from none. */
constexpr double kLeastWide = 3.5, kFewSlopesWide = 8, kUnconfirmedWide = 10, kLeastOfFirst = 0.67, kErrorOfFirst = 0.3;
/* Slopes of the first frame that it needs to tell, as a part of a frame's mean. */
constexpr double kLeastInFirst = 0.25;
/* Squares of slopes that both planes must have over all frames, unless the shift is sure; and one of them to speak: the
 * share of the other's. */
constexpr double kLeastSlopes = 20, kLeastShare = 0.1;
/* The least mean of such squares over frames: profiles of pictures that are nearly gray show what encoders add. */
constexpr double kLeastOfFrame = 0.7;
/* The most that luma may move in a finding that is sure. */
constexpr double kStill = 0.1;

/* The first frame is displaced by less than this part of what all are, so many times its error nearer. */
constexpr double kOfFirst = 0.5, kErrorsOfFirst = 4;

/* All of so many frames with profiles count, then one in so many. */
constexpr int64_t kAllOf = 32, kThen = 4;

int whole_of(int k) { return k * ChromaPlace::kWholeStep - ShiftSums::kMostWhole; }

}  // namespace

ChromaPlace::ChromaPlace(const VideoFormat& format)
    : means_(format), fit_for_(CellMeans::fit_for(format)), has_chroma_(format.planes() > 1 && format.plane_w(1) > 0) {}

Profile ChromaPlace::chroma_profile(const PictureSignature& picture, int axis, int plane) const {
  const VideoFormat& format = means_.format();
  const ChromaProfiles& sums = picture.chroma_profiles[plane];
  const int columns = std::min(format.plane_w(1), kChromaWindow), rows = std::min(format.plane_h(1), kChromaWindow);
  const int n = axis == kX ? columns : rows, across = axis == kX ? rows : columns;
  const float scale = 1.0F / static_cast<float>(across << (format.bpc - 8));
  Profile profile(static_cast<size_t>(n));
  for (int k = 0; k < n; k++) profile[k] = static_cast<float>(axis == kX ? sums.columns[k] : sums.rows[k]) * scale;
  return softened(profile);
}

Profile ChromaPlace::luma_profile(const PictureSignature& picture, int axis, int band) const {
  Profile profile;
  if (axis == kX) means_.columns(picture, band, profile);
  else means_.rows(picture, band, profile);
  return softened(profile);
}

void ChromaPlace::add(int64_t frame, const SignatureSums& sums) {
  if (!fit_for_) return;
  if (first_ < 0) first_ = frame;
  last_ = frame;
  if (!has_detail(frame)) return;
  const int64_t earlier = details_++;
  if (earlier >= kAllOf && details_ % kThen != 0) return;
  added_++;
  for (int axis = 0; axis < kAxes; axis++) {
    for (int band = 0; band < kProfileBands; band++)
      all_.luma[axis][band].add(luma_profile(sums.ref, axis, band), luma_profile(sums.dist, axis, band));
    if (!has_chroma_) continue;
    for (int plane = 0; plane < kChromaPlanes; plane++) {
      const Profile ref = chroma_profile(sums.ref, axis, plane), dist = chroma_profile(sums.dist, axis, plane);
      for (int k = 0; k < kWholes; k++) all_.chroma[axis][k][plane].add(ref, dist, whole_of(k));
    }
  }
  if (frame == first_) of_first_ = all_;
}

SmallShift ChromaPlace::luma(int axis, const Sums& sums) const {
  const double size = axis == kX ? means_.format().w : means_.format().h;
  const double samples = size / (axis == kX ? means_.column_bins() : means_.row_bins());
  SmallShift shift = SmallShift::of(sums.luma[axis]);
  shift.samples *= samples;
  shift.error *= samples;
  return shift;
}

/* An axis's answer: chroma's place beside luma's, in samples of chroma. */
struct ChromaPlace::Told {
  double samples = 0, errors = 0, explained = 0;
  double luma = 0;
  double slopes = 0;       // squares, of both planes
  double edges = 0;        // likewise, mean of frames
  double wide = 0;         // times the wide error
  bool agree = false;      // Cb and Cr do
  bool lags = false;       // the first frame is not displaced
  bool confirmed = false;  // the first frame is

  bool is_found() const {
    const double enough = std::abs(samples) < kLarge ? kLeastExplained : kLargeExplained;
    if (!agree || lags || std::abs(samples) <= kLeast || wide < kLeastWide) return false;
    if (!confirmed && wide < kUnconfirmedWide) return false;
    if (is_clear() && wide > kFewSlopesWide) return true;
    return errors > kLeastErrors && explained > enough && slopes > kLeastSlopes;
  }
  bool is_clear() const {
    const bool is_proved = errors > kSureErrors && explained > kSureExplained;
    return is_proved && std::abs(samples) > kLarge && edges > kLeastOfFrame;
  }
  bool is_sure() const { return is_found() && is_clear() && slopes > kLeastSlopes && std::abs(luma) < kStill; }
};

/* How far the first frame's chroma lies; an error of 0: it does not tell. */
SmallShift ChromaPlace::of_first(int axis, int whole) const {
  const VideoFormat& format = means_.format();
  SmallShift shift = SmallShift::of(of_first_.chroma[axis][whole], whole_of(whole));
  if (shift.error <= 0) return {};
  const double scale = axis == kX ? static_cast<double>(format.plane_w(1)) / format.w
                                  : static_cast<double>(format.plane_h(1)) / format.h;
  const SmallShift of_luma = luma(axis, of_first_);
  shift.samples -= of_luma.samples * scale;
  shift.error = std::hypot(shift.error, of_luma.error * scale);
  return shift;
}

ChromaPlace::Told ChromaPlace::told_of(int axis) const {
  const VideoFormat& format = means_.format();
  int best = kWholes / 2;
  SmallShift chroma = SmallShift::of(all_.chroma[axis][best]);
  const double differences = chroma.differences;
  for (int k = 0; k < kWholes; k++) {
    const SmallShift shift = SmallShift::of(all_.chroma[axis][k], whole_of(k));
    if (shift.error <= 0 || shift.left >= chroma.left) continue;
    chroma = shift;
    best = k;
  }
  const SmallShift of_luma = luma(axis);
  const double scale = axis == kX ? static_cast<double>(format.plane_w(1)) / format.w
                                  : static_cast<double>(format.plane_h(1)) / format.h;
  Told told{.luma = of_luma.samples * scale};
  told.samples = chroma.samples - told.luma;
  told.errors = std::abs(told.samples) / std::max(std::hypot(chroma.error, of_luma.error * scale), 1e-6);
  told.wide = std::abs(told.samples) / std::max(std::hypot(chroma.wide_error, of_luma.error * scale), 1e-6);
  told.explained = differences > 0 ? 1 - chroma.left / differences : 0;
  const ShiftSums* const planes = all_.chroma[axis][best];
  told.slopes = planes[0].slopes() + planes[1].slopes();
  told.edges = told.slopes / static_cast<double>(std::max<int64_t>(added_, 1));
  told.agree = true;
  for (int p = 0; p < kChromaPlanes; p++) {
    const double samples = SmallShift::of({planes + p, 1}, whole_of(best)).samples - told.luma;
    const bool speaks = planes[p].slopes() > kLeastShare * planes[1 - p].slopes();
    if (speaks && samples * (told.samples > 0 ? 1 : -1) < kLeastOfPlane * std::abs(told.samples)) told.agree = false;
    if (speaks && planes[p].is_flat_on_one_side()) told.agree = false;
  }
  /* Encoders that are short of bits leave chroma where it was, while luma moves on: the first frame has no lag. */
  const SmallShift first = of_first(axis, best);
  const double in_first = first.samples * (told.samples > 0 ? 1 : -1), size = std::abs(told.samples);
  told.lags = first.error > 0 && std::abs(in_first) < kOfFirst * size &&
              std::abs(size - in_first) > kErrorsOfFirst * first.error;
  const double slopes_of_first = of_first_.chroma[axis][best][0].slopes() + of_first_.chroma[axis][best][1].slopes();
  told.confirmed = slopes_of_first > kLeastInFirst * told.edges && in_first > kLeastOfFirst * size &&
                   first.error < kErrorOfFirst * size;
  return told;
}

SmallShift ChromaPlace::chroma(int axis) const {
  const Told told = told_of(axis);
  return {.samples = told.samples, .error = told.errors > 0 ? std::abs(told.samples) / told.errors : 0};
}

std::vector<Finding> ChromaPlace::finish() const {
  std::vector<Finding> findings;
  if (!fit_for_ || !has_chroma_ || first_ < 0) return findings;
  const Told axes[kAxes] = {told_of(kX), told_of(kY)};
  if (std::none_of(axes, axes + kAxes, [](const Told& told) { return told.is_found(); })) return findings;
  const bool sure = std::any_of(axes, axes + kAxes, [](const Told& told) { return told.is_sure(); });
  const Certainty certainty = sure ? Certainty::kSure : Certainty::kLikely;
  findings.push_back({.kind = Kind::kChromaShifted, .certainty = certainty, .from = first_, .end = last_ + 1});
  for (int axis = 0; axis < kAxes; axis++) {
    const Told& told = axes[axis];
    if (!told.is_found()) continue;
    findings[0].evidence.emplace_back(axis == kX ? "x" : "y", rounded(told.samples));
    findings[0].evidence.emplace_back(axis == kX ? "errors_x" : "errors_y", rounded(told.errors));
  }
  return findings;
}

}  // namespace vmafx::look
