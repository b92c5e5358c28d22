/* cvvdp: ColorVideoVDP 0.5.7 (Mantiuk, Hanji, Ashraf, Asano, Chapiro, "ColorVideoVDP: A visual difference predictor for
 * image, video and display distortions", ACM Transactions on Graphics 43(4), 2024; github.com/gfxdisp/ColorVideoVDP).
 *
 *   display     R'G'B' to cd/m² of a display in its surroundings, to the cones' planes of DKL: light, red-green,
 *               violet-yellow
 *   time        each plane filtered with the pictures of the last quarter of a second; of light also what changes: four
 *               channels. Before the stream's start its first picture stands
 *   space       Laplacian pyramid to 0.2 cycles per degree; contrast is a band over the light of the next level, of its
 *               own picture
 *   sensitivity by channel, frequency and the light of the reference:  T, R = contrast · S
 *   masking     D = most·d / (most + d), d = (|T - R|^p) / (1 + Σ masks), masks = blurred(min(|T|, |R|))^q of all
 *               channels (the base band: D = |T - R|)
 *   pooling     norms over a band's samples (2), bands (4), channels (4), frames (2); then JOD: 10 for no difference
 *
 * A frame's score is the JOD of its own difference; the mean of frames' scores (FeatureInfo::mean) is that of their
 * differences' norm. A stream of one frame is a picture, which has no channel of changes.
 *
 * The raw sums of a frame are Σ D² of each band and channel, with the small number that the program adds below the
 * powers.
 *
 * As in the program, the pyramid's filter ends a row as if it had as many samples as there are rows, even or odd.
 * docs/metrics.md has the agreement. */
#ifndef VMAFX_KERNELS_CVVDP_CVVDP_H
#define VMAFX_KERNELS_CVVDP_CVVDP_H

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/picture.h"
#include "kernels/blocks.h"
#include "kernels/cvvdp/cvvdp_math.h"
#include "kernels/forward.h"
#include "kernels/steps/rows.h"

namespace vmafx {

/* A converted picture: kCvvdpPlanes planes of h rows, row_pitch(w) floats apart. */
size_t cvvdp_converted_bytes(const CvvdpParams& params);

/* Converted pictures of a stream: that of this frame first, then those before it; at least one. */
using CvvdpPictures = std::span<const std::byte* const>;

/* The twins; the SIMD one takes any number of encodes. The twins of conversion agree in the rows, not in the floats
 * behind them. */
void cvvdp_convert_plain(const CvvdpParams& params, const Picture& picture, float* converted);
void cvvdp_convert_simd(const CvvdpParams& params, const Picture& picture, float* converted);
size_t cvvdp_scratch_bytes_plain(const CvvdpParams& params);
size_t cvvdp_scratch_bytes_simd(const CvvdpParams& params);
void cvvdp_plain(const CvvdpParams& params, CvvdpPictures ref, CvvdpPictures dist, std::byte* scratch, CvvdpSums& sums);
void cvvdp_simd(const CvvdpParams& params, CvvdpPictures ref, std::span<const CvvdpPictures> dists, std::byte* scratch,
                std::span<CvvdpSums* const> sums);

/* The sums of blocks of each band. They are kCvvdpBlockSide samples of the picture wide and high, and in bands whose
 * samples cover more of it, one sample. */
inline constexpr int kCvvdpBlockSide = 64;
struct CvvdpBlocks {
  CvvdpBandSums* band[kCvvdpMostBands];  // row by row; zeroed by the caller

  static BlockGrid grid(const CvvdpParams& params, int b) {
    return block_grid(params.band[b].w, params.band[b].h, std::max(kCvvdpBlockSide >> b, 1));
  }
};

/* Fills in `blocks`, too, which add up to `sums`. Scratch is that of cvvdp_plain(). */
void cvvdp_mapped_plain(const CvvdpParams& params, CvvdpPictures ref, CvvdpPictures dist, std::byte* scratch,
                        CvvdpSums& sums, const CvvdpBlocks& blocks);

/* The blocks of the bands before this one. */
inline size_t cvvdp_first_block(const CvvdpParams& params, int band) {
  return blocks_before(band, [&](int b) { return CvvdpBlocks::grid(params, b); });
}

/* The sums of the second one: CvvdpSums, then CvvdpBandSums of each block. */
OwnedDeviceTwin cvvdp_hip(const CvvdpParams& params);
OwnedDeviceTwin cvvdp_mapped_hip(const CvvdpParams& params);

/* The levels of the pyramid, and the base band, for both CPU twins. */
inline constexpr int kCvvdpSides = 2;  // ref, dist
struct CvvdpLevel {
  Plane<float> of[kCvvdpSides][kCvvdpChannels];
};
void cvvdp_base(const CvvdpParams& params, const CvvdpLevel& level, CvvdpBandSums& sums,
                const CvvdpBlocks* blocks = nullptr);

/* Fills what the filter reads beyond the ends of a row of w floats in a picture of h rows: row[-2], row[-1], row[w] and
 * row[w + 1]. */
void cvvdp_extend_to_reduce(float* row, int w, int h);

/* A row of a plane of the picture that a tap of a filter in time falls to. */
const float* cvvdp_row(const CvvdpParams& params, CvvdpPictures pictures, int tap, int plane, int y);

extern const ExtractorInfo kCvvdpExtractor;

}  // namespace vmafx

#endif
