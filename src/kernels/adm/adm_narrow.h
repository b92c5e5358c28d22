/* The arithmetic of adm_math.h for kernels: the same numbers by fewer and narrower instructions. Each function names the
 * one that it equals; tests/kernels/adm_hip_test.cpp compares them.
 *
 * GPUs multiply 32 by 32 bits to 64 in one or two instructions, but add and shift 64 bits in two, divide in fifteen, and
 * most have few units for double. At scale 0, where bands fit 16 bits, nearly everything fits 32. */
#ifndef VMAFX_KERNELS_ADM_ADM_NARROW_H
#define VMAFX_KERNELS_ADM_ADM_NARROW_H

#include <cstdint>

#include "kernels/adm/adm_math.h"

namespace vmafx::narrow {

VMAFX_HD constexpr int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
VMAFX_HD constexpr int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
VMAFX_HD constexpr uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
VMAFX_HD constexpr uint32_t magnitude(int32_t x) { return static_cast<uint32_t>(adm_wrap_abs(x)); }

/* -- Wavelet transform: adm_low_pass() and adm_high_pass(), modulo 2^32. Where the result fits int32_t, steps in between
 * need not. */
VMAFX_HD constexpr uint32_t low_pass(uint32_t start, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return start + kAdmTap0 * a + kAdmTap1 * b + kAdmTap2 * c + static_cast<uint32_t>(kAdmTap3) * d;
}
VMAFX_HD constexpr uint32_t high_pass(uint32_t start, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return start + static_cast<uint32_t>(kAdmTap3) * a - kAdmTap2 * b + kAdmTap1 * c - kAdmTap0 * d;
}
inline constexpr uint32_t kLowGain = kAdmTap0 + kAdmTap1 + kAdmTap2 + kAdmTap3;  // of a constant; high-pass: 0

/* -- adm_aligned() ------------------------------------------------------------------------------------------------- */

/* Given float dot, |o|^2 and |t|^2 with relative errors of at most 2^-21 (of |o||t|, for dot). Its own rounding and that of
 * the products add less than 2^-21; only what is nearer to the limit than 2^-18 needs doubles. */
enum class Alignment { kNo, kYes, kNear };
VMAFX_HD Alignment alignment(float dot, float o_square, float t_square) {
  const float limit = kAdmCosSquared * o_square * t_square, square = dot * dot;
  if (limit == 0) return Alignment::kYes;  // one of them is 0, and so is dot
  if (dot <= 0 || square < limit * (1 - 0x1p-18f)) return Alignment::kNo;
  return square > limit * (1 + 0x1p-18f) ? Alignment::kYes : Alignment::kNear;
}

VMAFX_HD bool aligned_fine(int32_t oh, int32_t ov, int32_t th, int32_t tv) {
  const Alignment a =
      alignment(static_cast<float>(oh * th + ov * tv), static_cast<float>(oh * oh + ov * ov),
                static_cast<float>(th * th + tv * tv));
  return a == Alignment::kNear ? adm_aligned(oh, ov, th, tv) : a == Alignment::kYes;
}

VMAFX_HD bool aligned_coarse(int32_t oh, int32_t ov, int32_t th, int32_t tv) {
  const float foh = static_cast<float>(oh), fov = static_cast<float>(ov);
  const float fth = static_cast<float>(th), ftv = static_cast<float>(tv);
  const Alignment a = alignment(foh * fth + fov * ftv, foh * foh + fov * fov, fth * fth + ftv * ftv);
  return a == Alignment::kNear ? adm_aligned(oh, ov, th, tv) : a == Alignment::kYes;
}

/* -- adm_ratio(). Where o and t have different signs k is 0; where |t| is twice |o| or more it is 1, so |t| counts up to
 * there, and the product fits 32 bits as long as |o| does 15. */

/* |t| as far as it counts, 0 where the signs differ. */
VMAFX_HD constexpr uint32_t counted(int32_t o, int32_t t) {
  const int32_t towards = o < 0 ? static_cast<int32_t>(0u - static_cast<uint32_t>(t)) : t;
  return smaller(static_cast<uint32_t>(larger(towards, 0)), 2 * magnitude(o));
}

/* What adm_reciprocal() is taken of: the leading bits of |o|, and by how much they are shifted; 1 where o is 0. */
struct Divisor {
  uint32_t leading;
  int shift;
};
VMAFX_HD constexpr Divisor divisor_fine(int32_t o) { return {magnitude(o) | (o == 0), 0}; }
VMAFX_HD constexpr Divisor divisor_coarse(int32_t o) {
  const uint32_t m = magnitude(o) | (o == 0);
  const int shift = larger(17 - __builtin_clz(m), 0);
  return {(m + ((1u << shift) >> 1)) >> shift, shift};
}

/* adm_reciprocal(), given 1 / x with a relative error of at most 2^-21. The first quotient is not larger than the true one,
 * and what is missing, at most 2^11 / x + 1, is told from a whole number by 1/2 of a remainder. */
VMAFX_HD uint32_t reciprocal(uint32_t x, float inverse) {
  constexpr float kOne = (1 << 30) - (1 << 9) - (1 << 8);
  const auto quotient = static_cast<uint32_t>(static_cast<int32_t>(inverse * kOne));
  const auto missing = static_cast<int32_t>((1u << 30) - quotient * x);
  return quotient + static_cast<uint32_t>(static_cast<int32_t>((static_cast<float>(missing) + 0.5f) * inverse));
}

VMAFX_HD int32_t ratio_fine(int32_t o, int32_t t, const Divisor& divisor, float inverse) {
  const uint32_t product = reciprocal(divisor.leading, inverse) * counted(o, t);
  return static_cast<int32_t>(smaller((product + (1 << 14)) >> 15, 32768u));
}

VMAFX_HD int32_t ratio_coarse(int32_t o, int32_t t, const Divisor& divisor, float inverse) {
  const uint64_t product = uint64_t{reciprocal(divisor.leading, inverse)} * counted(o, t);
  const auto twice_k = static_cast<uint32_t>(product >> (14 + divisor.shift));
  return static_cast<int32_t>(smaller((twice_k + 1) >> 1, 32768u));
}

/* -- adm_restored() ------------------------------------------------------------------------------------------------ */

/* adm_enhn_gain_limit; `whole` is the same if it is a whole number, else 0. */
struct GainLimit {
  double value;
  int32_t whole;
};

/* Integer is wide enough for restored times the limit. Towards zero or not does not matter, for t is an integer. */
template <class Integer, bool kWhole>
VMAFX_HD Integer gained(int32_t restored, const GainLimit& limit) {
  return kWhole ? static_cast<Integer>(restored) * limit.whole : static_cast<Integer>(restored * limit.value);
}

template <class Integer>
VMAFX_HD constexpr int32_t nearer_to_zero(int32_t o, int32_t t, Integer gained) {
  return o > 0 ? (gained >= t ? t : static_cast<int32_t>(gained)) : (gained <= t ? t : static_cast<int32_t>(gained));
}

template <bool kWhole>
VMAFX_HD int32_t restored_fine(int32_t o, int32_t t, const Divisor& divisor, float inverse, bool aligned,
                               const GainLimit& limit) {
  const int32_t k = ratio_fine(o, t, divisor, inverse), restored = (k * o + (1 << 14)) >> 15;
  if (!aligned || k == 0 || o == 0) return restored;
  return nearer_to_zero(o, t, gained<int32_t, kWhole>(restored, limit));
}

template <bool kWhole>
VMAFX_HD int32_t restored_coarse(int32_t o, int32_t t, const Divisor& divisor, float inverse, bool aligned,
                               const GainLimit& limit) {
  const int32_t k = ratio_coarse(o, t, divisor, inverse);
  const auto restored = static_cast<int32_t>((int64_t{k} * o + (1 << 14)) >> 15);
  if (!aligned || k == 0 || o == 0) return restored;
  return nearer_to_zero(o, t, gained<int64_t, kWhole>(restored, limit));
}

/* -- Contrast sensitivity of scale 0. A cast to 16 bits behind a shift by less than 16 is a shift to the top of the word
 * and back. -------------------------------------------------------------------------------------------------------- */

/* adm_csf_fine() of a product adm_wrap_mul(rfactor, x). */
VMAFX_HD constexpr int32_t csf_fine(int band, int32_t product) {
  if (band == 2) return static_cast<int16_t>((int64_t{product} + 65535) >> 17);
  return static_cast<int32_t>(2 * static_cast<uint32_t>(product) + (1u << 15)) >> 16;
}
/* adm_neighbour_fine(), adm_centre_fine(). */
VMAFX_HD constexpr int32_t neighbour_fine(uint32_t weighted_magnitude) {
  return static_cast<int32_t>((4369u << 4) * weighted_magnitude + (1u << 15)) >> 16;
}
VMAFX_HD constexpr int32_t centre_fine(uint32_t weighted_magnitude) {
  return static_cast<int32_t>((8738u << 4) * weighted_magnitude + (1u << 15)) >> 16;
}

/* -- adm_masked_cube() and adm_den_cube(). A cube of 0 is 0. ------------------------------------------------------- */

VMAFX_HD constexpr int64_t masked_cube(uint32_t magnitude, uint32_t threshold, int square_shift,
                                       int cube_shift) {
  const int32_t x = larger(static_cast<int32_t>(magnitude - threshold), 0);
  const auto square = static_cast<int32_t>((int64_t{x} * x + (int64_t{1} << (square_shift - 1))) >> square_shift);
  return adm_round_shift(int64_t{square} * x, cube_shift);
}

/* For |x| of bands, as adm_math.h bounds it: the square fits 32 bits. */
VMAFX_HD constexpr uint64_t den_cube(int scale, int32_t x, int cube_shift) {
  const uint32_t m = magnitude(x);
  if (scale == 0) return uint64_t{m * m} * m;
  const int shift = adm_den_square_shift(scale);
  const auto square = static_cast<uint32_t>((uint64_t{m} * m + (uint64_t{1} << shift)) >> shift);
  return (uint64_t{square} * m + ((uint64_t{1} << cube_shift) >> 1)) >> cube_shift;
}

}  // namespace vmafx::narrow

#endif
