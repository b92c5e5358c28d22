/* The arithmetic of VIF per sample, for the definition, the SIMD twin and the device.
 *
 * Fixed-point formats, with samples scaled to 8 bits: a vertical mean is Q8, a full mean Q24; a vertical mean of
 * squares and everything called xx, yy, xy or sigma is Q16; logarithms are Q11. */
#ifndef VMAFX_KERNELS_VIF_VIF_MATH_H
#define VMAFX_KERNELS_VIF_VIF_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

inline constexpr int kVifScales = 4;

/* The Gaussian windows, Q16: the center tap and one side. Each whole window adds up to 65536. */
inline constexpr int kVifMaxHalfWidth = 8;
VMAFX_CONSTANT int kVifHalfWidth[kVifScales] = {8, 4, 2, 1};
VMAFX_CONSTANT uint16_t kVifTaps[kVifScales][kVifMaxHalfWidth + 1] = {
    {7784, 7455, 6547, 5274, 3896, 2640, 1640, 935, 489},
    {14692, 12590, 7925, 3663, 1244},
    {26386, 16004, 3571},
    {43728, 10904},
};

/* Rounding right shifts after a vertical pass, for sums of samples and of squares. After a horizontal pass it is
 * always 16. */
struct VifShifts {
  int mean;
  int square;
};
VMAFX_HD constexpr VifShifts vif_shifts(int scale, int bpc) {
  return scale == 0 ? VifShifts{bpc, (bpc - 8) * 2} : VifShifts{16, 16};
}

VMAFX_HD constexpr uint64_t vif_round_shift(uint64_t value, int shift) {
  return (value + ((uint64_t{1} << shift) >> 1)) >> shift;
}

/* The sums of one scale. Samples with sigma1_sq >= kVifNoise take the log form, the others are only counted. */
struct VifScaleSums {
  int64_t num_log;      // Q11
  int64_t den_log;      // Q11
  int64_t num_non_log;  // the sum of sigma2_sq, Q16
  int64_t den_non_log;  // how many samples
};

/* The raw sums of a frame. With skip_scale0 those of scale 0 stay zero. */
struct VifSums {
  VifScaleSums scale[kVifScales];
};

inline constexpr int kVifBlockSide = 32;  // of the blocks of maps, in samples of luma

inline constexpr int32_t kVifNoise = 2 << 16;           // the eye's noise variance, Q16
inline constexpr double kVifEpsilon = 65536 * 1.0e-10;  // in the denominator of g

/* log2(i) * 2048, rounded to whole numbers, for i = 32768 + m in [32768, 65535], is 30720 + m / 16 + c(m), where c is
 * the bulge of the logarithm above its chord, at most 177. These are the coefficients of (c(m) + 1/2) * 2^15 as a
 * polynomial in u = m / 32768 - 1/2, plus 2^23, so that the last addition of Horner's rule rounds to whole numbers.
 * They were fitted on the 32768 values of round(log2f(i) * 2048): in single precision all of them come out exact, with
 * and without fused multiply-add. */
inline constexpr int kVifLog2Degree = 8;
VMAFX_CONSTANT float kVifLog2Poly[kVifLog2Degree + 1] = {
    0x1.ae811p+23f,  -0x1.38f79ep+21f, -0x1.484ae4p+24f, 0x1.23e4bcp+23f, -0x1.23e8c4p+22f,
    0x1.32ece8p+21f, -0x1.549fb4p+20f, 0x1.e400a8p+19f,  -0x1.1bf53p+19f,
};

/* round(log2f(i) * 2048) for i in [32768, 65535]. */
VMAFX_HD int32_t vif_log2_entry(int32_t i) {
  const int32_t m = i - 32768;
  const float u = static_cast<float>(m - 16384) * 0x1p-15f;
  float bulge = kVifLog2Poly[kVifLog2Degree];
  for (int k = kVifLog2Degree - 1; k >= 0; k--) bulge = bulge * u + kVifLog2Poly[k];
  return 30720 + (((m << 11) + static_cast<int32_t>(bulge) - (1 << 23)) >> 15);
}

/* log2(x), Q11, of the 16 leading bits of x >= 2^17. */
VMAFX_HD int32_t vif_log2(uint64_t x) {
  const int shift = 48 - __builtin_clzll(x);
  return vif_log2_entry(static_cast<int32_t>(x >> shift)) + 2048 * shift;
}

/* Means and mean products in the window around one sample: mu Q24, the others Q16. */
struct VifWindow {
  uint32_t mu1, mu2;
  uint32_t xx, yy, xy;
};

VMAFX_HD uint32_t vif_mean_product(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(vif_round_shift(uint64_t{a} * b, 32));
}

/* Adds one sample to its scale's sums. */
VMAFX_HD void vif_add_sample(const VifWindow& window, double gain_limit, VifScaleSums& sums) {
  const int32_t sigma1_sq = static_cast<int32_t>(window.xx - vif_mean_product(window.mu1, window.mu1));
  const int32_t sigma2_raw = static_cast<int32_t>(window.yy - vif_mean_product(window.mu2, window.mu2));
  const int32_t sigma12 = static_cast<int32_t>(window.xy - vif_mean_product(window.mu1, window.mu2));
  const int32_t sigma2_sq = sigma2_raw > 0 ? sigma2_raw : 0;

  if (sigma1_sq < kVifNoise) {
    sums.num_non_log += sigma2_sq;
    sums.den_non_log++;
    return;
  }
  sums.den_log += vif_log2(static_cast<uint32_t>(kVifNoise + sigma1_sq)) - 2048 * 17;
  if (sigma12 <= 0 || sigma2_sq == 0) return;

  const double g = sigma12 / (sigma1_sq + kVifEpsilon);
  const double residual = sigma2_sq - g * sigma12;
  const int64_t noise = (residual > 0 ? static_cast<int64_t>(residual) : 0) + kVifNoise;  // sv + n
  const double gain = g < gain_limit ? g : gain_limit;
  const int64_t total = static_cast<int64_t>(gain * gain * sigma1_sq) + noise;
  sums.num_log += vif_log2(static_cast<uint64_t>(total)) - vif_log2(static_cast<uint64_t>(noise));
}

}  // namespace vmafx

#endif
