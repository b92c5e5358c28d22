/* The raw sums of float_ansnr, its filters and how they meet the borders, for all twins. */
#ifndef VMAFX_KERNELS_FLOAT_ANSNR_FLOAT_ANSNR_MATH_H
#define VMAFX_KERNELS_FLOAT_ANSNR_FLOAT_ANSNR_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

/* The raw sums of one frame, as row_sums.h has them. */
struct AnsnrSums {
  uint64_t signal, noise;  // Σ r², Σ (r - d)²
};

/* Added to the samples, on the scale of 8 bit: what the signal is measured from. */
inline constexpr float kAnsnrOffset = -128;

inline constexpr int kAnsnrRefRadius = 1, kAnsnrDistRadius = 2;

/* Rows of K₃ and K₅ by the distance from the center, in each the taps by theirs. */
VMAFX_CONSTANT float kAnsnrRefTaps[2][2] = {{4 / 16.0, 2 / 16.0}, {2 / 16.0, 1 / 16.0}};
VMAFX_CONSTANT float kAnsnrDistTaps[3][3] = {
    {127 / 571.0, 52 / 571.0, 12 / 571.0}, {52 / 571.0, 31 / 571.0, 7 / 571.0}, {12 / 571.0, 7 / 571.0, 2 / 571.0}};

/* Filters of rows-inl.h. */
template <int distance>
struct AnsnrRefRow {
  static constexpr int kRadius = kAnsnrRefRadius;
  VMAFX_HD static float tap(int k) { return kAnsnrRefTaps[distance][k]; }
};
template <int distance>
struct AnsnrDistRow {
  static constexpr int kRadius = kAnsnrDistRadius;
  VMAFX_HD static float tap(int k) { return kAnsnrDistTaps[distance][k]; }
};

/* The index inside [0, size) for one up to two outside: the first sample is not repeated, the last one is (as libvmaf
 * has it). */
VMAFX_HD int ansnr_reflect(int i, int size) {
  if (i < 0) return -i;
  return i < size ? i : 2 * size - 1 - i;
}

}  // namespace vmafx

#endif
