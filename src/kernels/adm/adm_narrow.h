/* The arithmetic of adm_math.h for kernels: the same numbers by fewer and narrower instructions. Each function names
 * the one that it equals; tests/kernels/adm/adm_hip_test.cpp compares them.
 *
 * GPUs multiply 32 by 32 bits to 64 in one or two instructions, but add and shift 64 bits in two, divide in fifteen,
 * and most have few units for double. At scale 0, where bands fit 16 bits, nearly everything fits 32. */
#ifndef VMAFX_KERNELS_ADM_ADM_NARROW_H
#define VMAFX_KERNELS_ADM_ADM_NARROW_H

#include <cstdint>

#include "kernels/adm/adm_math.h"

namespace vmafx::narrow {

VMAFX_HD constexpr int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
VMAFX_HD constexpr int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
VMAFX_HD constexpr uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
VMAFX_HD constexpr uint32_t magnitude(int32_t x) { return static_cast<uint32_t>(adm_wrap_abs(x)); }

/* The low half of value >> n, n in [1, 31]: in halves, since compilers take a product with what was shifted as 64
 * bits for one of 64 by 64. */
VMAFX_HD constexpr uint32_t shifted(uint64_t value, int n) {
  return static_cast<uint32_t>(value) >> n | static_cast<uint32_t>(value >> 32) << (32 - n);
}

/* -- Wavelet transform: adm_low_pass() and adm_high_pass(), modulo 2^32. Where the result fits int32_t, steps in
 * between need not. */
VMAFX_HD constexpr uint32_t low_pass(uint32_t start, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return start + kAdmTap0 * a + kAdmTap1 * b + kAdmTap2 * c + static_cast<uint32_t>(kAdmTap3) * d;
}
VMAFX_HD constexpr uint32_t high_pass(uint32_t start, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return start + static_cast<uint32_t>(kAdmTap3) * a - kAdmTap2 * b + kAdmTap1 * c - kAdmTap0 * d;
}
inline constexpr uint32_t kLowGain = kAdmTap0 + kAdmTap1 + kAdmTap2 + kAdmTap3;  // of a constant; high-pass: 0

/* -- adm_aligned() ------------------------------------------------------------------------------------------------- */

/* What floats say: aligned, or too near to the limit to tell. */
struct Alignment {
  bool yes, near;
};

/* Given dot, |o|^2 and |t|^2 with relative errors of at most 2^-21 (of |o||t|, for dot). Its own rounding and that of
 * the products add less than 2^-21; only what is nearer to the limit than 2^-18 needs doubles. If |o| or |t| is 0, so
 * is dot. */
VMAFX_HD Alignment alignment(float dot, float o_square, float t_square) {
  const float limit = kAdmCosSquared * o_square * t_square, square = dot * dot;
  const bool above = dot > 0 && square > limit * (1 + 0x1p-18f), below = square < limit * (1 - 0x1p-18f);
  return {above || limit == 0, dot > 0 && !above && !below};
}

VMAFX_HD bool aligned_fine(int32_t oh, int32_t ov, int32_t th, int32_t tv) {
  const Alignment a =
      alignment(static_cast<float>(oh * th + ov * tv), static_cast<float>(oh * oh + ov * ov),
                static_cast<float>(th * th + tv * tv));
  return a.near ? adm_aligned(oh, ov, th, tv) : a.yes;
}

VMAFX_HD bool aligned_coarse(int32_t oh, int32_t ov, int32_t th, int32_t tv) {
  const float foh = static_cast<float>(oh), fov = static_cast<float>(ov);
  const float fth = static_cast<float>(th), ftv = static_cast<float>(tv);
  const Alignment a = alignment(foh * fth + fov * ftv, foh * foh + fov * fov, fth * fth + ftv * ftv);
  return a.near ? adm_aligned(oh, ov, th, tv) : a.yes;
}

/* -- Decoupling. Only magnitudes matter in the end, so a coefficient of the reference is made positive, and that of
 * the distorted picture goes along. Roundings that were towards positive numbers then go by the sign that was there. */

struct Pair {
  uint32_t o;
  int32_t t;
  int32_t sign;  // 0, or -1 for what was negated
};
VMAFX_HD constexpr Pair pair(int32_t o, int32_t t) {
  const int32_t sign = o >> 31;
  return {magnitude(o), (t ^ sign) - sign, sign};
}

/* What adm_reciprocal() is taken of: the leading bits of o, and by how much they are shifted; of 1 where o is 0. */
struct Divisor {
  uint32_t leading;
  int shift;
};
VMAFX_HD constexpr Divisor divisor_fine(uint32_t o) { return {o > 1 ? o : 1, 0}; }
VMAFX_HD constexpr Divisor divisor_coarse(uint32_t o) {
  const uint32_t m = o > 1 ? o : 1;
  const int shift = larger(17 - __builtin_clz(m), 0);
  return {(m + ((1u << shift) >> 1)) >> shift, shift};
}

/* adm_reciprocal(), given 1 / x with a relative error of at most 2^-21. The first quotient is not larger than the
 * true one, and what is missing, at most 2^11 / x + 1, is told from a whole number by 1/2 of a remainder. */
VMAFX_HD uint32_t reciprocal(uint32_t x, float inverse) {
  constexpr float kOne = (1 << 30) - (1 << 9) - (1 << 8);
  const auto minus_quotient = static_cast<int32_t>(inverse * -kOne);
  const int32_t rest = (1 << 30) + minus_quotient * static_cast<int32_t>(x);
  const auto missing = static_cast<int32_t>((static_cast<float>(rest) + 0.5f) * inverse);
  return static_cast<uint32_t>(missing - minus_quotient);
}

/* adm_ratio(). k is 0 where t is negative, and 1 where it is twice o or more: it counts up to there, so that the
 * product fits 32 bits as long as o does 15. */
VMAFX_HD uint32_t counted(const Pair& p) {
  return smaller(static_cast<uint32_t>(larger(p.t, 0)), 2 * p.o);
}
VMAFX_HD uint32_t ratio_fine(const Pair& p, const Divisor& divisor, float inverse) {
  return smaller((reciprocal(divisor.leading, inverse) * counted(p) + (1 << 14)) >> 15, 32768u);
}
VMAFX_HD uint32_t ratio_coarse(const Pair& p, const Divisor& divisor, float inverse) {
  const uint64_t product = uint64_t{reciprocal(divisor.leading, inverse)} * counted(p);
  return smaller((shifted(product, 14 + divisor.shift) + 1) >> 1, 32768u);
}

/* adm_enhn_gain_limit; `whole` is the same if it is a whole number, else 0. */
struct GainLimit {
  double value;
  int32_t whole;
};

/* The restored part, given k times o. Integer is wide enough for it times the limit. */
template <class Integer, bool kWhole>
VMAFX_HD int32_t limit_gain(int32_t restored, int32_t t, bool aligned, const GainLimit& limit) {
  if (!aligned) return restored;
  const Integer gained =
      kWhole ? static_cast<Integer>(restored) * limit.whole : static_cast<Integer>(restored * limit.value);
  const int32_t most = larger(t, 0);
  return gained < most ? static_cast<int32_t>(gained) : most;
}

/* adm_restored(), but not negative. */
template <bool kWhole>
VMAFX_HD int32_t restored_fine(const Pair& p, const Divisor& divisor, float inverse, bool aligned,
                               const GainLimit& limit) {
  const uint32_t product = ratio_fine(p, divisor, inverse) * p.o;
  const auto restored = static_cast<int32_t>((product + static_cast<uint32_t>((1 << 14) + p.sign)) >> 15);
  return limit_gain<int32_t, kWhole>(restored, p.t, aligned, limit);
}
template <bool kWhole>
VMAFX_HD int32_t restored_coarse(const Pair& p, const Divisor& divisor, float inverse, bool aligned,
                                 const GainLimit& limit) {
  const uint64_t product = uint64_t{ratio_coarse(p, divisor, inverse)} * p.o;
  const auto restored = static_cast<int32_t>(shifted(product + static_cast<uint32_t>((1 << 14) + p.sign), 15));
  return limit_gain<int64_t, kWhole>(restored, p.t, aligned, limit);
}

/* -- Contrast sensitivity. A cast to 16 bits behind a shift by less than 16 is a shift to the top of the word and
 * back. */

/* Magnitudes of adm_csf_fine() of a product adm_wrap_mul(rfactor, x), and of adm_csf_coarse(), for x negated by
 * `sign`. */
VMAFX_HD constexpr uint32_t csf_fine(int band, int32_t product, int32_t sign) {
  if (band == 2) return magnitude(static_cast<int16_t>((int64_t{product} + (65535 - sign)) >> 17));
  const uint32_t doubled = 2 * static_cast<uint32_t>(product) + static_cast<uint32_t>((1 << 15) + 2 * sign);
  return magnitude(static_cast<int32_t>(doubled) >> 16);
}
VMAFX_HD constexpr uint32_t csf_coarse(uint32_t rfactor, int32_t x, int32_t sign) {
  const int64_t product = int64_t{rfactor} * x + ((1 << 27) + sign);
  return magnitude(static_cast<int32_t>(shifted(static_cast<uint64_t>(product), 28)));
}

/* adm_neighbour_fine(), adm_centre_fine(). */
VMAFX_HD constexpr int32_t neighbour_fine(uint32_t weighted_magnitude) {
  return static_cast<int32_t>((4369u << 4) * weighted_magnitude + (1u << 15)) >> 16;
}
VMAFX_HD constexpr int32_t centre_fine(uint32_t weighted_magnitude) {
  return static_cast<int32_t>((8738u << 4) * weighted_magnitude + (1u << 15)) >> 16;
}

/* -- adm_masked_cube() and adm_den_cube(). A cube of 0 is 0. ------------------------------------------------------- */

/* `half` of 1 << cube_shift. */
VMAFX_HD constexpr int64_t masked_cube(uint32_t magnitude, uint32_t threshold, int square_shift, int cube_shift,
                                       int64_t half) {
  const int32_t x = larger(static_cast<int32_t>(magnitude - threshold), 0);
  const int64_t square = int64_t{x} * x + (int64_t{1} << (square_shift - 1));
  return (int64_t{static_cast<int32_t>(shifted(static_cast<uint64_t>(square), square_shift))} * x + half) >> cube_shift;
}

/* A threshold of which no magnitude exceeds enough to have a cube, shifted as adm_threshold_shift() says. */
VMAFX_HD constexpr uint32_t no_cube(int scale, int band) { return 0x7FFFFFFFu >> adm_threshold_shift(scale, band); }

/* For x of bands, as adm_math.h bounds it: the square fits 32 bits. */
VMAFX_HD constexpr uint64_t den_cube(int scale, uint32_t x, int cube_shift, uint64_t half) {
  if (scale == 0) return uint64_t{x * x} * x;
  const int shift = adm_den_square_shift(scale);
  const uint64_t square = uint64_t{x} * x + (uint64_t{1} << shift);
  return (uint64_t{shifted(square, shift)} * x + half) >> cube_shift;
}

}  // namespace vmafx::narrow

#endif
