/* Logarithms, powers and roots of samples: the same floats in the definition, in the SIMD twin on every instruction set
 * and in the kernels, where those of a libm differ in their last bits.
 *
 *                       for                                           relative error at most
 *   logarithm2(x)       x normal and positive                         2e-7
 *   power_of_2(x)       x < 127.5; 2^-126 from -126 down              1.1e-7
 *   power(x, y)         x as above, |y| <= 8, 2^-126 <= x^y < 2^127   1.2e-7 + 5e-8·|y|
 *   cube_root(x)        x 0, or normal and positive                   1e-7
 *   logarithm2(d)       d a Double, normal, > 0                       2e-16·(1 + |log2(d)|)
 *   power(d, y)         d a Double, normal, > 0; |y·log2(d)| < 500    2e-16·(1 + |y·log2(d)|)
 *
 * Exact are logarithm2(1), power(1, y), cube_root(0) and power_of_2() of whole numbers. The polynomials are minimax in
 * the relative error, by Remez' exchange in double, their coefficients then rounded to float. */
#if defined(VMAFX_KERNELS_ARITHMETIC_TRANSCENDENTAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_ARITHMETIC_TRANSCENDENTAL_INL_H
#undef VMAFX_KERNELS_ARITHMETIC_TRANSCENDENTAL_INL_H
#else
#define VMAFX_KERNELS_ARITHMETIC_TRANSCENDENTAL_INL_H
#endif

#include "kernels/arithmetic/twin-inl.h"

VMAFX_TWIN_BEGIN

/* Σ coefficient · x^k by Horner's rule, the coefficient of the highest power first. */
template <class... Coefficients>
VMAFX_TWIN Real polynomial(Real x, float highest, Coefficients... others) {
  Real sum(highest);
  ((sum = sum * x + Real(others)), ...);
  return sum;
}

/* x = 2^exponent · (1 + fraction), 1 + fraction in [√½, √2). */
struct PowerAndFraction {
  Integer exponent;
  Real fraction;
};

VMAFX_TWIN PowerAndFraction power_and_fraction(Real x) {
  const Integer root_half(0x3f3504f3);  // √½, rounded down
  const Integer exponent = shifted_right<23>(bits(x) - root_half);
  return {exponent, from_bits(bits(x) - shifted_left<23>(exponent)) - Real(1)};
}

/* log2(1 + f) for such a fraction, to 1.5e-7 of it. The polynomial is off by 4.4e-8. */
VMAFX_TWIN Real logarithm2_near_1(Real f) {
  const Real p = polynomial(f, 0.125837013f, -0.207269728f, 0.215715602f, -0.238944829f, 0.287916243f, -0.360703677f,
                            0.480910629f, -0.721347332f, 1.44269502f);
  return p * f;
}

VMAFX_TWIN Real logarithm2(Real x) {
  const PowerAndFraction parts = power_and_fraction(x);
  return real(parts.exponent) + logarithm2_near_1(parts.fraction);
}

/* 2^n · 2^f, n from -126 to 127, |f| <= 0.51. The polynomial is off by 1.4e-8. */
VMAFX_TWIN Real scaled_power_of_2(Integer n, Real f) {
  const Real p =
      polynomial(f, 0.000154697322f, 0.00134100008f, 0.00961803086f, 0.0555029735f, 0.240226507f, 0.693147242f, 1.f);
  return p * from_bits(shifted_left<23>(n + Integer(127)));
}

/* The nearest whole number; halves away from 0. */
VMAFX_TWIN Integer nearest(Real x) { return truncated(x + select(x < Real(0), Real(-0.5f), Real(0.5f))); }

VMAFX_TWIN Real power_of_2(Real x) {
  const Real bounded = maximum(x, Real(-126));
  const Integer n = nearest(bounded);
  return scaled_power_of_2(n, bounded - real(n));
}

/* The exponent of x times the high half of y is exact, so that what is rounded is small. */
VMAFX_TWIN Real power(Real x, Real y) {
  const PowerAndFraction parts = power_and_fraction(x);
  const Real exponent = real(parts.exponent);
  const Real high_y = from_bits(bits(y) & Integer(-4096)), low_y = y - high_y;
  const Real whole = exponent * high_y, rest = exponent * low_y + logarithm2_near_1(parts.fraction) * y;
  const Integer n = nearest(whole + rest);
  return scaled_power_of_2(n, (whole - real(n)) + rest);
}

/* x^y for x from 2^-37 to 1 and y from 1 to 3, off by 4e-7 at most (of 1, not of x^y): measured on an H200 for all such
 * x, it was 3e-7. It is not the same on every device. */
VMAFX_TWIN Real near_power(Real x, Real y) {
#if defined(__CUDA_ARCH__)
  float logarithm, result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(logarithm) : "f"(x));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(logarithm * y));
  return result;
#else
  return power(x, y);
#endif
}

/* A guess at x^(-1/3) from the bits, which are nearly a logarithm, is off by up to 3.4 %. A series in what is then
 * missing from x·y³ = 1 leaves 1.6e-5. */
VMAFX_TWIN Real inverse_cube_root(Real x) {
  const Real third(1 / 3.f);
  const Real y = from_bits(truncated(Real(0x1.5288dap30f) - real(bits(x)) * third));
  const Real missing = Real(1) - ((x * y) * y) * y;
  return y + y * (missing * (third + missing * (Real(2 / 9.f) + missing * Real(14 / 81.f))));
}

/* A step of Newton's for the root itself leaves nothing that a float has. `inverse` is that of x. */
VMAFX_TWIN Real cube_root(Real x, Real inverse) {
  const Real root = (x * inverse) * inverse;
  return root + (x - (root * root) * root) * (inverse * inverse * Real(1 / 3.f));
}

VMAFX_TWIN Real cube_root(Real x) { return cube_root(x, inverse_cube_root(x)); }

/* 1.5·2^52 as a double: what is added to it shows as a whole number in its bits. */
inline constexpr double kWholeMagic = 0x1.8p52;
inline constexpr int64_t kWholeMagicBits = 0x4338000000000000;

/* The exponent and the series of artanh for a rest in [√½, √2), which ends where doubles do. */
VMAFX_TWIN Double logarithm2(Double d) {
  const Long exponent = shifted_right<52>(bits(d) - Long(0x3fe6a09e667f3bcd));
  const Double rest = from_bits(bits(d) - shifted_left<52>(exponent));
  const Double z = (rest - Double(1)) / (rest + Double(1)), square = z * z;
  Double series(1 / 21.);
  VMAFX_UNROLL
  for (int k = 19; k > 0; k -= 2) series = series * square + Double(1. / k);
  const Double whole = from_bits(exponent + Long(kWholeMagicBits)) - Double(kWholeMagic);
  return z * (series * Double(0x1.71547652b82fep+1)) + whole;
}

/* The series of 2^f for |f| <= ½ ends where doubles do. */
VMAFX_TWIN Double power(Double d, double y) {
  const Double magic(kWholeMagic), product = logarithm2(d) * Double(y), shifted = product + magic;
  const Double f = (product - (shifted - magic)) * Double(0x1.62e42fefa39efp-1);
  Double power_of_f(1);
  VMAFX_UNROLL
  for (int k = 13; k > 0; k--) power_of_f = power_of_f * (f * Double(1. / k)) + Double(1);
  return from_bits(bits(power_of_f) + shifted_left<52>(bits(shifted) - Long(kWholeMagicBits)));
}

VMAFX_TWIN_END

#endif
