/* psnr: peak signal-to-noise ratio of every plane.
 *
 *     mse  = Σ (ref - dist)² / (w·h)
 *     psnr = min(10·log10(peak² / max(mse, 1e-16)), limit)         peak = 2^bpc - 1
 *     apsnr = 10·(log10(peak²) + log10(Σ w·h) - log10(Σ sse)), over the whole stream, at most ⌈10·log10(2·peak²·Σ w·h)⌉
 *
 * reduced_hbd_peak takes 255·2^(bpc-8) as the peak, so that high bit depths compare with 8 bit. The limit is 6·bpc +
 * 12 dB, or with min_sse the value that this sum of squares gives, rounded up. enable_mse adds mse_y, mse_cb,
 * mse_cr; enable_apsnr the aggregates apsnr_y, apsnr_cb, apsnr_cr, for which every frame is read also with
 * n_subsample. Chroma planes that are not there (4:0:0, or one luma column wide) have no score.
 *
 * Matches libvmaf f85a853 `psnr`: sums equal, scores equal in double arithmetic. Deviations: any depth from 8 to 16
 * bit, where it takes 8, 10, 12 and 16; without chroma no apsnr_cb and apsnr_cr, where it gives -inf; no overflow in
 * rows of more than 66,051 samples, nor in the limit of apsnr of long 16-bit streams.
 *
 * float_psnr: the luma's PSNR on the scale of 8 bit, of the same sum.
 *
 *     mse        = Σ (ref - dist)² / (w·h) / 4^(bpc-8)
 *     float_psnr = min(10·log10(peak² / max(mse, 1e-10)), 6·bpc + 12)         peak = (2^bpc - 1) / 2^(bpc-8)
 *
 * Matches libvmaf f85a853 `float_psnr`, which squares and adds in floating point, within 1e-6. Deviation: as above. */
#ifndef VMAFX_KERNELS_PSNR_PSNR_H
#define VMAFX_KERNELS_PSNR_PSNR_H

#include <cstdint>

#include "base/picture.h"
#include "kernels/blocks.h"
#include "kernels/forward.h"
#include "kernels/psnr/psnr_math.h"

namespace vmafx {

/* Parameters of both metrics' sums, over the first `planes` planes of frames. */
struct PsnrParams {
  VideoFormat format;
  int planes = 1;
};

/* The twins: Σ (ref - dist)² of one plane. Planes of equal size; samples below 2^bpc. */
uint64_t psnr_sse_plain(const SamplePlane& ref, const SamplePlane& dist, int bpc);
uint64_t psnr_sse_simd(const SamplePlane& ref, const SamplePlane& dist, int bpc);
OwnedDeviceTwin psnr_hip(const PsnrParams& params);
OwnedDeviceTwin psnr_mapped_hip(const PsnrParams& params);  // its sums: PsnrSums, then uint64_t for each block

/* The blocks of maps. */
inline BlockGrid psnr_blocks(const VideoFormat& format, int plane) {
  return block_grid(format.plane_w(plane), format.plane_h(plane), kPsnrBlockSide);
}

extern const ExtractorInfo kPsnrExtractor, kFloatPsnrExtractor;

}  // namespace vmafx

#endif
