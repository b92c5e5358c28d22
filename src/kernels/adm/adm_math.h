/* The arithmetic of ADM per sample, for the definition, the SIMD twin and the device.
 *
 * Fixed-point formats. Samples are centred: 2^(bpc-1) is taken off, which is what the taps' sums would add (low 46342,
 * high 0). With samples scaled to 8 bits, the bands of scale 0 are Q6 and fit 16 bits (|band| <= 22930); those of
 * scales 1 to 3 are Q21, Q19 and Q18 and fit 32 bits (|band| <= 2103110000). Ratios k are Q15, reciprocals Q30.
 *
 * Several steps of libvmaf drop high bits: the casts to int16_t at scale 0, those to int32_t elsewhere. With the
 * Watson and blended sensitivities that only happens on extreme pictures; with adm_csf_mode=1 it happens on every
 * picture, since its factors do not fit their fixed-point format. What is dropped is part of the definition, so
 * unsigned arithmetic stands wherever a sum or a difference may leave its range. */
#ifndef VMAFX_KERNELS_ADM_ADM_MATH_H
#define VMAFX_KERNELS_ADM_ADM_MATH_H

#include <cstdint>

#include "kernels/adm/adm_scales.h"
#include "kernels/gpu/device.h"

namespace vmafx {

/* What depends on the scale, the size and how the picture is looked at. */
struct AdmScale : AdmExtent {
  int vertical_shift;  // of the wavelet transform, see adm_vertical_shift()
  int horizontal_shift;
  uint32_t rfactor[kAdmBands];   // sensitivity. Scale 0: Q21, Q21, Q23, cut to 16 bits; others: Q32, cut to 32 bits
  int cube_shift[kAdmBands];     // rounding right shift of each masked cube
  int row_shift;                 // of a row's sum of masked cubes
  int den_cube_shift;            // of each cube of the reference, scales 1 to 3
  int den_row_shift;             // of a row's sum of cubes of the reference
};

VMAFX_HD constexpr int64_t adm_round_shift(int64_t value, int shift) {
  return (value + ((int64_t{1} << shift) >> 1)) >> shift;
}

/* Modulo 2^32. */
VMAFX_HD constexpr int32_t adm_wrap_mul(uint32_t a, int32_t b) {
  return static_cast<int32_t>(a * static_cast<uint32_t>(b));
}
VMAFX_HD constexpr int32_t adm_wrap_sub(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
VMAFX_HD constexpr int32_t adm_wrap_abs(int32_t x) {
  return x < 0 ? static_cast<int32_t>(0u - static_cast<uint32_t>(x)) : x;
}

/* -- Wavelet transform: Daubechies, two vanishing moments (db2). Taps in Q15, for samples 2i-1, 2i, 2i+1, 2i+2. */
inline constexpr int kAdmTap0 = 15826, kAdmTap1 = 27411, kAdmTap2 = 7345, kAdmTap3 = -4240;

/* Rounding right shifts after the two passes of a scale. */
VMAFX_HD constexpr int adm_vertical_shift(int scale, int bpc) { return scale == 0 ? bpc : scale == 1 ? 0 : 16; }
VMAFX_HD constexpr int adm_horizontal_shift(int scale) { return scale % 2 ? 15 : 16; }

VMAFX_HD constexpr int64_t adm_low_pass(int32_t a, int32_t b, int32_t c, int32_t d) {
  return int64_t{kAdmTap0} * a + int64_t{kAdmTap1} * b + int64_t{kAdmTap2} * c + int64_t{kAdmTap3} * d;
}
VMAFX_HD constexpr int64_t adm_high_pass(int32_t a, int32_t b, int32_t c, int32_t d) {
  return int64_t{kAdmTap3} * a - int64_t{kAdmTap2} * b + int64_t{kAdmTap1} * c - int64_t{kAdmTap0} * d;
}

/* -- Decoupling: what of the distorted band is the reference's detail (restored), what was added. */

/* Whether the gradients (oh, ov) and (th, tv) point the same way within one degree:
 * o.t >= 0 and (o.t)^2 >= cos(1 deg)^2 |o|^2 |t|^2, in the reference's mix of float and double. */
inline constexpr float kAdmCosSquared = 0.99969541350954787f;  // cos(1 deg)^2

VMAFX_HD bool adm_aligned(int32_t oh, int32_t ov, int32_t th, int32_t tv) {
  const double dot = static_cast<float>(int64_t{oh} * th + int64_t{ov} * tv) / 4096.0;
  const double o_square = static_cast<float>(int64_t{oh} * oh + int64_t{ov} * ov) / 4096.0;
  const double t_square = static_cast<float>(int64_t{th} * th + int64_t{tv} * tv) / 4096.0;
  return dot >= 0.0 && dot * dot >= kAdmCosSquared * o_square * t_square;
}

/* 2^30 / x, rounded down, for x in [1, 32768]. libvmaf keeps a table of it; a division gives the same numbers. */
VMAFX_HD constexpr int32_t adm_reciprocal(uint32_t x) { return static_cast<int32_t>((1u << 30) / x); }

/* By how much to shift |o| right, with rounding, to have its 15 leading bits: 0 below 32768. */
VMAFX_HD constexpr int adm_leading_shift(uint32_t magnitude) {
  return magnitude < 32768 ? 0 : 17 - __builtin_clz(magnitude);
}

/* k = t / o, held within [0, 1], Q15. k = 1 where o = 0. */
VMAFX_HD constexpr int32_t adm_ratio(int32_t o, int32_t t) {
  if (o == 0) return 32768;
  const auto magnitude = static_cast<uint32_t>(adm_wrap_abs(o));
  const int shift = adm_leading_shift(magnitude);
  const auto leading = static_cast<uint32_t>(adm_round_shift(magnitude, shift));
  const int64_t k = adm_round_shift(int64_t{adm_reciprocal(leading)} * t * (o < 0 ? -1 : 1), 15 + shift);
  return k < 0 ? 0 : k > 32768 ? 32768 : static_cast<int32_t>(k);
}

/* The restored part of t. Where the gradients are aligned, the contrast was changed rather than the detail: then up to
 * gain_limit times the restored part counts as restored, but never more than t. */
VMAFX_HD constexpr int32_t adm_restored(int32_t o, int32_t t, bool aligned, double gain_limit) {
  const int32_t k = adm_ratio(o, t);
  const auto restored = static_cast<int32_t>(adm_round_shift(int64_t{k} * o, 15));
  if (!aligned || k == 0 || o == 0) return restored;
  const double gained = restored * gain_limit;
  const bool take_t = o > 0 ? gained >= t : gained <= t;
  return take_t ? t : static_cast<int32_t>(gained);
}

/* -- Contrast sensitivity: a weighted coefficient, then what it adds to the threshold of the other picture as a
 * neighbour (1/30 of its magnitude) and at the centre (1/15). For band d libvmaf adds 65535, not 65536. */
VMAFX_HD constexpr int32_t adm_csf_fine(int band, uint32_t rfactor, int32_t x) {
  const int64_t product = adm_wrap_mul(rfactor, x);
  return static_cast<int16_t>(band < 2 ? (product + 16384) >> 15 : (product + 65535) >> 17);
}
VMAFX_HD constexpr int32_t adm_neighbour_fine(int32_t weighted) {
  return static_cast<int16_t>((4369 * adm_wrap_abs(weighted) + 2048) >> 12);  // 4369 = 2^17 / 30
}
VMAFX_HD constexpr int32_t adm_centre_fine(int32_t weighted) {
  return static_cast<int16_t>((8738 * adm_wrap_abs(weighted) + 2048) >> 12);
}

VMAFX_HD constexpr int32_t adm_csf_coarse(uint32_t rfactor, int32_t x) {
  return static_cast<int32_t>((int64_t{rfactor} * x + (1 << 27)) >> 28);
}

/* libvmaf means to round these two, but its 2^31 sits in an int32_t and so is subtracted: a weighted 0 gives -1. */
inline constexpr int32_t kAdmOneBy30 = 143165577;  // 2^32 / 30
inline constexpr int32_t kAdmOneBy15 = 286331153;  // 2^32 / 15
inline constexpr int64_t kAdmCoarseRounding = -(int64_t{1} << 31);

VMAFX_HD constexpr int32_t adm_neighbour_coarse(int32_t weighted) {
  return static_cast<int32_t>((int64_t{kAdmOneBy30} * adm_wrap_abs(weighted) + kAdmCoarseRounding) >> 32);
}
VMAFX_HD constexpr int32_t adm_centre_coarse(int32_t weighted) {
  return static_cast<int32_t>((int64_t{kAdmOneBy15} * adm_wrap_abs(weighted) + kAdmCoarseRounding) >> 32);
}

/* -- Contrast masking: the cube of what a coefficient exceeds the threshold by. */
VMAFX_HD constexpr int adm_square_shift(int scale, int band) { return scale == 0 && band < 2 ? 29 : 30; }
VMAFX_HD constexpr int adm_threshold_shift(int scale, int band) { return scale > 0 ? 0 : band < 2 ? 10 : 12; }

VMAFX_HD constexpr int64_t adm_masked_cube(int32_t magnitude, uint32_t threshold, int square_shift, int cube_shift) {
  const auto x = static_cast<int32_t>(static_cast<uint32_t>(magnitude) - threshold);
  if (x < 0) return 0;
  const auto square = static_cast<int32_t>(adm_round_shift(int64_t{x} * x, square_shift));
  return adm_round_shift(int64_t{square} * x, cube_shift);
}

/* -- The denominator: cubes of the reference's bands, unweighted: the sensitivity's cube is a factor of the sum. */
VMAFX_HD constexpr int adm_den_square_shift(int scale) { return scale == 2 ? 30 : 31; }

/* libvmaf rounds the square by a whole unit, not a half. */
VMAFX_HD constexpr uint64_t adm_den_cube(int scale, int32_t x, int cube_shift) {
  const auto magnitude = static_cast<uint64_t>(x < 0 ? -int64_t{x} : int64_t{x});
  if (scale == 0) return magnitude * magnitude * magnitude;
  const int shift = adm_den_square_shift(scale);
  const uint64_t square = (magnitude * magnitude + (uint64_t{1} << shift)) >> shift;
  return (square * magnitude + ((uint64_t{1} << cube_shift) >> 1)) >> cube_shift;
}

}  // namespace vmafx

#endif
