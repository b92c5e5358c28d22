/* Arithmetic for the test of twins: all that real.h names, in one function. */
#if defined(VMAFX_TESTS_KERNELS_TWIN_SAMPLE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_TESTS_KERNELS_TWIN_SAMPLE_INL_H
#undef VMAFX_TESTS_KERNELS_TWIN_SAMPLE_INL_H
#else
#define VMAFX_TESTS_KERNELS_TWIN_SAMPLE_INL_H
#endif

#include "kernels/arithmetic/transcendental-inl.h"

VMAFX_TWIN_BEGIN

VMAFX_TWIN Real everything(Real a, Real b) {
  const Integer whole = truncated(a * Real(1000)) - truncated(b) + (bits(a) & Integer(0x7ff)) - (Integer(5) | bits(b));
  const Integer product = (shifted_right<7>(whole) & Integer(0xffff)) * (truncated(b) & Integer(0xff));
  const Integer moved = shifted_left<3>(whole) + product;
  const Real small = minimum(a, b), large = maximum(a, b);
  const Mask between = (small < Real(0) && large > Real(0)) || !(large <= Real(1)) || a == b;
  Real sum = select(between, small, -large) + real(select(a >= b, moved, whole));
  sum += square_root(absolute(a)) / (Real(2) + absolute(b));
  return from_bits(bits(sum) & Integer(-16));
}

/* Shows the rounding of a product, and other sums. */
VMAFX_TWIN Real fused_sample(Real a, Real b) { return fused(a, b, select(a < b, -(a * b), b * Real(0.7f))); }

/* The third one has the fraction of a. */
VMAFX_TWIN Real fused_halfway_sample(Real a, Real b) {
  return fused(a, b, from_bits((bits(a) & Integer(0x7fffff)) | Integer(0x3f800000)));
}

VMAFX_TWIN Real double_power_sample(Real a) {
  const Double power_of_a = power(widened(a), 2.4), whole = rounded(power_of_a * Double(256));
  return narrowed(select(whole <= power_of_a, minimum(whole, Double(3)), maximum(power_of_a - whole, Double(-1))));
}

VMAFX_TWIN_END

#endif
