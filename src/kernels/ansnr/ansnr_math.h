/* The arithmetic of float_ansnr, for all twins. */
#ifndef VMAFX_KERNELS_ANSNR_ANSNR_MATH_H
#define VMAFX_KERNELS_ANSNR_ANSNR_MATH_H

#include <cstdint>

#include "kernels/common/device.h"

namespace vmafx {

/* K₅ by the distance from its centre; K₃ is 4, 2 and 1. Their sums: 571 and 16. */
inline constexpr int kAnsnrDistSum = 571, kAnsnrRefSum = 16;
inline constexpr int kAnsnrRefRadius = 1, kAnsnrDistRadius = 2;

/* The part of one column in a window, by the column's distance from the centre: `centre` is its middle sample, `near` the sum
 * of those one row away, `far` of those two rows away. */
VMAFX_HD int32_t ansnr_dist_column(int distance, int32_t centre, int32_t near, int32_t far) {
  if (distance == 0) return 127 * centre + 52 * near + 12 * far;
  if (distance == 1) return 52 * centre + 31 * near + 7 * far;
  return 12 * centre + 7 * near + 2 * far;
}
VMAFX_HD int32_t ansnr_ref_column(int distance, int32_t centre, int32_t near) {
  return distance == 0 ? 4 * centre + 2 * near : 2 * centre + near;
}

/* What the signal is measured from: 128 on the scale of 8 bit, times 16. */
VMAFX_HD int32_t ansnr_middle(int bpc) { return kAnsnrRefSum << (bpc - 1); }

/* |16·571·(r - d)|, below 2^30, of the window sums 16·r and 571·d. */
VMAFX_HD uint32_t ansnr_noise(int32_t ref, int32_t dist) {
  const int32_t noise = kAnsnrDistSum * ref - kAnsnrRefSum * dist;
  return static_cast<uint32_t>(noise < 0 ? -noise : noise);
}

/* The index inside [0, size) for one up to two outside: the first sample is not repeated, the last one is (as libvmaf has it). */
VMAFX_HD int ansnr_reflect(int i, int size) {
  if (i < 0) return -i;
  return i < size ? i : 2 * size - 1 - i;
}

}  // namespace vmafx

#endif
