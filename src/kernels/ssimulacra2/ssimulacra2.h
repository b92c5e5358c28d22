/* ssimulacra2: Structural SIMilarity Unveiling Local And Compression Related Artifacts, version 2.1 (Jon Sneyers,
 * Cloudinary, github.com/cloudinary/ssimulacra2).
 *
 *   linear light, by steps/linear_light.h, to the absorbances of cones:  (l, m, s) = M·(r, g, b) + bias
 *   XYB of their cube roots, less those of the bias:  x = 14·(l - m)/2 + 0.42, y = (l + m)/2 + 0.01, b = (s - y) + 0.55
 *   at six scales, each the means of 2x2 samples of the light of the one before (a last odd column or row counts
 *   twice), of x, y and b:
 *     means µ, with a Gaussian of σ = 1.5 in nine taps, zero beyond the borders
 *     ssim     = max(0, 1 - (1 - (µ1 - µ2)²)·(2σ12 + C2) / (σ1² + σ2² + C2)), C2 = 0.0009
 *     artifact = max(0, e), detail = max(0, -e), e = (1 + |dist - µ2|) / (1 + |ref - µ1|) - 1
 *   score: of each map the mean and the fourth root of the mean fourth power, weighted, then bent to 100 for no error
 *
 * Scores are at most 100 and may be far below 0. There is no option. Pictures have at least 8x8 samples; a scale is
 * left out where the one before was narrower or lower than 8, and the weights then move up, as in the reference. Gray
 * pictures have neutral chroma.
 *
 * The program's filter is a recursive one whose impulse response is these nine taps. Its poles lie on the unit circle:
 * what floats round off stays and adds up, to 3e-6 along rows and columns, and to 0.1 and more in scores. So its
 * operations are done here one by one, in its order and fused where it fuses them on CPUs that can, from 16-bit sRGB
 * on. Scores agree to 1e-7. docs/ssimulacra2.md has a table. */
#ifndef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_H
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_H

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/picture.h"
#include "kernels/blocks.h"
#include "kernels/forward.h"
#include "kernels/ssimulacra2/ssimulacra2_math.h"

namespace vmafx {

/* The parameters for a video. EINVAL if it is too small, or its colors are not known. */
StatusOr<Ssimulacra2Params> ssimulacra2_params(const VideoFormat& format);

/* The twins; the second one takes any number of encodes. */
size_t ssimulacra2_scratch_bytes_plain(const Ssimulacra2Params& params);
size_t ssimulacra2_scratch_bytes_simd(const Ssimulacra2Params& params, int encodes);
void ssimulacra2_plain(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist, std::byte* scratch,
                       Ssimulacra2Sums& sums);
void ssimulacra2_simd(const Ssimulacra2Params& params, const Picture& ref, std::span<const Picture* const> dists,
                      std::byte* scratch, std::span<Ssimulacra2Sums* const> sums);

/* The sums of the blocks of each scale. Blocks are 64 samples of the picture wide and high, at the last scale 128,
 * where errors of kSsimulacra2Band rows are added up together. */
struct Ssimulacra2Blocks {
  Ssimulacra2BlockSums* scale[kSsimulacra2Scales];  // row by row; zeroed by the caller

  static BlockGrid grid(const Ssimulacra2Params& params, int scale) {
    return block_grid(ssimulacra2_size(params.w, scale), ssimulacra2_size(params.h, scale),
                      std::max(64 >> scale, kSsimulacra2Band));
  }
};

/* Fills in `blocks`, too, which add up to `sums`. Scratch is that of ssimulacra2_plain(). */
void ssimulacra2_mapped_plain(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist,
                              std::byte* scratch, Ssimulacra2Sums& sums, const Ssimulacra2Blocks& blocks);

/* The blocks of the scales before this one. */
inline size_t ssimulacra2_first_block(const Ssimulacra2Params& params, int scale) {
  return blocks_before(scale, [&](int s) { return Ssimulacra2Blocks::grid(params, s); });
}

/* The HIP twins. The sums of the second one: Ssimulacra2Sums, then Ssimulacra2BlockSums of each scale. */
OwnedDeviceTwin ssimulacra2_hip(const Ssimulacra2Params& params);
OwnedDeviceTwin ssimulacra2_mapped_hip(const Ssimulacra2Params& params);

extern const ExtractorInfo kSsimulacra2Extractor;

}  // namespace vmafx

#endif
