/* The sums of the blocks of maps on the device, of a metric whose kernels write its values as planes (row_sums_hip.h):
 * in double precision, in the order of the samples of a block, as its CPU twins add them up. */
#ifndef VMAFX_KERNELS_STEPS_BLOCK_SUMS_HIP_H
#define VMAFX_KERNELS_STEPS_BLOCK_SUMS_HIP_H

#include "kernels/blocks.h"
#include "kernels/device_twin.h"
#include "kernels/steps/block_sums_work.h"

namespace vmafx {

class BlockSumsDevice {
 public:
  explicit BlockSumsDevice(KernelList& kernels) : add_blocks_(kernels.add(kernels::add_blocks)) {}

  /* Blocks that cut planes of w values a row, all of which count. */
  static BlocksOfValues whole(const BlockGrid& grid, int w) { return {grid.side, grid.w, grid.h, 0, 0, 0, w}; }

  /* Writes `words` doubles for each block, from byte `offset` of a frame's sums on: those of as many planes from
   * first_plane on. To be queued before other values take the place of these. */
  Status add(const DeviceBatch& batch, const RowValues& values, const BlocksOfValues& blocks, int first_plane,
             int words, size_t offset) const {
    const AddBlocksWork work = {values, blocks, first_plane, words, batch.sums_of<double>(offset)};
    const unsigned across = hip::blocks_for(blocks.across * blocks.down, kBlockSumsThreads);
    return add_blocks_.launch(batch, batch.grid(across, static_cast<unsigned>(words)), work);
  }

 private:
  const TwinKernel<AddBlocksWork> add_blocks_;
};

}  // namespace vmafx

#endif
