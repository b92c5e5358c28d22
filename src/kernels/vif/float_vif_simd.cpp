/* float_vif, the SIMD twin: one source for every instruction set, equal to float_vif_plain.cpp to the last bit.
 *
 * Four rows at a time: samples go as floats into a ring of as many rows as their windows have. The vertical pass makes
 * the five means of these rows one after the other, so that registers hold the sums of all four rows and each sample is
 * loaded, and its square or product made, once for them. The horizontal pass makes means of kChunk columns, several
 * vectors side by side; the logarithms take them from the first-level cache. On every second row the window of the next
 * scale runs, too, down and then on even columns, so that a scale's planes are read once and only those of the coarser
 * scales are ever written.
 *
 * Floor of a 1920x1080 frame on AVX-512, where a cycle adds one vector and multiplies one: each pass of scale 0 takes
 * 85 of both for 16 columns, and the logarithms and quotients about 60, together 235 cycles; the other scales, the
 * windows of the next ones and adding up rows take about half as much again. That is 12 ms at 3.65 GHz. Measured on Zen
 * 4: 17.6 ms; AVX2 23.8, SSE4 42.6. */
#include "kernels/vif/float_vif.h"

#include <utility>

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

/* The source of a scale's rows: samples, converted as they are first needed, or planes. */
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

constexpr int kGroup = 4;  // rows at a time: of each, registers hold two sums
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

/* add(tap, k) for each tap, as ordered_sum() has them. */
template <class Add>
HWY_INLINE void for_taps(const GaussianWindow& window, Add add) {
  for (int k = -window.half; k <= window.half; k++) add(Real(window.taps[k < 0 ? -k : k]), k);
}

/* The terms of the vertical pass: a picture's samples, or products of two pictures' or of one with itself. */
struct SampleTerms {
  const float* const* rows;
  HWY_INLINE Real operator()(int row, int x) const { return load(rows[row] + x); }
};

struct ProductTerms {
  const float *const *a, *const *b;
  HWY_INLINE Real operator()(int row, int x) const { return load(a[row] + x) * load(b[row] + x); }
};

/* A quantity in kGroup rows, with a window of kHalf: each term is made once for all of them. */
template <int kHalf, class Terms>
HWY_NOINLINE void filter_group_down(const Terms& terms, const GaussianWindow& window, int w, int quantity,
                                    const FloatVifRows& memory) {
  for (int x = 0; x < w; x += lanes()) {
    Real sums[kGroup];
    for (Real& sum : sums) sum = Real(0.0f);
    VMAFX_UNROLL
    for (int k = -kHalf; k < kHalf + kGroup; k++) {
      const Real term = terms(k, x);
      VMAFX_UNROLL
      for (int i = 0; i < kGroup; i++) {
        const int distance = k < i ? i - k : k - i;
        if (distance <= kHalf) sums[i] += Real(window.taps[distance <= kHalf ? distance : 0]) * term;
      }
    }
    VMAFX_UNROLL
    for (int i = 0; i < kGroup; i++) store(sums[i], memory.filtered(i, quantity) + x);
  }
}

/* Row `row` of the group, with any window. */
template <class Terms>
HWY_NOINLINE void filter_row_down(const Terms& terms, const GaussianWindow& window, int w, int row, int quantity,
                                  const FloatVifRows& memory) {
  for (int x = 0; x < w; x += lanes()) {
    Real sum = Real(0.0f);
    for_taps(window, [&](Real tap, int k) HWY_ATTR { sum += tap * terms(row + k, x); });
    store(sum, memory.filtered(row, quantity) + x);
  }
}

template <int kHalf, class Terms>
void filter_down(const Terms& terms, const GaussianWindow& window, int w, int count, int quantity,
                 const FloatVifRows& memory) {
  if constexpr (kHalf > 0) filter_group_down<kHalf>(terms, window, w, quantity, memory);
  else
    for (int i = 0; i < count; i++) filter_row_down(terms, window, w, i, quantity, memory);
}

/* The five means of `count` rows. */
template <int kHalf>
void filter_all_down(const WindowRows& rows, const GaussianWindow& window, int w, int count,
                     const FloatVifRows& memory) {
  const float *const *ref = rows.at(0, 0), *const *dist = rows.at(1, 0);
  filter_down<kHalf>(SampleTerms{ref}, window, w, count, 0, memory);
  filter_down<kHalf>(SampleTerms{dist}, window, w, count, 1, memory);
  filter_down<kHalf>(ProductTerms{ref, ref}, window, w, count, 2, memory);
  filter_down<kHalf>(ProductTerms{dist, dist}, window, w, count, 3, memory);
  filter_down<kHalf>(ProductTerms{ref, dist}, window, w, count, 4, memory);
}

/* Columns of a row whose means are made before what their samples add: the first-level cache keeps them. */
constexpr int kChunk = 256;
using Chunk = float[5][kChunk + kRowSlack];

/* Vectors of a row, side by side, and the vectors k columns away from them. If a vector is as wide as a cache line,
 * nearly every load from another column takes two lines, and so two cycles: some are made from registers instead, as
 * many as the units that add and multiply have time for. */
struct Neighbors {
  static constexpr int kTogether = 4;
  const float* row;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  static constexpr int kInRegisters = 2;
  VF vectors[kTogether + 2];  // from the one before

  HWY_INLINE explicit Neighbors(const float* row) : row(row) {
    VMAFX_UNROLL
    for (int i = 0; i < kTogether + 2; i++) vectors[i] = load(row + (i - 1) * lanes()).v;
  }
  template <int k>
  HWY_INLINE Real at(int i) const {
    if constexpr (k == 0) return vectors[i + 1];
    if constexpr (k < -kInRegisters || k > kInRegisters) return load(row + i * lanes() + k);
    const VF left = vectors[i + (k > 0)], right = vectors[i + (k > 0) + 1];
    return VF{_mm512_castsi512_ps(
        _mm512_alignr_epi32(_mm512_castps_si512(right.raw), _mm512_castps_si512(left.raw), k & 15))};
  }
#else
  HWY_INLINE explicit Neighbors(const float* row) : row(row) {}
  template <int k>
  HWY_INLINE Real at(int i) const {
    return load(row + i * lanes() + k);
  }
#endif
};

/* sums[i] += tap of k · the vector k columns away from vector i. */
template <int k>
HWY_INLINE void add_tap(const GaussianWindow& window, const Neighbors& neighbors, Real (&sums)[Neighbors::kTogether]) {
  const Real tap(window.taps[k < 0 ? -k : k]);
  VMAFX_UNROLL
  for (int i = 0; i < Neighbors::kTogether; i++) sums[i] += tap * neighbors.at<k>(i);
}

template <int kHalf, int... ks>
HWY_INLINE void add_taps(std::integer_sequence<int, ks...>, const GaussianWindow& window, const Neighbors& neighbors,
                         Real (&sums)[Neighbors::kTogether]) {
  (add_tap<ks - kHalf>(window, neighbors, sums), ...);
}

/* The horizontal pass, for `n` columns: several vectors at a time, as each addition waits for the one before. */
template <int kHalf>
HWY_NOINLINE void filter_along(const float* row, const GaussianWindow& window, int n, float* out) {
  constexpr int kTogether = Neighbors::kTogether;
  for (int x = 0; x < n; x += kTogether * lanes()) {
    Real sums[kTogether];
    for (Real& sum : sums) sum = Real(0.0f);
    if constexpr (kHalf > 0) {
      add_taps<kHalf>(std::make_integer_sequence<int, 2 * kHalf + 1>(), window, Neighbors(row + x), sums);
    } else {
      for_taps(window, [&](Real tap, int k) HWY_ATTR {
        VMAFX_UNROLL
        for (int i = 0; i < kTogether; i++) sums[i] += tap * load(row + x + i * lanes() + k);
      });
    }
    for (int i = 0; i < kTogether; i++) store(sums[i], out + x + i * lanes());
  }
}

/* Adds the contributions of samples to nums and dens. */
HWY_NOINLINE void add_samples(const Chunk& means, const FloatVifEye& eye, int n, float* nums, float* dens) {
  for (int x = 0; x < n; x += lanes()) {
    const FloatVifMeans mean = {load(means[0] + x), load(means[1] + x), load(means[2] + x), load(means[3] + x),
                                load(means[4] + x)};
    Real num, den;
    float_vif_sample(mean, eye, num, den);
    store(num, nums + x);
    store(den, dens + x);
  }
}

/* The horizontal pass of a row of the group, and what its samples add. kHalf: of the window, 0 where that is known at
 * run time only. */
template <int kHalf>
void add_row(const FloatVifRows& memory, int row, const GaussianWindow& window, const FloatVifEye& eye, int w,
             const RowStrip& strip) {
  for (int i = 0; i < 5; i++) extend_mirrored(memory.filtered(row, i), w, window.half);
  HWY_ALIGN Chunk means;
  for (int x = 0; x < w; x += kChunk) {
    const int n = HWY_MIN(kChunk, w - x);
    for (int i = 0; i < 5; i++) filter_along<kHalf>(memory.filtered(row, i) + x, window, n, means[i]);
    add_samples(means, eye, n, strip.row(0) + x, strip.row(1) + x);
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

/* Adds a row of nums or of dens to the blocks, from left to right. */
void add_to_blocks(const FloatVifBlocks& blocks, int scale, int quantity, int y, std::span<const float> values) {
  const int side = blocks.grid.side >> scale, w = static_cast<int>(values.size());
  for (int x = 0; x < w; x += side) {
    FloatVifBlockSums& block = blocks.at(scale, x, y);
    double& sum = quantity ? block.den : block.num;
    double added = sum;
    for (int i = x; i < HWY_MIN(x + side, w); i++) added += static_cast<double>(values[static_cast<size_t>(i)]);
    sum = added;
  }
}

template <int kHalf, class Rows>
void run_scale(const Rows& rows, int scale, const FloatVifParams& params, const FloatVifRows& memory,
               FloatVifSums& sums, const FloatVifBlocks* blocks) {
  constexpr int kNextHalf = kHalf / 2;
  const GaussianWindow& window = params.window[scale];
  const bool wanted = scale > 0 || !params.skip_scale0, has_next = scale + 1 < kFloatVifScales;
  const int w = rows.w(), h = rows.h();
  uint64_t words[2] = {};
  RowStrip strip = memory.strip(scale, words);
  const RowStrip::Taker add_row_to_blocks = [&](int quantity, int y, std::span<const float> values) {
    add_to_blocks(*blocks, scale, quantity, y, values);
  };
  if (blocks) strip.tell_rows(add_row_to_blocks);
  int loaded = 0;
  for (int y = 0; y < h; y += kGroup) {
    const int count = HWY_MIN(kGroup, h - y);
    for (; loaded < h && loaded < y + window.half + kGroup; loaded++) rows.load(loaded);
    const WindowRows at(rows, y, window.half);
    if (wanted) {
      filter_all_down<kHalf>(at, window, w, count, memory);
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
               FloatVifSums& sums, const FloatVifBlocks* blocks) {
  switch (params.window[scale].half) {
    case 1: return run_scale<1>(rows, scale, params, memory, sums, blocks);
    case 2: return run_scale<2>(rows, scale, params, memory, sums, blocks);
    case 4: return run_scale<4>(rows, scale, params, memory, sums, blocks);
    case 8: return run_scale<8>(rows, scale, params, memory, sums, blocks);
    default: return run_scale<0>(rows, scale, params, memory, sums, blocks);
  }
}

void float_vif(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               FloatVifSums& sums, const FloatVifBlocks* blocks) {
  const FloatVifRows memory(params, scratch);
  const auto planes = [&](int scale) { return PlaneRows{{memory.plane(scale, 0), memory.plane(scale, 1)}}; };
  if (params.prescaler) {
    std::byte* prescaler_scratch = scratch + round_to_lines(FloatVifRows::bytes(params));
    params.prescaler->simd(params.source(ref), memory.plane(0, 0), prescaler_scratch);
    params.prescaler->simd(params.source(dist), memory.plane(0, 1), prescaler_scratch);
    run_scale(planes(0), 0, params, memory, sums, blocks);
  } else if (params.bpc == 8) {
    run_scale(SampleRows<uint8_t>{{ref.as<uint8_t>(), dist.as<uint8_t>()}, params.bpc, memory}, 0, params, memory, sums,
              blocks);
  } else {
    run_scale(SampleRows<uint16_t>{{ref.as<uint16_t>(), dist.as<uint16_t>()}, params.bpc, memory}, 0, params, memory,
              sums, blocks);
  }
  for (int s = 1; s < kFloatVifScales; s++) run_scale(planes(s), s, params, memory, sums, blocks);
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
  HWY_DYNAMIC_DISPATCH(float_vif)(params, ref, dist, scratch, sums, nullptr);
}

void float_vif_mapped_simd(const FloatVifParams& params, const SamplePlane& ref, const SamplePlane& dist,
                           std::byte* scratch, FloatVifSums& sums, const FloatVifBlocks& blocks) {
  HWY_DYNAMIC_DISPATCH(float_vif)(params, ref, dist, scratch, sums, &blocks);
}

}  // namespace vmafx
#endif
