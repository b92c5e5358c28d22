/* How a frame is cut into strips, one thread each: for the host, which counts the blocks, and for the kernel. */
#ifndef VMAFX_KERNELS_MOTION_MOTION_WORK_H
#define VMAFX_KERNELS_MOTION_MOTION_WORK_H

#include <stdint.h>

#include "hip/frame_planes.h"

namespace vmafx {

inline constexpr int kMotionStripW = 8, kMotionStripH = 8;  // samples
inline constexpr int kMotionThreads = 64;                   // of a block: a row of strips
/* The outermost strips of a block only help their neighbours. */
inline constexpr int kMotionStrips = kMotionThreads - 2;

/* The parameter of the kernels. */
struct MotionWork {
  int32_t w = 0, h = 0, bpc = 0;
  int32_t step = 1;  // frames between the two that are compared
  hip::BatchPlanes luma;
  hip::DevicePtr<uint64_t> sums;  // MotionSums of the first frame
  uint64_t sums_stride = 0;       // words from one frame's sums to the next's
};

}  // namespace vmafx

#endif
