/* The raw sums of ADM and its arithmetic per sample, for the definition, the SIMD twin and the device.
 *
 * Fixed-point formats. Samples are centered: 2^(bpc-1) is taken off, which is what the taps' sums would add (low 46342,
 * high 0). With samples scaled to 8 bits, the bands of scale 0 are Q6 and fit 16 bits (|band| <= 22930); those of
 * scales 1 to 3 are Q21, Q19 and Q18 and fit 32 bits (|band| <= 2103110000). Ratios k are Q15, reciprocals Q30.
 *
 * Several steps of libvmaf drop high bits: the casts to int16_t at scale 0, those to int32_t elsewhere. With the
 * Watson and blended sensitivities that only happens on extreme pictures. The dropped bits are part of the definition,
 * so unsigned arithmetic stands wherever a sum or a difference may leave its range. Barten's sensitivities,
 * adm_csf_mode=1, do not fit libvmaf's fixed-point format at all; here they have a unit that fits (adm_csf.h), and
 * nothing is dropped. */
#ifndef VMAFX_KERNELS_ADM_ADM_MATH_H
#define VMAFX_KERNELS_ADM_ADM_MATH_H

#include <cstdint>

#include "kernels/adm/adm_scales.h"
#include "kernels/gpu/device.h"

namespace vmafx {

/* A scale's parameters. They depend on its size. */
struct AdmScale : AdmExtent {
  int vertical_shift;  // for the wavelet transform, see adm_vertical_shift()
  int horizontal_shift;
  int cube_shift[kAdmBands];  // rounding right shift of each masked cube
  int row_shift;              // for a row's sum of masked cubes
  int den_cube_shift;         // for each cube of the reference, scales 1 to 3
  int den_row_shift;          // for a row's sum of cubes of the reference
};

/* How a picture is viewed: the sensitivity that weighs each band. Scale 0: Q21, Q21, Q23, below 2^16; others: Q32. */
struct AdmView {
  uint32_t rfactor[kAdmScales][kAdmBands];
  bool operator==(const AdmView&) const = default;
};

/* The most ways of viewing that twins make sums for in one go. */
inline constexpr int kAdmMostViews = 4;

/* The raw sums of a frame, viewed in one way: per scale and band (h, v, d), row by row with the shifts of AdmScale.
 * Sums of skipped bands stay zero. */
struct AdmSums {
  int64_t dlm[kAdmScales][kAdmBands];
  int64_t aim[kAdmScales][kAdmBands];
  uint64_t csf_den[kAdmScales][kAdmBands];
};

/* The blocks of maps, in samples of the bands. No vector of 64 bytes reaches across two of them: samples have 16 bits
 * at scale 0, else 32. */
VMAFX_HD constexpr int adm_block_side(int scale) { return scale == 0 ? 32 : 16; }

/* What a block of a map adds to AdmSums of one scale. */
struct AdmBlockSums {
  int64_t dlm[kAdmBands];
  int64_t aim[kAdmBands];
  uint64_t csf_den[kAdmBands];
};

/* The rounded sum of a row, handed out to its blocks from left to right: each takes what its terms add to the sum of
 * the row so far, rounded. The parts add up to the row's rounded sum; each is within a unit of its own. */
template <class Sum>
class RowParts {
 public:
  VMAFX_HD explicit RowParts(int shift) : shift_(shift), half_((uint64_t{1} << shift) >> 1) {}

  /* `terms`: the sum of a block's, modulo 2^64. A block may take several times. */
  VMAFX_HD Sum take(uint64_t terms) {
    terms_ += terms;
    const Sum rounded = static_cast<Sum>(terms_ + half_) >> shift_;
    const Sum part = rounded - given_;
    given_ = rounded;
    return part;
  }

 private:
  int shift_;
  uint64_t half_, terms_ = 0;
  Sum given_ = 0;
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

/* The right shift, with rounding, that leaves the 15 leading bits of |o|: 0 below 32768. */
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

/* The restored part of t. If the gradients are aligned, the contrast was changed rather than the detail: then up to
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
 * neighbor (1/30 of its magnitude) and at the center (1/15). For band d libvmaf adds 65535, not 65536. */
VMAFX_HD constexpr int32_t adm_csf_fine(int band, uint32_t rfactor, int32_t x) {
  const int64_t product = adm_wrap_mul(rfactor, x);
  return static_cast<int16_t>(band < 2 ? (product + 16384) >> 15 : (product + 65535) >> 17);
}
VMAFX_HD constexpr int32_t adm_neighbor_fine(int32_t weighted) {
  return static_cast<int16_t>((4369 * adm_wrap_abs(weighted) + 2048) >> 12);  // 4369 = 2^17 / 30
}
VMAFX_HD constexpr int32_t adm_center_fine(int32_t weighted) {
  return static_cast<int16_t>((8738 * adm_wrap_abs(weighted) + 2048) >> 12);
}

VMAFX_HD constexpr int32_t adm_csf_coarse(uint32_t rfactor, int32_t x) {
  return static_cast<int32_t>((int64_t{rfactor} * x + (1 << 27)) >> 28);
}

/* libvmaf means to round these two, but its 2^31 sits in an int32_t and so is subtracted: a weighted 0 gives -1. */
inline constexpr int32_t kAdmOneBy30 = 143165577;  // 2^32 / 30
inline constexpr int32_t kAdmOneBy15 = 286331153;  // 2^32 / 15
inline constexpr int64_t kAdmCoarseRounding = -(int64_t{1} << 31);

VMAFX_HD constexpr int32_t adm_neighbor_coarse(int32_t weighted) {
  return static_cast<int32_t>((int64_t{kAdmOneBy30} * adm_wrap_abs(weighted) + kAdmCoarseRounding) >> 32);
}
VMAFX_HD constexpr int32_t adm_center_coarse(int32_t weighted) {
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

/* -- The same numbers by fewer and narrower instructions, for kernels. Each function names the one that it equals;
 * tests/kernels/adm/adm_narrow_test.cpp compares them.
 *
 * GPUs multiply 32 by 32 bits to 64 in one or two instructions, but add and shift 64 bits in two, divide in fifteen,
 * and most have few units for double. At scale 0, where bands fit 16 bits, nearly everything fits 32. */
namespace narrow {

VMAFX_HD constexpr int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }
VMAFX_HD constexpr int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
VMAFX_HD constexpr uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
VMAFX_HD constexpr uint32_t magnitude(int32_t x) { return static_cast<uint32_t>(adm_wrap_abs(x)); }

/* The low half of value >> n, n in [1, 31]: in halves, since compilers take a product with what was shifted as 64
 * bits for one of 64 by 64. */
VMAFX_HD constexpr uint32_t shifted(uint64_t value, int n) {
  return static_cast<uint32_t>(value) >> n | static_cast<uint32_t>(value >> 32) << (32 - n);
}

/* -- Wavelet transform: adm_low_pass() and adm_high_pass(), modulo 2^32. Steps in between may leave int32_t as long as
 * the result fits it. */
VMAFX_HD constexpr uint32_t low_pass(uint32_t start, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return start + kAdmTap0 * a + kAdmTap1 * b + kAdmTap2 * c + static_cast<uint32_t>(kAdmTap3) * d;
}
VMAFX_HD constexpr uint32_t high_pass(uint32_t start, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return start + static_cast<uint32_t>(kAdmTap3) * a - kAdmTap2 * b + kAdmTap1 * c - kAdmTap0 * d;
}
inline constexpr uint32_t kLowGain = kAdmTap0 + kAdmTap1 + kAdmTap2 + kAdmTap3;  // a constant's gain; high-pass: 0

/* -- adm_aligned() ------------------------------------------------------------------------------------------------- */

/* The answer that floats can give: aligned, or too near to the limit to tell. */
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
  const Alignment a = alignment(static_cast<float>(oh * th + ov * tv), static_cast<float>(oh * oh + ov * ov),
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

/* The argument of adm_reciprocal(): the leading bits of o, or of 1 if o is 0, and the number of bits that they are
 * shifted by. */
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
VMAFX_HD uint32_t counted(const Pair& p) { return smaller(static_cast<uint32_t>(larger(p.t, 0)), 2 * p.o); }
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

/* adm_neighbor_fine(), adm_center_fine(). */
VMAFX_HD constexpr int32_t neighbor_fine(uint32_t weighted_magnitude) {
  return static_cast<int32_t>((4369u << 4) * weighted_magnitude + (1u << 15)) >> 16;
}
VMAFX_HD constexpr int32_t center_fine(uint32_t weighted_magnitude) {
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

}  // namespace narrow

}  // namespace vmafx

#endif
