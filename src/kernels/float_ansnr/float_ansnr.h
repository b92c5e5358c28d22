/* float_ansnr: signal-to-noise ratio of two pictures that are both smoothed, the distorted one more, so that noise of
 * high frequency, which the eye masks, counts less. (Li, S., Ma, L., Ngan, K. N.: Full-Reference Video Quality
 * Assessment by Decoupling Detail Losses and Additive Impairments, IEEE Transactions on Circuits and Systems for Video
 * Technology 22(7), 2012; an early VMAF had it as a feature.)
 *
 *     r = ref * K₃/16, d = dist * K₅/571          on the scale of 8 bit, less 128; borders reflected
 *     float_ansnr  = 10·log10(Σ r² / Σ (r - d)²)                 the limit if there is no noise
 *     float_anpsnr = min(10·log10(peak²·w·h / Σ (r - d)²), limit)
 *
 * K₃ and K₅ are small Gaussians, in float_ansnr_math.h; peak and limit are those of float_psnr: (2^bpc - 1) /
 * 2^(bpc-8), 6·bpc + 12.
 *
 * Scores are libvmaf's (f85a853, `float_ansnr`), to the last bit: windows and sums (row_sums.h) round in single
 * precision in the same places, so that a flat picture may have the noise of that. Deviation: any depth from 8 to 16
 * bit, where it takes 8, 10, 12 and 16. */
#ifndef VMAFX_KERNELS_FLOAT_ANSNR_FLOAT_ANSNR_H
#define VMAFX_KERNELS_FLOAT_ANSNR_FLOAT_ANSNR_H

#include <cstddef>

#include "base/picture.h"
#include "kernels/blocks.h"
#include "kernels/float_ansnr/float_ansnr_math.h"
#include "kernels/forward.h"

namespace vmafx {

inline constexpr int kAnsnrMinSize = 3;

/* The twins, for planes of at least kAnsnrMinSize a side and samples below 2^bpc. */
size_t ansnr_scratch_bytes(const VideoFormat& format);
void ansnr_plain(const VideoFormat& format, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                 AnsnrSums& sums);
void ansnr_simd(const VideoFormat& format, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                AnsnrSums& sums);

/* The noise of each block, in the order of its samples; zeroed by the caller. */
struct AnsnrBlocks {
  double* noise;
  BlockGrid grid;
};

/* Fill in `blocks`, too, the same on all processors. */
void ansnr_mapped_plain(const VideoFormat& format, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                        AnsnrSums& sums, const AnsnrBlocks& blocks);
void ansnr_mapped_simd(const VideoFormat& format, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                       AnsnrSums& sums, const AnsnrBlocks& blocks);

inline constexpr int kAnsnrBlockSide = 32;
inline BlockGrid ansnr_blocks(const VideoFormat& format) { return block_grid(format.w, format.h, kAnsnrBlockSide); }

OwnedDeviceTwin ansnr_hip(const VideoFormat& format);
OwnedDeviceTwin ansnr_mapped_hip(const VideoFormat& format);  // its sums: AnsnrSums, then a double for each block

extern const ExtractorInfo kFloatAnsnrExtractor;

}  // namespace vmafx

#endif
