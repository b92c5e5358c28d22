/* The sums of ADM's blocks, for its maps (kernels/maps.h). */
#ifndef VMAFX_KERNELS_ADM_ADM_BLOCKS_H
#define VMAFX_KERNELS_ADM_ADM_BLOCKS_H

#include <cstdint>

#include "kernels/adm/adm_math.h"
#include "kernels/blocks.h"

namespace vmafx {

/* What a block adds to AdmSums of one scale. */
struct AdmBlockSums {
  int64_t dlm[kAdmBands];
  int64_t aim[kAdmBands];
  uint64_t csf_den[kAdmBands];
};

/* The blocks of all scales, cut from the bands of each. */
struct AdmBlocks {
  AdmBlockSums* scale[kAdmScales];  // row by row; zeroed by the caller

  /* No vector of 64 bytes reaches across two blocks: samples of bands have 16 bits at scale 0, else 32. */
  static constexpr BlockGrid grid(const AdmScale& scale, int index) {
    return block_grid(scale.w, scale.h, index == 0 ? 32 : 16);
  }
};

/* The rounded sum of a row, handed out to its blocks from left to right: each takes what its terms add to the sum of
 * the row so far, rounded. The parts add up to the row's rounded sum; each is within a unit of its own. */
template <class Sum>
class RowParts {
 public:
  explicit RowParts(int shift) : shift_(shift), half_((uint64_t{1} << shift) >> 1) {}

  /* `terms`: the sum of a block's, modulo 2^64. */
  Sum take(uint64_t terms) {
    terms_ += terms;
    const Sum rounded = static_cast<Sum>(terms_ + half_) >> shift_;
    const Sum part = rounded - given_;
    given_ = rounded;
    return part;
  }

 private:
  int shift_;
  uint64_t half_, terms_ = 0;
  Sum given_ = 0;
};

}  // namespace vmafx

#endif
