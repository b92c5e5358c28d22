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

}  // namespace vmafx

#endif
