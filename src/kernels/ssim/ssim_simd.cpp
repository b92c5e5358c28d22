/* float_ssim and float_ms_ssim, the SIMD twin: one source for every instruction set, equal to ssim_ref.cpp to the last
 * bit.
 *
 * Scale by scale, strip by strip: a strip's rows are filtered along as they come, a ring in the first cache holds the
 * latest for the filter across.
 *
 * Floor of float_ms_ssim for a 1920x1080 frame on AVX-512, where adding and multiplying take turns on four ports half a
 * vector wide: 16 of its 2.8 million windows take 47 operations for each of ten sums and 60 for losses, 265 cycles; 16
 * of the 1.4 million samples of next scales 240, 120 cycles. Together 56 million cycles, 15 ms at 3.66 GHz. Measured
 * 22. */
#include "kernels/ssim/ssim.h"

#include <algorithm>

#include "kernels/ssim/ssim_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ssim/ssim_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/ssim/ssim_math-inl.h"
#include "kernels/ssim/ssim_reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

// -- Sources ---------------------------------------------------------------------------------------------------------

/* Both pictures at one scale. row() gives `n` samples from column `from` on as floats, in `memory` or where they are.
 * */
struct PlaneSource {
  Plane<float> planes[2];
  HWY_INLINE const float* row(int picture, int y, int from, int, float*) const { return planes[picture].row(y) + from; }
};

template <class T>
struct SampleSource {
  Plane<const T> planes[2];
  float scale;
  HWY_INLINE const float* row(int picture, int y, int from, int n, float* memory) const {
    /* Down a strip nothing foresees what is next. */
    const T* const later = planes[picture].row(std::min(y + 8, planes[picture].h - 1)) + from;
    for (int i = 0; i < n; i += kCacheLine / static_cast<int>(sizeof(T))) __builtin_prefetch(later + i);
    samples_to_floats(planes[picture].row(y) + from, n, scale, memory);
    return memory;
  }
};

// -- Windows ---------------------------------------------------------------------------------------------------------

struct LossSums {
  HWY_INLINE LossSums() {}
  IntegerSum l, c, s, lcs;
};

template <int n>
HWY_INLINE SsimMeans load_means(const SsimMeanRow<n>& row, int x) {
  return {load(row.ref + x), load(row.dist + x), load(row.ref_ref + x), load(row.dist_dist + x),
          load(row.ref_dist + x)};
}

template <int n>
HWY_INLINE void store_means(const SsimMeans& means, SsimMeanRow<n>& row, int x) {
  store(means.ref, row.ref + x);
  store(means.dist, row.dist + x);
  store(means.ref_ref, row.ref_ref + x);
  store(means.dist_dist, row.dist_dist + x);
  store(means.ref_dist, row.ref_dist + x);
}

struct Along {
  const SsimStripSamples::Products& row;
  int x;
  HWY_INLINE SsimMeans operator()(int k) const { return load_means(row, x + k); }
};

struct Across {
  const SsimStripMeans::Row* const* rows;
  int x;
  HWY_INLINE SsimMeans operator()(int k) const { return load_means(*rows[k], x); }
};

/* Of `n` columns. */
void multiply(const float* ref, const float* dist, int n, SsimStripSamples::Products& out) {
  for (int x = 0; x < n; x += lanes()) store_means(ssim_products(load(ref + x), load(dist + x)), out, x);
}

/* (Each of these by itself: GCC keeps more in registers.) */
HWY_NOINLINE void means_along(const SsimStripSamples::Products& in, int windows, SsimStripMeans::Row& out) {
  for (int x = 0; x < windows; x += lanes()) store_means(ssim_means(Along{in, x + SsimWindow::kRadius}), out, x);
}

HWY_NOINLINE void means_across(const SsimStripMeans::Row* const* rows, int windows, SsimStripMeans::Row& out) {
  for (int x = 0; x < windows; x += lanes()) store_means(ssim_means(Across{rows, x}), out, x);
}

template <bool with_l>
HWY_NOINLINE void add_losses(const SsimStripMeans::Row& means, int windows, LossSums& sums) {
  for (int x = 0; x < windows; x += lanes()) {
    const SsimLosses loss = ssim_losses<with_l>(load_means(means, x));
    const auto first = hn::FirstN(DI(), static_cast<size_t>(windows - x));
    const auto counted = [first](Real part) HWY_ATTR { return hn::IfThenElseZero(first, ssim_fixed(part).v); };
    sums.c.add(counted(loss.c));
    sums.s.add(counted(loss.s));
    if (!with_l) continue;
    sums.l.add(counted(loss.l));
    sums.lcs.add(counted(loss.lcs));
  }
}

/* All rows of `windows` windows, whose samples begin at column `from`. */
template <bool with_l, class Source>
void add_strip(const Source& source, int h, int from, int windows, const SsimMemory& memory, LossSums& sums) {
  constexpr int kRadius = SsimWindow::kRadius, kLength = SsimWindow::kLength;
  const int columns = windows + 2 * kRadius;
  const auto multiply_row = [&](int y) HWY_ATTR {
    const float *const ref = source.row(0, y, from, columns, memory.samples->along[0]),
                *const dist = source.row(1, y, from, columns, memory.samples->along[1]);
    multiply(ref, dist, columns, memory.samples->products(y));
  };
  multiply_row(0);
  for (int y = 0; y < h; y++) {
    if (y + 1 < h) multiply_row(y + 1); /* early: loads across what was just stored would wait */
    means_along(memory.samples->products(y), windows, memory.means->row(y));
    if (y < 2 * kRadius) continue;
    const SsimStripMeans::Row* rows[kLength];
    for (int k = 0; k < kLength; k++) rows[k] = &memory.means->row(y - 2 * kRadius + k);
    means_across(rows + kRadius, windows, memory.means->across);
    add_losses<with_l>(memory.means->across, windows, sums);
  }
}

template <bool with_l, class Source>
void add_windows(const Source& source, int w, int h, const SsimMemory& memory, SsimSums& sums) {
  LossSums losses;
  const int windows = w - 2 * SsimWindow::kRadius;
  for (int x = 0; x < windows; x += kSsimStrip)
    add_strip<with_l>(source, h, x, std::min(kSsimStrip, windows - x), memory, losses);
  sums = {losses.l.total(), losses.c.total(), losses.s.total(), losses.lcs.total()};
}

// -- The next scale --------------------------------------------------------------------------------------------------

/* Splits the row around columns 2x, for `count` x from `from` on, into even and odd ones, reflected at its ends. */
template <class Source>
void split_row(const Source& source, int picture, int y, int w, int from, int count, SsimStripSamples& samples) {
  constexpr int kRadius = SsimHalving::kRadius;
  const int begin = 2 * from - kRadius, end = 2 * (from + count) + kRadius; /* columns */
  const int first = std::max(begin, 0), last = std::min(end, w);
  float* const row = samples.along[0] - begin; /* by column */
  const float* const there = source.row(picture, y, first, last - first, row + first);
  if (there != row + first) std::copy_n(there, last - first, row + first);
  for (int x = begin; x < 0; x++) row[x] = row[mirror_repeated(x, w)];
  for (int x = w; x < end; x++) row[x] = row[mirror_repeated(x, w)];
  for (int x = 0; x < count + kRadius; x += lanes()) {
    VF even, odd;
    hn::LoadInterleaved2(DF(), samples.along[0] + 2 * x, even, odd);
    store(even, samples.even + x);
    store(odd, samples.odd + x);
  }
}

/* Columns 2x + k of a split row. */
struct SplitRow {
  const float *even, *odd;
  HWY_INLINE Real operator()(int k) const {
    const int i = (k + SsimHalving::kRadius) / 2;
    return load((k & 1 ? odd : even) + i);
  }
};

void halve_along(const SsimStripSamples& samples, int y, int count, SsimStripHalves::Row& out) {
  for (int part = 0; 2 * part + (y & 1) <= SsimHalving::kRadius; part++)
    for (int x = 0; x < count; x += lanes()) {
      const SsimSampleSum sum =
          ssim_halving_row(2 * part + (y & 1), SplitRow{samples.even + x, samples.odd + x});
      store(sum.high(), out[part].high + x);
      store(sum.low(), out[part].low + x);
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

template <class Source>
void halve(const Source& source, int picture, int w, int h, const SsimMemory& memory, const Plane<float>& out) {
  constexpr int kRadius = SsimHalving::kRadius;
  for (int from = 0; from < out.w; from += kSsimStrip) {
    const int count = std::min(kSsimStrip, out.w - from);
    for (int y = -kRadius; y < 2 * out.h + kRadius - 1; y++) {
      split_row(source, picture, mirror_repeated(y, h), w, from, count, *memory.samples);
      halve_along(*memory.samples, y, count, memory.halves->row(y));
      if (y >= kRadius && y % 2 == 0)
        halve_across(*memory.halves, (y - kRadius) / 2, count, out.row((y - kRadius) / 2) + from);
    }
  }
}

// -- Scales ----------------------------------------------------------------------------------------------------------

/* The sums of scale `s`, and the planes of the next. */
template <class Source>
void add_scale(const SsimParams& params, int s, const Source& source, const SsimMemory& memory, SsimSums* sums) {
  const int w = memory.plane(s, 0).w, h = memory.plane(s, 0).h;
  if (params.with_l(s)) add_windows<true>(source, w, h, memory, sums[s]);
  else add_windows<false>(source, w, h, memory, sums[s]);
  if (s + 1 == params.scales) return;
  for (const int picture : {0, 1}) halve(source, picture, w, h, memory, memory.plane(s + 1, picture));
}

template <class T>
void add_scales(const SsimParams& params, const Plane<const T>& ref, const Plane<const T>& dist,
                const SsimMemory& memory, SsimSums* sums) {
  if (params.factor == 1) {
    add_scale(params, 0, SampleSource<T>{{ref, dist}, scale_to_8_bits(params.bpc)}, memory, sums);
  } else {
    reduce(params, ref, memory, memory.plane(0, 0));
    reduce(params, dist, memory, memory.plane(0, 1));
  }
  for (int s = params.factor == 1 ? 1 : 0; s < params.scales; s++)
    add_scale(params, s, PlaneSource{{memory.plane(s, 0), memory.plane(s, 1)}}, memory, sums);
}

void ssim(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
          SsimSums* sums) {
  const SsimMemory memory(params, scratch);
  if (params.bpc == 8) add_scales(params, ref.as<uint8_t>(), dist.as<uint8_t>(), memory, sums);
  else add_scales(params, ref.as<uint16_t>(), dist.as<uint16_t>(), memory, sums);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(ssim);

size_t ssim_scratch_bytes_simd(const SsimParams& params) { return SsimMemory(params, nullptr).bytes(); }

void ssim_simd(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               SsimSums* sums) {
  HWY_DYNAMIC_DISPATCH(ssim)(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
#endif
