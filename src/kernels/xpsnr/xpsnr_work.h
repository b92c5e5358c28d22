/* The arguments of the kernels of xpsnr. */
#ifndef VMAFX_KERNELS_XPSNR_XPSNR_WORK_H
#define VMAFX_KERNELS_XPSNR_XPSNR_WORK_H

#include "kernels/gpu/work.h"
#include "kernels/xpsnr/xpsnr_math.h"

namespace vmafx {

/* A block of threads for each block of the frame. */
inline constexpr unsigned kXpsnrThreadsX = 32, kXpsnrThreadsY = 4;

struct XpsnrWork {
  XpsnrGrid grid;
  int32_t second_order = 0;
  hip::BatchPlanes planes[3];
  BatchSums<XpsnrBlock> sums;  // the first block's
};
VMAFX_DECLARE_SAMPLE_KERNELS(xpsnr, XpsnrWork, kXpsnrThreadsX, kXpsnrThreadsY);

}  // namespace vmafx

#endif
