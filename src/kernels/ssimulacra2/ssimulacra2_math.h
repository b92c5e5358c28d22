/* Constants, sizes and parameters of ssimulacra2, for all twins. */
#ifndef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_H
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_H

#include "kernels/common/linear_light.h"

namespace vmafx {

inline constexpr int kSsimulacra2Scales = 6;
inline constexpr int kSsimulacra2MinSize = 8;  // of a picture, and of a scale that has a next one
inline constexpr int kSsimulacra2Band = 4;     // rows whose errors are added as floats
inline constexpr int kSsimulacra2Radius = 4;   // of the filter

/* Fixed-point formats of the sums over pictures of up to 2^26 samples. A value is at most 2; a band's sum is then below
 * 2^4, that of its fourth powers, times the scale, below 2^23. */
inline constexpr int kSsimulacra2SumBits = 34, kSsimulacra2FourthBits = 16;
inline constexpr float kSsimulacra2FourthScale = 65536;

/* The impulse response of the recursive Gaussian of Charalampidis (2016) with σ = 1.5, N = 5: all of it, as its poles
 * cancel. */
VMAFX_CONSTANT float kSsimulacra2Taps[kSsimulacra2Radius + 1] = {0.2646211054881984f, 0.21292859201042208f,
                                                                 0.10933537277746025f, 0.03601111465836436f,
                                                                 0.009414367809653733f};
struct Ssimulacra2Filter {
  static constexpr int kRadius = kSsimulacra2Radius;
  VMAFX_HD static float tap(int k) { return kSsimulacra2Taps[k]; }
};

struct Ssimulacra2Params {
  int w, h, bpc;
  bool has_chroma;
  ChromaAxis across, down;
  LinearLight light;
  float absorbance[9];  // of l, m, s from linear r, g, b of the video's primaries
};

/* Scales that a picture has. The one after a scale exists where that one has the least size in both directions. */
VMAFX_HD int ssimulacra2_scales(int w, int h) {
  int scales = 0;
  for (; scales < kSsimulacra2Scales && w >= kSsimulacra2MinSize && h >= kSsimulacra2MinSize; scales++) {
    w = scales ? (w + 1) / 2 : w;
    h = scales ? (h + 1) / 2 : h;
  }
  return scales;
}

VMAFX_HD int ssimulacra2_size(int size, int scale) {
  for (; scale > 0; scale--) size = (size + 1) / 2;
  return size;
}

}  // namespace vmafx

#endif
