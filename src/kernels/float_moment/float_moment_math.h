/* The raw sums of float_moment, for all twins. */
#ifndef VMAFX_KERNELS_FLOAT_MOMENT_FLOAT_MOMENT_MATH_H
#define VMAFX_KERNELS_FLOAT_MOMENT_FLOAT_MOMENT_MATH_H

#include <cstdint>

namespace vmafx {

/* The sums of one picture's luma. */
struct MomentSums {
  uint64_t first;   // Σ samples
  uint64_t second;  // Σ squares
};

/* The raw sums of one frame. */
struct MomentPair {
  MomentSums ref, dist;
};

}  // namespace vmafx

#endif
