/* The arguments of the kernels of float_ansnr, and their tiles. */
#ifndef VMAFX_KERNELS_FLOAT_ANSNR_FLOAT_ANSNR_WORK_H
#define VMAFX_KERNELS_FLOAT_ANSNR_FLOAT_ANSNR_WORK_H

#include "kernels/float_ansnr/float_ansnr_math.h"
#include "kernels/steps/row_sums_work.h"

namespace vmafx {

/* A block's tile of windows; a thread has one column of kAnsnrTileH / kAnsnrThreadRows of them. */
inline constexpr int kAnsnrTileW = 64, kAnsnrTileH = 16, kAnsnrThreadRows = 4;

struct AnsnrWork {
  int32_t w = 0, h = 0;
  float sample_scale = 1;
  hip::BatchPlanes luma;
  RowValues squares;  // signal, noise
};
VMAFX_DECLARE_SAMPLE_KERNELS(ansnr, AnsnrWork, kAnsnrTileW, kAnsnrThreadRows);

}  // namespace vmafx

#endif
