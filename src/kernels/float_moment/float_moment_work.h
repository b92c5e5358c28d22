/* What float_moment's kernels are given, and their tiles. */
#ifndef VMAFX_KERNELS_FLOAT_MOMENT_FLOAT_MOMENT_WORK_H
#define VMAFX_KERNELS_FLOAT_MOMENT_FLOAT_MOMENT_WORK_H

#include <stdint.h>

#include "hip/frame_planes.h"

namespace vmafx {

/* A tile: kMomentPacks times 16 bytes wide, kMomentRows high; a thread has one column of packs. */
inline constexpr unsigned kMomentPacks = 64;
inline constexpr unsigned kMomentRows = 8;

struct MomentWork {
  int32_t w = 0, h = 0;
  hip::BatchPlanes luma;
  hip::DevicePtr<uint64_t> sums;  // MomentPair of the first frame
  uint64_t sums_stride = 0;       // words from one frame's sums to the next's
};

}  // namespace vmafx

#endif
