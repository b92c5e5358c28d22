/* float_vif, the SIMD twin: one source for every instruction set, equal to float_vif_ref.cpp to the last bit.
 *
 * Row by row: samples go as floats into a ring of as many rows as the window has. The vertical pass makes the five means of a
 * row, squares and products as it goes; the horizontal pass and the sample's logarithms take them from the first-level
 * cache. On every second row the window of the next scale runs, too, down and then on even columns, so that a
 * scale's planes are read once and only those of the coarser scales are ever written. */
#include "kernels/float_vif/float_vif.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/float_vif/float_vif_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/common/rows-inl.h"
#include "kernels/float_vif/float_vif_math-inl.h"
#include "kernels/float_vif/float_vif_rows.h"

HWY_BEFORE_NAMESPACE();
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

/* The rows under the window of row y, reflected. at[side] points at row y's. */
class WindowRows {
 public:
  template <class Rows>
  WindowRows(const Rows& rows, int y, int half) {
    for (int side = 0; side < 2; side++)
      for (int k = -half; k <= half; k++) rows_[side][kMaxWindowHalf + k] = rows.row(side, mirror(y + k, rows.h()));
  }
  const float* const* at(int side) const { return rows_[side] + kMaxWindowHalf; }

 private:
  const float* rows_[2][2 * kMaxWindowHalf + 1];
};

/* The five window sums of window_sum() at once. */
template <int kHalf>
HWY_NOINLINE void filter_down(const WindowRows& rows, const GaussianWindow& window, int w, const FloatVifRows& memory) {
  const int half = kHalf ? kHalf : window.half;
  const float *const *ref = rows.at(0), *const *dist = rows.at(1);
  float* out[5];
  for (int i = 0; i < 5; i++) out[i] = memory.filtered(i);
  for (int x = 0; x < w; x += lanes()) {
    Real mu1 = Real(0.0f), mu2 = mu1, xx = mu1, yy = mu1, xy = mu1;
    const auto add = [&](int k) HWY_ATTR {
      const Real tap = Real(window.taps[k < 0 ? -k : k]), r = load(ref[k] + x), d = load(dist[k] + x);
      mu1 += tap * r;
      mu2 += tap * d;
      xx += tap * (r * r);
      yy += tap * (d * d);
      xy += tap * (r * d);
    };
    if constexpr (kHalf > 0) {
      VMAFX_UNROLL_TWIN
      for (int k = -kHalf; k <= kHalf; k++) add(k);
    } else {
      for (int k = -half; k <= half; k++) add(k);
    }
    store(mu1, out[0] + x);
    store(mu2, out[1] + x);
    store(xx, out[2] + x);
    store(yy, out[3] + x);
    store(xy, out[4] + x);
  }
  for (float* row : out) extend_mirrored(row, w, half);
}

/* The horizontal pass, and what its samples add to the sums. */
template <int kHalf>
HWY_NOINLINE void add_row(const FloatVifRows& memory, const GaussianWindow& window, const FloatVifEye& eye, int w,
                          FloatVifScaleSums& sums) {
  const auto mean = [&](int i, int x) HWY_ATTR {
    return window_sum<kHalf>(window, AlongRow{memory.filtered(i) + x});
  };
  FixedSum<kFloatVifBits> nums, dens;
  for (int x = 0; x < w; x += lanes()) {
    const FloatVifMeans means = {mean(0, x), mean(1, x), mean(2, x), mean(3, x), mean(4, x)};
    Real num, den;
    float_vif_sample(means, eye, num, den);
    if (HWY_UNLIKELY(w - x < lanes())) {
      const Mask inside = {hn::FirstN(DF(), w - x)};
      num = select(inside, num, Real(0.0f));
      den = select(inside, den, Real(0.0f));
    }
    nums.add(num);
    dens.add(den);
  }
  sums.num += nums.total();
  sums.den += dens.total();
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
HWY_NOINLINE void decimate_row(const WindowRows& rows, const GaussianWindow& window, int w, const FloatVifRows& memory,
                               float* const (&out)[2]) {
  const int half = kHalf ? kHalf : window.half, split = half / 2 + 1;
  for (int side = 0; side < 2; side++) {
    float *row = memory.filtered(5 + side), *even = memory.filtered(7 + 2 * side), *odd = memory.filtered(8 + 2 * side);
    for (int x = 0; x < w; x += lanes())
      store(window_sum<kHalf>(window, AcrossRows{rows.at(side), x}), row + x);
    extend_mirrored(row, w, half);
    split_columns(row, -split, w / 2 + split, even, odd);
    for (int x = 0; x < w / 2; x += lanes())
      store(window_sum<kHalf>(window, AlongSplitRow{even + x, odd + x}), out[side] + x);
  }
}

template <int kHalf, class Rows>
void run_scale(const Rows& rows, int scale, const FloatVifParams& params, const FloatVifRows& memory,
               FloatVifSums& sums) {
  constexpr int kNextHalf = kHalf / 2;
  const GaussianWindow& window = params.window[scale];
  const bool wanted = scale > 0 || !params.skip_scale0, has_next = scale + 1 < kFloatVifScales;
  const GaussianWindow* next = has_next ? &params.window[scale + 1] : nullptr;
  const int w = rows.w(), h = rows.h();
  int loaded = 0;
  for (int y = 0; y < h; y++) {
    for (; loaded < h && loaded <= y + window.half; loaded++) rows.load(loaded);
    const WindowRows at(rows, y, window.half);
    if (wanted) {
      filter_down<kHalf>(at, window, w, memory);
      add_row<kHalf>(memory, window, params.eye, w, sums.scale[scale]);
    }
    if (!next || y % 2 || y / 2 >= h / 2) continue;
    float* const out[2] = {memory.plane(scale + 1, 0).row(y / 2), memory.plane(scale + 1, 1).row(y / 2)};
    if (kNextHalf && next->half == kNextHalf) decimate_row<kNextHalf>(at, *next, w, memory, out);
    else decimate_row<0>(at, *next, w, memory, out);
  }
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
    params.prescaler->simd(ref, params.bpc, kFloatVifOffset, memory.plane(0, 0), prescaler_scratch);
    params.prescaler->simd(dist, params.bpc, kFloatVifOffset, memory.plane(0, 1), prescaler_scratch);
    run_scale(planes(0), 0, params, memory, sums);
  } else if (params.bpc == 8) {
    run_scale(SampleRows<uint8_t>{{ref.as<uint8_t>(), dist.as<uint8_t>()}, params.bpc, memory}, 0, params, memory, sums);
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
