/* The raw sums of motion and the arithmetic of one sample, for all twins. */
#ifndef VMAFX_KERNELS_MOTION_MOTION_MATH_H
#define VMAFX_KERNELS_MOTION_MOTION_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

/* The raw sums of one frame. */
struct MotionSums {
  uint64_t sad;  // Σ |G(earlier - current)|, each term below 2^16; 0 where there is no earlier frame
};

/* The blur: five taps in Q16, symmetric, a Gaussian of σ ≈ 1.08; they add up to 65536. */
inline constexpr int kMotionTaps = 5;
inline constexpr int kMotionRadius = 2;
inline constexpr int32_t kMotionOuter = 3571, kMotionInner = 16004, kMotionCenter = 26386;

/* ⌊(blur + rounding) / 2⌋, for an even rounding up to 2^15. The blur of 16 bits and a sign takes 33 bits; all taps but
 * the outer ones are even, so its half is exact in 32: at most 2^15 · 65535 + 2^14 < 2^31. */
VMAFX_HD int32_t motion_half_blur(const int32_t values[kMotionTaps], int32_t rounding) {
  return ((kMotionOuter * (values[0] + values[4]) + rounding) >> 1) + kMotionInner / 2 * (values[1] + values[3]) +
         kMotionCenter / 2 * values[2];
}

/* First pass, down a column: differences of bpc bits and a sign -> 16 bits and a sign, whatever the depth. */
VMAFX_HD int32_t motion_column(const int32_t diffs[kMotionTaps], int bpc) {
  return motion_half_blur(diffs, 1 << (bpc - 1)) >> (bpc - 1);
}

/* Second pass, along a row: 16 bits and a sign -> the same, and its magnitude. */
VMAFX_HD uint32_t motion_row(const int32_t columns[kMotionTaps]) {
  const int32_t blurred = motion_half_blur(columns, 1 << 15) >> 15;
  return blurred < 0 ? -blurred : blurred;
}

}  // namespace vmafx

#endif
