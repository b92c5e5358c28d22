/* The arithmetic of cambi that needs no vectors: for the definition, the SIMD twin and the kernels. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_MATH_H
#define VMAFX_KERNELS_CAMBI_CAMBI_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

inline constexpr int kCambiScales = 5;

/* The raw sums of one scale: of c, by cambi_counted(). The threshold is the c of rank ⌊topk · samples⌋. */
struct CambiScaleSums {
  uint64_t above, above_count;  // the sum and the number of larger values
  uint64_t at, at_count;        // the sum and the number of equal values
};

struct CambiSums {
  CambiScaleSums dist[kCambiScales], ref[kCambiScales];  // ref with full_ref only
};

/* A block's share of CambiScaleSums, of blocks of maps: of so many samples of the encode on each side. */
inline constexpr int kCambiBlockSide = 32;
struct CambiBlockSums {
  uint64_t above, at_count;
};

/* The threshold, by cambi_counted(). */
VMAFX_HD uint64_t cambi_threshold(const CambiScaleSums& sums) { return sums.at_count ? sums.at / sums.at_count : 0; }

/* Adds a key that is not 0 to its block. */
VMAFX_HD void cambi_add_to_block(uint64_t counted, uint64_t threshold, CambiBlockSums& block) {
  if (counted > threshold) block.above += counted;
  else block.at_count += counted == threshold;
}

inline constexpr int kCambiMostDiffs = 32;
inline constexpr int kCambiMostWindow = 255;  // counts of a column fit a byte
inline constexpr int kCambiMostLevel = 1024;  // the result of rounding the largest deeper sample to 10 bit
inline constexpr int kCambiMaskRadius = 3;    // the square of 7x7 that the mask looks at
inline constexpr int kCambiMaskArea = (2 * kCambiMaskRadius + 1) * (2 * kCambiMaskRadius + 1);

/* c is a float, at least ½ where it is not 0. Its key is what its bits are more than those of ¼, so that keys have the
 * order of c, or 0. */
inline constexpr uint32_t kCambiNoKey = 0x3e800000;
inline constexpr int kCambiKeyBits = 28;  // c is below 9/4 · 255²

/* The order of a key is found digit by digit: what to shift it by, and how many values the digits have. */
inline constexpr int kCambiKeyDigits = 3;
VMAFX_HD constexpr int cambi_digit_shift(int digit) { return digit == 0 ? 18 : digit == 1 ? 8 : 0; }
inline constexpr int kCambiDigitValues = 1 << (kCambiKeyBits - cambi_digit_shift(0));
VMAFX_HD constexpr uint32_t cambi_digit(uint32_t key, int shift) { return key >> shift & (kCambiDigitValues - 1); }

/* Contrast response above the threshold of visibility (the paper's table), by d - 1. */
VMAFX_CONSTANT float kCambiWeights[kCambiMostDiffs] = {1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8,
                                                       8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

/* The steps that count at each level: d = i + 1 at the levels lowest[i] to highest[i]. */
struct CambiLevels {
  int32_t diffs;
  int32_t lowest[kCambiMostDiffs], highest[kCambiMostDiffs];
  int32_t first, last;              // levels that any count can be asked for
  int32_t first_asked, last_asked;  // levels where a step counts
};

/* The parameters of a twin. */
struct CambiParams {
  int32_t bpc;
  bool anti_dither;
  bool halved;  // the first scale is left out
  double topk;
  CambiLevels levels;
};

VMAFX_HD int cambi_scaled(int size, int halvings) {
  for (; halvings > 0; halvings--) size = (size + 1) / 2;
  return size;
}

/* A sample at 10 bit. */
VMAFX_HD uint32_t cambi_ten_bits(uint32_t sample, int bpc) {
  const uint32_t most = (1u << bpc) - 1, inside = sample < most ? sample : most;
  const int up = bpc < 10 ? 10 - bpc : 0, down = bpc > 10 ? bpc - 10 : 0;
  return ((inside << up) + (1u << down >> 1)) >> down;
}

/* The value that two of three have in common, else the least. */
VMAFX_HD uint32_t cambi_mode(uint32_t a, uint32_t b, uint32_t c) {
  if (a == b || a == c) return a;
  if (b == c) return b;
  const uint32_t least = a < b ? a : b;
  return least < c ? least : c;
}

/* Nearest samples of `from` for `to`: at, at + step and so on, added up in float, as libvmaf does, since where that
 * rounds decides. */
VMAFX_HD float cambi_nearest_step(int from, int to) { return static_cast<float>(from) / static_cast<float>(to); }
VMAFX_HD float cambi_nearest_start(int from, int to) {
  return static_cast<float>(cambi_nearest_step(from, to) / 2 - 0.5);
}
VMAFX_HD int cambi_nearest(float at, int from) {
  const int sample = static_cast<int>(at + 0.5);
  return sample < from ? sample : from - 1;
}

/* libvmaf multiplies by 1 / n where c divides by it, for the n of its windows: nine decimals, rounded to float. */
inline constexpr int kCambiTabulatedWindow = 65;
inline constexpr int kCambiReciprocals = kCambiTabulatedWindow * kCambiTabulatedWindow + 1;
struct CambiReciprocals {
  float of[kCambiReciprocals];  // reciprocal of the index; 0 for 0
};
VMAFX_HD constexpr CambiReciprocals cambi_reciprocals() {
  CambiReciprocals table = {};
  uint64_t one = 100'000'000;  // times a power of ten that leaves nine digits
  for (uint32_t n = 1; n < kCambiReciprocals; n++) {
    while (one < n * uint64_t{100'000'000}) one *= 10;
    const uint64_t digits = (one + n / 2) / n;
    table.of[n] = static_cast<float>(static_cast<double>(digits) / static_cast<double>(one));
  }
  return table;
}
VMAFX_TABLE CambiReciprocals kCambiReciprocalOf = cambi_reciprocals();
VMAFX_HD bool cambi_is_tabulated(int window) { return window <= kCambiTabulatedWindow; }

/* Sums count c exactly, in 2^-24; where a window is larger than any of libvmaf's, in 2^-20, so that sums of 2^25
 * samples fit 64 bits. */
VMAFX_HD int cambi_sum_bits(int window) { return window <= 89 ? 24 : 20; }
VMAFX_HD uint64_t cambi_counted(uint32_t key, int sum_bits) {
  if (!key) return 0;
  const uint32_t bits = key + kCambiNoKey, mantissa = (bits & 0x7fffff) | 0x800000;
  const int shift = static_cast<int>(bits >> 23) - 150 + sum_bits;  // from -24, as sum_bits is 20 and c at least 1/2
  return shift < 0 ? mantissa >> -shift : uint64_t{mantissa} << shift;
}

}  // namespace vmafx

#endif
