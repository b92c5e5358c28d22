/* The raw sums of psnr and the arithmetic of one sample, for the definition and the device kernels. */
#ifndef VMAFX_KERNELS_PSNR_PSNR_MATH_H
#define VMAFX_KERNELS_PSNR_PSNR_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

/* The raw sums of one frame. */
struct PsnrSums {
  uint64_t sse[3];  // Σ (ref - dist)² per plane; 0 for planes that are not read
};

/* Of samples up to 16 bit: below 2^32. */
VMAFX_HD uint32_t psnr_squared_error(int32_t ref, int32_t dist) {
  const uint32_t difference = ref < dist ? dist - ref : ref - dist;
  return difference * difference;
}

}  // namespace vmafx

#endif
