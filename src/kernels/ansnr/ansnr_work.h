/* What float_ansnr's kernels are given, and their tiles. */
#ifndef VMAFX_KERNELS_ANSNR_ANSNR_WORK_H
#define VMAFX_KERNELS_ANSNR_ANSNR_WORK_H

#include <stdint.h>

#include "hip/frame_planes.h"

namespace vmafx {

/* A block's tile of windows; a thread has one column of kAnsnrTileH / kAnsnrThreadRows of them. */
inline constexpr int kAnsnrTileW = 64, kAnsnrTileH = 16, kAnsnrThreadRows = 4;

struct AnsnrWork {
  int32_t w = 0, h = 0, bpc = 8;
  hip::BatchPlanes luma;
  hip::DevicePtr<uint64_t> sums;  // AnsnrSums of the first frame
  uint64_t sums_stride = 0;       // words from one frame's sums to the next's
};

}  // namespace vmafx

#endif
