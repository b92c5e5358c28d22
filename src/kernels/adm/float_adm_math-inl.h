/* The arithmetic of float_adm per sample, for the definition, the SIMD twin and the kernels
 * (kernels/arithmetic/twin-inl.h). */
#if defined(VMAFX_KERNELS_ADM_FLOAT_ADM_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_ADM_FLOAT_ADM_MATH_INL_H
#undef VMAFX_KERNELS_ADM_FLOAT_ADM_MATH_INL_H
#else
#define VMAFX_KERNELS_ADM_FLOAT_ADM_MATH_INL_H
#endif

#include "kernels/adm/float_adm_math.h"
#include "kernels/arithmetic/transcendental-inl.h"
#include "kernels/arithmetic/twin-inl.h"

VMAFX_TWIN_BEGIN

/* -- Wavelet transform: Daubechies, two vanishing moments (db2), of samples 2i-1, 2i, 2i+1, 2i+2. */
VMAFX_TWIN Real float_adm_filtered(float tap0, float tap1, float tap2, float tap3, Real a, Real b, Real c, Real d) {
  return ((Real(tap0) * a + Real(tap1) * b) + Real(tap2) * c) + Real(tap3) * d;
}
VMAFX_TWIN Real float_adm_low_pass(Real a, Real b, Real c, Real d) {
  return float_adm_filtered(0.482962913144690f, 0.836516303737469f, 0.224143868041857f, -0.129409522550921f, a, b, c,
                            d);
}
VMAFX_TWIN Real float_adm_high_pass(Real a, Real b, Real c, Real d) {
  return float_adm_filtered(-0.129409522550921f, -0.224143868041857f, 0.836516303737469f, -0.482962913144690f, a, b, c,
                            d);
}

/* -- Decoupling ---------------------------------------------------------------------------------------------------- */

/* Whether the gradients (h, v) of o and t are less than a degree apart: o·t = |o| |t| cos(angle). */
VMAFX_TWIN Mask float_adm_aligned(Real oh, Real ov, Real th, Real tv) {
  const Real cos_squared(0.99969541350954785f);  // cos² 1°
  const Real dot = oh * th + ov * tv;
  const Real o_squared = oh * oh + ov * ov, t_squared = th * th + tv * tv;
  return (dot >= Real(0)) && (dot * dot >= cos_squared * o_squared * t_squared);
}

/* 1 / x to 12 bits, where x is normal and below 2^126. */
VMAFX_TWIN Real float_adm_reciprocal(Real x) {
  const Integer ab = shifted_right<15>(bits(x)) & Integer(0xff);
  const Integer ac = (ab & Integer(0xf0)) | (shifted_right<11>(bits(x)) & Integer(0x0f));
  const Integer mantissa = entry(kFloatAdmReciprocal, ab) - entry(kFloatAdmReciprocalStep, ac);
  const Integer exponent = Integer(253 << 23) - (bits(x) & Integer(0x7f800000));
  return from_bits((bits(x) & Integer(INT32_MIN)) | (exponent + shifted_left<11>(mantissa)));
}

/* 1 / x, with a step of Newton's. */
VMAFX_TWIN Real float_adm_inverse(Real x) {
  const Real near = float_adm_reciprocal(x);
  return near + near * (Real(1) - x * near);
}

/* The factor that makes ratios to a coefficient of the reference, which may be 0, from coefficients of encodes. */
VMAFX_TWIN Real float_adm_per_ref(Real o) { return float_adm_inverse(o + Real(1e-30f)); }

/* The part of t that lies between 0 and o; but where the gradients are aligned, the contrast was changed rather than
 * the detail, and the part is up to gain_limit times that. */
VMAFX_TWIN Real float_adm_restored(Real o, Real per_ref, Real t, Mask aligned, double gain_limit) {
  const Real zero(0), ratio = t * per_ref;
  const Real part = minimum(maximum(ratio, zero), Real(1)) * o, bound = narrowed(widened(part) * Double(gain_limit));
  return select(aligned, maximum(minimum(t, maximum(bound, zero)), minimum(bound, zero)), part);
}
VMAFX_TWIN Real float_adm_restored(Real o, Real t, Mask aligned, double gain_limit) {
  return float_adm_restored(o, float_adm_per_ref(o), t, aligned, gain_limit);
}

/* -- Contrast sensitivity and masking ------------------------------------------------------------------------------ */

VMAFX_TWIN Real float_adm_weighted(Real coefficient, Real weight) { return absolute(coefficient * weight); }

/* The share of a magnitude in the thresholds around it. The constants are libvmaf's for 1/30 and 1/15. */
VMAFX_TWIN Real float_adm_share(Real magnitude) { return narrowed(widened(magnitude) * Double(0.0333333351)); }

/* A band's part of the threshold: share(dx, dy) of the neighbors and the magnitude here, along the rows of the
 * window. */
template <class Share>
VMAFX_TWIN Real float_adm_masking(Share share, Real here) {
  const Real before = ((share(-1, -1) + share(0, -1)) + share(1, -1)) + share(-1, 0);
  const Real center = narrowed(widened(before) + widened(here) * Double(0.0666666701));
  return (((center + share(1, 0)) + share(-1, 1)) + share(0, 1)) + share(1, 1);
}

VMAFX_TWIN Real float_adm_threshold(Real h, Real v, Real d) { return (h + v) + d; }

VMAFX_TWIN Real float_adm_excess(Real magnitude, Real threshold) { return maximum(magnitude - threshold, Real(0)); }

/* -- Powers, of x in [0, 16) --------------------------------------------------------------------------------------- */

VMAFX_TWIN Real float_adm_cube(Real x) { return (x * x) * x; }

struct FloatAdmPower {
  Integer bin;  // kFloatAdmBins or more for what is too small to count, as 0 is
  Real power;
};

VMAFX_TWIN FloatAdmPower float_adm_power(Real x, float p_norm) {
  constexpr int kHalf = 126;  // the biased exponent of what is in [1/2, 1)
  const Real y = from_bits((bits(x) & Integer(0x7fffff)) | Integer(kHalf << 23));
  return {Integer(kHalf + kFloatAdmMostExponent) - shifted_right<23>(bits(x)),
          power_of_2(Real(p_norm) * logarithm2(y))};
}

VMAFX_TWIN_END

#endif
