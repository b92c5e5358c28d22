/* float_adm: constants, sizes and the raw sums, for all twins.
 *
 * Ranges. Samples are scaled to 8 bits and centred: |s| <= 128. A wavelet filter's taps add up to 1.6731 in magnitude, so a band of
 * scale n is at most 128 · 2.7991^(n+1): 358.3, 1002.9, 2807, 7857. Sensitivities range from 1e-5 to 1e4. */
#ifndef VMAFX_KERNELS_ADM_FLOAT_ADM_MATH_H
#define VMAFX_KERNELS_ADM_FLOAT_ADM_MATH_H

#include <cstdint>

#include "kernels/adm/adm_scales.h"

namespace vmafx {

struct FloatAdmScale : AdmExtent {
  float weight[kAdmBands];  // of a coefficient: sensitivity · 2^-unit
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
 * For any other p, x^p spans up to 20 times the exponents of x, more than any fixed point. So the powers are added up apart for each
 * exponent of x: bin n has Σ (x · 2^(n-4))^p of the x in [2^(3-n), 2^(4-n)), powers between 2^-20 and 1, in multiples of 2^-36. */
inline constexpr int kFloatAdmMostExponent = 4;  // of weighted coefficients
inline constexpr int kFloatAdmPowerBits = 36;
inline constexpr int kFloatAdmBins = 32;

}  // namespace vmafx

#endif
