/* float_adm: constants, sizes and the raw sums, for all twins.
 *
 * Ranges. Samples are scaled to 8 bits and centered: |s| <= 128. A wavelet filter's taps add up to 1.6731 in magnitude,
 * so a band of scale n is at most 128 · 2.7991^(n+1): 358.3, 1002.9, 2807, 7857. Sensitivities range from 1e-5 to
 * 1e4. */
#ifndef VMAFX_KERNELS_ADM_FLOAT_ADM_MATH_H
#define VMAFX_KERNELS_ADM_FLOAT_ADM_MATH_H

#include <cstdint>

#include "kernels/adm/adm_scales.h"

namespace vmafx {

struct FloatAdmScale : AdmExtent {
  float weight[kAdmBands];  // a coefficient's: sensitivity · 2^-unit
  int unit;                 // 0 for cubes, for powers such that no weighted coefficient reaches 2^kFloatAdmMostExponent
};

/* Most of a filter's output, of inputs up to 1. */
inline constexpr double kFloatAdmGain = 1.67304;

enum FloatAdmSum { kFloatAdmDlm, kFloatAdmAim, kFloatAdmDen };
inline constexpr int kFloatAdmKinds = 3;
inline constexpr int kFloatAdmSums = kFloatAdmKinds * kAdmScales * kAdmBands;

VMAFX_HD constexpr int float_adm_sum_index(int kind, int scale, int band) {
  return (scale * kFloatAdmKinds + kind) * kAdmBands + band;
}

/* A sum of cubes, adm_p_norm's default, is one word, made in libvmaf's order (kernels/steps/row_sums.h).
 *
 * For any other p, x^p spans up to 20 times the exponents of x, more than any fixed point. So the powers are added up
 * apart for each exponent of x: bin n has Σ (x · 2^(n-4))^p of the x in [2^(3-n), 2^(4-n)), powers between 2^-20 and 1,
 * in multiples of 2^-36. */
inline constexpr int kFloatAdmMostExponent = 4;  // the largest exponent of a weighted coefficient
inline constexpr int kFloatAdmPowerBits = 36;
inline constexpr int kFloatAdmBins = 32;

/* The raw sums of a scale's powers. */
struct FloatAdmPowerSums {
  uint64_t bin[kFloatAdmKinds * kAdmBands][kFloatAdmBins];
};

/* The approximate reciprocal by which libvmaf's float_adm divides: RCPSS of x86, of which 12 bits are defined, as AMD's
 * processors have it (read from a Zen 4, all mantissas). Intel's differs within the same bounds, and libvmaf's scores
 * there by some 1e-8.
 *
 * It looks at 12 bits of the mantissa, abc in hexadecimal: 2^13 / 1.abc is about 2^12 + kFloatAdmReciprocal[ab] -
 * kFloatAdmReciprocalStep[ac]. */
// clang-format off
VMAFX_TABLE int32_t kFloatAdmReciprocal[256] = {
    4094, 4062, 4031, 3999, 3969, 3938, 3907, 3877, 3847, 3817, 3787, 3758, 3729, 3700, 3671, 3642,
    3612, 3584, 3556, 3529, 3501, 3474, 3447, 3420, 3393, 3366, 3340, 3314, 3288, 3262, 3236, 3211,
    3184, 3159, 3134, 3109, 3085, 3060, 3036, 3012, 2988, 2964, 2941, 2917, 2894, 2871, 2848, 2825,
    2801, 2779, 2756, 2734, 2712, 2690, 2668, 2646, 2625, 2603, 2582, 2561, 2540, 2519, 2498, 2478,
    2456, 2436, 2416, 2396, 2376, 2356, 2336, 2317, 2297, 2278, 2258, 2239, 2220, 2201, 2182, 2164,
    2145, 2127, 2108, 2090, 2072, 2054, 2036, 2018, 2000, 1983, 1965, 1948, 1930, 1913, 1896, 1879,
    1861, 1844, 1828, 1811, 1794, 1778, 1762, 1745, 1729, 1713, 1697, 1681, 1665, 1650, 1634, 1618,
    1602, 1587, 1571, 1556, 1541, 1526, 1511, 1496, 1481, 1466, 1452, 1437, 1423, 1408, 1394, 1379,
    1365, 1351, 1336, 1322, 1309, 1295, 1281, 1267, 1254, 1240, 1226, 1213, 1200, 1186, 1173, 1160,
    1146, 1133, 1120, 1107, 1095, 1082, 1069, 1056, 1044, 1031, 1019, 1006,  994,  982,  969,  957,
     945,  933,  921,  909,  897,  885,  873,  862,  850,  838,  827,  815,  804,  792,  781,  770,
     758,  747,  736,  725,  714,  703,  692,  681,  670,  659,  648,  638,  627,  617,  606,  595,
     584,  574,  564,  553,  543,  533,  523,  513,  502,  492,  482,  472,  463,  453,  443,  433,
     423,  414,  404,  394,  385,  375,  366,  356,  347,  337,  328,  319,  310,  300,  291,  282,
     272,  263,  254,  245,  236,  227,  219,  210,  201,  192,  183,  175,  166,  157,  149,  140,
     132,  123,  115,  106,   98,   90,   81,   73,   65,   57,   48,   40,   32,   24,   16,    8};
// clang-format on

// clang-format off
VMAFX_TABLE int32_t kFloatAdmReciprocalStep[256] = {
     0,  2,  3,  5,  7,  9, 11, 13, 15, 17, 18, 20, 22, 24, 26, 28,
     0,  1,  3,  5,  6,  8, 10, 11, 13, 15, 16, 18, 20, 21, 23, 25,
     0,  1,  3,  4,  5,  7,  8, 10, 11, 13, 14, 16, 17, 19, 20, 22,
     0,  1,  2,  4,  5,  6,  8,  9, 10, 12, 13, 14, 16, 17, 18, 20,
     0,  1,  2,  3,  4,  6,  7,  8,  9, 11, 12, 13, 14, 15, 17, 18,
     0,  1,  2,  4,  5,  6,  7,  8,  9, 10, 11, 12, 14, 15, 16, 17,
     0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15,
     0,  1,  2,  3,  4,  5,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14,
     0,  1,  2,  2,  3,  4,  5,  6,  7,  8,  8,  9, 10, 11, 12, 13,
     0,  1,  1,  2,  3,  4,  5,  5,  6,  7,  8,  9,  9, 10, 11, 12,
     0,  1,  2,  2,  3,  4,  4,  5,  6,  7,  7,  8,  9, 10, 10, 11,
     0,  1,  1,  2,  3,  3,  4,  5,  5,  6,  7,  7,  8,  9,  9, 10,
     0,  0,  1,  2,  2,  3,  3,  4,  5,  5,  6,  7,  7,  8,  8,  9,
     0,  0,  1,  2,  2,  3,  3,  4,  5,  5,  6,  6,  7,  8,  8,  9,
     0,  0,  1,  1,  2,  2,  3,  3,  4,  5,  5,  6,  6,  7,  7,  8,
     0,  0,  1,  1,  2,  2,  3,  4,  4,  5,  5,  6,  6,  7,  7,  8};
// clang-format on

}  // namespace vmafx

#endif
