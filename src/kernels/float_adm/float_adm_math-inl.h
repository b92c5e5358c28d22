/* The arithmetic of float_adm per sample, for the definition, the SIMD twin and the kernels (kernels/common/twin-inl.h). */
#if defined(VMAFX_KERNELS_FLOAT_ADM_FLOAT_ADM_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_FLOAT_ADM_FLOAT_ADM_MATH_INL_H
#undef VMAFX_KERNELS_FLOAT_ADM_FLOAT_ADM_MATH_INL_H
#else
#define VMAFX_KERNELS_FLOAT_ADM_FLOAT_ADM_MATH_INL_H
#endif

#include "kernels/common/transcendental-inl.h"
#include "kernels/common/twin-inl.h"
#include "kernels/float_adm/float_adm_math.h"

VMAFX_TWIN_BEGIN

/* -- Wavelet transform: Daubechies, two vanishing moments (db2), of samples 2i-1, 2i, 2i+1, 2i+2. */
VMAFX_TWIN Real float_adm_filtered(float tap0, float tap1, float tap2, float tap3, Real a, Real b, Real c, Real d) {
  return ((Real(tap0) * a + Real(tap1) * b) + Real(tap2) * c) + Real(tap3) * d;
}
VMAFX_TWIN Real float_adm_low_pass(Real a, Real b, Real c, Real d) {
  return float_adm_filtered(0.482962913144690f, 0.836516303737469f, 0.224143868041857f, -0.129409522550921f, a, b, c, d);
}
VMAFX_TWIN Real float_adm_high_pass(Real a, Real b, Real c, Real d) {
  return float_adm_filtered(-0.129409522550921f, -0.224143868041857f, 0.836516303737469f, -0.482962913144690f, a, b, c, d);
}

/* -- Decoupling ---------------------------------------------------------------------------------------------------- */

/* Whether the gradients (h, v) of o and t are less than a degree apart: o·t = |o| |t| cos(angle). */
VMAFX_TWIN Mask float_adm_aligned(Real oh, Real ov, Real th, Real tv) {
  const Real cos_squared(0.99969541350954785f);  // cos² 1°
  const Real dot = oh * th + ov * tv;
  const Real o_squared = oh * oh + ov * ov, t_squared = th * th + tv * tv;
  return (dot >= Real(0)) && (dot * dot >= cos_squared * o_squared * t_squared);
}

/* What a restored coefficient may be, in multiples of the reference's: aligned gradients mean that the contrast was changed rather than
 * the detail. */
VMAFX_TWIN Real float_adm_most(Mask aligned, float gain_limit) { return select(aligned, Real(gain_limit), Real(1)); }

/* The part of t that lies between 0 and most · o. */
VMAFX_TWIN Real float_adm_restored(Real o, Real t, Real most) {
  const Real bound = o * most, zero(0);
  return maximum(minimum(t, maximum(bound, zero)), minimum(bound, zero));
}

/* -- Contrast sensitivity and masking ------------------------------------------------------------------------------ */

VMAFX_TWIN Real float_adm_weighted(Real coefficient, Real weight) { return absolute(coefficient * weight); }

/* What a sample adds to the masks around it: its bands together. */
VMAFX_TWIN Real float_adm_mask(Real h, Real v, Real d) { return (h + v) + d; }

/* Three rows of a masking window in one column. */
VMAFX_TWIN Real float_adm_column(Real above, Real here, Real below) { return (above + here) + below; }

/* Neighbours count 1/30 and the centre 1/15. */
VMAFX_TWIN Real float_adm_threshold(Real left, Real middle, Real right, Real centre) {
  return (((left + middle) + right) + centre) * Real(1 / 30.f);
}

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
  return {Integer(kHalf + kFloatAdmMostExponent) - shifted_right<23>(bits(x)), power_of_2(Real(p_norm) * logarithm2(y))};
}

VMAFX_TWIN_END

#endif
