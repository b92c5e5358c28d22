/* What the twins of float_motion share: the blurs and the sums. */
#ifndef VMAFX_KERNELS_FLOAT_MOTION_FLOAT_MOTION_MATH_H
#define VMAFX_KERNELS_FLOAT_MOTION_FLOAT_MOTION_MATH_H

#include <cstdint>

#include "kernels/common/device.h"

namespace vmafx {

/* A magnitude is at most 256, and there are less than 2^30 of them: a sum is below 2^38. */
inline constexpr int kFloatMotionBits = 24;

/* In multiples of 2^-kFloatMotionBits. */
struct FloatMotionPlaneSums {
  int64_t sad, half_size_sad;
};

/* A side at half the size. */
VMAFX_HD constexpr int float_motion_half(int size) { return (size + 1) / 2; }

/* Gaussians (libvmaf f85a853, motion_tools.h): the centre tap and one side. */
VMAFX_CONSTANT float kFloatMotionTaps5[3] = {0.402619947f, 0.244201342f, 0.054488685f};
VMAFX_CONSTANT float kFloatMotionTaps3[2] = {0.667243004f, 0.166378498f};

inline constexpr int kFloatMotionMaxRadius = 2;

/* Filters of rows-inl.h. */
struct FloatMotionBlur5 {
  static constexpr int kRadius = 2;
  VMAFX_HD static float tap(int k) { return kFloatMotionTaps5[k]; }
};
struct FloatMotionBlur3 {
  static constexpr int kRadius = 1;
  VMAFX_HD static float tap(int k) { return kFloatMotionTaps3[k]; }
};
struct FloatMotionNoBlur {
  static constexpr int kRadius = 0;
  VMAFX_HD static float tap(int) { return 1.0f; }
};

}  // namespace vmafx

#endif
