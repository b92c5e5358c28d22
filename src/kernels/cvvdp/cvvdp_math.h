/* Constants, sizes, parameters and raw sums of cvvdp, for all twins. */
#ifndef VMAFX_KERNELS_CVVDP_CVVDP_MATH_H
#define VMAFX_KERNELS_CVVDP_CVVDP_MATH_H

#include "kernels/arithmetic/fixed.h"
#include "kernels/steps/linear_light.h"

namespace vmafx {

/* The channels of an eye: light, red-green and violet-yellow that last, and light that changes. */
inline constexpr int kCvvdpChannels = 4;
inline constexpr int kCvvdpPlanes = 3;      // planes of a converted picture: light, red-green, violet-yellow
inline constexpr int kCvvdpMostTaps = 129;  // length of the filters in time, for up to 512 pictures per second
inline constexpr int kCvvdpMostBands = 16;
inline constexpr int kCvvdpLights = 32;  // rows of the table of sensitivities

inline constexpr float kCvvdpLeastBackground = 0.01f;  // cd/m²
inline constexpr float kCvvdpMostContrast = 1000;
inline constexpr float kCvvdpMostBaseDifference =
    0x1p20f;  // far beyond what any display shows; keeps sums in their words

/* The pyramid's filter. */
inline constexpr float kCvvdpReduceOuter = 0.05f, kCvvdpReduceInner = 0.25f, kCvvdpReduceMiddle = 0.4f;
inline constexpr float kCvvdpExpandOuter = 0.1f, kCvvdpExpandInner = 0.8f, kCvvdpExpandBetween = 0.5f;

/* Masking: what hides a difference is blurred by a Gaussian, σ = 3, where the band is larger than this. */
inline constexpr int kCvvdpBlurReach = 6;
inline constexpr float kCvvdpDifferencePower = 2.264355182647705f;
VMAFX_CONSTANT float kCvvdpMaskPower[kCvvdpChannels] = {1.302622675895691f, 2.8885908126831055f, 3.6807713508605957f,
                                                        3.588787317276001f};

/* x^p is taken as (x + this)^p - this^p. */
inline constexpr float kCvvdpSmall = 1e-5f;

enum class CvvdpCurve { kSrgb, kGamma, kPq, kHlg };

/* A display: from the samples of a picture to the light that it emits, as the eye's planes. */
struct CvvdpDisplay {
  float luma, luma_offset;                    // Y' = code * luma + luma_offset, cut off at 0 and 1
  float red_cr, green_cb, green_cr, blue_cb;  // the effect of a 16th of a code of chroma
  int least_chroma, most_chroma;              // codes; what lies beyond is cut off
  int neutral_chroma;                         // 16 times the code
  CvvdpCurve curve;
  float gamma;          // kGamma's; for kHlg the display's, less 1
  float exposure;       // factor of the linear light
  float least, most;    // linear light is cut off at these
  float scale, offset;  // cd/m² = linear light · scale + offset
  float to_planes[9];   // row by row, from linear r, g, b
};

/* The format of pictures, and their display. */
struct CvvdpConversion {
  int w, h, bpc;
  bool has_chroma;
  int chroma_w, chroma_h;
  ChromaAxis across, down;
  CvvdpDisplay display;
};

/* Parameters of contrasts that are seen, and of those that hide them. */
struct CvvdpMasking {
  float light_scale, light_offset;  // from log2 of cd/m² to the place in the table of sensitivities
  float blur[kCvvdpBlurReach + 1];  // from the middle on
  float blur_gain;
  float masks[kCvvdpChannels][kCvvdpChannels];  // [k][c]: what channel k hides in channel c
  float least_mask[kCvvdpChannels];             // kCvvdpSmall to the powers
  float least_difference, most_difference;
};

/* A band of the pyramid. */
struct CvvdpBand {
  int w, h;
  /* log2 of the sensitivity by light, times what contrasts are multiplied with; the last one stands twice. */
  float sensitivity[kCvvdpChannels][kCvvdpLights + 1];
};

struct CvvdpParams : CvvdpConversion, CvvdpMasking {
  int taps;
  float filter[kCvvdpChannels][kCvvdpMostTaps];  // the weight of this picture first, then of those before it
  int bands;                                     // the last one is the base
  CvvdpBand band[kCvvdpMostBands];
};

/* Whether what hides a difference is blurred in a band. */
VMAFX_HD bool cvvdp_is_blurred(int w, int h) { return w > kCvvdpBlurReach && h > kCvvdpBlurReach; }

/* 16 times the code of chroma at a luma sample, less that of neutral colors. row(y): one of the rows of chroma
 * samples. */
template <class Row>
VMAFX_HD int cvvdp_chroma_at(const CvvdpConversion& params, int x, int y, Row row) {
  const ChromaTaps across = params.across.taps(x, params.chroma_w), down = params.down.taps(y, params.chroma_h);
  const int least = params.display.least_chroma, most = params.display.most_chroma;
  const auto code = [&](int column, int of_row) {
    const int given = row(of_row)[column], enough = given > least ? given : least;
    return enough < most ? enough : most;
  };
  const auto in_row = [&](int of_row) {
    return chroma_between(code(across.first, of_row), code(across.second, of_row), across.weight);
  };
  return chroma_between(in_row(down.first), in_row(down.second), down.weight) - params.display.neutral_chroma;
}

/* The value that the pyramid's filter reads at column i, from -2 to w + 1, of a row of w floats in a picture of h
 * rows. */
template <class At>
VMAFX_HD float cvvdp_to_reduce(int i, int w, int h, At at) {
  if (i < w) return at(i < 0 ? -1 - i : i);
  if (w % 2 == h % 2) return at(2 * w - 1 - i);
  if (h % 2) return i == w ? at(w - 2) + at(w - 1) * (kCvvdpReduceInner / kCvvdpReduceOuter) : 0;
  return i == w ? 0 : at(w - 1);
}

/* Σ (D² + 2e-5·D) over a band's samples, below 2^42 each. */
using CvvdpSum = Fixed2<8>;
struct CvvdpBandSums {
  CvvdpSum of[kCvvdpChannels];
};
struct CvvdpSums {
  CvvdpBandSums band[kCvvdpMostBands];
};

/* Σ of a side's background over the base band, of less than 2^42, and its mean. */
using CvvdpLight = Fixed2<8>;
VMAFX_HD float cvvdp_mean(const CvvdpLight& sum, int w, int h) {
  return static_cast<float>(sum.value() / (static_cast<double>(w) * h));
}

}  // namespace vmafx

#endif
