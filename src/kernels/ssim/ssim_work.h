/* The arguments of the kernels of float_ssim and float_ms_ssim. */
#ifndef VMAFX_KERNELS_SSIM_SSIM_WORK_H
#define VMAFX_KERNELS_SSIM_SSIM_WORK_H

#include "kernels/gpu/work.h"
#include "kernels/ssim/ssim_math.h"

namespace vmafx {

/* A block makes a tile of windows, or of samples of the next scale. */
inline constexpr int kSsimThreads = 256;
inline constexpr int kSsimTileColumns = 64;
inline constexpr int kSsimTileSampleRows = 32, kSsimTileRows = kSsimTileSampleRows - SsimWindow::kLength + 1;
inline constexpr int kSsimHalvedRows = 8;

/* One scale. */
struct SsimScale {
  int32_t w, h;
  PlanePairs<float> planes;
  int32_t tiles_across, first_block;
  int32_t with_l;  // see SsimParams
};

struct SsimWork {
  hip::BatchPlanes luma;
  BatchSums<SsimSums[kMsSsimScales]> sums;
  int32_t w, h;            // the pictures' size
  int32_t factor, scales;  // with a factor of 1, the first scale has no planes: it is the samples
  float scale;             // scale_to_8_bits()
  SsimScale of[kMsSsimScales];
  int32_t next;  // the scale that is made of the one before
};
VMAFX_DECLARE_SAMPLE_KERNELS(ssim_means, SsimWork, kSsimThreads);
VMAFX_DECLARE_SAMPLE_KERNELS(ssim_halve, SsimWork, kSsimThreads);
VMAFX_DECLARE_SAMPLE_KERNELS(ssim_windows, SsimWork, kSsimThreads);

/* The sums, and those of the blocks of maps. */
struct SsimMapWork : SsimWork {
  BatchSums<SsimSums> blocks;  // of each scale, row by row
  int32_t side, across, blocks_of_scale;
};
VMAFX_DECLARE_SAMPLE_KERNELS(ssim_map_windows, SsimMapWork, kSsimThreads);

}  // namespace vmafx

#endif
