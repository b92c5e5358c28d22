/* The arithmetic of one float, under the names that vectors of floats have in lanes-inl.h, so that a function of a
 * `<metric>_math-inl.h` (see twin-inl.h) is written once:
 *
 *   Real            float here, a vector of floats there
 *   Mask            what comparing two of them gives: bool here
 *   Integer         int32_t here
 *   Double, Long    double and int64_t here, as many of them there
 *   select(mask, a, b), minimum(a, b), maximum(a, b), absolute(a)
 *   square_root(a)  rounded correctly, on every device
 *   quotient(a, b)  a / b, where a is 0 or, like b and a / b, far from the ends of float's range; without a branch
 *   plus(a, b)      a + b, by the units that multiply where those that add are the busy ones
 *   truncated(a)    Integer, cut off towards zero; |a| < 2^31
 *   rounded(a)      Integer, the nearest one, halves to even; |a| < 2^31
 *   real(i)         the Real of an Integer
 *   widened(a), narrowed(d)   Double of a Real, and the nearest Real
 *   bits(a), from_bits(i)
 *   entry(table, i) table[i], an Integer or a Real
 *   fused(a, b, c)  a * b + c, rounded once
 *   rounded(d)      a Double, to a whole number, halves to the even one; |d| < 2^51
 *   whole(d)        the same as a Real; |d| < 2^31
 *   any(mask)       whether it holds for one of them
 *   worth_computing(mask)   the same for one number; true for vectors, where a branch costs more than a few operations,
 *                   which compilers then place among others
 *
 * and + - * / and comparisons, each rounded as IEEE 754 says, never contracted. shifted_left/right<n>(i), and + - * & |
 * on Integer. minimum and maximum return b when a is NaN. */
#ifndef VMAFX_KERNELS_ARITHMETIC_REAL_H
#define VMAFX_KERNELS_ARITHMETIC_REAL_H

#include <bit>
#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

using Real = float;
using Mask = bool;
using Integer = int32_t;
using Double = double;
using Long = int64_t;

VMAFX_HD float select(bool mask, float a, float b) { return mask ? a : b; }
VMAFX_HD int32_t select(bool mask, int32_t a, int32_t b) { return mask ? a : b; }
VMAFX_HD float minimum(float a, float b) { return a < b ? a : b; }
VMAFX_HD float maximum(float a, float b) { return a > b ? a : b; }
VMAFX_HD int32_t bits(float a) { return std::bit_cast<int32_t>(a); }
VMAFX_HD float from_bits(int32_t i) { return std::bit_cast<float>(i); }
VMAFX_HD float absolute(float a) { return from_bits(bits(a) & 0x7fffffff); }
VMAFX_HD int32_t truncated(float a) { return static_cast<int32_t>(a); }
VMAFX_HD float plus(float a, float b) { return a + b; }
VMAFX_HD int32_t rounded(float a) {
#if defined(__CUDA_ARCH__)
  return __float2int_rn(a);
#elif defined(__HIP__) && defined(__HIP_DEVICE_COMPILE__)
  return static_cast<int32_t>(__builtin_rintf(a));
#else
  return static_cast<int32_t>(__builtin_lrintf(a));
#endif
}
VMAFX_HD float real(int32_t i) { return static_cast<float>(i); }
VMAFX_HD int32_t entry(const int32_t* table, int32_t i) { return table[i]; }
VMAFX_HD float entry(const float* table, int32_t i) { return table[i]; }
VMAFX_HD double widened(float a) { return a; }
VMAFX_HD float narrowed(double d) { return static_cast<float>(d); }
template <int n>
VMAFX_HD int32_t shifted_left(int32_t i) {
  return static_cast<int32_t>(static_cast<uint32_t>(i) << n);
}
template <int n>
VMAFX_HD int32_t shifted_right(int32_t i) {  // the sign stays
  return i >> n;
}

VMAFX_HD float fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

VMAFX_HD double select(bool mask, double a, double b) { return mask ? a : b; }
VMAFX_HD double minimum(double a, double b) { return a < b ? a : b; }
VMAFX_HD double maximum(double a, double b) { return a > b ? a : b; }
VMAFX_HD bool any(bool mask) { return mask; }
VMAFX_HD bool worth_computing(bool mask) { return mask; }
VMAFX_HD double rounded(double w) { return (w + 0x1.8p52) - 0x1.8p52; }
VMAFX_HD float whole(double w) {
  return static_cast<float>(static_cast<int32_t>(std::bit_cast<int64_t>(w + 0x1.8p52)));
}
VMAFX_HD int64_t bits(double w) { return std::bit_cast<int64_t>(w); }
VMAFX_HD double from_bits(int64_t i) { return std::bit_cast<double>(i); }
template <int n>
VMAFX_HD int64_t shifted_left(int64_t i) {
  return static_cast<int64_t>(static_cast<uint64_t>(i) << n);
}
template <int n>
VMAFX_HD int64_t shifted_right(int64_t i) {  // the sign stays
  return i >> n;
}

VMAFX_HD float quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
  /* The instructions that nvcc makes of a / b, without its branch for subnormal and infinite numbers. */
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
  inverse = __fmaf_rn(inverse, __fmaf_rn(-b, inverse, 1.0f), inverse);
  const float near = a * inverse;
  return __fmaf_rn(inverse, __fmaf_rn(-b, near, a), near);
#else
  return a / b;
#endif
}

VMAFX_HD float square_root(float a) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(a);
#elif defined(__HIP__) && defined(__HIP_DEVICE_COMPILE__)
  /* The instruction is off by at most one place; the sign of what is left over says which way. Small numbers are scaled
   * out of the range where that is itself rounded. */
  const bool tiny = a < 0x1p-96f;
  const float scaled = tiny ? a * 0x1p32f : a;
  const float near = __builtin_amdgcn_sqrtf(scaled);
  const float below = from_bits(bits(near) - 1), above = from_bits(bits(near) + 1);
  float root = near;
  if (__builtin_fmaf(-below, near, scaled) <= 0) root = below;
  if (__builtin_fmaf(-above, near, scaled) > 0) root = above;
  if (!(scaled > 0) || scaled > 0x1.fffffep127f) root = near; /* 0, infinity, NaN */
  return tiny ? root * 0x1p-16f : root;
#else
  return __builtin_sqrtf(a);
#endif
}

}  // namespace vmafx

#endif
