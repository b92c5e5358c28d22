/* The parameters of linear_light.h for a video, from its description in the code points of ITU-T H.273. */
#ifndef VMAFX_KERNELS_STEPS_LINEAR_LIGHT_OF_H
#define VMAFX_KERNELS_STEPS_LINEAR_LIGHT_OF_H

#include <array>

#include "base/picture.h"
#include "base/status.h"
#include "kernels/steps/linear_light.h"

namespace vmafx {

/* The conversion for a video, by its matrix, range and transfer characteristics; unspecified ones are BT.709's and
 * limited. Video whose transfer is that of a camera (BT.601, 709, 2020, SMPTE 170M and 240M, xvYCC) or unspecified is
 * shown on a display of BT.1886 with a black of 0, v^2.4, as players and other tools that score video have it; sRGB is
 * its own curve, BT.470 M and BG are v^2.2 and v^2.8, SMPTE 428 is v^2.6. EINVAL for other matrices and for transfers
 * without a white to scale to (PQ, HLG, logarithms). */
StatusOr<LinearLight> linear_light_of(const VideoFormat& format);

/* The power of a display by transfer characteristics; 0: none that is known, or not a power (sRGB, PQ, HLG). */
inline constexpr int kSrgbTransfer = 13, kSmpte428Transfer = 17;
double display_gamma(int transfer);

/* The parts of red and blue in luma, by matrix coefficients. EINVAL: they are unknown, or not a linear function of
 * R'G'B'. */
struct LumaParts {
  double red = 0, blue = 0;
};
StatusOr<LumaParts> luma_parts_of(int matrix);

/* PQ and HLG, too, by their transfer. hlg_peak: of the display, in cd/m2. */
inline constexpr int kPqTransfer = 16, kHlgTransfer = 18;
StatusOr<LinearLight> linear_light_of(const VideoFormat& format, double hlg_peak);

/* The conversion to R'G'B' alone, without a curve, for any transfer. EINVAL for other matrices. */
StatusOr<LinearLight> display_rgb_of(const VideoFormat& format);

/* Linear R G B of primaries, by their code, to X Y Z, white to D65. EINVAL for unknown ones. */
StatusOr<std::array<double, 9>> primaries_to_xyz(int code);

/* Linear R G B of the video's primaries to those of BT.709, row by row; unspecified primaries are BT.709. White is
 * kept: that of another illuminant becomes D65. EINVAL for unknown ones. */
StatusOr<std::array<double, 9>> primaries_to_bt709(const VideoFormat& format);

/* All that the light of the video's pictures depends on, its own or that of `light`. */
StatusOr<PictureLight> picture_light_of(const VideoFormat& format);
PictureLight picture_light_of(const VideoFormat& format, const LinearLight& light);

/* The position of chroma. Unspecified: in the middle of two rows, on the first of two columns, as MPEG-2 to HEVC have
 * it. */
ChromaAxis chroma_across(const VideoFormat& format);
ChromaAxis chroma_down(const VideoFormat& format);

}  // namespace vmafx

#endif
