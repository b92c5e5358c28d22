/* From the samples of a video to linear light: what a display makes of them.
 *
 *   chroma   upsampled bilinearly, from where the video says that its samples lie
 *   R'G'B'   by the matrix and the range of the video, cut off at 0 and 1
 *   codes    of the light of a display as sRGB of 16 bits: what a picture file would hold
 *   R G B    of these codes, 1 being the white of the video
 *
 * HDR video (PQ and HLG of BT.2100) has no codes of sRGB. For metrics that take it, its light follows from R'G'B' in
 * float, to 1e-5:
 *
 *   PQ       R G B, 1 being 10000 cd/m2
 *   HLG      R G B of a display, 1 being its nominal peak, which decides the system gamma
 *
 * Up to the codes this is done in double, so that they are those of the formulas; only where a value lies halfway
 * between two codes may another way of computing it come to the other one. Light follows from the code by the rational
 * function that libjxl has for sRGB, with its fused operations: to 1e-6 of white. */
#ifndef VMAFX_KERNELS_STEPS_LINEAR_LIGHT_H
#define VMAFX_KERNELS_STEPS_LINEAR_LIGHT_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

/* The code of R', G' or B': up to `toe`, inclusive, toe_scale · v^toe_power, above scale · v^power + offset. */
struct DisplayCurve {
  double toe, toe_scale, toe_power;
  double scale, power, offset;
  float inverse_toe, code_at_toe;  // for estimates; any number and 0 where there is no toe
};

/* The light that a display makes of R'G'B'. kHlg: the light of the scene, times its luma (BT.2100) to the power of
 * gamma - 1. */
enum class DisplayLight : int32_t { kSdr, kPq, kHlg };

/* Parameters of the conversion, for kernels, too. */
struct LinearLight {
  double luma, luma_offset;                    // R' = G' = B' = code * luma + luma_offset, without chroma
  double red_cr, green_cb, green_cr, blue_cb;  // the effect of a 16th of a code of chroma
  int neutral_chroma;                          // 16 times the code
  DisplayLight display;
  DisplayCurve curve;  // kSdr
  float hlg_power;     // kHlg: gamma - 1
};

/* The chroma samples for luma sample x in their row (or for y in their column): `weight` quarters of `second`, the rest
 * of `first`. */
struct ChromaTaps {
  int first, second, weight;
};

/* How one direction of a picture is subsampled. */
struct ChromaAxis {
  bool halved;
  int offset;  // from the first luma sample to the first chroma sample, in halves of a luma sample: 0, 1 or 2

  VMAFX_HD ChromaTaps taps(int at, int chroma_size) const {
    if (!halved) return {at, at, 0};
    const int quarters = 2 * at - offset, first = quarters >> 2, last = chroma_size - 1;
    return {first < 0 ? 0 : first < last ? first : last, first + 1 < last ? first + 1 : last, quarters & 3};
  }
};

/* All that the light of a video's pictures depends on. */
struct PictureLight {
  int w, h, bpc;
  bool has_chroma;
  int chroma_w, chroma_h;
  ChromaAxis across, down;
  LinearLight light;
};

/* Lines that light_row() works in: each as long as what it is asked for, and kRowSlack (rows.h). */
struct LightLines {
  float* of[5];
};

/* `weight` quarters of `second`, the rest of `first`, times 4. */
VMAFX_HD int chroma_between(int first, int second, int weight) { return (4 - weight) * first + weight * second; }

}  // namespace vmafx

#endif
