/* The arguments of the kernels of motion, and how a frame is cut into strips, one thread each. */
#ifndef VMAFX_KERNELS_MOTION_MOTION_WORK_H
#define VMAFX_KERNELS_MOTION_MOTION_WORK_H

#include "kernels/gpu/work.h"
#include "kernels/motion/motion_math.h"

namespace vmafx {

inline constexpr int kMotionStripW = 8, kMotionStripH = 8;  // samples
inline constexpr int kMotionThreads = 64;                   // per block: a row of strips
/* The outermost strips of a block only help their neighbors. */
inline constexpr int kMotionStrips = kMotionThreads - 2;

struct MotionWork {
  int32_t w = 0, h = 0, bpc = 0;
  int32_t step = 1;  // frames between the two that are compared
  hip::BatchPlanes luma;
  BatchSums<MotionSums> sums;
};
VMAFX_DECLARE_SAMPLE_KERNELS(motion, MotionWork, kMotionThreads);

}  // namespace vmafx

#endif
