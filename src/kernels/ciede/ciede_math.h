/* Parameters of ciede's twins, the scale of samples, the place of a pixel's chroma, and the raw sums. */
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

inline constexpr int kCiedeBlockSide = 32;  // of the blocks of maps, in luma samples; even: no two share chroma

struct CiedeParams {
  int32_t column_shift = 1, row_shift = 1;  // 1: two columns (rows) of luma share one of chroma; 0: each has its own
  int32_t bpc = 8;
  int32_t w = 0, h = 0, chroma_w = 0, chroma_h = 0;
  float luma_zero = 0, chroma_zero = 0;
  double luma_scale = 0,  // for samples less zero: black is 0, white 1 / 1.055,
      chroma_scale = 0;   // chroma nominally from -0.5 / 1.055 to 0.5 / 1.055
};

struct CiedeSite {
  int x, y;
};

/* Finds the chroma of luma sample (x, y). The last luma sample of an odd width or height has its neighbor's. */
VMAFX_HD CiedeSite ciede_chroma_site(const CiedeParams& params, int x, int y) {
  const int column = x >> params.column_shift, row = y >> params.row_shift;
  return {column < params.chroma_w ? column : params.chroma_w - 1, row < params.chroma_h ? row : params.chroma_h - 1};
}

}  // namespace vmafx

#endif
