/* The parameter of the kernel in block_sums.hip: see block_sums_hip.h. */
#ifndef VMAFX_KERNELS_STEPS_BLOCK_SUMS_WORK_H
#define VMAFX_KERNELS_STEPS_BLOCK_SUMS_WORK_H

#include "kernels/steps/row_sums_work.h"

namespace vmafx {

/* Few: each thread adds up a block by itself. */
inline constexpr int kBlockSumsThreads = 64;

/* Blocks of a plane, `across` times `down`, in the coordinates of that plane. */
struct BlocksOfValues {
  int side = 1, across = 0, down = 0;
  int first_x = 0, first_y = 0;  // the place of the values' first column and row
  int x0 = 0, x1 = 0;            // the columns that count, x1 excluded
};

/* The sums of planes first_plane to first_plane + words - 1 lie behind one another in each block. Grid: blocks of a
 * plane, planes, frames. */
struct AddBlocksWork {
  RowValues values;
  BlocksOfValues blocks;
  int first_plane = 0, words = 1;
  BatchSums<double> sums;  // of the first block
};
VMAFX_DECLARE_KERNEL(add_blocks, AddBlocksWork, kBlockSumsThreads);

}  // namespace vmafx

#endif
