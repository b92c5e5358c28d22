/* The arithmetic of one window of float_ssim and float_ms_ssim, for all twins (twin-inl.h). */
#if defined(VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H
#undef VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H
#else
#define VMAFX_KERNELS_SSIM_SSIM_MATH_INL_H
#endif

#include "kernels/common/rows-inl.h"
#include "kernels/ssim/ssim_math.h"

VMAFX_TWIN_BEGIN

/* Weighted means over a window: of the reference, of the difference ref - dist, and of their products. In float, the
 * variances of bright samples are off by some 0.01. With differences that is the same error for both pictures, and
 * cancels out. */
struct SsimMeans {
  Real ref, diff, ref_ref, diff_diff, ref_diff;
};

/* Across the rows of a window, in one go: symmetric_sum<SsimWindow>() of each. */
template <class Ref, class Diff>
VMAFX_TWIN SsimMeans ssim_means_across(Ref ref, Diff diff) {
  const Real r = ref(0), d = diff(0), centre = Real(SsimWindow::tap(0));
  SsimMeans sum = {centre * r, centre * d, centre * (r * r), centre * (d * d), centre * (r * d)};
  VMAFX_UNROLL
  for (int k = 1; k <= SsimWindow::kRadius; k++) {
    const Real tap = Real(SsimWindow::tap(k)), r1 = ref(-k), r2 = ref(k), d1 = diff(-k), d2 = diff(k);
    sum.ref += tap * (r1 + r2);
    sum.diff += tap * (d1 + d2);
    sum.ref_ref += tap * (r1 * r1 + r2 * r2);
    sum.diff_diff += tap * (d1 * d1 + d2 * d2);
    sum.ref_diff += tap * (r1 * d1 + r2 * d2);
  }
  return sum;
}

/* What luminance, contrast, structure and their product lack to 1: 0 where the pictures are equal, at most about 2. */
struct SsimLosses {
  Real l, c, s, lcs;
};

/* l and lcs are 0 unless `with_l`. */
template <bool with_l>
VMAFX_TWIN SsimLosses ssim_losses(const SsimMeans& mean) {
  const Real zero = Real(0.f), one = Real(1.f);
  const Real ref_sq = mean.ref * mean.ref, diff_sq = mean.diff * mean.diff;
  /* Of ref; of ref and diff. */
  const Real variance = mean.ref_ref - ref_sq, covariance = mean.ref_diff - mean.ref * mean.diff;
  const Real noisy_yy = variance + (mean.diff_diff - diff_sq - (covariance + covariance));
  const Real noisy_xy = variance - covariance;
  const Real xx = maximum(variance, zero), yy = maximum(noisy_yy, zero), deviations = square_root(xx * yy);
  /* Where one of the pictures is flat, a negative covariance is noise. */
  const Real xy = select(deviations > zero, noisy_xy, maximum(noisy_xy, zero));

  SsimLosses loss = {zero, zero, zero, zero};
  loss.c = (xx + yy - (deviations + deviations)) / (xx + yy + Real(kSsimC2));
  loss.s = (deviations - xy) / (deviations + Real(kSsimC3));
  if constexpr (with_l) {
    const Real dist = mean.ref - mean.diff;
    loss.l = diff_sq / (ref_sq + dist * dist + Real(kSsimC1));
    loss.lcs = one - (one - loss.l) * (one - loss.c) * (one - loss.s);
  }
  return loss;
}

VMAFX_TWIN Integer ssim_fixed(Real loss) { return truncated(loss * Real(static_cast<float>(1 << kSsimBits))); }

VMAFX_TWIN_END

#endif
