/* Sizes and weights of float_ssim and float_ms_ssim. */
#ifndef VMAFX_KERNELS_SSIM_SSIM_MATH_H
#define VMAFX_KERNELS_SSIM_SSIM_MATH_H

#include "kernels/common/device.h"

namespace vmafx {

/* A Gaussian with σ = 1.5, over 11 samples. As rounded by libvmaf the weights add up to 1.000002, which takes up to 0.3
 * off the variances of bright samples: they are part of the definition. */
VMAFX_CONSTANT float kSsimTaps[6] = {0.266012f, 0.213006f, 0.109361f, 0.036001f, 0.007599f, 0.001028f};
struct SsimWindow {
  static constexpr int kRadius = 5, kLength = 11;
  VMAFX_HD static float tap(int k) { return kSsimTaps[k]; }
};

/* The low-pass filter of Cohen, Daubechies and Feauveau's 9/7 wavelet. Every second row and column of it is kept. */
VMAFX_CONSTANT float kSsimHalvingTaps[5] = {0.602914f, 0.266846f, -0.078201f, -0.016828f, 0.026727f};
struct SsimHalving {
  static constexpr int kRadius = 4;
  VMAFX_HD static float tap(int k) { return kSsimHalvingTaps[k]; }
};
VMAFX_HD int ssim_halved(int size) { return (size + 1) / 2; }

/* Columns or rows that are left of `size` by means over `factor` samples, and where the samples of mean `i` begin. What
 * lies outside of the picture is mirror_repeated(). An odd size has one more than fit, as in libvmaf. */
VMAFX_HD int ssim_reduced(int size, int factor) { return factor == 1 ? size : size / factor + (size & 1); }
VMAFX_HD int ssim_first_sample(int i, int factor) { return i * factor - factor / 2; }

/* A sum of factor² samples is their mean, on the scale of 8 bit, by this. */
VMAFX_HD float ssim_mean_scale(int factor, int bpc) {
  return 1.f / static_cast<float>(factor * factor << (bpc - 8));
}

/* (K L)² with K1 = 0.01, K2 = 0.03, L = 255, and C3 = C2 / 2. */
inline constexpr float kSsimC1 = 6.5025f, kSsimC2 = 58.5225f, kSsimC3 = 29.26125f;

/* Sums count in 2^-26. What one window adds to one is below 2.1, so that 15 windows fit 32 bits. */
inline constexpr int kSsimBits = 26, kSsimMostIn32Bits = 15;

}  // namespace vmafx

#endif
