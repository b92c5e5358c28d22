/* The raw sums of float_motion, its blurs, and what its kernels are given. */
#ifndef VMAFX_KERNELS_MOTION_FLOAT_MOTION_WORK_H
#define VMAFX_KERNELS_MOTION_FLOAT_MOTION_WORK_H

#include "kernels/steps/row_sums_work.h"

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

/* A block blurs a tile of both frames. At half the size it wants half as many samples each way: under them lie at most
 * as many blurred ones as a tile has. */
inline constexpr int kFloatMotionThreads = 256;
inline constexpr int kFloatMotionTileW = 64, kFloatMotionTileH = 32;

/* One plane, at full or at half size. */
struct FloatMotionWork {
  hip::BatchPlanes plane;
  int w, h, taps;
  float sample_scale;
  bool half_size;
  RowValues magnitudes;
};
VMAFX_DECLARE_SAMPLE_KERNELS(float_motion, FloatMotionWork, kFloatMotionThreads);

}  // namespace vmafx

#endif
