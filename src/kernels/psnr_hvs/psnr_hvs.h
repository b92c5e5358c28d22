/* psnr_hvs: peak signal-to-noise ratio as the eye sees it, PSNR-HVS-M.
 *
 *     mse        = mean over the coefficients of all 8x8 blocks, which overlap by one sample, of
 *                  (csf · max(|DCT ref - DCT dist| - mask / m, 0))²,      m = (0.3886 csf)²; nothing masks the mean
 *     mask       = √(max over ref and dist of texture · Σ m · DCT²) / 32, without the mean
 *     texture    = the variance within the quarters of the block / that of the block
 *     psnr_hvs_y = 10·log10(peak² / mse), peak = 2^bpc - 1; _cb and _cr likewise
 *     psnr_hvs   = 10·log10(peak² / (0.8 mse_y + 0.1 (mse_cb + mse_cr)))
 *
 * from: N. Ponomarenko et al., "On between-coefficient contrast masking of DCT basis functions", VPQM 2007, with the
 * transform and sensitivities of Xiph's Daala. Equal pictures score infinity. No options.
 *
 * Matches libvmaf f85a853 `psnr_hvs` within 2e-6. It adds all squares up in one float, which takes less and less of
 * small ones, and so gives 0.002 dB more at 1920x1080, 0.014 dB at 3840x2160. Here a row of blocks has its squares
 * rounded as that sum of the rows above would have it, which is as much, and does not depend on the order within the
 * row. 4:0:0 and more than 12 bits, where products of the transform would overflow, are refused, as there; so are
 * planes without a whole block, for which it gives NaN. */
#ifndef VMAFX_KERNELS_PSNR_HVS_PSNR_HVS_H
#define VMAFX_KERNELS_PSNR_HVS_PSNR_HVS_H

#include <cstddef>
#include <cstdint>

#include "base/picture.h"
#include "kernels/blocks.h"
#include "kernels/forward.h"
#include "kernels/psnr_hvs/psnr_hvs_math.h"

namespace vmafx {

inline constexpr int kPsnrHvsMostBits = 12;

/* The twins: the sum of plane number `plane`. Planes of equal size, at least a block. */
PsnrHvsSum psnr_hvs_plain(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch);
PsnrHvsSum psnr_hvs_simd(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch);

/* Adds to `blocks`, zeroed, what the transformed blocks in each block of `grid` add: these are its samples. */
PsnrHvsSum psnr_hvs_mapped_plain(int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc,
                                 const BlockGrid& grid, PsnrHvsSum* blocks);

/* The SIMD twin's arrays for planes up to w samples wide: for eight rows of ref and of dist, one array for each of
 * up to four words that a block's row has. An array has a word for each block, and room for vectors that read past
 * them. */
size_t psnr_hvs_array_words(int w);
inline size_t psnr_hvs_scratch_bytes(int w) {
  return 2 * kPsnrHvsBlock * 4 * psnr_hvs_array_words(w) * sizeof(uint32_t);
}

/* The HIP twin. */
OwnedDeviceTwin psnr_hvs_hip(const VideoFormat& format);
OwnedDeviceTwin psnr_hvs_mapped_hip(const VideoFormat& format);  // its sums: PsnrHvsSums, then PsnrHvsSum of each block

/* The blocks of maps, in blocks of samples. */
inline BlockGrid psnr_hvs_map_blocks(const VideoFormat& format, int plane) {
  return block_grid(psnr_hvs_blocks(format.plane_w(plane)), psnr_hvs_blocks(format.plane_h(plane)), kPsnrHvsMapSide);
}

extern const ExtractorInfo kPsnrHvsExtractor;

}  // namespace vmafx

#endif
