/* What the kernel of ciede is given, and its tiles: for the host and for the kernel. */
#ifndef VMAFX_KERNELS_CIEDE_CIEDE_WORK_H
#define VMAFX_KERNELS_CIEDE_CIEDE_WORK_H

#include <stdint.h>

#include "hip/frame_planes.h"
#include "kernels/ciede/ciede_math.h"

namespace vmafx {

/* A tile: a pixel for each thread of a block. */
inline constexpr unsigned kCiedeTileColumns = 64;
inline constexpr unsigned kCiedeTileRows = 8;

/* The parameter of the kernels. */
struct CiedeWork {
  CiedeParams params;
  int32_t w = 0, h = 0, chroma_w = 0, chroma_h = 0;
  hip::BatchPlanes planes[3];
  hip::DevicePtr<uint64_t> sums;  // CiedeSums of the first frame
  uint64_t sums_stride = 0;       // words from one frame's sums to the next's
};

}  // namespace vmafx

#endif
