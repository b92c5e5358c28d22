/* The parameters of psnr_hvs's kernels, and the way that blocks are dealt out to threads. */
#ifndef VMAFX_KERNELS_PSNR_HVS_PSNR_HVS_WORK_H
#define VMAFX_KERNELS_PSNR_HVS_PSNR_HVS_WORK_H

#include <stdint.h>

#include "hip/frame_planes.h"
#include "kernels/gpu/work.h"
#include "kernels/psnr_hvs/psnr_hvs_math.h"

namespace vmafx {

/* Eight threads have a block of samples, one column and then one row of coefficients each. The threads of a block of
 * threads have a row of them, some at a time. */
inline constexpr unsigned kPsnrHvsAtATime = 16;
inline constexpr unsigned kPsnrHvsThreads = 8 * kPsnrHvsAtATime;
inline constexpr unsigned kPsnrHvsSquares = kPsnrHvsBlock * kPsnrHvsBlock;  // samples in a block

struct PsnrHvsRowsOfPlane {
  int32_t blocks_x = 0;
  uint32_t first = 0;        // number of the plane's first row of blocks
  uint32_t first_block = 0;  // and of its first block
};

struct PsnrHvsWork {
  PsnrHvsRowsOfPlane rows[3];
  hip::BatchPlanes planes[3];
  int32_t middle = 128;  // the middle of the samples' range
  BatchSums<PsnrHvsSums> sums;
  uint32_t blocks = 0;               // blocks of samples in a frame
  hip::DevicePtr<PsnrHvsSum> exact;  // the exact sum of each row, frame by frame
  hip::DevicePtr<float> squares;     // the errors of each block, frame by frame, by the rows of its coefficients
};
VMAFX_DECLARE_SAMPLE_KERNELS(psnr_hvs_rows, PsnrHvsWork, kPsnrHvsThreads);
VMAFX_DECLARE_KERNEL(psnr_hvs_sums, PsnrHvsWork, kPsnrHvsThreads);

/* The sums, and those of the blocks of maps. */
struct PsnrHvsMapWork : PsnrHvsWork {
  BatchSums<PsnrHvsSum> map;  // of each plane, row by row
  int32_t across[3] = {}, first_of_plane[3] = {};
};
VMAFX_DECLARE_KERNEL(psnr_hvs_map_sums, PsnrHvsMapWork, kPsnrHvsThreads);

}  // namespace vmafx

#endif
