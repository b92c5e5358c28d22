/* cambi: banding (false contours), after Tandon et al., "CAMBI: Contrast-aware multiscale banding index" (PCS 2021).
 *
 * Measured on luma, resampled to the size of the encode (nearest sample), at 10 bit, averaged 2x2 if the encode had
 * fewer than 10 bits, since that undoes dither:
 *
 *     flat(x, y)  the sample equals those to its right and below
 *     mask(x, y)  more than a threshold of the 49 samples around (x, y) are flat
 *
 * then at five scales, each the even rows and columns of the one before, after a mode filter of three columns and three
 * rows:
 *
 *     p(k)  = masked samples of level v + k in the window around a sample of level v
 *     c     = max over d of weight[d] · p(0) · p(±d) / (p(0) + p(±d)),  d = 1 .. 2^max_log_contrast, the larger of
 *             p(d) and p(-d), where a step of d at v can be seen; 0 where the sample is not masked
 *     score = Σ 16, 8, 4, 2, 1 · mean of the topk share of largest c, / window², at most cambi_max_val
 *
 * A step d can be seen where its luminance exceeds tvi_threshold of that of v (cambi_levels()) and v lies above
 * cambi_vis_lum_threshold. The window is window_size at 3840x2160, less at smaller sizes. cambi_high_res_speedup leaves
 * the first scale out from its resolution on, which halves the window. full_ref scores the reference too and provides
 * cambi_source, its score, and cambi_full_reference, by how much that of the distorted picture is larger. heatmaps_path
 * names a folder for c as pictures: cambi_heatmaps.h.
 *
 * Equal to libvmaf f85a853 `cambi`: c is rounded where it does, then summed as an integer, exactly. Deviations: windows
 * up to 255, where it stops at 65 (8K is refused there); samples above their depth count as the largest, where it ends
 * the run; pictures narrower than half the window have no samples outside, where it reads stale ones; a
 * cambi_vis_lum_threshold that no level reaches gives 0, where it never returns; names of heatmaps tell their true
 * size. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_H
#define VMAFX_KERNELS_CAMBI_CAMBI_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/picture.h"
#include "kernels/blocks.h"
#include "kernels/cambi/cambi_math.h"
#include "kernels/forward.h"

namespace vmafx {

/* How one of the two pictures is analyzed. */
struct CambiView {
  int w, h;                        // the encode's
  int window;                      // odd
  int mask_above;                  // out of 49
  std::vector<int> columns, rows;  // the picture's, for each one here; empty if the sizes are equal

  int scale_w(const CambiParams& params, int scale) const { return cambi_scaled(w, scale + params.halved); }
  int scale_h(const CambiParams& params, int scale) const { return cambi_scaled(h, scale + params.halved); }
};

/* Takes c, as keys, row by row. */
using CambiRowSink = std::function<void(int scale, int y, std::span<const int32_t> keys)>;

/* The twins: sums of each scale of one picture; `rows` may be empty. `scratch` holds cambi_scratch_bytes(). */
size_t cambi_scratch_bytes(const CambiParams& params, const CambiView& view);
size_t cambi_plain_scratch_bytes(const CambiView& view);  // the part of it that the definition needs
void cambi_plain(const CambiParams& params, const CambiView& view, const SamplePlane& luma, std::byte* scratch,
                 const CambiRowSink& rows, CambiScaleSums* sums);
void cambi_simd(const CambiParams& params, const CambiView& view, const SamplePlane& luma, std::byte* scratch,
                const CambiRowSink& rows, CambiScaleSums* sums);

/* How many of `n` samples are the topk largest. */
int64_t cambi_wanted(int64_t n, double topk);

/* Adds up the keys with larger digits, moves those with this one to the front, and says how many. */
size_t cambi_split(std::span<uint32_t> keys, uint32_t digit, int shift, int sum_bits, CambiScaleSums& sums);
using CambiSplit = decltype(&cambi_split);  // cambi_split(), or the SIMD twin's

/* Sums the topk largest of `n` samples. `keys`: those that are not 0, in any order (which is changed). */
CambiScaleSums cambi_largest(std::span<uint32_t> keys, int64_t n, double topk, int window, CambiSplit split);

/* The luminance of a level on a display: cd/m² of a signal from 0 to 1. */
using Eotf = double (*)(double signal);
double bt1886_luminance(double signal);  // ITU-R BT.1886 with white at 300 and black at 0.01
double pq_luminance(double signal);      // SMPTE ST 2084

/* A step of d at level v counts where luminance(v + d) - luminance(v) > tvi · luminance(v), up to the level where that
 * ends first, and v is at most d + diffs - 1 below the first level of `darkest` cd/m². */
CambiLevels cambi_levels(Eotf eotf, double tvi, double darkest, int diffs);

inline BlockGrid cambi_blocks(const CambiView& dist) { return block_grid(dist.w, dist.h, kCambiBlockSide); }

/* The HIP twin: kernels for distorted pictures and, where `ref` is not null, for the reference. With `maps` its sums
 * are CambiSums, then CambiBlockSums of each scale of the distorted picture. */
OwnedDeviceTwin cambi_hip(const CambiParams& params, const CambiView& dist, const CambiView* ref,
                          const VideoFormat& format, bool maps = false);

extern const ExtractorInfo kCambiExtractor;

}  // namespace vmafx

#endif
