/* Linear light of a sample, see linear_light.h. */
#if defined(VMAFX_KERNELS_STEPS_LINEAR_LIGHT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_STEPS_LINEAR_LIGHT_INL_H
#undef VMAFX_KERNELS_STEPS_LINEAR_LIGHT_INL_H
#else
#define VMAFX_KERNELS_STEPS_LINEAR_LIGHT_INL_H
#endif

#include "kernels/arithmetic/transcendental-inl.h"
#include "kernels/arithmetic/twin-inl.h"
#include "kernels/steps/linear_light.h"

VMAFX_TWIN_BEGIN

/* Linear light. */
struct Light {
  Real r, g, b;
};

/* R'G'B', not cut off yet. */
struct GammaRgb {
  Double r, g, b;
};

VMAFX_TWIN Double power_unless_1(Double v, double exponent) { return exponent == 1 ? v : power(v, exponent); }

inline constexpr double kLeastGamma = 0x1p-40;  // its code is 0

/* The code up to the toe's end, at most 2651. In float that is off by 0.0011 and 6e-7 of it at most (near_power(), and
 * five roundings); doubles are only needed where this may decide. */
VMAFX_TWIN Real code_in_toe(const DisplayCurve& curve, Double gamma) {
  const Real v = maximum(narrowed(gamma), Real(static_cast<float>(kLeastGamma)));
  const Real estimate =
      near_power(v * Real(curve.inverse_toe), Real(static_cast<float>(curve.toe_power))) * Real(curve.code_at_toe);
  const Real code = real(truncated(estimate + Real(0.5f)));
  const Real sure = Real(0.5f - 0x1.4p-10f) - estimate * Real(0x1p-20f);
  if (any(estimate < Real(2652) && absolute(estimate - code) > sure))
    return whole(power_unless_1(maximum(gamma, Double(kLeastGamma)), curve.toe_power) * Double(curve.toe_scale));
  return code;
}

/* The code above the toe. */
VMAFX_TWIN Real code_above_toe(const DisplayCurve& curve, Double gamma) {
  const Double v =
      curve.power == 1 ? gamma : power(minimum(maximum(gamma, Double(kLeastGamma)), Double(1)), curve.power);
  return minimum(maximum(whole(v * Double(curve.scale) + Double(curve.offset)), Real(0)), Real(65535));
}

/* The code of any gamma; those below 0 and above 1 count as 0 and 1. */
VMAFX_TWIN Real srgb_code(const DisplayCurve& curve, Double gamma) {
  const Real code = code_above_toe(curve, gamma);
  const auto in_toe = gamma <= Double(curve.toe);
  return any(in_toe) ? select(in_toe, code_in_toe(curve, gamma), code) : code;
}

/* R'G'B' from a code of luma and 16 times the codes of chroma, less those of neutral chroma. */
VMAFX_TWIN GammaRgb gamma_rgb(const LinearLight& p, Double y, Double cb, Double cr) {
  const Double gray = y * Double(p.luma) + Double(p.luma_offset);
  return {gray + cr * Double(p.red_cr), gray + (cb * Double(p.green_cb) + cr * Double(p.green_cr)),
          gray + cb * Double(p.blue_cb)};
}

VMAFX_TWIN Real linear(Real code) {
  const Real v = code * Real(1 / 65535.f);
  Real p = Real(8.210152774e-01f), q = Real(6.521209011e-03f);
  p = fused(p, v, Real(7.961564959e-01f));
  q = fused(q, v, Real(-5.512498495e-02f));
  p = fused(p, v, Real(1.624820318e-01f));
  q = fused(q, v, Real(4.987528350e-01f));
  p = fused(p, v, Real(1.043637593e-02f));
  q = fused(q, v, Real(1.076976492e+00f));
  p = fused(p, v, Real(2.200248328e-04f));
  q = fused(q, v, Real(2.631846970e-01f));
  return select(v > Real(0.04045f), quotient(p, q), v * Real(1 / 12.92f));
}

/* The light of SDR video. */
VMAFX_TWIN Light sdr_light(const LinearLight& p, const GammaRgb& rgb) {
  return {linear(srgb_code(p.curve, rgb.r)), linear(srgb_code(p.curve, rgb.g)), linear(srgb_code(p.curve, rgb.b))};
}

VMAFX_TWIN_END

#endif
