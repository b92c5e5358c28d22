/* The SIMD twin of float_motion: one source for every instruction set, equal to float_motion_plain.cpp to the last bit.
 *
 * Row by row: the samples of each frame go into a ring of as many rows as the blur has taps, are blurred down into one
 * row, and that along; the magnitudes of the differences of the two frames are added up. For scale 1 the last two
 * blurred rows are kept. */
#include "kernels/motion/float_motion.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/motion/float_motion_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/rounding.h"
#include "kernels/steps/row_sums.h"
#include "kernels/steps/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

/* The rows of one of the two frames. */
struct FloatMotionRows {
  using Samples = RowRing<2 * kFloatMotionMaxRadius + 1>;
  using Down = RowRing<1>;
  using Blurred = RowRing<2>;

  FloatMotionRows(std::byte* scratch, int w)
      : samples(scratch, w), down(scratch + Samples::bytes(w), w),
        blurred(scratch + Samples::bytes(w) + Down::bytes(w), w) {}

  static size_t bytes(int w) { return Samples::bytes(w) + Down::bytes(w) + Blurred::bytes(w); }

  Samples samples;
  Down down;
  Blurred blurred;
};

struct FloatMotionMemory {
  FloatMotionMemory(std::byte* scratch, int w, FloatMotionPlaneSums& sums)
      : frames{{scratch, w}, {scratch + FloatMotionRows::bytes(w), w}},
        magnitudes(1, w, scratch + 2 * FloatMotionRows::bytes(w), &sums.sad),
        half_size_magnitudes(1, float_motion_half(w), scratch + 2 * FloatMotionRows::bytes(w) + RowStrip::bytes(1, w),
                             &sums.half_size_sad) {}

  static size_t bytes(int w) {
    return 2 * FloatMotionRows::bytes(w) + RowStrip::bytes(1, w) + RowStrip::bytes(1, float_motion_half(w));
  }

  const FloatMotionRows frames[2];  // earlier, current
  RowStrip magnitudes, half_size_magnitudes;
};

template <class Filter>
void blur_down(const FloatMotionRows& rows, int y, int w, int h) {
  constexpr int kRadius = Filter::kRadius;
  const float* window[2 * kRadius + 1];
  for (int k = -kRadius; k <= kRadius; k++) window[k + kRadius] = rows.samples.row(mirror(y + k, h));
  for (int x = 0; x < w; x += lanes())
    store(ordered_sum<Filter>(AcrossRows{window + kRadius, x}), rows.down.row(0) + x);
  extend_mirrored(rows.down.row(0), w, kRadius);
}

/* The blur along row y of both frames. */
template <class Filter, bool keep>
void put_magnitudes(FloatMotionMemory& memory, int y, int w) {
  const auto& [a, b] = memory.frames;
  float* const magnitudes = memory.magnitudes.row(0);
  for (int x = 0; x < w; x += lanes()) {
    const Real earlier = ordered_sum<Filter>(AlongRow{a.down.row(0) + x});
    const Real current = ordered_sum<Filter>(AlongRow{b.down.row(0) + x});
    if (keep) {
      store(earlier, a.blurred.row(y) + x);
      store(current, b.blurred.row(y) + x);
    }
    store(absolute(earlier - current), magnitudes + x);
  }
  memory.magnitudes.end_row();
}

/* Row y at half the size, scaled as in kernels/steps/prescale.h. */
void put_half_size_magnitudes(FloatMotionMemory& memory, const Prescaler& half, int y) {
  const PrescaleTap* taps = half.row(y);
  const auto scaled = [&](const FloatMotionRows& rows, int x) HWY_ATTR {
    Real sum(0.0f);
    for (int j = 0; j < 2; j++)
      for (int i = 0; i < 2; i++) {
        const float* const row = rows.blurred.row(taps[j].index);
        const Real values = hn::GatherIndex(DF(), row, hn::LoadU(DI(), half.column_indices(i) + x));
        sum += values * (load(half.column_weights(i) + x) * Real(taps[j].weight));
      }
    return sum;
  };
  float* const magnitudes = memory.half_size_magnitudes.row(0);
  for (int x = 0; x < float_motion_half(half.from_w()); x += lanes())
    store(absolute(scaled(memory.frames[0], x) - scaled(memory.frames[1], x)), magnitudes + x);
  memory.half_size_magnitudes.end_row();
}

template <class Filter, class T>
void run(const FloatMotionParams& params, int plane, const Plane<const T>& earlier, const Plane<const T>& current,
         std::byte* scratch, FloatMotionPlaneSums& sums) {
  constexpr int kRadius = Filter::kRadius;
  const int w = current.w, h = current.h;
  FloatMotionMemory memory(scratch, w, sums);
  const auto read = [&](const Plane<const T>& in, int y, const FloatMotionRows& rows) HWY_ATTR {
    samples_to_floats(in.row(y), w, scale_to_8_bits(params.format.bpc), kFloatMotionOffset, rows.samples.row(y));
  };
  const Prescaler* half = params.half_size[plane] ? &*params.half_size[plane] : nullptr;
  const auto is_there = [&](int half_y, int y) {
    return half_y < float_motion_half(h) && std::max(half->row(half_y)[0].index, half->row(half_y)[1].index) <= y;
  };
  int half_y = 0;
  for (int newest = 0; newest < h + kRadius; newest++) {
    if (newest < h) {
      read(earlier, newest, memory.frames[0]);
      read(current, newest, memory.frames[1]);
    }
    const int y = newest - kRadius;
    if (y < 0) continue;
    for (const FloatMotionRows& rows : memory.frames) blur_down<Filter>(rows, y, w, h);
    if (half) put_magnitudes<Filter, true>(memory, y, w);
    else put_magnitudes<Filter, false>(memory, y, w);
    for (; half && is_there(half_y, y); half_y++) put_half_size_magnitudes(memory, *half, half_y);
  }
  memory.magnitudes.finish();
  memory.half_size_magnitudes.finish();
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
  if (params.format.bpc == 8) run(params, plane, earlier.as<uint8_t>(), current.as<uint8_t>(), scratch, sums);
  else run(params, plane, earlier.as<uint16_t>(), current.as<uint16_t>(), scratch, sums);
}

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(float_motion);

size_t float_motion_scratch_bytes_simd(const FloatMotionParams& params) {
  return HWY_NAMESPACE::FloatMotionMemory::bytes(params.format.w);
}

void float_motion_simd(const FloatMotionParams& params, int plane, const SamplePlane& earlier,
                       const SamplePlane& current, std::byte* scratch, FloatMotionPlaneSums& sums) {
  HWY_DYNAMIC_DISPATCH(float_motion)(params, plane, earlier, current, scratch, sums);
}

}  // namespace vmafx
#endif
