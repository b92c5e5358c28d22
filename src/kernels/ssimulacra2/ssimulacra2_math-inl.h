/* The arithmetic of one sample of ssimulacra2. */
#if defined(VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_INL_H
#undef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_INL_H
#else
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_INL_H
#endif

#include "kernels/common/linear_light-inl.h"
#include "kernels/common/transcendental-inl.h"
#include "kernels/common/twin-inl.h"
#include "kernels/ssimulacra2/ssimulacra2_math.h"

VMAFX_TWIN_BEGIN

/* What the three kinds of cones absorb, from 0.0038 to 1.0038 for colours inside the gamut of BT.709. */
struct Absorbed {
  Real l, m, s;
};

VMAFX_TWIN Absorbed absorbed(const float (&matrix)[9], const Light& light) {
  const Real bias(0.0037930732552754493f);
  return {(light.r * Real(matrix[0]) + light.g * Real(matrix[1])) + (light.b * Real(matrix[2]) + bias),
          (light.r * Real(matrix[3]) + light.g * Real(matrix[4])) + (light.b * Real(matrix[5]) + bias),
          (light.r * Real(matrix[6]) + light.g * Real(matrix[7])) + (light.b * Real(matrix[8]) + bias)};
}

/* Of four samples: the next scale. */
VMAFX_TWIN Real mean_of_4(Real top, Real below, Real top_right, Real below_right) {
  return ((top + below) + (top_right + below_right)) * Real(0.25f);
}

/* Of XYB, each about 0 to 1. */
struct Xyb {
  Real x, y, b;
};

VMAFX_TWIN Xyb xyb(const Absorbed& a) {
  const Real l = cube_root(maximum(a.l, Real(0))), m = cube_root(maximum(a.m, Real(0)));
  const Real s = cube_root(maximum(a.s, Real(0))), both = (l + m) * Real(0.5f);
  return {(l - m) * Real(7) + Real(0.42f), both + Real(static_cast<float>(0.01 - 0.15595420054924863)),
          (s - both) + Real(0.55f)};
}

/* What is blurred of a sample: ref, dist, and these two. */
VMAFX_TWIN Real sum_of_squares(Real ref, Real dist) { return ref * ref + dist * dist; }
VMAFX_TWIN Real squared_difference(Real ref, Real dist) {
  const Real difference = ref - dist;
  return difference * difference;
}

/* The errors of a sample. With an edge above 0 it is an artifact, below 0 lost detail. */
struct Ssimulacra2Errors {
  Real ssim, edge;
};

VMAFX_TWIN Ssimulacra2Errors errors_of(Real ref, Real dist, Real ref_mean, Real dist_mean, Real squares,
                                       Real differences) {
  const Real mean_difference = ref_mean - dist_mean, luma_error = mean_difference * mean_difference;
  const Real both = (squares - (ref_mean * ref_mean + dist_mean * dist_mean)) + Real(0.0009f);
  const Real difference = differences - luma_error;
  const Real ref_edge = absolute(ref - ref_mean), dist_edge = absolute(dist - dist_mean), base = ref_edge + Real(1);
  const Real inverse = Real(1) / (both * base);
  const Real error = luma_error + (Real(1) - luma_error) * ((difference * base) * inverse);
  return {maximum(error, Real(0)), ((dist_edge - ref_edge) * both) * inverse};
}

VMAFX_TWIN Real fourth_power(Real a) {
  const Real square = a * a;
  return square * square;
}

VMAFX_TWIN_END

#endif
