/* The working memory of float_vif's SIMD twin. */
#ifndef VMAFX_KERNELS_VIF_FLOAT_VIF_ROWS_H
#define VMAFX_KERNELS_VIF_FLOAT_VIF_ROWS_H

#include "base/rounding.h"
#include "kernels/steps/row_sums.h"
#include "kernels/steps/rows.h"
#include "kernels/vif/float_vif.h"

namespace vmafx {

/* Rows begin at cache lines, so that whole vectors of them do, and end in kRowSlack. */
class FloatVifRows {
 public:
  FloatVifRows(const FloatVifParams& params, std::byte* scratch)
      : params_(params), pitch_(pitch(params.w)), free_(reinterpret_cast<float*>(scratch)) {}

  static constexpr int kMostRowsAtATime = 4;

  /* The result of the vertical pass for row `row` of those that it makes at a time: mu1, mu2, xx, yy, xy. kMargin
   * floats before each are there to extend it. */
  float* filtered(int row, int quantity) const { return filtered(5 * row + quantity); }

  /* A row filtered down for the next scale, its even and its odd columns. */
  float* for_next(int i) const { return filtered(5 * kMostRowsAtATime + i); }

  /* The last rows of samples as floats, as many as the windows of those rows have. */
  float* sample_row(int side, int y) const {
    const int count = ring_rows(params_);
    return samples() + (side * count + y % count) * pitch_;
  }

  /* Planes of a scale, side 0 ref, 1 dist. Scale 0 has planes if the pictures are prescaled. */
  Plane<float> plane(int scale, int side) const {
    size_t before = fixed_floats(params_);
    for (int s = first_plane(params_); s < scale; s++) before += 2 * plane_floats(params_, s);
    const int w = params_.w >> scale, h = params_.h >> scale;
    return {free_ + before + side * plane_floats(params_, scale), static_cast<ptrdiff_t>(sizeof(float) * pitch(w)), w,
            h};
  }

  /* The contributions of a scale's samples, rows of num and den. */
  RowStrip strip(int scale, uint64_t (&words)[2]) const {
    return {2, params_.w >> scale, reinterpret_cast<std::byte*>(free_) + bytes_before_strip(params_), words};
  }

  static size_t bytes(const FloatVifParams& params) {
    return bytes_before_strip(params) + RowStrip::bytes(2, params.w);
  }

 private:
  static constexpr size_t kMargin = 2 * kMaxWindowHalf;
  static constexpr int kFiltered = 5 * kMostRowsAtATime + 3;

  static size_t pitch(int w) { return row_pitch(static_cast<size_t>(w) + 2 * kMaxWindowHalf); }
  static int ring_rows(const FloatVifParams& params) { return 2 * params.window[0].half + kMostRowsAtATime; }
  static int first_plane(const FloatVifParams& params) { return params.prescaler ? 0 : 1; }
  static size_t plane_floats(const FloatVifParams& params, int s) { return pitch(params.w >> s) * (params.h >> s); }
  static size_t filtered_floats(const FloatVifParams& params) { return kFiltered * (pitch(params.w) + kMargin); }
  static size_t fixed_floats(const FloatVifParams& params) {
    return filtered_floats(params) + (params.prescaler ? 0 : 2 * ring_rows(params) * pitch(params.w));
  }
  static size_t bytes_before_strip(const FloatVifParams& params) {
    size_t floats = fixed_floats(params);
    for (int s = first_plane(params); s < kFloatVifScales; s++) floats += 2 * plane_floats(params, s);
    return sizeof(float) * floats;
  }
  float* filtered(int i) const { return free_ + i * (pitch_ + kMargin) + kMargin; }
  float* samples() const { return free_ + filtered_floats(params_); }

  const FloatVifParams& params_;
  size_t pitch_;
  float* free_;
};

}  // namespace vmafx

#endif
