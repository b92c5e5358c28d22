/* Linear light of a sample, see linear_light.h. */
#if defined(VMAFX_KERNELS_COMMON_LINEAR_LIGHT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_COMMON_LINEAR_LIGHT_INL_H
#undef VMAFX_KERNELS_COMMON_LINEAR_LIGHT_INL_H
#else
#define VMAFX_KERNELS_COMMON_LINEAR_LIGHT_INL_H
#endif

#include "kernels/common/linear_light.h"
#include "kernels/common/twin-inl.h"

VMAFX_TWIN_BEGIN

struct Light {
  Real r, g, b;
};

VMAFX_TWIN Real linear(const TransferCurve& curve, Real v) {
  const Real root = square_root(v);
  Real light = Real(curve.c[9]);
  light = light * root + Real(curve.c[8]);
  light = light * root + Real(curve.c[7]);
  light = light * root + Real(curve.c[6]);
  light = light * root + Real(curve.c[5]);
  light = light * root + Real(curve.c[4]);
  light = light * root + Real(curve.c[3]);
  light = light * root + Real(curve.c[2]);
  light = light * root + Real(curve.c[1]);
  light = light * root + Real(curve.c[0]);
  return select(v > Real(curve.toe), light, v * Real(curve.toe_slope));
}

VMAFX_TWIN Real in_gamut(Real v) { return minimum(maximum(v, Real(0)), Real(1)); }

/* Of a code of luma and of 16 times the codes of chroma, less those of neutral chroma. */
VMAFX_TWIN Light linear_light(const LinearLight& p, Real y, Real cb, Real cr) {
  const Real gray = y * Real(p.luma) + Real(p.luma_offset);
  return {linear(p.curve, in_gamut(gray + cr * Real(p.red_cr))),
          linear(p.curve, in_gamut(gray + (cb * Real(p.green_cb) + cr * Real(p.green_cr)))),
          linear(p.curve, in_gamut(gray + cb * Real(p.blue_cb)))};
}

VMAFX_TWIN_END

#endif
