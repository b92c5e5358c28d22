/* float_ssim and float_ms_ssim, the SIMD twin: one source for every instruction set, equal to ssim_ref.cpp to the last
 * bit.
 *
 * Rows go through all scales as they come: a ring holds the latest rows of each scale. A new one completes a row of
 * windows, and every second one a row of the next scale. Nothing larger than a few rows is kept.
 *
 * Floor of float_ms_ssim for a 1920x1080 frame on AVX-512: 16 of its 2.8 million windows take 113 operations across
 * rows, 80 along them and 35 for the losses, on two ports 114 cycles: 20 million cycles, 6.5 ms at 3 GHz. Measured 11.0:
 * the 55 shifted loads along rows cross cache lines. float_ssim has a sixteenth of the windows; measured 1.1 ms. */
#include "kernels/ssim/ssim.h"

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

// -- Windows ---------------------------------------------------------------------------------------------------------

/* A sum over lanes, in 32 bits until they could overflow. */
class LossSum {
 public:
  HWY_INLINE LossSum() : near_(0) {}
  HWY_INLINE void add(Integer v) { near_ = near_ + v; }
  HWY_INLINE void settle() {
    sum_.add(near_);
    near_ = Integer(0);
  }
  HWY_INLINE int64_t total() const { return sum_.total(); }

 private:
  Integer near_;
  IntegerSum sum_;
};

HWY_INLINE Integer first_lanes(int count, Integer v) {
  return hn::IfThenElseZero(hn::FirstN(DI(), static_cast<size_t>(count)), v.v);
}

HWY_INLINE Real mean_along(const float* row) {
  return symmetric_sum<SsimWindow>(AlongRow{row + SsimWindow::kRadius});
}

/* A row of `w` columns, of which rows[-kRadius] to rows[kRadius] are under the windows. */
void means_across(const float* const* ref, const float* const* diff, int w, const SsimMeanRows& out) {
  for (int x = 0; x < w; x += lanes()) {
    const SsimMeans mean = ssim_means_across(AcrossRows{ref, x}, AcrossRows{diff, x});
    store(mean.ref, out.ref + x);
    store(mean.diff, out.diff + x);
    store(mean.ref_ref, out.ref_ref + x);
    store(mean.diff_diff, out.diff_diff + x);
    store(mean.ref_diff, out.ref_diff + x);
  }
}

HWY_INLINE SsimMeans means_along(const SsimMeanRows& in, int x) {
  return {mean_along(in.ref + x), mean_along(in.diff + x), mean_along(in.ref_ref + x), mean_along(in.diff_diff + x),
          mean_along(in.ref_diff + x)};
}

template <bool with_l>
void add_windows(const SsimMeanRows& in, int windows, SsimSums& sums) {
  LossSum l, c, s, lcs;
  for (int x = 0, settle = 0; x < windows; x += lanes()) {
    const SsimLosses loss = ssim_losses<with_l>(means_along(in, x));
    const int count = windows - x;
    c.add(first_lanes(count, ssim_fixed(loss.c)));
    s.add(first_lanes(count, ssim_fixed(loss.s)));
    if (with_l) {
      l.add(first_lanes(count, ssim_fixed(loss.l)));
      lcs.add(first_lanes(count, ssim_fixed(loss.lcs)));
    }
    if (++settle % 8 && x + lanes() < windows) continue;
    static_assert(8 <= kSsimMostIn32Bits);
    c.settle();
    s.settle();
    l.settle();
    lcs.settle();
  }
  sums.c += c.total();
  sums.s += s.total();
  sums.l += l.total();
  sums.lcs += lcs.total();
}

// -- Scales ----------------------------------------------------------------------------------------------------------

/* Row `y` of the next scale from the rows around row 2y. `between` has room for kRadius floats before it. */
void halve(const float* const* rows, int w, float* between, float* out) {
  filter_across<SsimHalving>(rows, w, between);
  extend_repeated(between, w, SsimHalving::kRadius);
  for (int x = 0; x < ssim_halved(w); x += lanes())
    store(symmetric_sum<SsimHalving>(EverySecond{between + 2 * x}), out + x);
}

class Rows {
 public:
  HWY_INLINE Rows(const SsimParams& params, std::byte* scratch, SsimSums* sums)
      : params_(params), memory_(params, scratch), sums_(sums) {}

  void run(const SamplePlane& ref, const SamplePlane& dist) {
    for (int y = 0; y < memory_.scale(0).h; y++) {
      float *const ref_row = memory_.scale(0).row(0, y), *const diff_row = memory_.scale(0).row(1, y);
      reduce_row(params_, ref, y, memory_.columns(), ref_row);
      reduce_row(params_, dist, y, memory_.columns(), diff_row);
      for (int x = 0; x < memory_.scale(0).w; x += lanes()) store(load(ref_row + x) - load(diff_row + x), diff_row + x);
      row_is_there(0, y);
    }
  }

 private:
  /* Row y of scale s has come. */
  void row_is_there(int s, int y) {
    const SsimScaleRows& rows = memory_.scale(s);
    if (y >= SsimWindow::kLength - 1) add_windows_around(s, y - SsimWindow::kRadius);
    if (s + 1 == params_.scales) return;
    const int last = y == rows.h - 1 ? ssim_halved(rows.h) - 1 : (y - SsimHalving::kRadius) / 2;
    if (y < SsimHalving::kRadius && y < rows.h - 1) return;
    for (; made_[s + 1] <= last; made_[s + 1]++) halve_around(s, made_[s + 1]);
  }

  void halve_around(int s, int next_y) {
    constexpr int kRadius = SsimHalving::kRadius;
    const SsimScaleRows &rows = memory_.scale(s), &next = memory_.scale(s + 1);
    for (int kind = 0; kind < 2; kind++) {
      const float* around[2 * kRadius + 1];
      for (int k = -kRadius; k <= kRadius; k++)
        around[kRadius + k] = rows.row(kind, mirror_repeated(2 * next_y + k, rows.h));
      halve(around + kRadius, rows.w, memory_.between(), next.row(kind, next_y));
    }
    row_is_there(s + 1, next_y);
  }

  void add_windows_around(int s, int y) {
    constexpr int kRadius = SsimWindow::kRadius;
    const SsimScaleRows& rows = memory_.scale(s);
    const float *ref[SsimWindow::kLength], *diff[SsimWindow::kLength];
    for (int k = -kRadius; k <= kRadius; k++) {
      ref[kRadius + k] = rows.row(0, y + k);
      diff[kRadius + k] = rows.row(1, y + k);
    }
    means_across(ref + kRadius, diff + kRadius, rows.w, memory_.means());
    const int windows = rows.w - 2 * kRadius;
    if (params_.with_l(s)) add_windows<true>(memory_.means(), windows, sums_[s]);
    else add_windows<false>(memory_.means(), windows, sums_[s]);
  }

  const SsimParams& params_;
  const SsimMemory memory_;
  SsimSums* const sums_;
  int made_[kMsSsimScales] = {};  // rows of each scale but the first
};

void ssim(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
          SsimSums* sums) {
  Rows(params, scratch, sums).run(ref, dist);
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
