/* The arithmetic of float_vif for one sample, and for vectors of them (kernels/arithmetic/twin-inl.h). */
#if defined(VMAFX_KERNELS_VIF_FLOAT_VIF_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_VIF_FLOAT_VIF_MATH_INL_H
#undef VMAFX_KERNELS_VIF_FLOAT_VIF_MATH_INL_H
#else
#define VMAFX_KERNELS_VIF_FLOAT_VIF_MATH_INL_H
#endif

#include "kernels/steps/rows-inl.h"
#include "kernels/vif/float_vif_math.h"

VMAFX_TWIN_BEGIN

/* The logarithm of x >= 1, to 1e-6; 128 for infinity. */
VMAFX_TWIN Real float_vif_log2(Real x) {
  const Integer word = bits(x);
  const Real exponent = real(shifted_right<23>(word) - Integer(127));
  const Real rest = from_bits((word & Integer(0x7fffff)) | Integer(0x3f800000)) - Real(1.0f);
  Real sum = Real(kFloatVifLog2[0]);
  VMAFX_UNROLL
  for (int k = 1; k < kFloatVifLog2Terms; k++) sum = sum * rest + Real(kFloatVifLog2[k]);
  return exponent + sum * rest;
}

/* Means in the window around a sample. */
struct FloatVifMeans {
  Real mu1, mu2, xx, yy, xy;
};

/* The sums of a frame show the rounding of each operation here, and which are in double: all are libvmaf's. */
VMAFX_TWIN void float_vif_sample(const FloatVifMeans& mean, const FloatVifEye& eye, Real& num, Real& den) {
  const Real zero = Real(0.0f), one = Real(1.0f), eps = Real(1.0e-10f);
  Real s1 = maximum(mean.xx - mean.mu1 * mean.mu1, zero);
  const Real s2 = maximum(mean.yy - mean.mu2 * mean.mu2, zero), s12 = mean.xy - mean.mu1 * mean.mu2;

  Real g = s12 / (s1 + eps);
  Real sv = s2 - g * s12;
  const Mask flat_ref = s1 < eps, flat_dist = s2 < eps, against = s12 < zero;
  s1 = select(flat_ref, zero, s1);
  sv = select(flat_ref || against, s2, sv);
  sv = maximum(select(flat_dist, zero, sv), eps);
  g = minimum(select(flat_ref || flat_dist || against, zero, g), Real(eye.gain_limit));

  const Mask noise_alone = s1 < Real(eye.least_variance);
  const Double noise = Double(eye.noise), whole = Double(1.0);
  const Real seen = float_vif_log2(narrowed(whole + widened(g * g * s1) / (widened(sv) + noise)));
  /* From s1 = n on, and only there it counts, the ratio in float is the one in double, rounded. */
  Real ratio = one + s1 * Real(eye.inverse_noise);
  if (eye.inverse_noise == 0) ratio = narrowed(whole + widened(s1) / noise);
  /* Without noise it is infinite or no number. */
  const Real there = float_vif_log2(minimum(ratio, from_bits(Integer(0x7f800000))));
  num = select(noise_alone, one - s2 * Real(eye.flat_loss), seen);
  den = select(noise_alone, one, there);
}

VMAFX_TWIN_END

#endif
