/* The working memory of cvvdp's SIMD twin: the pyramids, and the rows that its steps hand each other. Bands are taken
 * in strips of columns, so that these rows stay in the second-level cache: 200 KiB. */
#ifndef VMAFX_KERNELS_CVVDP_CVVDP_ROWS_H
#define VMAFX_KERNELS_CVVDP_CVVDP_ROWS_H

#include <algorithm>

#include "base/aligned.h"
#include "kernels/cvvdp/cvvdp.h"
#include "kernels/steps/rows.h"
#include "kernels/steps/scratch.h"

namespace vmafx {

inline constexpr int kCvvdpStrip = 512, kCvvdpOverlap = 8;  // columns; what strips read of their neighbors, even
inline constexpr int kCvvdpRing = 2 * kCvvdpBlurReach + 1;  // rows
inline constexpr size_t kCvvdpMargin = kCacheLine / sizeof(float);

class CvvdpMemory {
 public:
  CvvdpMemory(const CvvdpParams& params, std::byte* memory) : scratch_(memory) {
    for (int b = 0; b < params.bands; b++)
      for (auto& side : level[b].of)
        for (Plane<float>& plane : side) plane = take(params.band[b].w, params.band[b].h);
    line = take(params.w, 1).data;
    constexpr int kWidth = kCvvdpStrip + 2 * kCvvdpOverlap;
    half_line = take(kWidth / 2 + 2, 1).data;
    for (auto& side : expanded)
      for (float*& row : side) row = take(kWidth, 1).data;
    for (int c = 0; c < kCvvdpChannels; c++) {
      common[c] = take(kWidth, kCvvdpRing);
      difference[c] = take(kWidth, kCvvdpRing);
      masks[c] = take(kWidth, 1).data;
    }
  }

  size_t bytes() const { return scratch_.bytes(); }

  CvvdpLevel level[kCvvdpMostBands];
  float* line;                                                      // a picture's row
  float* half_line;                                                 // the rest are of a strip
  float* expanded[kCvvdpSides][kCvvdpChannels];                     // rows of the next level
  Plane<float> common[kCvvdpChannels], difference[kCvvdpChannels];  // rings
  float* masks[kCvvdpChannels];                                     // blurred down

 private:
  Plane<float> take(int w, int h) { return scratch_.take_plane<float>(w, h, kCvvdpMargin, kRowSlack); }

  Scratch scratch_;
};

/* Lines of a picture that is converted. */
class CvvdpConversionLines {
 public:
  explicit CvvdpConversionLines(const CvvdpParams& params) : memory_(allocate_aligned(lay_out(params, nullptr))) {
    lay_out(params, memory_.get());
  }

  float *luma, *chroma[2], *rows, *below;

 private:
  size_t lay_out(const CvvdpParams& params, std::byte* memory) {
    Scratch scratch(memory);
    for (float** line : {&luma, &chroma[0], &chroma[1], &rows, &below})
      *line = scratch.take_plane<float>(params.w, 1, kCvvdpMargin, kRowSlack).data;
    return scratch.bytes();
  }

  AlignedBytes memory_;
};

}  // namespace vmafx

#endif
