/* Sizes, weights and raw sums of float_ssim and float_ms_ssim, for all twins. */
#ifndef VMAFX_KERNELS_SSIM_SSIM_MATH_H
#define VMAFX_KERNELS_SSIM_SSIM_MATH_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

inline constexpr int kMsSsimScales = 5;

/* A Gaussian with σ = 1.5, over 11 samples. As rounded by libvmaf the weights add up to 1.000002, which takes up to 0.3
 * off the variances of bright samples: they are part of the definition. */
VMAFX_CONSTANT float kSsimTaps[6] = {0.266012f, 0.213006f, 0.109361f, 0.036001f, 0.007599f, 0.001028f};
struct SsimWindow {
  static constexpr int kRadius = 5, kLength = 11;
  VMAFX_HD static float tap(int k) { return kSsimTaps[k]; }
};

/* The low-pass filter of Cohen, Daubechies and Feauveau's 9/7 wavelet, over rows and columns: the weight of a sample
 * that is y rows and x columns away, in libvmaf's six decimals, which are not quite products of those along x and y.
 * Every second row and column of the filtered plane is kept. */
VMAFX_CONSTANT float kSsimHalvingTaps[5][5] = {
    {0.363505f, 0.160885f, -0.047149f, -0.010146f, 0.016114f},
    {0.160885f, 0.071207f, -0.020867f, -0.004490f, 0.007132f},
    {-0.047149f, -0.020867f, 0.006115f, 0.001316f, -0.002090f},
    {-0.010146f, -0.004490f, 0.001316f, 0.000283f, -0.000450f},
    {0.016114f, 0.007132f, -0.002090f, -0.000450f, 0.000714f},
};
struct SsimHalving {
  static constexpr int kRadius = 4;
  VMAFX_HD static float tap(int y, int x) { return kSsimHalvingTaps[y < 0 ? -y : y][x]; }
};
VMAFX_HD int ssim_halved(int size) { return (size + 1) / 2; }

/* Columns or rows that are left of `size` by means over `factor` samples, and where the samples of mean `i` begin. What
 * lies outside of the picture is mirror_repeated(). An odd size has one more than fit, as in libvmaf. */
VMAFX_HD int ssim_reduced(int size, int factor) { return factor == 1 ? size : size / factor + (size & 1); }
VMAFX_HD int ssim_first_sample(int i, int factor) { return i * factor - factor / 2; }

/* The weight of each of a block's samples in its mean. */
VMAFX_HD float ssim_block_weight(int factor) { return 1.f / static_cast<float>(factor * factor); }

/* (K L)² with K1 = 0.01, K2 = 0.03, L = 255, and C3 = C2 / 2, rounded as libvmaf rounds them. */
inline constexpr float kSsimC1 = (0.01f * 255) * (0.01f * 255), kSsimC2 = (0.03f * 255) * (0.03f * 255),
                       kSsimC3 = kSsimC2 / 2;

/* Sums count in 2^-35: those of 2^28 windows, each of about 1 at most, fit into 63 bits. */
inline constexpr int kSsimBits = 35;

/* The raw sums of one scale, over its windows, in 2^-kSsimBits. Without l, lcs is 0, too. */
struct SsimSums {
  int64_t l, c, s, lcs;
  int64_t different;  // windows that see a difference
};

}  // namespace vmafx

#endif
