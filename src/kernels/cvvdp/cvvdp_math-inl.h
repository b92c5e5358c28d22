/* The arithmetic of one sample of cvvdp. */
#if defined(VMAFX_KERNELS_CVVDP_CVVDP_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_CVVDP_CVVDP_MATH_INL_H
#undef VMAFX_KERNELS_CVVDP_CVVDP_MATH_INL_H
#else
#define VMAFX_KERNELS_CVVDP_CVVDP_MATH_INL_H
#endif

#include "kernels/arithmetic/transcendental-inl.h"
#include "kernels/arithmetic/twin-inl.h"
#include "kernels/cvvdp/cvvdp_math.h"
#include "kernels/steps/hdr_light-inl.h"

VMAFX_TWIN_BEGIN

VMAFX_TWIN Real bounded(Real v, float least, float most) { return minimum(maximum(v, Real(least)), Real(most)); }

// -- Light of a display ----------------------------------------------------------------------------------------------

/* Linear light of sRGB, for v from 0 to 1. */
VMAFX_TWIN Real light_of_srgb(Real v) {
  const Real power_of_it = power((v + Real(0.055f)) * Real(1 / 1.055f), Real(2.4f));
  return select(v > Real(0.04045f), power_of_it, v * Real(1 / 12.92f));
}

struct CvvdpColor {
  Real of[3];
};

/* The light of one of r', g', b', except for kHlg. */
VMAFX_TWIN Real linear_light(const CvvdpDisplay& display, Real v) {
  switch (display.curve) {
    case CvvdpCurve::kSrgb: return light_of_srgb(v);
    case CvvdpCurve::kPq: return pq_light(maximum(v, Real(0x1p-24f)));
    case CvvdpCurve::kHlg: return hlg_scene(v);
    case CvvdpCurve::kGamma: break;
  }
  return power(maximum(v, Real(1e-10f)), Real(display.gamma));
}

/* The light in cd/m² that the display emits for R'G'B'. */
VMAFX_TWIN CvvdpColor emitted(const CvvdpDisplay& display, const CvvdpColor& color) {
  CvvdpColor light;
  VMAFX_UNROLL
  for (int i = 0; i < 3; i++) light.of[i] = linear_light(display, bounded(color.of[i], 0, 1));
  Real gain(display.exposure);
  if (display.curve == CvvdpCurve::kHlg) {
    const Real luminance = Real(0.2627f) * light.of[0] + Real(0.6780f) * light.of[1] + Real(0.0593f) * light.of[2];
    gain = power(maximum(luminance, Real(1e-10f)), Real(display.gamma)) * gain;
  }
  VMAFX_UNROLL
  for (int i = 0; i < 3; i++)
    light.of[i] = bounded(light.of[i] * gain, display.least, display.most) * Real(display.scale) + Real(display.offset);
  return light;
}

/* The eye's planes for a luma sample and 16 times the codes of chroma, less those of neutral chroma. */
VMAFX_TWIN CvvdpColor seen(const CvvdpDisplay& display, Real luma, Real cb, Real cr) {
  const Real gray = bounded(luma * Real(display.luma) + Real(display.luma_offset), 0, 1);
  const CvvdpColor light = emitted(
      display, {{gray + cr * Real(display.red_cr), gray + (cb * Real(display.green_cb) + cr * Real(display.green_cr)),
                 gray + cb * Real(display.blue_cb)}});
  CvvdpColor planes;
  VMAFX_UNROLL
  for (int i = 0; i < 3; i++) {
    const float* m = display.to_planes + 3 * i;
    planes.of[i] = Real(m[0]) * light.of[0] + Real(m[1]) * light.of[1] + Real(m[2]) * light.of[2];
  }
  return planes;
}

// -- Pyramid ---------------------------------------------------------------------------------------------------------

VMAFX_TWIN Real reduced(Real a, Real b, Real c, Real d, Real e) {
  return (((a * Real(kCvvdpReduceOuter) + b * Real(kCvvdpReduceInner)) + c * Real(kCvvdpReduceMiddle)) +
          d * Real(kCvvdpReduceInner)) +
         e * Real(kCvvdpReduceOuter);
}

/* At a sample of the smaller level, and halfway to the next one. */
VMAFX_TWIN Real expanded_at(Real before, Real at, Real after) {
  return (before * Real(kCvvdpExpandOuter) + at * Real(kCvvdpExpandInner)) + after * Real(kCvvdpExpandOuter);
}
VMAFX_TWIN Real expanded_between(Real a, Real b) {
  return a * Real(kCvvdpExpandBetween) + b * Real(kCvvdpExpandBetween);
}

// -- Contrast and sensitivity ----------------------------------------------------------------------------------------

VMAFX_TWIN Real background(Real light) { return maximum(light, Real(kCvvdpLeastBackground)); }

VMAFX_TWIN Real contrast(Real difference, Real inverse_background) {
  return minimum(difference * inverse_background, Real(kCvvdpMostContrast));
}

/* The place of a background of so many cd/m² in the table of sensitivities. */
struct CvvdpPlace {
  Integer at;
  Real between;
};

VMAFX_TWIN CvvdpPlace place_of(const CvvdpMasking& params, Real light) {
  const Real place =
      bounded(logarithm2(light) * Real(params.light_scale) + Real(params.light_offset), 0, kCvvdpLights - 1);
  const Integer at = truncated(place);
  return {at, place - real(at)};
}

VMAFX_TWIN Real sensitivity(const float (&table)[kCvvdpLights + 1], const CvvdpPlace& place) {
  const Real a = entry(table, place.at), b = entry(table + 1, place.at);
  return power_of_2(a + (b - a) * place.between);
}

// -- Masking ---------------------------------------------------------------------------------------------------------

/* How far a difference of perceived contrasts shows, before it is masked. */
VMAFX_TWIN Real visible_difference(const CvvdpMasking& params, Real difference) {
  return power(absolute(difference) + Real(kCvvdpSmall), Real(kCvvdpDifferencePower)) - Real(params.least_difference);
}

/* The contrast that both sides have, which may hide a difference. */
VMAFX_TWIN Real common_contrast(Real test, Real ref) { return minimum(absolute(test), absolute(ref)); }

VMAFX_TWIN Real mask_of(const CvvdpMasking& params, int channel, Real blurred) {
  return power(absolute(blurred) + Real(kCvvdpSmall), Real(kCvvdpMaskPower[channel])) -
         Real(params.least_mask[channel]);
}

/* The term that is added up: D² + 2e-5·D. */
VMAFX_TWIN Real pooled_term(Real d) { return d * (d + Real(2 * kCvvdpSmall)); }

/* A channel's D, at most most_difference. masks: of all channels. */
VMAFX_TWIN Real masked_difference(const CvvdpMasking& params, int channel, Real difference,
                                  const Real (&masks)[kCvvdpChannels]) {
  Real mask = Real(1) + masks[0] * Real(params.masks[0][channel]);
  VMAFX_UNROLL
  for (int k = 1; k < kCvvdpChannels; k++) mask = mask + masks[k] * Real(params.masks[k][channel]);
  const Real most(params.most_difference);
  return quotient(most * difference, most * mask + difference);
}

/* The term of a sample of the base band, which is not masked. */
VMAFX_TWIN Real base_term(Real test, Real ref, Real inverse_test, Real inverse_ref, Real s) {
  const Real difference = contrast(test, inverse_test) - contrast(ref, inverse_ref);
  return pooled_term(minimum(absolute(difference) * s, Real(kCvvdpMostBaseDifference)));
}

VMAFX_TWIN_END

#endif
