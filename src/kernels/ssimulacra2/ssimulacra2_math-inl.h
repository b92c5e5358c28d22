/* The arithmetic of one sample of ssimulacra2. */
#if defined(VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_INL_H
#undef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_INL_H
#else
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_INL_H
#endif

#include "kernels/arithmetic/twin-inl.h"
#include "kernels/ssimulacra2/ssimulacra2_math.h"
#include "kernels/steps/picture_light-inl.h"

VMAFX_TWIN_BEGIN

// -- Color ----------------------------------------------------------------------------------------------------------

/* The cube root of what cones absorb, from 0.0038 to 1.0038 for colors inside the gamut of BT.709, less that of their
 * bias: from a guess at x^(-1/3) by the bits, four steps of Newton's. */
VMAFX_TWIN Real response(const float (&absorbance)[9], int cone, const Light& light) {
  const Real third(1 / 3.f), four_thirds(4 / 3.f), bias(0.0037930732552754493f);
  const Real absorbed =
      fused(Real(absorbance[cone]), light.r,
            fused(Real(absorbance[cone + 1]), light.g, fused(Real(absorbance[cone + 2]), light.b, bias)));
  const Real x = maximum(absorbed, Real(0)), third_of_x = x * third;
  const Real guess = from_bits(Integer(0x54800000) - shifted_right<23>(bits(x)) * Integer(0x2aaaaa));
  Real root = select(x > Real(0), guess, Real(0));
  VMAFX_UNROLL
  for (int i = 0; i < 3; i++) {
    const Real square = root * root;
    root = fused(-third_of_x, square * square, four_thirds * root);
  }
  const Real square = root * root;
  root = fused(third, fused(-x, square * square, root), root);
  return fused(root * root, x, Real(-0x1.3f64eap-3f));
}

/* Each about 0 to 1. */
struct Xyb {
  Real x, y, b;
};

VMAFX_TWIN Xyb xyb(const float (&absorbance)[9], const Light& light) {
  const Real l = response(absorbance, 0, light), m = response(absorbance, 3, light), s = response(absorbance, 6, light);
  const Real half(0.5f), y = half * (l + m);
  return {(half * (l - m)) * Real(14) + Real(0.42f), y + Real(0.01f), (s - y) + Real(0.55f)};
}

// -- Blur ------------------------------------------------------------------------------------------------------------

/* The sections of the filter after a sample: what they gave last, and before that. */
struct BlurState {
  Real last[kSsimulacra2Sections], before[kSsimulacra2Sections];
};

VMAFX_TWIN Real sum_of_sections(const Real (&y)[kSsimulacra2Sections]) { return y[0] + (y[1] + y[2]); }

/* The next sample of a column. x: the samples six before and four after it, added. */
VMAFX_TWIN Real blurred_down(BlurState& state, Real x) {
  VMAFX_UNROLL
  for (int k = 0; k < kSsimulacra2Sections; k++) {
    const Real y =
        fused(Real(kSsimulacra2In[k][0]), x, fused(Real(kSsimulacra2Last[k][0]), state.last[k], -state.before[k]));
    state.before[k] = state.last[k];
    state.last[k] = y;
  }
  return sum_of_sections(state.last);
}

/* The next one of a row, which rounds at other places. */
VMAFX_TWIN Real blurred_along(BlurState& state, Real x) {
  VMAFX_UNROLL
  for (int k = 0; k < kSsimulacra2Sections; k++) {
    const Real y = fused(Real(kSsimulacra2Last[k][0]), state.last[k], x * Real(kSsimulacra2In[k][0]) - state.before[k]);
    state.before[k] = state.last[k];
    state.last[k] = y;
  }
  return sum_of_sections(state.last);
}

/* The next four of a row, in place. */
VMAFX_TWIN void blur_four_along(BlurState& state, Real (&x)[4]) {
  Real y[4][kSsimulacra2Sections];
  VMAFX_UNROLL
  for (int k = 0; k < kSsimulacra2Sections; k++) {
    VMAFX_UNROLL
    for (int i = 0; i < 4; i++) {
      Real sum = x[0] * Real(kSsimulacra2In[k][i]);
      VMAFX_UNROLL
      for (int j = 1; j <= i; j++) sum = fused(Real(kSsimulacra2In[k][i - j]), x[j], sum);
      sum = i ? fused(Real(-kSsimulacra2Last[k][i ? i - 1 : 0]), state.before[k], sum) : sum - state.before[k];
      y[i][k] = fused(Real(kSsimulacra2Last[k][i]), state.last[k], sum);
    }
    state.before[k] = y[2][k];
    state.last[k] = y[3][k];
  }
  VMAFX_UNROLL
  for (int i = 0; i < 4; i++) x[i] = sum_of_sections(y[i]);
}

// -- Errors ----------------------------------------------------------------------------------------------------------

/* The surroundings of a sample of one picture: the mean around it, the variance there, and its distance from the
 * mean. */
struct Ssimulacra2Local {
  Real mean, variance, edge;
};

VMAFX_TWIN Ssimulacra2Local local_of(Real sample, Real mean, Real mean_square) {
  return {mean, mean_square - mean * mean, absolute(sample - mean)};
}

/* The errors of a sample, in the order of the maps: ssim, artifact, detail. */
struct Ssimulacra2Errors {
  Real of[3];
};

VMAFX_TWIN Ssimulacra2Errors errors_of(const Ssimulacra2Local& ref, const Ssimulacra2Local& dist, Real mean_product) {
  const Real zero(0), c2(0.0009f), difference = ref.mean - dist.mean;
  const Real covariance = mean_product - ref.mean * dist.mean, variances = ref.variance + dist.variance;
  const Real similarity = quotient((Real(1) - difference * difference) * (Real(2) * covariance + c2), variances + c2);
  const Real edge = quotient(dist.edge - ref.edge, ref.edge + Real(1)); /* above 0 an artifact, below lost detail */
  return {{maximum(Real(1) - similarity, zero), maximum(edge, zero), maximum(zero - edge, zero)}};
}

/* blurred: the streams. */
VMAFX_TWIN Ssimulacra2Errors errors_of(Real ref, Real dist, const Real (&blurred)[kSsimulacra2Streams]) {
  return errors_of(local_of(ref, blurred[0], blurred[2]), local_of(dist, blurred[1], blurred[3]), blurred[4]);
}

VMAFX_TWIN Real fourth_power(Real a) {
  const Real square = a * a;
  return square * square;
}

VMAFX_TWIN_END

#endif
