/* The arguments of the kernels of float_motion. */
#ifndef VMAFX_KERNELS_MOTION_FLOAT_MOTION_WORK_H
#define VMAFX_KERNELS_MOTION_FLOAT_MOTION_WORK_H

#include "kernels/motion/float_motion_math.h"
#include "kernels/steps/row_sums_work.h"

namespace vmafx {

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
