/* The raw sums of psnr and msad, for all twins. */
#ifndef VMAFX_KERNELS_PSNR_PSNR_MATH_H
#define VMAFX_KERNELS_PSNR_PSNR_MATH_H

#include <cstdint>

#include "kernels/arithmetic/squared_error.h"

namespace vmafx {

/* The raw sums of one frame. */
struct PsnrSums {
  uint64_t sse[3];  // Σ (ref - dist)² per plane; 0 for planes that are not read
};
struct MsadSums {
  uint64_t sad[3];  // Σ |ref - dist| per plane; 0 for planes that are not read
};

inline constexpr int kPsnrBlockSide = 16;  // of the blocks of maps, in samples of a plane

/* The errors of a sample that they add up. */
struct SquaredError {
  VMAFX_HD uint32_t operator()(int32_t ref, int32_t dist) const { return squared_error(ref, dist); }
};
struct AbsoluteError {
  /* The difference is signed: clang 19 loses the magnitude of `ref < dist ? dist - ref : ref - dist` on gfx942. */
  VMAFX_HD uint32_t operator()(int32_t ref, int32_t dist) const {
    const int32_t difference = ref - dist;
    return static_cast<uint32_t>(difference < 0 ? -difference : difference);
  }
};

}  // namespace vmafx

#endif
