/* The SIMD twin of float_motion: one source for every instruction set, equal to float_motion_ref.cpp to the last bit.
 *
 * Row by row: the difference of the two frames goes into a ring of as many rows as the blur has taps, is blurred down
 * into one row, and that along, while magnitudes are added up. For scale 1 the last two blurred rows are kept. */
#include "kernels/float_motion/float_motion.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/float_motion/float_motion_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/aligned.h"
#include "kernels/common/rows-inl.h"

#ifndef VMAFX_KERNELS_FLOAT_MOTION_FLOAT_MOTION_SIMD_ONCE
#define VMAFX_KERNELS_FLOAT_MOTION_FLOAT_MOTION_SIMD_ONCE
namespace vmafx {

class FloatMotionRows {
 public:
  FloatMotionRows(std::byte* scratch, int w) : floats_(reinterpret_cast<float*>(scratch)), pitch_(pitch(w)) {}

  float* diff(int y) const { return row(y % kRing); }
  float* down() const { return row(kRing); }  // blurred down; has room to be extended
  float* blurred(int y) const { return row(kRing + 1 + y % 2); }
  float* half_size() const { return row(kRing + 3); }

  static size_t bytes(int w) { return sizeof(float) * (kRing + 4) * pitch(w); }

 private:
  static constexpr int kRing = 2 * kFloatMotionMaxRadius + 1;
  static constexpr size_t kMargin = 16;

  static size_t pitch(int w) { return (kMargin + w + kFloatMotionMaxRadius + kRowSlack + 15) / 16 * 16; }
  float* row(int i) const { return floats_ + i * pitch_ + kMargin; }

  float* floats_;
  size_t pitch_;
};

}  // namespace vmafx
#endif

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

using Sum = FixedSum<kFloatMotionBits>;

/* Adds the magnitudes of those lanes that are inside. */
HWY_INLINE void add_magnitudes(Real values, int left, Sum& sum) {
  Real magnitudes = absolute(values);
  if (HWY_UNLIKELY(left < lanes())) magnitudes = select(Mask{hn::FirstN(DF(), left)}, magnitudes, Real(0.0f));
  sum.add(magnitudes);
}

template <class T>
void subtract_row(const T* earlier, const T* current, int w, float scale, float* out) {
  int x = 0;
  for (; x + lanes() <= w; x += lanes())
    store((load_samples(earlier + x) - load_samples(current + x)) * Real(scale), out + x);
  for (; x < w; x++) out[x] = (static_cast<float>(earlier[x]) - static_cast<float>(current[x])) * scale;
}

/* The second pass of the blur; `out` may be null. */
template <class Filter>
int64_t blurred_row_sad(float* down, int w, float* out) {
  extend_mirrored(down, w, Filter::kRadius);
  Sum sum;
  for (int x = 0; x < w; x += lanes()) {
    const Real value = symmetric_sum<Filter>(AlongRow{down + x});
    if (out) store(value, out + x);
    add_magnitudes(value, w - x, sum);
  }
  return sum.total();
}

/* Row y at half the size. */
int64_t half_size_row_sad(const Prescaler& half, int y, int w, const FloatMotionRows& rows) {
  const PrescaleTap* taps = half.row(y);
  const float *a = rows.blurred(taps[0].index), *b = rows.blurred(taps[1].index);
  float* const down = rows.half_size();
  for (int x = 0; x < w; x += lanes())
    store(Real(taps[0].weight) * load(a + x) + Real(taps[1].weight) * load(b + x), down + x);
  const auto term = [&](int k, int x) HWY_ATTR {
    const Real values = hn::GatherIndex(DF(), down, hn::LoadU(DI(), half.column_indices(k) + x));
    return load(half.column_weights(k) + x) * values;
  };
  Sum sum;
  const int half_w = float_motion_half(w);
  for (int x = 0; x < half_w; x += lanes()) add_magnitudes(term(0, x) + term(1, x), half_w - x, sum);
  return sum.total();
}

template <class Filter, class T>
void run(const FloatMotionParams& params, int plane, const Plane<const T>& earlier, const Plane<const T>& current,
         std::byte* scratch, FloatMotionPlaneSums& sums) {
  constexpr int kRadius = Filter::kRadius;
  const int w = current.w, h = current.h;
  const FloatMotionRows rows(scratch, w);
  const Prescaler* half = params.half_size[plane] ? &*params.half_size[plane] : nullptr;
  int half_y = 0;
  for (int newest = 0; newest < h + kRadius; newest++) {
    if (newest < h)
      subtract_row(earlier.row(newest), current.row(newest), w, scale_to_8_bits(params.bpc), rows.diff(newest));
    const int y = newest - kRadius;
    if (y < 0) continue;
    const float* window[2 * kRadius + 1];
    for (int k = -kRadius; k <= kRadius; k++) window[k + kRadius] = rows.diff(mirror(y + k, h));
    filter_across<Filter>(window + kRadius, w, rows.down());
    sums.sad += blurred_row_sad<Filter>(rows.down(), w, half ? rows.blurred(y) : nullptr);
    for (; half && half_y < float_motion_half(h) && half->row(half_y)[0].index <= y && half->row(half_y)[1].index <= y;
         half_y++)
      sums.half_size_sad += half_size_row_sad(*half, half_y, w, rows);
  }
}

template <class T>
void run(const FloatMotionParams& params, int plane, const Plane<const T>& earlier, const Plane<const T>& current,
         std::byte* scratch, FloatMotionPlaneSums& sums) {
  if (params.taps == 1) run<FloatMotionNoBlur>(params, plane, earlier, current, scratch, sums);
  else if (params.taps == 3) run<FloatMotionBlur3>(params, plane, earlier, current, scratch, sums);
  else run<FloatMotionBlur5>(params, plane, earlier, current, scratch, sums);
}

void float_motion(const FloatMotionParams& params, int plane, const SamplePlane& earlier, const SamplePlane& current,
                  std::byte* scratch, FloatMotionPlaneSums& sums) {
  if (params.bpc == 8) run(params, plane, earlier.as<uint8_t>(), current.as<uint8_t>(), scratch, sums);
  else run(params, plane, earlier.as<uint16_t>(), current.as<uint16_t>(), scratch, sums);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(float_motion);

size_t float_motion_scratch_bytes_simd(int w) { return FloatMotionRows::bytes(w); }

void float_motion_simd(const FloatMotionParams& params, int plane, const SamplePlane& earlier,
                       const SamplePlane& current, std::byte* scratch, FloatMotionPlaneSums& sums) {
  HWY_DYNAMIC_DISPATCH(float_motion)(params, plane, earlier, current, scratch, sums);
}

}  // namespace vmafx
#endif
