/* The arithmetic of cambi that needs no vectors: for the definition, the SIMD twin and the kernels. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_MATH_H
#define VMAFX_KERNELS_CAMBI_CAMBI_MATH_H

#include <cstdint>

#include "kernels/common/device.h"

namespace vmafx {

inline constexpr int kCambiScales = 5;
inline constexpr int kCambiMostDiffs = 32;
inline constexpr int kCambiMostWindow = 255;  // counts of a column fit a byte
inline constexpr int kCambiMostLevel = 1024;  // what rounding a deeper sample to 10 bit may give
inline constexpr int kCambiMaskRadius = 3;    // the square of 7x7 that the mask looks at
inline constexpr int kCambiKeyBits = 28;      // a key is below 9/4 · 2^28
inline constexpr int kCambiFineBits = 6;      // of a key, that the order of keys leaves out
inline constexpr int kCambiRankBits = kCambiKeyBits + 2 - kCambiFineBits;  // the others

/* Contrast response above the threshold of visibility (the paper's table), by d - 1. */
VMAFX_CONSTANT float kCambiWeights[kCambiMostDiffs] = {1, 2, 3, 4, 4, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8,
                                                       8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};

/* Which steps count where: d = i + 1 at the levels lowest[i] to highest[i]. */
struct CambiLevels {
  int32_t diffs;
  int32_t lowest[kCambiMostDiffs], highest[kCambiMostDiffs];
  int32_t first, last;  // levels that any count can be asked for
};

VMAFX_HD int cambi_scaled(int size, int halvings) {
  for (; halvings > 0; halvings--) size = (size + 1) / 2;
  return size;
}

/* A sample at 10 bit. */
VMAFX_HD uint32_t cambi_ten_bits(uint32_t sample, int bpc) {
  const uint32_t most = (1u << bpc) - 1, inside = sample < most ? sample : most;
  if (bpc <= 10) return inside << (10 - bpc);
  return (inside + (1u << (bpc - 11))) >> (bpc - 10);
}

/* What two of three have in common, else the least. */
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

/* 2^28 / window². */
VMAFX_HD float cambi_key_scale(int window) {
  return static_cast<float>(1 << kCambiKeyBits) / static_cast<float>(window * window);
}

}  // namespace vmafx

#endif
