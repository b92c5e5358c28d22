/* The arguments of the kernels of siti, and their tiles. */
#ifndef VMAFX_KERNELS_SITI_SITI_WORK_H
#define VMAFX_KERNELS_SITI_SITI_WORK_H

#include "kernels/gpu/work.h"
#include "kernels/siti/siti_math.h"

namespace vmafx {

/* A tile: a thread has one column, kSitiRows samples high. */
inline constexpr unsigned kSitiColumns = 128;
inline constexpr unsigned kSitiRows = 16;

struct SitiWork {
  int32_t w = 0, h = 0, bpc = 0;
  hip::BatchPlanes luma;
  BatchSums<SitiPair> sums;
};
VMAFX_DECLARE_SAMPLE_KERNELS(siti, SitiWork, kSitiColumns);

}  // namespace vmafx

#endif
