/* Constants, sizes, parameters and raw sums of butteraugli, for all twins. */
#ifndef VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_MATH_H
#define VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_MATH_H

#include "kernels/steps/linear_light.h"

namespace vmafx {

inline constexpr int kButteraugliMinSize = 8;  // sides of a picture, and of the one of half the size

/* The versions of libjxl's programs: indices of kButteraugliWeights. */
enum class ButteraugliVersion : int32_t { k08, k07 };

struct ButteraugliParams : PictureLight {
  float absorbance[9];  // from linear r, g, b of the video's primaries to l, m, s, in cd/m2
  double norm;
  ButteraugliVersion version;
};

/* The sums of a row of the map of distances. Column x belongs to sum x % kButteraugliLanes, which takes its columns
 * from left to right; then the second half of the sums is added to the first one, until one is left. */
struct ButteraugliRow {
  double most;
  double powers[3];  // Σ d^norm, Σ d^(2 norm), Σ d^(4 norm)
};
inline constexpr int kButteraugliLanes = 16;

inline constexpr int kButteraugliBlockSide = 32;  // of the blocks of maps, in samples

template <class Sums>
VMAFX_HD double butteraugli_sum_of_lanes(Sums& sums) {
  for (int half = kButteraugliLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) sums[i] += sums[i + half];
  return sums[0];
}

/* A distance to such a power is 0 below this one, so that none leaves the range of doubles. */
inline constexpr float kButteraugliLeast = 0x1p-30f, kButteraugliMostNorm = 16;

/* Widths and heights of the picture of half the size; whether there is one. */
VMAFX_HD int butteraugli_half(int size) { return (size + 1) / 2; }
VMAFX_HD bool butteraugli_has_half(int w, int h) {
  return butteraugli_half(w) >= kButteraugliMinSize && butteraugli_half(h) >= kButteraugliMinSize;
}

/* The distance of the eight samples around one that hiding looks at, and their value beyond the borders: too large to
 * be one of the least. */
inline constexpr int kButteraugliStep = 3;
inline constexpr float kButteraugliNowhere = 0x1p100f;

// -- Blurs -----------------------------------------------------------------------------------------------------------

/* Gaussians, cut off at ⌊2.25 σ⌋ samples: exp(-k² / 2σ²). Beyond the borders of a picture there is nothing: the sum is
 * divided by that of the factors inside it. */
VMAFX_CONSTANT float kButteraugliLow[] = {1.f,          0.99028331f,  0.961696029f, 0.915872633f, 0.855364621f,
                                          0.783405066f, 0.703623533f, 0.619745314f, 0.535309672f, 0.453435808f,
                                          0.376656473f, 0.306827277f, 0.245110229f, 0.19202058f,  0.147520736f,
                                          0.111141749f, 0.0821145922f};  // σ = 7.15593339443
VMAFX_CONSTANT float kButteraugliMiddle[] = {1.f,          0.953060329f, 0.825052559f, 0.648759365f, 0.463368475f,
                                             0.300614655f, 0.177147314f, 0.0948199779f};    // σ = 3.22489901262
VMAFX_CONSTANT float kButteraugliHigh[] = {1.f, 0.815165043f, 0.441552371f, 0.158931509f};  // σ = 1.56416327805
VMAFX_CONSTANT float kButteraugliMask[] = {1.f,          0.933712125f, 0.760067225f, 0.539407492f,
                                           0.333739787f, 0.180021748f, 0.0846579969f};  // σ = 2.7

struct ButteraugliLowBlur {
  static constexpr int kRadius = 16;
  VMAFX_HD static float tap(int k) { return kButteraugliLow[k]; }
};
struct ButteraugliMiddleBlur {
  static constexpr int kRadius = 7;
  VMAFX_HD static float tap(int k) { return kButteraugliMiddle[k]; }
};
struct ButteraugliHighBlur {
  static constexpr int kRadius = 3;
  VMAFX_HD static float tap(int k) { return kButteraugliHigh[k]; }
};
struct ButteraugliMaskBlur {
  static constexpr int kRadius = 6;
  VMAFX_HD static float tap(int k) { return kButteraugliMask[k]; }
};

/* The factor for the sum at sample `at` of `size` samples. */
template <class Blur>
VMAFX_HD float butteraugli_blur_scale(int at, int size) {
  float sum = 0;
  for (int k = -Blur::kRadius; k <= Blur::kRadius; k++)
    if (at + k >= 0 && at + k < size) sum += Blur::tap(k < 0 ? -k : k);
  return 1 / sum;
}

/* The scales of all samples of a row or column: of those with a border near, which are as far from it in all sizes, and
 * of the others. Only where borders are near on both sides, they are not here. */
template <class Blur>
struct ButteraugliBlurScales {
  static constexpr int kLeastSize = 2 * Blur::kRadius + 1;
  float inside = 0;
  float first[Blur::kRadius] = {}, last[Blur::kRadius] = {};

  static ButteraugliBlurScales all() {
    ButteraugliBlurScales scales;
    scales.inside = butteraugli_blur_scale<Blur>(Blur::kRadius, kLeastSize);
    for (int i = 0; i < Blur::kRadius; i++) {
      scales.first[i] = butteraugli_blur_scale<Blur>(i, kLeastSize);
      scales.last[i] = butteraugli_blur_scale<Blur>(Blur::kRadius + 1 + i, kLeastSize);
    }
    return scales;
  }

  /* Beyond the end it is the last sample's, which nobody needs. */
  VMAFX_HD float of(int at, int size) const {
    if (size < kLeastSize) return butteraugli_blur_scale<Blur>(at, size);
    if (at < Blur::kRadius) return first[at];
    const int behind = at - (size - Blur::kRadius);
    return behind < 0 ? inside : last[behind < Blur::kRadius ? behind : Blur::kRadius - 1];
  }
};

/* The blur of the light (σ = 1.2), whose factors add up to 1; pictures are mirrored at their borders, the last sample
 * repeated. */
inline constexpr int kButteraugliLightRadius = 2;
VMAFX_CONSTANT float kButteraugliLightTap[] = {0.343406469f, 0.242667601f, 0.0856291726f};

// -- Differences -----------------------------------------------------------------------------------------------------

/* Factors for a band of frequencies: with A the mean of the magnitudes there, a difference counts (more, less) / (norm
 * + A), `more` for all, `less` for details that the encode lacks or has too much of. From the weights w of the
 * reference program: more = mul·√(w·0.5·a)·norm / 8.5, less = mul·√(w·0.33/a)·norm / 8.5; mul = 0.39905817637 for the
 * highest band, else 0.611612573796. a is 1; in version 0.7 it is 0.8, √0.8 and 1 from the highest to the lowest band,
 * which makes what an encode adds worse than what it loses. */
struct ButteraugliLines {
  float more, less, norm;
};
inline constexpr int kButteraugliLineReach = 4;                       // samples
inline constexpr int kButteraugliHighest = 2, kButteraugliBands = 6;  // the first two are of the highest frequencies

/* Weights that changed from libjxl 0.7 to 0.8. All versions since, up to 0.12, have the weights of 0.8.
 *
 * lines    of x and y in turn, from the highest band; w is 173.5, 1.10039032555; 6923.99476109, 18.7237414387;
 *          8246.75321353, 37.0819870399
 * low      29.2353797994, 0.844626970982 and 0.703646627719 times the squares of the units of x, y and b in the lowest
 *          band: 33.832837186260, 14.458268100570, 49.87984651440 (0.7: 32.2217497012, 13.7697791434, 47.504615728)
 * high, beyond  400·0.8·a and 400·0.8/a for x, 1.50815703118 in place of 400 for y: of the difference of high
 *          frequencies, and of what is lost or added
 * unit     of distances: 1 / (17.83 · 0.79079917404) (0.7: 17.8) */
struct ButteraugliWeights {
  ButteraugliLines lines[kButteraugliBands];
  float low[3];
  float high_x, beyond_x, high_y, beyond_y;
  float unit;
};
VMAFX_CONSTANT ButteraugliWeights kButteraugliWeights[] = {
    {{{2.18636179f, 1.77620876f, 5.f},
      {2.49965048f, 2.03072572f, 71.7800293f},
      {34086.25f, 27691.7988f, 8051.1582f},
      {990398.188f, 804603.312f, 4498534.5f},
      {4662043.5f, 3787462.f, 1009002.69f},
      {40359140.f, 32787922.f, 130262056.f}},
     {33464.5938f, 176.562103f, 1750.67212f},
     320,
     320,
     1.20652568f,
     1.20652568f,
     0.0709222406f},
    {{{1.95554149f, 1.98586178f, 5.f},
      {2.23575544f, 2.27042031f, 71.7800293f},
      {32236.7852f, 29280.5137f, 8051.1582f},
      {936660.812f, 850764.438f, 4498534.5f},
      {4662043.5f, 3787462.f, 1009002.69f},
      {40359140.f, 32787922.f, 130262056.f}},
     {30353.375f, 160.147034f, 1587.91125f},
     256,
     400,
     0.965220571f,
     1.50815701f,
     0.0710417703f},
};
VMAFX_HD const ButteraugliWeights& butteraugli_weights(ButteraugliVersion version) {
  return kButteraugliWeights[static_cast<int32_t>(version)];
}

// -- Steps ------------------------------------------------------------------------------------------------------------

/* The number of rows that each step is behind the light: a step is behind the one before by as many rows as it needs
 * below. */
namespace butteraugli_lag {
inline constexpr int kXyb = kButteraugliLightRadius, kLow = kXyb + ButteraugliLowBlur::kRadius,
                     kMiddle = kLow + ButteraugliMiddleBlur::kRadius, kHigh = kMiddle + ButteraugliHighBlur::kRadius,
                     kLines = kHigh + kButteraugliLineReach, kActivity = kHigh + ButteraugliMaskBlur::kRadius,
                     kMap = kActivity + kButteraugliStep;
}

}  // namespace vmafx

#endif
