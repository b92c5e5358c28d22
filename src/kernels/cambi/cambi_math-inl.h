/* c of one sample, or of a vector of them: see kernels/common/twin-inl.h. */
#if defined(VMAFX_KERNELS_CAMBI_CAMBI_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_CAMBI_CAMBI_MATH_INL_H
#undef VMAFX_KERNELS_CAMBI_CAMBI_MATH_INL_H
#else
#define VMAFX_KERNELS_CAMBI_CAMBI_MATH_INL_H
#endif

#include "kernels/common/twin-inl.h"
VMAFX_TWIN_BEGIN

/* The largest quotient so far, without dividing: a / b > c / d where a · d > c · b. */
struct CambiContrast {
  Real weighted, total;  // weight · p(±d), p(0) + p(±d)
};

/* p(0) is not 0. */
VMAFX_TWIN CambiContrast cambi_larger(CambiContrast best, Real weight, Real center, Real beside) {
  const Real weighted = weight * beside, total = center + beside;
  const Mask more = weighted * best.total > best.weighted * total;
  return {select(more, weighted, best.weighted), select(more, total, best.total)};
}

VMAFX_TWIN Integer cambi_key(CambiContrast best, Real center, Real key_scale) {
  return truncated(best.weighted / best.total * (center * key_scale));
}

VMAFX_TWIN_END
#endif
