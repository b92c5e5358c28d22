/* The raw sums of psnr, for all twins. */
#ifndef VMAFX_KERNELS_PSNR_PSNR_MATH_H
#define VMAFX_KERNELS_PSNR_PSNR_MATH_H

#include <cstdint>

#include "kernels/arithmetic/squared_error.h"

namespace vmafx {

/* The raw sums of one frame. */
struct PsnrSums {
  uint64_t sse[3];  // Σ (ref - dist)² per plane; 0 for planes that are not read
};

}  // namespace vmafx

#endif
