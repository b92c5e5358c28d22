/* float_vif, the SIMD twin: one source for every instruction set, equal to float_vif_ref.cpp to the last bit.
 *
 * A few rows at a time: samples go as floats into a ring of as many rows as their windows have. The vertical pass makes
 * the five means of these rows, so that each sample is loaded, and its squares and products are made, once for all of
 * them; the horizontal pass and the logarithms take them from the first-level cache. On every second row the window of
 * the next scale runs, too, down and then on even columns, so that a scale's planes are read once and only those of the
 * coarser scales are ever written.
 *
 * A 1920x1080 frame of 8 bit on AVX-512: 17.6 ms, of which the horizontal pass of scale 0 takes half, as its loads cross
 * cache lines, its vertical one a quarter, quotients in double 1.8 and adding up rows 0.9. */
#include "kernels/vif/float_vif.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vif/float_vif_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/steps/rows-inl.h"
#include "kernels/vif/float_vif_math-inl.h"
#include "kernels/vif/float_vif_rows.h"

HWY_BEFORE_NAMESPACE();
#if HWY_COMPILER_GCC_ACTUAL
/* Keeps the sums of products in source order: gcc would make all the products first and spill them (AVX-512: 20.7 ms,
 * not 17.7). */
#pragma GCC optimize("no-tree-ter", "no-schedule-insns")
#endif
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

/* Where a scale takes its rows from: samples, converted as they are first needed, or planes. */
template <class T>
struct SampleRows {
  Plane<const T> in[2];
  int bpc;
  const FloatVifRows& memory;

  int w() const { return in[0].w; }
  int h() const { return in[0].h; }
  void load(int y) const {
    for (int side = 0; side < 2; side++)
      samples_to_floats(in[side].row(y), w(), scale_to_8_bits(bpc), kFloatVifOffset, memory.sample_row(side, y));
  }
  const float* row(int side, int y) const { return memory.sample_row(side, y); }
};

struct PlaneRows {
  Plane<float> in[2];

  int w() const { return in[0].w; }
  int h() const { return in[0].h; }
  void load(int) const {}
  const float* row(int side, int y) const { return in[side].row(y); }
};

/* As many rows at a time as registers hold five sums of. */
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_SCALAR
constexpr int kGroup = 2;
#else
constexpr int kGroup = 4;
#endif
static_assert(kGroup <= FloatVifRows::kMostRowsAtATime && kGroup % 2 == 0);

/* The rows under the windows of rows y to y + kGroup - 1, reflected. at(side, i) points at row y + i's. */
class WindowRows {
 public:
  template <class Rows>
  WindowRows(const Rows& rows, int y, int half) {
    for (int side = 0; side < 2; side++)
      for (int k = -half; k < half + kGroup; k++) {
        const bool needed = y + k < rows.h() + half;  // by a row of the plane
        rows_[side][kMaxWindowHalf + k] = rows.row(side, needed ? mirror(y + k, rows.h()) : rows.h() - 1);
      }
  }
  const float* const* at(int side, int i) const { return rows_[side] + kMaxWindowHalf + i; }

 private:
  const float* rows_[2][2 * kMaxWindowHalf + kGroup];
};

/* The five ordered_sum()s of one sample. */
struct FiveSums {
  HWY_INLINE FiveSums() : mu1(0.0f), mu2(0.0f), xx(0.0f), yy(0.0f), xy(0.0f) {}
  HWY_INLINE void add(Real tap, Real r, Real d, Real rr, Real dd, Real rd) {
    mu1 += tap * r;
    mu2 += tap * d;
    xx += tap * rr;
    yy += tap * dd;
    xy += tap * rd;
  }
  HWY_INLINE void store_at(int x, int row, const FloatVifRows& memory) const {
    store(mu1, memory.filtered(row, 0) + x);
    store(mu2, memory.filtered(row, 1) + x);
    store(xx, memory.filtered(row, 2) + x);
    store(yy, memory.filtered(row, 3) + x);
    store(xy, memory.filtered(row, 4) + x);
  }
  Real mu1, mu2, xx, yy, xy;
};

/* kGroup rows, with a window of kHalf. */
template <int kHalf>
HWY_NOINLINE void filter_group_down(const WindowRows& rows, const GaussianWindow& window, int w,
                                    const FloatVifRows& memory) {
  const float *const *ref = rows.at(0, 0), *const *dist = rows.at(1, 0);
  for (int x = 0; x < w; x += lanes()) {
    FiveSums sums[kGroup];
    VMAFX_UNROLL
    for (int k = -kHalf; k < kHalf + kGroup; k++) {
      const Real r = load(ref[k] + x), d = load(dist[k] + x), rr = r * r, dd = d * d, rd = r * d;
      VMAFX_UNROLL
      for (int i = 0; i < kGroup; i++) {
        const int distance = k < i ? i - k : k - i;
        if (distance <= kHalf) sums[i].add(Real(window.taps[distance <= kHalf ? distance : 0]), r, d, rr, dd, rd);
      }
    }
    VMAFX_UNROLL
    for (int i = 0; i < kGroup; i++) sums[i].store_at(x, i, memory);
  }
}

/* Row `row` of the group, with any window. */
HWY_NOINLINE void filter_row_down(const WindowRows& rows, const GaussianWindow& window, int w, int row,
                                  const FloatVifRows& memory) {
  const float *const *ref = rows.at(0, row), *const *dist = rows.at(1, row);
  for (int x = 0; x < w; x += lanes()) {
    FiveSums sums;
    for (int k = -window.half; k <= window.half; k++) {
      const Real r = load(ref[k] + x), d = load(dist[k] + x);
      sums.add(Real(window.taps[k < 0 ? -k : k]), r, d, r * r, d * d, r * d);
    }
    sums.store_at(x, row, memory);
  }
}

/* The horizontal pass of a row of the group, and what its samples add. kHalf: of the window, 0 where that is known at
 * run time only. */
template <int kHalf>
HWY_NOINLINE void add_row(const FloatVifRows& memory, int row, const GaussianWindow& window, const FloatVifEye& eye,
                          int w, const RowStrip& strip) {
  for (int i = 0; i < 5; i++) extend_mirrored(memory.filtered(row, i), w, window.half);
  const auto mean = [&](int i, int x) HWY_ATTR {
    return ordered_sum<kHalf>(window, AlongRow{memory.filtered(row, i) + x});
  };
  float *const nums = strip.row(0), *const dens = strip.row(1);
  for (int x = 0; x < w; x += lanes()) {
    const FloatVifMeans means = {mean(0, x), mean(1, x), mean(2, x), mean(3, x), mean(4, x)};
    Real num, den;
    float_vif_sample(means, eye, num, den);
    store(num, nums + x);
    store(den, dens + x);
  }
}

/* even[i] = row[2 i], odd[i] = row[2 i + 1]. */
HWY_INLINE void split_columns(const float* row, int first, int last, float* even, float* odd) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = first; i < last; i++) even[i] = row[2 * i], odd[i] = row[2 * i + 1];
#else
  for (int i = first; i < last; i += lanes()) {
    VF e, o;
    hn::LoadInterleaved2(DF(), row + 2 * i, e, o);
    hn::StoreU(e, DF(), even + i);
    hn::StoreU(o, DF(), odd + i);
  }
#endif
}

/* Every second of the values that an AlongRow has. */
struct AlongSplitRow {
  const float *even, *odd;
  HWY_INLINE Real operator()(int k) const { return k & 1 ? load(odd + (k - 1) / 2) : load(even + k / 2); }
};

/* Row y / 2 of the next scale's planes. */
template <int kHalf>
HWY_NOINLINE void decimate_row(const WindowRows& rows, int i, const GaussianWindow& window, int w,
                               const FloatVifRows& memory, float* const (&out)[2]) {
  const int half = kHalf ? kHalf : window.half, split = half / 2 + 1;
  for (int side = 0; side < 2; side++) {
    float *row = memory.for_next(0), *even = memory.for_next(1), *odd = memory.for_next(2);
    for (int x = 0; x < w; x += lanes()) store(ordered_sum<kHalf>(window, AcrossRows{rows.at(side, i), x}), row + x);
    extend_mirrored(row, w, half);
    split_columns(row, -split, w / 2 + split, even, odd);
    for (int x = 0; x < w / 2; x += lanes())
      store(ordered_sum<kHalf>(window, AlongSplitRow{even + x, odd + x}), out[side] + x);
  }
}

template <int kHalf>
void filter_down(const WindowRows& rows, const GaussianWindow& window, int w, int count, const FloatVifRows& memory) {
  if constexpr (kHalf > 0) filter_group_down<kHalf>(rows, window, w, memory);
  else
    for (int i = 0; i < count; i++) filter_row_down(rows, window, w, i, memory);
}

template <int kHalf, class Rows>
void run_scale(const Rows& rows, int scale, const FloatVifParams& params, const FloatVifRows& memory,
               FloatVifSums& sums) {
  constexpr int kNextHalf = kHalf / 2;
  const GaussianWindow& window = params.window[scale];
  const bool wanted = scale > 0 || !params.skip_scale0, has_next = scale + 1 < kFloatVifScales;
  const int w = rows.w(), h = rows.h();
  uint64_t words[2] = {};
  RowStrip strip = memory.strip(scale, words);
  int loaded = 0;
  for (int y = 0; y < h; y += kGroup) {
    const int count = HWY_MIN(kGroup, h - y);
    for (; loaded < h && loaded < y + window.half + kGroup; loaded++) rows.load(loaded);
    const WindowRows at(rows, y, window.half);
    if (wanted) {
      filter_down<kHalf>(at, window, w, count, memory);
      for (int i = 0; i < count; i++) {
        add_row<kHalf>(memory, i, window, params.eye, w, strip);
        strip.end_row();
      }
    }
    for (int i = 0; has_next && i < count && (y + i) / 2 < h / 2; i += 2) {
      const GaussianWindow& next = params.window[scale + 1];
      float* const out[2] = {memory.plane(scale + 1, 0).row((y + i) / 2), memory.plane(scale + 1, 1).row((y + i) / 2)};
      if (kNextHalf && next.half == kNextHalf) decimate_row<kNextHalf>(at, i, next, w, memory, out);
      else decimate_row<0>(at, i, next, w, memory, out);
    }
  }
  strip.finish();
  sums.scale[scale] = {words[0], words[1]};
}

template <class Rows>
void run_scale(const Rows& rows, int scale, const FloatVifParams& params, const FloatVifRows& memory,
               FloatVifSums& sums) {
  switch (params.window[scale].half) {
    case 1: return run_scale<1>(rows, scale, params, memory, sums);
    case 2: return run_scale<2>(rows, scale, params, memory, sums);
    case 4: return run_scale<4>(rows, scale, params, memory, sums);
    case 8: return run_scale<8>(rows, scale, params, memory, sums);
    default: return run_scale<0>(rows, scale, params, memory, sums);
  }
}

void float_vif(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               FloatVifSums& sums) {
  const FloatVifRows memory(params, scratch);
  const auto planes = [&](int scale) { return PlaneRows{{memory.plane(scale, 0), memory.plane(scale, 1)}}; };
  if (params.prescaler) {
    std::byte* prescaler_scratch = scratch + round_to_lines(FloatVifRows::bytes(params));
    params.prescaler->simd(params.source(ref), memory.plane(0, 0), prescaler_scratch);
    params.prescaler->simd(params.source(dist), memory.plane(0, 1), prescaler_scratch);
    run_scale(planes(0), 0, params, memory, sums);
  } else if (params.bpc == 8) {
    run_scale(SampleRows<uint8_t>{{ref.as<uint8_t>(), dist.as<uint8_t>()}, params.bpc, memory}, 0, params, memory,
              sums);
  } else {
    run_scale(SampleRows<uint16_t>{{ref.as<uint16_t>(), dist.as<uint16_t>()}, params.bpc, memory}, 0, params, memory,
              sums);
  }
  for (int s = 1; s < kFloatVifScales; s++) run_scale(planes(s), s, params, memory, sums);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(float_vif);

size_t float_vif_scratch_bytes_simd(const FloatVifParams& params) {
  return round_to_lines(FloatVifRows::bytes(params)) + (params.prescaler ? params.prescaler->scratch_bytes() : 0);
}

void float_vif_simd(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                    FloatVifSums& sums) {
  HWY_DYNAMIC_DISPATCH(float_vif)(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
#endif
