/* The arguments of the kernels of float_moment, and their tiles. */
#ifndef VMAFX_KERNELS_FLOAT_MOMENT_FLOAT_MOMENT_WORK_H
#define VMAFX_KERNELS_FLOAT_MOMENT_FLOAT_MOMENT_WORK_H

#include "kernels/float_moment/float_moment_math.h"
#include "kernels/gpu/work.h"

namespace vmafx {

/* A tile: kMomentPacks times 16 bytes wide, kMomentRows high; a thread has one column of packs. */
inline constexpr unsigned kMomentPacks = 64;
inline constexpr unsigned kMomentRows = 8;

struct MomentWork {
  int32_t w = 0, h = 0;
  hip::BatchPlanes luma;
  BatchSums<MomentPair> sums;
};
VMAFX_DECLARE_SAMPLE_KERNELS(moment, MomentWork, kMomentPacks);

}  // namespace vmafx

#endif
