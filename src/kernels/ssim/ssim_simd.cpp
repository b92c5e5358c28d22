/* float_ssim and float_ms_ssim, the SIMD twin: one source for every instruction set, equal to ssim_plain.cpp to the
 * last bit.
 *
 * Scale by scale, strip by strip: a strip's rows are filtered along as they come, a ring in the first cache holds the
 * latest for the filter across. The row after the one that is filtered is already on its way into memory.
 *
 * Floor of float_ms_ssim for a 1920x1080 frame on AVX-512, by the units of Zen 4 that the instructions need (llvm-mca
 * 19): 16 of the 2.8 million windows of all scales take 165 cycles along, where products have to be made, too, 145
 * across and 39 for losses; 16 of the 1.4 million samples of next scales 137. Together 72 million cycles, 20 ms at 3.65
 * GHz. Measured on such a server: 24.4 ms; AVX2 33. */
#include "kernels/ssim/ssim.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "kernels/ssim/ssim_rows.h"
#include "kernels/steps/prefetch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ssim/ssim_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/ssim/ssim_math-inl.h"

HWY_BEFORE_NAMESPACE();
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
/* Puts operations that do not wait for each other side by side: SSE4 92 -> 78 ms. More registers are better used
 * without. */
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif
namespace vmafx::HWY_NAMESPACE {
namespace {

/* `n`, rounded up to whole vectors. */
HWY_INLINE int whole_vectors(int n) { return static_cast<int>(round_up(n, lanes())); }

// -- The first scale: means over blocks of samples ------------------------------------------------------------------

constexpr int kMost = 10; /* factor */

/* The sum over `rows` rows of lanes() columns from x on. */
template <class T>
HWY_INLINE void add_columns(const T* const* in, int rows, int x, Real scale, Real weight, float* high, float* low) {
  SsimSampleSum sum(load_samples(in[0] + x) * scale * weight);
  for (int i = 1; i < rows; i++) sum.add(load_samples(in[i] + x) * scale * weight);
  store(sum.high(), high + x);
  store(sum.low(), low + x);
}

/* The sums of columns of a row of blocks. ahead: the rows of the next one. */
template <class T>
void sum_columns(const SsimParams& params, const T* const* in, const Ahead* ahead, int w, float* high, float* low) {
  const int step = lanes();
  const Real scale = Real(scale_to_8_bits(params.bpc)), weight = Real(ssim_block_weight(params.factor));
  int x = 0;
  for (; x + step <= w; x += step) {
    for (int i = 0; i < params.factor; i++) ahead[i].fetch(x);
    add_columns(in, params.factor, x, scale, weight, high, low);
  }
  if (x == w) return;
  if (w >= step) return add_columns(in, params.factor, w - step, scale, weight, high, low); /* some once more */
  T padded[kMost][kRowSlack] = {};
  const T* rows[kMost] = {};
  for (int i = 0; i < params.factor; i++) {
    std::copy_n(in[i], w, padded[i]);
    rows[i] = padded[i];
  }
  add_columns(rows, params.factor, 0, scale, weight, high, low);
}

/* Over `factor` columns each. */
template <int factor>
void mean_columns(const float* high, const float* low, int count, float* out) {
  high += ssim_first_sample(0, factor);
  low += ssim_first_sample(0, factor);
  for (int x = 0; x < count; x++, high += factor, low += factor) {
    float high_sum = 0, low_sum = 0;
    VMAFX_UNROLL
    for (int i = 0; i < factor; i++) {
      high_sum += high[i];
      low_sum += low[i];
    }
    out[x] = high_sum + low_sum;
  }
}

/* `mean_columns<factor>` for each. */
template <int... factors>
auto mean_columns_of(int factor, std::integer_sequence<int, factors...>) {
  static constexpr decltype(&mean_columns<1>) kOf[] = {mean_columns<factors>...};
  return kOf[factor];
}

template <class T>
void reduce(const SsimParams& params, const Plane<const T>& in, const SsimMemory& memory, const Plane<float>& out) {
  const int factor = params.factor;
  const auto mean_columns = mean_columns_of(factor, std::make_integer_sequence<int, kMost + 1>());
  for (int y = 0; y < out.h; y++) {
    const T* rows[kMost] = {};
    Ahead ahead[kMost];
    for (int i = 0; i < factor; i++) {
      rows[i] = in.row(mirror_repeated(ssim_first_sample(y, factor) + i, in.h));
      ahead[i] = Ahead(in, ssim_first_sample(y + 1, factor) + i);
    }
    sum_columns(params, rows, ahead, in.w, memory.columns(0), memory.columns(1));
    for (const int kind : {0, 1}) extend_repeated(memory.columns(kind), in.w, std::min(factor, in.w));
    mean_columns(memory.columns(0), memory.columns(1), out.w, out.row(y));
  }
}

// -- Sources ---------------------------------------------------------------------------------------------------------

/* Both pictures at one scale: samples of 8 or 16 bit, or floats. */
template <class T>
struct Source {
  Plane<const T> planes[2];
  float scale; /* of samples */
  int w() const { return planes[0].w; }
  int h() const { return planes[0].h; }

  HWY_INLINE void prefetch_below(int picture, int y, int from, int n) const {
    const T* const later = planes[picture].row(std::min(y + 8, h() - 1)) + from;
    prefetch(later, later + n);
  }

  /* `n` samples from column `from` on as floats, in `memory` or where they are. */
  HWY_INLINE const float* row(int picture, int y, int from, int n, float* memory) const {
    prefetch_below(picture, y, from, n);
    if constexpr (std::is_same_v<T, float>) {
      return planes[picture].row(y) + from;
    } else {
      /* Whole vectors where the row has them: one stored across another would hold up what loads it. */
      samples_to_floats(planes[picture].row(y) + from, std::min(whole_vectors(n), w() - from), scale, memory);
      return memory;
    }
  }

  /* lanes() pairs of samples, apart. */
  static HWY_INLINE void split(const T* in, float scale, float* even, float* odd) {
    if constexpr (std::is_same_v<T, float>) {
      VF even_values, odd_values;
      hn::LoadInterleaved2(DF(), in, even_values, odd_values);
      store(even_values, even);
      store(odd_values, odd);
    } else {
      using Samples = hn::Rebind<T, DF>;
      hn::Vec<Samples> even_samples, odd_samples;
      hn::LoadInterleaved2(Samples(), in, even_samples, odd_samples);
      store(Real(hn::ConvertTo(DF(), hn::PromoteTo(DI(), even_samples))) * Real(scale), even);
      store(Real(hn::ConvertTo(DF(), hn::PromoteTo(DI(), odd_samples))) * Real(scale), odd);
    }
  }
};

// -- Windows ---------------------------------------------------------------------------------------------------------

struct WindowSums {
  HWY_INLINE WindowSums() : different(0) {}
  FixedSum<kSsimBits> l, c, s, lcs;
  int64_t different;
};

HWY_INLINE SsimMeans load_means(const SsimStripMeans::Row& row, int x) {
  return {load(row.ref + x), load(row.dist + x), load(row.ref_ref + x), load(row.dist_dist + x),
          load(row.ref_dist + x)};
}

HWY_INLINE void store_means(const SsimMeans& means, SsimStripMeans::Row& row, int x) {
  store(means.ref, row.ref + x);
  store(means.dist, row.dist + x);
  store(means.ref_ref, row.ref_ref + x);
  store(means.dist_dist, row.dist_dist + x);
  store(means.ref_dist, row.ref_dist + x);
}

/* A window's row of samples, as products. */
struct Along {
  Real ref[SsimWindow::kLength], dist[SsimWindow::kLength];
  HWY_INLINE Along(const float* ref_row, const float* dist_row) {
    VMAFX_UNROLL
    for (int i = 0; i < SsimWindow::kLength; i++) {
      ref[i] = load(ref_row + i);
      dist[i] = load(dist_row + i);
    }
  }
  HWY_INLINE SsimMeans operator()(int k) const {
    return ssim_products(ref[SsimWindow::kRadius + k], dist[SsimWindow::kRadius + k]);
  }
};

struct Across {
  const SsimStripMeans::Row* const* rows;
  int x;
  HWY_INLINE SsimMeans operator()(int k) const { return load_means(*rows[k], x); }
};

/* (Each of these by itself: GCC keeps more in registers.) */
HWY_NOINLINE void means_along(const float* ref, const float* dist, int windows, SsimStripMeans::Row& out) {
  for (int x = 0; x < windows; x += lanes()) store_means(ssim_means<true>(Along(ref + x, dist + x)), out, x);
}

HWY_NOINLINE void means_across(const SsimStripMeans::Row* const* rows, int windows, SsimStripMeans::Row& out) {
  for (int x = 0; x < windows; x += lanes()) store_means(ssim_means(Across{rows, x}), out, x);
}

template <bool with_l>
HWY_NOINLINE void add_values(const SsimStripMeans::Row& row, int windows, WindowSums& sums) {
  for (int x = 0; x < windows; x += lanes()) {
    const SsimMeans means = load_means(row, x);
    SsimValues values = ssim_values<with_l>(means);
    Mask different = ssim_differ(means);
    if (x + lanes() > windows) {
      for (Double* value : {&values.l, &values.c, &values.s, &values.lcs}) *value = first_lanes(*value, windows - x);
      different = different & Mask{hn::FirstN(DF(), static_cast<size_t>(windows - x))};
    }
    sums.different += count(different);
    sums.c.add(values.c);
    sums.s.add(values.s);
    if (!with_l) continue;
    sums.l.add(values.l);
    sums.lcs.add(values.lcs);
  }
}

/* All rows of `windows` windows, whose samples begin at column `from`. */
template <bool with_l, class T>
void add_strip(const Source<T>& source, int from, int windows, const SsimMemory& memory, WindowSums& sums) {
  constexpr int kRadius = SsimWindow::kRadius, kLength = SsimWindow::kLength;
  const float* samples[2][2]; /* of an even and an odd row: of each picture */
  const auto load_row = [&](int y) HWY_ATTR {
    for (const int picture : {0, 1})
      samples[y & 1][picture] =
          source.row(picture, y, from, windows + 2 * kRadius, memory.samples->along[y & 1][picture]);
  };
  load_row(0);
  for (int y = 0; y < source.h(); y++) {
    if (y + 1 < source.h()) load_row(y + 1);
    means_along(samples[y & 1][0], samples[y & 1][1], windows, memory.means->row(y));
    if (y < 2 * kRadius) continue;
    const SsimStripMeans::Row* rows[kLength];
    for (int k = 0; k < kLength; k++) rows[k] = &memory.means->row(y - 2 * kRadius + k);
    means_across(rows + kRadius, windows, memory.means->across);
    add_values<with_l>(memory.means->across, windows, sums);
  }
}

template <bool with_l, class T>
void add_windows(const Source<T>& source, const SsimMemory& memory, SsimSums& sums) {
  WindowSums all;
  const int windows = source.w() - 2 * SsimWindow::kRadius;
  for (int x = 0; x < windows; x += kSsimStrip)
    add_strip<with_l>(source, x, std::min(kSsimStrip, windows - x), memory, all);
  sums = {all.l.total(), all.c.total(), all.s.total(), all.lcs.total(), all.different};
}

// -- The next scale --------------------------------------------------------------------------------------------------

/* Splits the row around columns 2x, for `count` x from `from` on, into even and odd ones, reflected at its ends. */
template <class T>
void split_row(const Source<T>& source, int picture, int y, int from, int count, SsimStripSamples& samples) {
  constexpr int kRadius = SsimHalving::kRadius;
  const int pairs = count + kRadius, w = source.w();
  const int begin = 2 * from - kRadius, end = begin + 2 * pairs; /* columns */
  const T* in = source.planes[picture].row(mirror_repeated(y, source.h()));
  source.prefetch_below(picture, y, begin, end - begin);
  if (begin < 0 || begin + 2 * whole_vectors(pairs) > w) {
    T* const reflected = reinterpret_cast<T*>(samples.reflected) - begin; /* by column */
    const int first = std::max(begin, 0), last = std::min(end, w);
    std::copy(in + first, in + last, reflected + first);
    for (int x = begin; x < first; x++) reflected[x] = in[mirror_repeated(x, w)];
    for (int x = last; x < end; x++) reflected[x] = in[mirror_repeated(x, w)];
    in = reflected;
  }
  SsimStripSamples::Split& out = samples.split[y & 1];
  for (int x = 0; x < pairs; x += lanes())
    Source<T>::split(in + begin + 2 * x, source.scale, out.even + x, out.odd + x);
}

/* Columns 2x - kRadius to 2x + kRadius of a split row. */
struct SplitRow {
  Real columns[2 * SsimHalving::kRadius + 1];
  HWY_INLINE SplitRow(const SsimStripSamples::Split& samples, int x) {
    VMAFX_UNROLL
    for (int i = 0; i <= 2 * SsimHalving::kRadius; i++)
      columns[i] = load((i & 1 ? samples.odd : samples.even) + x + i / 2);
  }
  HWY_INLINE Real operator()(int k) const { return columns[SsimHalving::kRadius + k]; }
};

/* For rows that are an even number of rows away from the next scale's, or an odd one. */
template <bool is_odd>
HWY_NOINLINE void halve_along(const SsimStripSamples::Split& samples, int count, SsimStripHalves::Row& out) {
  for (int x = 0; x < count; x += lanes()) {
    const SplitRow row(samples, x);
    VMAFX_UNROLL
    for (int distance = is_odd; distance <= SsimHalving::kRadius; distance += 2) {
      const SsimSampleSum sum = ssim_halving_row(distance, row);
      store(sum.high(), out[distance / 2].high + x);
      store(sum.low(), out[distance / 2].low + x);
    }
  }
}

/* Row y of the next scale. */
void halve_across(SsimStripHalves& halves, int y, int count, float* out) {
  constexpr int kRadius = SsimHalving::kRadius;
  const SsimStripHalves::Part* parts[2 * kRadius + 1];
  for (int k = -kRadius; k <= kRadius; k++) parts[kRadius + k] = &halves.row(2 * y + k)[std::abs(k) / 2];
  for (int x = 0; x < count; x += lanes())
    store(ssim_halving_sum([&](int k) HWY_ATTR { return load(parts[kRadius + k]->high + x); },
                           [&](int k) HWY_ATTR { return load(parts[kRadius + k]->low + x); }),
          out + x);
}

template <class T>
void halve(const Source<T>& source, int picture, const SsimMemory& memory, const Plane<float>& out) {
  constexpr int kRadius = SsimHalving::kRadius;
  for (int from = 0; from < out.w; from += kSsimStrip) {
    const int count = std::min(kSsimStrip, out.w - from), end = 2 * out.h + kRadius - 1;
    split_row(source, picture, -kRadius, from, count, *memory.samples);
    for (int y = -kRadius; y < end; y++) {
      if (y + 1 < end) split_row(source, picture, y + 1, from, count, *memory.samples);
      const auto& samples = memory.samples->split[y & 1];
      if (y & 1) halve_along<true>(samples, count, memory.halves->row(y));
      else halve_along<false>(samples, count, memory.halves->row(y));
      if (y >= kRadius && y % 2 == 0)
        halve_across(*memory.halves, (y - kRadius) / 2, count, out.row((y - kRadius) / 2) + from);
    }
  }
}

// -- Scales ----------------------------------------------------------------------------------------------------------

/* The sums of scale `s`, and the planes of the next. */
template <class T>
void add_scale(const SsimParams& params, int s, const Source<T>& source, const SsimMemory& memory, SsimSums* sums) {
  if (params.with_l(s)) add_windows<true>(source, memory, sums[s]);
  else add_windows<false>(source, memory, sums[s]);
  if (s + 1 == params.scales) return;
  for (const int picture : {0, 1}) halve(source, picture, memory, memory.plane(s + 1, picture));
}

template <class T>
void add_scales(const SsimParams& params, const Plane<const T>& ref, const Plane<const T>& dist,
                const SsimMemory& memory, SsimSums* sums) {
  if (params.factor == 1) {
    add_scale(params, 0, Source<T>{{ref, dist}, scale_to_8_bits(params.bpc)}, memory, sums);
  } else {
    reduce(params, ref, memory, memory.plane(0, 0));
    reduce(params, dist, memory, memory.plane(0, 1));
  }
  for (int s = params.factor == 1 ? 1 : 0; s < params.scales; s++)
    add_scale(params, s, Source<float>{{memory.plane(s, 0).to_read(), memory.plane(s, 1).to_read()}, 1}, memory, sums);
}

void ssim(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
          SsimSums& first) {
  SsimSums* const sums = &first;
  const SsimMemory memory(params, scratch);
  if (params.bpc == 8) add_scales(params, ref.as<uint8_t>(), dist.as<uint8_t>(), memory, sums);
  else add_scales(params, ref.as<uint16_t>(), dist.as<uint16_t>(), memory, sums);
}

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(ssim);

size_t ssim_scratch_bytes_simd(const SsimParams& params) { return SsimMemory(params, nullptr).bytes(); }

void ssim_simd(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               SsimSums& sums) {
  HWY_DYNAMIC_DISPATCH(ssim)(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
#endif
