/* The sums of ADM's blocks, for its maps (kernels/maps.h). */
#ifndef VMAFX_KERNELS_ADM_ADM_BLOCKS_H
#define VMAFX_KERNELS_ADM_ADM_BLOCKS_H

#include <cstdint>

#include "kernels/adm/adm_math.h"
#include "kernels/blocks.h"

namespace vmafx {

/* The blocks of all scales, cut from the bands of each. */
struct AdmBlocks {
  AdmBlockSums* scale[kAdmScales];  // row by row; zeroed by the caller

  static constexpr BlockGrid grid(const AdmScale& scale, int index) {
    return block_grid(scale.w, scale.h, adm_block_side(index));
  }
};

}  // namespace vmafx

#endif
