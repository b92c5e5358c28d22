/* The parameters of ciede's kernel, and its tiles: for the host and for the kernel. */
#ifndef VMAFX_KERNELS_CIEDE_CIEDE_WORK_H
#define VMAFX_KERNELS_CIEDE_CIEDE_WORK_H

#include <stdint.h>

#include "hip/frame_planes.h"
#include "kernels/ciede/ciede_math.h"
#include "kernels/gpu/work.h"

namespace vmafx {

/* A tile: a pixel for each thread of a block. */
inline constexpr unsigned kCiedeTileColumns = 64;
inline constexpr unsigned kCiedeTileRows = 8;

struct CiedeWork {
  CiedeParams params;
  hip::BatchPlanes planes[3];
  BatchSums<CiedeSums> sums;
};
VMAFX_DECLARE_SAMPLE_KERNELS(ciede, CiedeWork, kCiedeTileColumns, kCiedeTileRows);

/* The sums, and those of the blocks of maps, of which a tile meets two. */
struct CiedeMapWork : CiedeWork {
  BatchSums<int64_t> blocks;
  int32_t across = 0;
};
static_assert(kCiedeTileColumns == 2 * kCiedeBlockSide && kCiedeBlockSide % kCiedeTileRows == 0);
VMAFX_DECLARE_SAMPLE_KERNELS(ciede_maps, CiedeMapWork, kCiedeTileColumns, kCiedeTileRows);

}  // namespace vmafx

#endif
