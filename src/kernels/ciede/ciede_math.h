/* What the twins of ciede are given, the scale of samples and where the chroma of a pixel lies, and the raw sums. */
#ifndef VMAFX_KERNELS_CIEDE_CIEDE_MATH_H
#define VMAFX_KERNELS_CIEDE_CIEDE_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

/* ΔE₀₀ stays below 2^10: sums of 2^28 pixels fit into 63 bits. */
inline constexpr int kCiedeSumBits = 25;

/* The raw sums of one frame. */
struct CiedeSums {
  int64_t difference;  // Σ ΔE₀₀ in multiples of 2^-kCiedeSumBits
};

enum class CiedeChroma : int32_t {
  kEach,     // 4:4:4
  kHalved,   // 4:2:0
  kWrapped,  // 4:2:2: rows repeat, columns do not; past the end of a row come its padding, then the next one
};

struct CiedeParams {
  CiedeChroma chroma = CiedeChroma::kHalved;
  int32_t bpc = 8;
  int32_t w = 0, h = 0, chroma_w = 0, chroma_h = 0;
  float luma_zero = 0, chroma_zero = 0;
  double luma_scale = 0,  // of samples less zero: black is 0, white 1 / 1.055,
      chroma_scale = 0;   // chroma nominally from -0.5 / 1.055 to 0.5 / 1.055
};

/* How many rows of luma share a row of chroma. */
VMAFX_HD int ciede_rows_per_chroma(CiedeChroma chroma) { return chroma == CiedeChroma::kEach ? 1 : 2; }

/* Rows of libvmaf's planes begin so many samples apart, or a multiple of that; what lies between them is 0. */
inline constexpr int kCiedeRowAlignment = 32;

struct CiedeSite {
  int x, y;  // x at or past the plane's width: a sample of 0
};

/* Where in a w x h plane of chroma that of the luma sample (x, y) lies. */
VMAFX_HD CiedeSite ciede_chroma_site(CiedeChroma chroma, int x, int y, int w, int h) {
  if (chroma == CiedeChroma::kEach) return {x, y};
  CiedeSite site = {x, y / 2};
  if (chroma == CiedeChroma::kHalved) {
    site.x = x / 2 < w ? x / 2 : w - 1;
  } else {
    const int row = (w + kCiedeRowAlignment - 1) / kCiedeRowAlignment * kCiedeRowAlignment;
    while (site.x >= row) { /* at most twice: luma is at most a sample wider than two rows */
      site.x -= row;
      site.y++;
    }
  }
  if (site.y >= h) site.y = h - 1;
  return site;
}

}  // namespace vmafx

#endif
