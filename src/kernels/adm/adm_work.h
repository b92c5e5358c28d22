/* How the kernels of adm cut the bands of a scale into tiles, and what they are given: for the host, which plans it,
 * and for the kernels. */
#ifndef VMAFX_KERNELS_ADM_ADM_WORK_H
#define VMAFX_KERNELS_ADM_ADM_WORK_H

#include <stdint.h>

#include "hip/frame_planes.h"
#include "kernels/adm/adm_math.h"
#include "kernels/gpu/work.h"

namespace vmafx {

/* A block makes the bands of a tile, in columns and rows of the bands; each thread has some columns of one row.
 * Masking looks one sample further, so neighboring tiles overlap by two: a tile scores what is inside its outermost
 * rows and columns, and writes the band a of all but its last two. */
struct AdmTileShape {
  int w, h;
  int columns;  // per thread

  constexpr int step_x() const { return w - 2; }
  constexpr int step_y() const { return h - 2; }
  constexpr unsigned threads() const { return static_cast<unsigned>(w / columns * h); }
};

/* Large tiles overlap less, and threads with more columns do less for each; but they need more registers, and the
 * other scales have 64-bit arithmetic and too few tiles. */
constexpr AdmTileShape adm_tile_shape(int scale) {
  return scale == 0 ? AdmTileShape{64, 16, 4} : AdmTileShape{32, 16, 2};
}

/* The tiles of a scale in one direction. Tile i begins at first + i step; those from scored_from on, `scored` of
 * them, have samples that count. */
struct AdmTiling {
  int32_t first = 0;
  int32_t count = 0;
  int32_t scored_from = 0;
  int32_t scored = 0;
};

/* Sums over the columns of a tile, before AdmScale's row shifts, which only whole rows may get. For each frame, scale,
 * view, sum (dlm, aim, csf_den of band h, v, d, as in AdmSums) and column of tiles: an array over the scored rows. */
inline constexpr int kAdmRowSums = 3 * kAdmBands;

/* One scale. */
struct AdmStage {
  AdmScale scale;
  int32_t views = 1;
  uint32_t rfactor[kAdmMostViews][kAdmBands] = {};  // AdmView's of this scale
  AdmTiling x, y;
  int64_t cube_half[kAdmBands] = {};  // half of 1 << cube_shift
  uint64_t den_cube_half = 0;
  narrow::GainLimit gain_limit = {};
  int32_t measure_aim = 0;
  uint32_t low_start = 0, high_start = 0;  // start of the vertical sums of scale 0: rounding, less the samples' center
  hip::BatchPlanes luma;                   // scale 0
  PlanePairs<uint8_t> from;                // scales 1 to 3: bands a of the scale before
  PlanePairs<uint8_t> to;                  // scales 0 to 2: bands a
  hip::DevicePtr<uint64_t> row_sums;       // this scale's, of the first frame
  int64_t row_sums_stride = 0;             // words from frame to frame
};
VMAFX_DECLARE_SAMPLE_KERNELS(adm_scale0, AdmStage, adm_tile_shape(0).threads());
VMAFX_DECLARE_KERNEL(adm_scale1, AdmStage, adm_tile_shape(1).threads());
VMAFX_DECLARE_KERNEL(adm_scale2, AdmStage, adm_tile_shape(2).threads());
VMAFX_DECLARE_KERNEL(adm_scale3, AdmStage, adm_tile_shape(3).threads());

/* The same for several views. */
VMAFX_DECLARE_SAMPLE_KERNELS(adm_views_scale0, AdmStage, adm_tile_shape(0).threads());
VMAFX_DECLARE_KERNEL(adm_views_scale1, AdmStage, adm_tile_shape(1).threads());
VMAFX_DECLARE_KERNEL(adm_views_scale2, AdmStage, adm_tile_shape(2).threads());
VMAFX_DECLARE_KERNEL(adm_views_scale3, AdmStage, adm_tile_shape(3).threads());

/* The same for one view, with a sum for each part of a tile's row that is in one block of the maps: as many as a tile
 * can meet, in place of one for each tile. */
inline constexpr int kAdmBlocksAcross = 3;
static_assert((adm_tile_shape(0).step_x() - 2) / adm_block_side(0) + 2 == kAdmBlocksAcross);
static_assert((adm_tile_shape(1).step_x() - 2) / adm_block_side(1) + 2 == kAdmBlocksAcross);
VMAFX_DECLARE_SAMPLE_KERNELS(adm_map_scale0, AdmStage, adm_tile_shape(0).threads());
VMAFX_DECLARE_KERNEL(adm_map_scale1, AdmStage, adm_tile_shape(1).threads());
VMAFX_DECLARE_KERNEL(adm_map_scale2, AdmStage, adm_tile_shape(2).threads());
VMAFX_DECLARE_KERNEL(adm_map_scale3, AdmStage, adm_tile_shape(3).threads());

/* Adding up rows: those of a block, and threads for each, which share out the tiles. */
inline constexpr unsigned kAdmRowsPerBlock = 64, kAdmThreadsPerRow = 4;

struct AdmRows {
  struct OfScale {
    int32_t rows, tiles;  // tiles: columns of them
    int32_t row_shift, den_row_shift;
    int64_t first;  // word of a frame's row_sums
  };
  OfScale scale[kAdmScales];
  hip::DevicePtr<uint64_t> row_sums;
  int64_t row_sums_stride = 0;
  BatchSums<AdmSums> sums;  // of the first view; those of the others lie behind
};
VMAFX_DECLARE_KERNEL(adm_rows, AdmRows, kAdmRowsPerBlock, kAdmThreadsPerRow);

/* Handing out rows to the blocks of maps, a thread for each row. */
struct AdmMapRows {
  struct OfScale {
    AdmRows::OfScale rows;  // `tiles`: of sums, kAdmBlocksAcross for each tile
    int32_t left, top;      // of what is scored
    int32_t first;          // where the first tile begins that has samples that count
    int32_t across;         // blocks
    int64_t first_block;
  };
  OfScale scale[kAdmScales];
  hip::DevicePtr<uint64_t> row_sums;
  int64_t row_sums_stride = 0;
  BatchSums<AdmBlockSums> blocks;
};
VMAFX_DECLARE_KERNEL(adm_map_rows, AdmMapRows, kAdmRowsPerBlock);

}  // namespace vmafx

#endif
