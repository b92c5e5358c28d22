/* c of one sample, or of a vector of them: see kernels/arithmetic/twin-inl.h. */
#if defined(VMAFX_KERNELS_CAMBI_CAMBI_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_CAMBI_CAMBI_MATH_INL_H
#undef VMAFX_KERNELS_CAMBI_CAMBI_MATH_INL_H
#else
#define VMAFX_KERNELS_CAMBI_CAMBI_MATH_INL_H
#endif

#include "kernels/arithmetic/twin-inl.h"
#include "kernels/cambi/cambi_math.h"

VMAFX_TWIN_BEGIN

VMAFX_TWIN Real cambi_reciprocal(Real n, bool tabulated) {
  if (!tabulated) return Real(1) / n;
  return entry(kCambiReciprocalOf.of, truncated(minimum(n, Real(static_cast<float>(kCambiReciprocals - 1)))));
}

/* The contrast by weight · p(±d), p(0) and the reciprocal of p(0) + p(±d). p(0) is not 0. */
VMAFX_TWIN Real cambi_contrast(Real weighted, Real center, Real reciprocal) { return weighted * center * reciprocal; }
/* c of one step. */
VMAFX_TWIN Real cambi_step(Real weight, Real center, Real beside, bool tabulated) {
  return cambi_contrast(weight * beside, center, cambi_reciprocal(center + beside, tabulated));
}

VMAFX_TWIN Integer cambi_key(Real c) {
  return select(c > Real(0.f), bits(c) - Integer(static_cast<int32_t>(kCambiNoKey)), Integer(0));
}

VMAFX_TWIN_END
#endif
