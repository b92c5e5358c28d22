/* The raw sums of float_moment, what its kernels are given, and their tiles. */
#ifndef VMAFX_KERNELS_FLOAT_MOMENT_FLOAT_MOMENT_WORK_H
#define VMAFX_KERNELS_FLOAT_MOMENT_FLOAT_MOMENT_WORK_H

#include "kernels/gpu/work.h"

namespace vmafx {

/* The sums of one picture's luma. */
struct MomentSums {
  uint64_t first;   // Σ samples
  uint64_t second;  // Σ squares
};

/* The raw sums of one frame. */
struct MomentPair {
  MomentSums ref, dist;
};

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
