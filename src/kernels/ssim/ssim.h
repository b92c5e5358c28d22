/* float_ssim and float_ms_ssim: structural similarity of luma, at one scale and at five.
 *
 * Samples count from 0 to below 256 (at b bit divided by 2^(b-8)). In every window of 11x11 samples within the picture,
 * with Gaussian weights, means µ, variances σ² (at least 0) and covariance σxy of reference x and distorted y:
 *
 *     l = (2µxµy + C1) / (µx² + µy² + C1)     c = (2σxσy + C2) / (σx² + σy² + C2)     s = (σxy + C3) / (σxσy + C3)
 *
 *     float_ssim = mean(l·c·s)                                       Wang, Bovik, Sheikh, Simoncelli, IEEE TIP 2004
 *     float_ms_ssim = Π mean(l)^α mean(c)^β max(mean(s), 0)^β        Wang, Simoncelli, Bovik, Asilomar 2003
 *
 * float_ssim first replaces blocks of `scale`² samples by their means; scale=0 takes one that leaves about 256 rows.
 * float_ms_ssim multiplies over five scales, each half as wide and high as the one before (9x9 filter); α is 0 but for
 * the last, β = 0.0448, 0.2856, 0.3001, 0.2363, 0.1333. enable_lcs adds the means of l, c and s, enable_db gives
 * -10·log10(1 - score), at most ⌈10·log10(2·w·h·peak²)⌉ with clip_db.
 *
 * Equal to libvmaf f85a853 `float_ssim`, `float_ms_ssim`: products, filtered samples and means are rounded to float
 * where it does, because in bright flat areas the rounding of variances shows in dB. Deviations: any depth from 8 to
 * 16 bit, where it takes 9, 11, 13 to 15 bit for bytes; equal pictures score 1 even if they are flat, where its
 * rounding may show; a negative mean(s) counts as 0, where it gives NaN; pictures without a window are refused, where
 * it gives 0 or NaN. */
#ifndef VMAFX_KERNELS_SSIM_SSIM_H
#define VMAFX_KERNELS_SSIM_SSIM_H

#include <cstddef>
#include <cstdint>

#include "base/picture.h"
#include "kernels/blocks.h"
#include "kernels/forward.h"
#include "kernels/ssim/ssim_math.h"

namespace vmafx {

struct SsimParams {
  int w, h, bpc;
  int factor = 1;       // rows and columns are divided by it beforehand
  int scales = 1;       // 1 or kMsSsimScales
  bool every_l = true;  // false: l only at the last scale
  bool with_l(int scale) const { return every_l || scale == scales - 1; }
};

/* A scale's planes, and how many windows lie in them, which its sums are divided by. */
struct SsimSize {
  SsimSize(const SsimParams& params, int scale);
  int w, h;
  int64_t windows() const { return static_cast<int64_t>(w - SsimWindow::kLength + 1) * (h - SsimWindow::kLength + 1); }
};

/* The twins: `sums`, and what follows behind it, are those of each scale, zeroed. */
void ssim_plain(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                SsimSums& sums);
void ssim_simd(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               SsimSums& sums);
/* Adds to `blocks`, zeroed, what the windows of each block of `grid` add to the sums: first those of scale 0, then
 * those of the next one, and so on. A window belongs to the block of its first sample, as that lies at scale 0. */
void ssim_mapped_plain(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                       SsimSums& sums, const BlockGrid& grid, SsimSums* blocks);
size_t ssim_scratch_bytes_plain(const SsimParams& params);
size_t ssim_scratch_bytes_simd(const SsimParams& params);
OwnedDeviceTwin ssim_hip(const SsimParams& params);
/* Its sums: SsimSums of each scale, then those of the blocks, as of ssim_mapped_plain(). */
OwnedDeviceTwin ssim_mapped_hip(const SsimParams& params, const BlockGrid& grid);

extern const ExtractorInfo kFloatSsimExtractor, kFloatMsSsimExtractor;

}  // namespace vmafx

#endif
