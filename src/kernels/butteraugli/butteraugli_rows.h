/* The working memory of butteraugli's SIMD twin: rings of rows. Each step takes rows of what is left by the one before,
 * as soon as those that it needs are there, so that of a picture only some hundred rows are there at a time: for one
 * encode 8.4 KiB for each column of a picture and of the one of half the size, 4.8 KiB more for each further encode. */
#ifndef VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_ROWS_H
#define VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_ROWS_H

#include <algorithm>

#include "kernels/butteraugli/butteraugli_math.h"
#include "kernels/steps/rows.h"
#include "kernels/steps/scratch.h"

namespace vmafx {

inline constexpr int kButteraugliBand = 8;     // rows that a step makes at once
inline constexpr int kButteraugliEncodes = 4;  // at a time

/* The last rows of some planes. */
class ButteraugliRing {
 public:
  static constexpr int kMargin = 16;  // before a row; kRowSlack behind it

  ButteraugliRing() = default;

  /* The rows of a step with lag `first` that a step with lag `last` needs, and `reach` rows around each. */
  ButteraugliRing(int w, int planes, int first, int last, int reach, Scratch& scratch)
      : rows_(last - first + kButteraugliBand + reach), pitch_(row_pitch(static_cast<size_t>(kMargin + w))),
        first_(scratch.take<float>(pitch_ * rows_ * planes) + kMargin) {}

  float* row(int y, int plane = 0) const { return first_ + (plane * rows_ + y % rows_) * pitch_; }

 private:
  int rows_ = 1;
  size_t pitch_ = 0;
  float* first_ = nullptr;
};

/* The last rows of planes that are blurred down the columns next: kBlock columns of all rows lie together, so that they
 * come from memory as one stream. */
class ButteraugliColumns {
 public:
  static constexpr int kBlock = 64 / sizeof(float);

  ButteraugliColumns() = default;
  ButteraugliColumns(int w, int planes, int first, int last, int reach, Scratch& scratch)
      : rows_(last - first + kButteraugliBand + reach),
        plane_(round_up(static_cast<size_t>(w), size_t{kBlock}) * static_cast<size_t>(rows_)),
        first_(scratch.take<float>(plane_ * static_cast<size_t>(planes))) {}

  /* Columns 0 to kBlock - 1 of a row; those of column x and on, in a block, lie at(x) further. */
  float* row(int y, int plane = 0) const { return first_ + plane * plane_ + y % rows_ * kBlock; }
  ptrdiff_t at(int x) const { return static_cast<ptrdiff_t>(x - x % kBlock) * rows_ + x % kBlock; }

 private:
  int rows_ = 1;
  size_t plane_ = 0;
  float* first_ = nullptr;
};

/* The rows of one picture, of full size or half. */
struct ButteraugliSide {
  ButteraugliSide() = default;
  ButteraugliSide(int w, Scratch& scratch) {
    using namespace butteraugli_lag;
    light = {w, 3, 0, kXyb, 0, scratch};
    light_along = {w, 3, 0, kXyb, kButteraugliLightRadius, scratch};
    xyb = {w, 3, kXyb, kLow, 0, scratch};
    xyb_along = {w, 3, kXyb, kLow, ButteraugliLowBlur::kRadius, scratch};
    low = {w, 3, kLow, kHigh, 0, scratch};
    rest = {w, 3, kLow, kMiddle, 0, scratch};
    rest_along = {w, 3, kLow, kMiddle, ButteraugliMiddleBlur::kRadius, scratch};
    middle = {w, 3, kMiddle, kHigh, 0, scratch};
    highs = {w, 2, kMiddle, kHigh, 0, scratch};
    highs_along = {w, 2, kMiddle, kHigh, ButteraugliHighBlur::kRadius, scratch};
    high = {w, 2, kHigh, kHigh, 0, scratch};
    highest = {w, 2, kHigh, kHigh, 0, scratch};
    active = {w, 1, kHigh, kHigh, 0, scratch};
    active_along = {w, 1, kHigh, kActivity, ButteraugliMaskBlur::kRadius, scratch};
    activity = {w, 1, kActivity, kMap, kButteraugliStep, scratch};
  }

  /* "along": blurred along the rows. `rest`: without the low frequencies; `highs`: without the middle ones, either.
   * `active` is not blurred yet. */
  ButteraugliRing light, light_along, xyb, low, rest, middle, highs, high, highest, active, activity;
  ButteraugliColumns xyb_along, rest_along, highs_along, active_along;
};

/* The rows of an encode, with those that compare it with the reference. */
struct ButteraugliPair {
  ButteraugliPair() = default;
  ButteraugliPair(int w, Scratch& scratch) : dist(w, scratch) {
    using namespace butteraugli_lag;
    low_error = {w, 1, kHigh, kMap, 0, scratch};
    error = {w, 1, kHigh, kMap, 0, scratch};
    lines = {w, kButteraugliBands, kHigh, kLines, kButteraugliLineReach, scratch};
    map = {w, 1, 0, 2 * kMap, 0, scratch};
  }

  ButteraugliSide dist;
  ButteraugliRing low_error, error, lines, map;
};

/* Pictures of full size, or of half. */
struct ButteraugliLevel {
  ButteraugliLevel() = default;
  ButteraugliLevel(int w, int h, int encodes, Scratch& scratch) : w(w), h(h), ref(w, scratch) {
    const size_t line = row_pitch(static_cast<size_t>(ButteraugliRing::kMargin + w));
    zero = scratch.take<float>(line) + ButteraugliRing::kMargin;
    nowhere = scratch.take<float>(line) + ButteraugliRing::kMargin;
    for (float*& scale : scales) scale = scratch.take<float>(line);
    for (int i = 0; i < encodes; i++) pair[i] = ButteraugliPair(w, scratch);
  }

  int w = 0, h = 0;
  ButteraugliSide ref;
  float *zero = nullptr, *nowhere = nullptr;  // rows beyond the borders
  float* scales[4] = {};                      // for the blurs along rows: low, middle, high, mask
  ButteraugliPair pair[kButteraugliEncodes];
};

struct ButteraugliMemory {
  ButteraugliMemory(const ButteraugliParams& params, int encodes, std::byte* memory) {
    Scratch scratch(memory);
    const int w = params.w, h = params.h, some = std::min(encodes, kButteraugliEncodes);
    for (float*& line : samples.of) line = scratch.take<float>(static_cast<size_t>(w) + 2 * kRowSlack);
    full = ButteraugliLevel(w, h, some, scratch);
    if (butteraugli_has_half(w, h)) half = ButteraugliLevel(butteraugli_half(w), butteraugli_half(h), some, scratch);
    bytes = scratch.bytes();
  }

  LightLines samples;
  ButteraugliLevel full, half;
  size_t bytes;
};

}  // namespace vmafx

#endif
