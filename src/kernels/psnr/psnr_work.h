/* The arguments of the kernels of psnr and msad, and how the planes of a frame are cut into tiles, one block each. */
#ifndef VMAFX_KERNELS_PSNR_PSNR_WORK_H
#define VMAFX_KERNELS_PSNR_PSNR_WORK_H

#include "kernels/gpu/work.h"
#include "kernels/psnr/psnr_math.h"

namespace vmafx {

/* A tile: kPsnrTilePacks times 16 bytes wide. Each thread has one pack in every kPsnrThreadRows-th row. */
inline constexpr unsigned kPsnrTilePacks = 64;
inline constexpr unsigned kPsnrThreadRows = 2;  // rows of threads per block
inline constexpr unsigned kPsnrPacksPerThread = 4;
inline constexpr unsigned kPsnrTileRows = kPsnrThreadRows * kPsnrPacksPerThread;

struct PsnrPlaneTiles {
  int32_t w = 0, h = 0;  // samples
  uint32_t tiles_x = 1;  // in a row of tiles
  uint32_t first = 0;    // number of the plane's first tile; of planes that are not there: that of all tiles
};

template <class Sums>
struct PlaneErrorsWork {
  PsnrPlaneTiles tiles[3];
  hip::BatchPlanes planes[3];
  BatchSums<Sums> sums;
};
using PsnrWork = PlaneErrorsWork<PsnrSums>;
using MsadWork = PlaneErrorsWork<MsadSums>;
VMAFX_DECLARE_SAMPLE_KERNELS(psnr, PsnrWork, kPsnrTilePacks, kPsnrThreadRows);
VMAFX_DECLARE_SAMPLE_KERNELS(msad, MsadWork, kPsnrTilePacks, kPsnrThreadRows);

/* The sums, and those of the blocks of maps. A thread's samples are all in one block. */
struct PsnrMapWork : PsnrWork {
  BatchSums<uint64_t> blocks;  // of each plane, row by row
  int32_t across[3] = {}, first_block[3] = {};
};
static_assert(kPsnrBlockSide % 16 == 0 && kPsnrBlockSide % kPsnrTileRows == 0);
VMAFX_DECLARE_SAMPLE_KERNELS(psnr_maps, PsnrMapWork, kPsnrTilePacks, kPsnrThreadRows);

}  // namespace vmafx

#endif
