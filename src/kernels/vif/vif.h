/* VIF: how much of the reference's visual information survives in the distorted picture, at four scales.
 *
 * H. R. Sheikh, A. C. Bovik, "Image information and visual quality", IEEE Transactions on Image Processing 15(2), 2006,
 * pp. 430-444, in its pixel-domain form. Around each luma sample a Gaussian window gives the local variances s1 (ref),
 * s2 (dist) and their covariance s12. The distorted picture is modeled as g * ref + noise, with g = s12 / s1 and a
 * noise variance sv = s2 - g * s12; the eye adds noise of variance n = 2 to both. A scale's score is the ratio of two
 * sums over all samples:
 *
 *   num = sum log2(1 + g^2 s1 / (sv + n))        den = sum log2(1 + s1 / n)
 *
 * A sample with s1 < n counts 1 in den and 1 - s2 / (4 * 255^2) in num. Each next scale is filtered with that scale's
 * window and keeps every second row and column.
 *
 * The arithmetic is libvmaf's integer form (f85a853, integer_vif.c), to the last bit: means, variances and logarithms
 * in fixed point, g and sv in double precision. Windows reflect at the borders of the plane.
 *
 * Deviation: below 16x16 a window no longer fits the coarsest plane after one reflection; libvmaf then reads stale
 * memory, here create() refuses. den is never 0, since every sample adds at least 1 to it.
 *
 * Options: debug, vif_enhn_gain_limit (egl), vif_skip_scale0 (ssclz). Features: see vif.cpp. */
#ifndef VMAFX_KERNELS_VIF_VIF_H
#define VMAFX_KERNELS_VIF_VIF_H

#include <cstddef>
#include <span>

#include "base/picture.h"
#include "kernels/blocks.h"
#include "kernels/forward.h"
#include "kernels/vif/vif_math.h"

namespace vmafx {

inline constexpr int kVifMinSize = 16;  // the shortest side, in samples

struct VifParams {
  int w = 0;
  int h = 0;
  int bpc = 8;              // 8..16
  double gain_limit = 100;  // upper bound of g in num: 1 gives no credit for enhancement
  bool skip_scale0 = false;
};

/* Fill `sums` (zeroed by the caller) from the luma planes. `scratch` has the twin's scratch_bytes, 64-byte aligned. */
size_t vif_scratch_bytes_plain(const VifParams& params);
void vif_plain(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               VifSums& sums);

size_t vif_scratch_bytes_simd(const VifParams& params);
void vif_simd(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
              VifSums& sums);

/* Scores several encodes of one reference; computes once what depends on the reference alone. */
size_t vif_encodes_scratch_bytes_simd(const VifParams& params, int encodes);
void vif_encodes_simd(const VifParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist,
                      std::byte* scratch, std::span<VifSums* const> sums);

/* The sums of blocks, whose samples are those of the scale. The blocks of all scales are of the same parts of the
 * picture, kVifBlockSide luma samples wide and high. */
struct VifBlocks {
  VifScaleSums* scale[kVifScales];  // row by row; zeroed by the caller
  BlockGrid grid;                   // of scale 0

  BlockGrid grid_of(int index) const { return {grid.side >> index, grid.w, grid.h}; }
};

/* Fill in `blocks`, too, which add up to `sums`. Scratch is that of vif_plain() and vif_simd(). */
void vif_mapped_plain(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                      VifSums& sums, const VifBlocks& blocks);
void vif_mapped_simd(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                     VifSums& sums, const VifBlocks& blocks);

OwnedDeviceTwin vif_hip(const VifParams& params);
OwnedDeviceTwin vif_mapped_hip(const VifParams& params);  // its sums: VifSums, then the blocks of each scale

extern const ExtractorInfo kVifExtractor;

}  // namespace vmafx

#endif
