/* What the twins of ciede are given: the scale of samples, and where the chroma of a pixel lies. */
#ifndef VMAFX_KERNELS_CIEDE_CIEDE_MATH_H
#define VMAFX_KERNELS_CIEDE_CIEDE_MATH_H

#include <cstdint>

#include "kernels/common/device.h"

namespace vmafx {

/* ΔE₀₀ stays below 2^10, so that a pixel fits into 31 bits, and a sum of 2^32 pixels into 63. */
inline constexpr int kCiedeSumBits = 20;

enum class CiedeChroma : int32_t {
  kEach,     // 4:4:4
  kHalved,   // 4:2:0
  kWrapped,  // 4:2:2: rows repeat, columns do not; past the end of a row comes the next one
};

struct CiedeParams {
  CiedeChroma chroma = CiedeChroma::kHalved;
  int32_t bpc = 8;
  float luma_zero = 0, luma_scale = 0;      // (sample - zero) · scale: black is 0, white 1
  float chroma_zero = 0, chroma_scale = 0;  // -0.5 to 0.5 in the nominal range
};

/* How many rows of luma share a row of chroma. */
VMAFX_HD int ciede_rows_per_chroma(CiedeChroma chroma) { return chroma == CiedeChroma::kEach ? 1 : 2; }

struct CiedeSite {
  int x, y;
};

/* Where in a w x h plane of chroma that of the luma sample (x, y) lies. */
VMAFX_HD CiedeSite ciede_chroma_site(CiedeChroma chroma, int x, int y, int w, int h) {
  if (chroma == CiedeChroma::kEach) return {x, y};
  CiedeSite site = {x, y / 2};
  if (chroma == CiedeChroma::kHalved) {
    site.x = x / 2 < w ? x / 2 : w - 1;
  } else {
    while (site.x >= w) { /* at most twice: luma is at most a sample wider than two rows */
      site.x -= w;
      site.y++;
    }
  }
  if (site.y >= h) site.y = h - 1;
  return site;
}

}  // namespace vmafx

#endif
