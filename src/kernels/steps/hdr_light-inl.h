/* Light of HDR video, by BT.2100, see linear_light.h. */
#if defined(VMAFX_KERNELS_STEPS_HDR_LIGHT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_STEPS_HDR_LIGHT_INL_H
#undef VMAFX_KERNELS_STEPS_HDR_LIGHT_INL_H
#else
#define VMAFX_KERNELS_STEPS_HDR_LIGHT_INL_H
#endif

#include "kernels/steps/linear_light-inl.h"

VMAFX_TWIN_BEGIN

/* Clips to 1 and, since logarithms of 0 have no end, to a little above 0. */
VMAFX_TWIN Real cut_off(Double gamma) { return maximum(minimum(narrowed(gamma), Real(1)), Real(0x1p-24f)); }

/* PQ code to light, in units of 10000 cd/m2. Both sides of the fraction come near 0 at the power of 1, so that it is
 * the power less 1 that is computed: e^t - 1, |t| < 0.22. */
VMAFX_TWIN Real pq_light(Real v) {
  const Real t = logarithm2(v) * Real(0x1.2013a2p-7f); /* ln(2) / m2 */
  const Real less_1 = polynomial(t, 1 / 720.f, 1 / 120.f, 1 / 24.f, 1 / 6.f, 0.5f, 1.f) * t;
  const Real fraction = maximum(less_1 + Real(0.1640625f), Real(0)) / (Real(0.1640625f) - less_1 * Real(18.6875f));
  return power(maximum(fraction, Real(0x1p-20f)), Real(0x1.91c0d6p+2f)); /* 1 / m1 */
}

/* HLG code to the light of the scene, from 0 to 1. */
VMAFX_TWIN Real hlg_scene(Real v) {
  const Real exponential = power_of_2((v - Real(0.55991073f)) * Real(8.0672857f)) + Real(0.28466892f);
  return select(v > Real(0.5f), exponential * Real(1 / 12.f), v * v * Real(1 / 3.f));
}

VMAFX_TWIN Light hdr_light(const LinearLight& p, const GammaRgb& rgb) {
  const Real r = cut_off(rgb.r), g = cut_off(rgb.g), b = cut_off(rgb.b);
  if (p.display == DisplayLight::kPq) return {pq_light(r), pq_light(g), pq_light(b)};
  const Light scene = {hlg_scene(r), hlg_scene(g), hlg_scene(b)};
  const Real luminance = (scene.r * Real(0.2627f) + scene.g * Real(0.678f)) + scene.b * Real(0.0593f);
  const Real gain = power(maximum(luminance, Real(0x1p-100f)), Real(p.hlg_power));
  return {scene.r * gain, scene.g * gain, scene.b * gain};
}

VMAFX_TWIN_END

#endif
