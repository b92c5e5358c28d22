/* xpsnr: extended perceptually weighted peak signal-to-noise ratio (XPSNR), a PSNR whose squared errors weigh less
 * where the reference is busy.
 *
 * A frame of w x h luma samples is cut into blocks of b x b, b = 4·⌊32·√r + ½⌋, r = w·h / (3840·2160). By the
 * reference's luma, a block has
 *
 *     activity = Σ |high-pass| / (samples that have one) + 2·Σ |difference in time| / samples,     at least 2^(bpc-6)
 *     weight = 1 / activity
 *     wsse = ⌊a·Σ weight·Σ (ref - dist)² + ½⌋, a = √(16·2^(2·bpc-9) / √max(r, 1e-5))             of each plane
 *     xpsnr = 10·log10(peak²·samples / wsse), infinite where wsse is 0                           peak = 2^bpc - 1
 *
 * The blocks of chroma planes have the weights of luma. The high-pass has 3x3 taps; the picture's outermost samples
 * have none. In pictures of more than 2048x1152 samples it has 6x6, around every second sample of every second row, and
 * the difference in time is that of the sums of 2x2 samples, there, too. That difference is ref[n] - ref[n-1] below 32
 * frames per second, else ref[n] - 2·ref[n-1] + ref[n-2]; before the first picture all is zero. In pictures of up to
 * 640x480 samples, weights are smoothed (smooth() in xpsnr.cpp). Pictures of fewer than 2025 samples, for which b is 0,
 * have no weights: xpsnr is their PSNR. Blocks that the border leaves nothing of have the weight 1.
 *
 * A stream of N frames has  axpsnr = 20·log10(peak·√samples / (Σ √wsse / N)), or where Σ √wsse < N infinity: as wsse
 * is a whole number, some frame has none. xpsnr and axpsnr without a plane are the least of the planes. The roots are
 * added up exactly (kernels/stream_sums.h), so that ranges of a stream can be merged.
 *
 * Helmrich, Siekmann, Becker, Bosse, Marpe, Wiegand, "XPSNR: A Low-Complexity Extension of the Perceptually Weighted
 * Peak Signal-to-Noise Ratio for High-Resolution Video Quality Assessment", ICASSP 2020; Helmrich, Bosse, Schwarz,
 * Marpe, Wiegand, "A Study of the Extended Perceptually Weighted Peak Signal-to-Noise Ratio (XPSNR) for Video
 * Compression with Different Resolutions and Bit Depths", ITU Journal 2020. The definition is that of FFmpeg's filter
 * xpsnr (7.1 to 8.1), whose scores are met in all digits that it prints. Also as there, blocks of up to 14 columns at
 * the right border have no high-pass in pictures above 2048x1152. docs/metrics.md lists the deviations: pictures for
 * which the filter reads samples outside of them, and sizes that it does not score; beyond odd sizes the last sample
 * repeats. */
#ifndef VMAFX_KERNELS_XPSNR_XPSNR_H
#define VMAFX_KERNELS_XPSNR_XPSNR_H

#include <cstdint>

#include "base/picture.h"
#include "kernels/forward.h"
#include "kernels/xpsnr/xpsnr_math.h"

namespace vmafx {

struct XpsnrParams {
  VideoFormat format;
  XpsnrGrid grid;
  int planes;         // the scored ones
  bool second_order;  // the difference in time
};

/* The grid of the first `planes` planes. */
XpsnrGrid xpsnr_grid(const VideoFormat& format, int planes);

/* Luma of the reference, now and before. */
struct XpsnrReference {
  SamplePlane now, before, earlier;  // equal in size, whatever the weights
  XpsnrTimeWeights weights;
};

struct XpsnrActivity {
  uint64_t spatial, temporal;
};

/* The twins, of one block. Samples below 2^bpc. */
XpsnrActivity xpsnr_activity_plain(const XpsnrParams& params, const XpsnrReference& ref, const XpsnrArea& block);
XpsnrActivity xpsnr_activity_simd(const XpsnrParams& params, const XpsnrReference& ref, const XpsnrArea& block);
uint64_t xpsnr_sse_plain(const SamplePlane& ref, const SamplePlane& dist, const XpsnrArea& block, int bpc);
uint64_t xpsnr_sse_simd(const SamplePlane& ref, const SamplePlane& dist, const XpsnrArea& block, int bpc);
OwnedDeviceTwin xpsnr_hip(const XpsnrParams& params);

extern const ExtractorInfo kXpsnrExtractor;

}  // namespace vmafx

#endif
