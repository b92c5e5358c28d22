/* The arithmetic of one sample of motion, for the definition and the device kernels. */
#ifndef VMAFX_KERNELS_MOTION_MOTION_MATH_H
#define VMAFX_KERNELS_MOTION_MOTION_MATH_H

#include <cstdint>

#include "kernels/common/device.h"

namespace vmafx {

/* The blur: five taps in Q16, symmetric, a Gaussian of σ ≈ 1.08; they add up to 65536. */
inline constexpr int kMotionTaps = 5;
inline constexpr int kMotionRadius = 2;
inline constexpr int32_t kMotionOuter = 3571, kMotionInner = 16004, kMotionCentre = 26386;

VMAFX_HD int64_t motion_blur(const int32_t values[kMotionTaps]) {
  return int64_t{kMotionOuter} * (values[0] + values[4]) + int64_t{kMotionInner} * (values[1] + values[3]) +
         int64_t{kMotionCentre} * values[2];
}

/* First pass, down a column: differences of bpc bits and a sign -> 16 bits and a sign, whatever the depth. */
VMAFX_HD int32_t motion_column(const int32_t diffs[kMotionTaps], int bpc) {
  return static_cast<int32_t>((motion_blur(diffs) + (int64_t{1} << (bpc - 1))) >> bpc);
}

/* Second pass, along a row: 16 bits and a sign -> the same, and its magnitude. */
VMAFX_HD uint32_t motion_row(const int32_t columns[kMotionTaps]) {
  const int32_t blurred = static_cast<int32_t>((motion_blur(columns) + (1 << 15)) >> 16);
  return blurred < 0 ? -blurred : blurred;
}

}  // namespace vmafx

#endif
