/* Constants, sizes, parameters and raw sums of ssimulacra2, for all twins. */
#ifndef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_H
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_MATH_H

#include "kernels/arithmetic/fixed.h"
#include "kernels/steps/linear_light.h"

namespace vmafx {

inline constexpr int kSsimulacra2Scales = 6;
inline constexpr int kSsimulacra2MinSize = 8;  // sides of a picture, and of a scale that has a next one
inline constexpr int kSsimulacra2Band = 4;     // rows whose errors are added as floats
/* Fixed-point formats of the sums over pictures of up to 2^26 samples. A value is at most 2; a band's sum is then below
 * 2^4, that of its fourth powers, times the scale, below 2^23. */
inline constexpr int kSsimulacra2SumBits = 34, kSsimulacra2FourthBits = 16;
inline constexpr float kSsimulacra2FourthScale = 65536;

/* The sums of one map. The values of four rows of a column, from a multiple of four on, are added as floats. */
struct Ssimulacra2Map {
  int64_t sum;                                   // Q34
  Fixed3<kSsimulacra2FourthBits> fourth_powers;  // Σ (16·value)^4
};

struct Ssimulacra2Sums {
  Ssimulacra2Map map[kSsimulacra2Scales][3][3];  // scale; x, y, b; ssim, artifact, detail
};

/* The sums of a block of a scale, by channel and map. */
struct Ssimulacra2BlockSums {
  Ssimulacra2Map map[3][3];
};

/* The streams that are blurred for each channel: ref, dist, their squares and their product. */
inline constexpr int kSsimulacra2Channels = 3, kSsimulacra2Streams = 5;

/* The recursive Gaussian of Charalampidis (2016) with σ = 1.5: the sum of three sections of second order,
 *   y(n) = in · (x(n - 6) + x(n + 4)) + last · y(n - 1) - y(n - 2),
 * with one row of factors each. Along a row the reference program makes four values at once from the two before; of
 * value i, `in` falls to x(i), x(i - 1), ..., `last` to y(-1), -last of value i - 1 to y(-2). */
inline constexpr int kSsimulacra2Sections = 3, kSsimulacra2Behind = 6, kSsimulacra2Ahead = 4;
VMAFX_CONSTANT float kSsimulacra2In[kSsimulacra2Sections][4] = {
    {0x1.c4fa84p-5f, 0x1.aecee8p-4f, 0x1.287a74p-3f, 0x1.5c87fap-3f},
    {-0x1.e1fd7ap-5f, -0x1.1b4e84p-4f, -0x1.70352cp-6f, 0x1.5e2fb4p-5f},
    {0x1.a8894ap-7f, 0x1.d44a64p-60f, -0x1.a8894ap-7f, -0x1.d44a64p-59f}};
VMAFX_CONSTANT float kSsimulacra2Last[kSsimulacra2Sections][4] = {
    {0x1.e6f0e2p+0f, 0x1.4f1bbcp+1f, 0x1.89f188p+1f, 0x1.9e377ap+1f},
    {0x1.2cf23p+0f, 0x1.87221ap-2f, -0x1.73fd62p-1f, -0x1.3c6ef4p+0f},
    {0x1.1a6264p-53f, -1, -0x1.1a6264p-52f, 1}};

/* The program does so from column 8 on, as long as more than seven columns are left. */
VMAFX_HD bool ssimulacra2_four_at_once(int x, int w) { return x >= 8 && x < w - 7; }

struct Ssimulacra2Params : PictureLight {
  float absorbance[9];  // from linear r, g, b of the video's primaries to l, m, s
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
