/* The raw sums of float_motion and its blurs, for all twins. */
#ifndef VMAFX_KERNELS_MOTION_FLOAT_MOTION_MATH_H
#define VMAFX_KERNELS_MOTION_FLOAT_MOTION_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

/* A plane's sums of magnitudes (row_sums.h). */
struct FloatMotionPlaneSums {
  uint64_t sad, half_size_sad;
};

/* Added to the samples, as in libvmaf. It shows in the score only through the rounding of the blur. */
inline constexpr float kFloatMotionOffset = -128;

/* A side at half the size. */
VMAFX_HD constexpr int float_motion_half(int size) { return (size + 1) / 2; }

/* Gaussians (libvmaf f85a853, motion_tools.h): the center tap and one side. */
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
