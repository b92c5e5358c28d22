/* The parameters of ssimulacra2's kernels, and the way they share the work: for the .hip file and for
 * ssimulacra2_hip.cpp, which starts them. */
#ifndef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_WORK_H
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_WORK_H

#include <stdint.h>

#include "hip/device_ptr.h"
#include "hip/frame_planes.h"
#include "kernels/gpu/work.h"
#include "kernels/ssimulacra2/ssimulacra2_math.h"

namespace vmafx {

/* Rows of the first scale that are worked on at a time, and half as many of each further one. Results between the
 * passes are kept for these rows, and for as many before them as the filter and the errors still need. */
inline constexpr int kSsimulacra2ChunkRows = 128, kSsimulacra2EarlierRows = 12;

/* A block makes the XYB of all scales of a tile of samples, 2x2 of them a thread at a time. */
inline constexpr int kSsimulacra2ValueColumns = 64, kSsimulacra2ValueRows = 32, kSsimulacra2ValueThreads = 256;

/* Blocks of lines, which are the rows of all channels, one channel after the other: each thread blurs one of the five
 * streams of a line, and together they move tiles of so many columns. Blocks of columns of the three channels, each a
 * thread. */
inline constexpr int kSsimulacra2Lines = 32, kSsimulacra2TileColumns = 32;
inline constexpr int kSsimulacra2ColumnThreads = 64;

/* Blocks: x is the frame and the last one the place in it, so that those of the largest scale, which take the longest,
 * begin first.
 *
 * A scale. Its planes begin so many floats behind the start of the scratch memory. XYB is 6 planes for each frame: x,
 * y, b of ref, then of dist. Streams blurred along rows (5 of x, then of y and of b) lie in bands of four rows: the
 * four of a column, then those of the next column. Rows have `stride` places, and `ring` of them take turns. */
struct Ssimulacra2ScaleWork {
  int32_t w, h, stride;
  int32_t rows, rows_log2, ring, first_slot;  // first_slot: where in the ring the chunk begins
  int32_t first_row_block, first_column_block;
  int64_t values, blurred, ring_plane;
  int64_t states, state_line;  // the columns': last and before of each section, of all streams
};

struct Ssimulacra2Work {
  hip::BatchPlanes planes[3];
  hip::DevicePtr<float> scratch;
  BatchSums<Ssimulacra2Sums> sums;
  Ssimulacra2Params params;
  int32_t scales = 0, value_tiles_across = 1;
  int32_t chunk = 0, chunks = 1;
  Ssimulacra2ScaleWork scale[kSsimulacra2Scales] = {};
};
VMAFX_DECLARE_SAMPLE_KERNELS(ssimulacra2_values, Ssimulacra2Work, kSsimulacra2ValueThreads);
VMAFX_DECLARE_KERNEL(ssimulacra2_rows, Ssimulacra2Work, kSsimulacra2Lines,
                     kSsimulacra2Streams + 1);  // the last ones only fetch: whole waves
VMAFX_DECLARE_KERNEL(ssimulacra2_columns, Ssimulacra2Work, kSsimulacra2ColumnThreads);

/* The sums of columns, and those of the blocks of maps. */
struct Ssimulacra2MapWork : Ssimulacra2Work {
  BatchSums<Ssimulacra2BlockSums> blocks;
  /* The side of a block at each scale, the blocks in a row, and the number of the first one. */
  int32_t block_side[kSsimulacra2Scales] = {}, blocks_across[kSsimulacra2Scales] = {},
          first_block[kSsimulacra2Scales] = {};
};
VMAFX_DECLARE_KERNEL(ssimulacra2_map_columns, Ssimulacra2MapWork, kSsimulacra2ColumnThreads);

}  // namespace vmafx

#endif
