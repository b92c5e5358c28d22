/* The squared error of one sample, for the definitions and the kernels. */
#ifndef VMAFX_KERNELS_ARITHMETIC_SQUARED_ERROR_H
#define VMAFX_KERNELS_ARITHMETIC_SQUARED_ERROR_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

/* The squared difference of two samples of up to 16 bits: below 2^32. */
VMAFX_HD uint32_t squared_error(int32_t ref, int32_t dist) {
  const uint32_t difference = ref < dist ? dist - ref : ref - dist;
  return difference * difference;
}

}  // namespace vmafx

#endif
