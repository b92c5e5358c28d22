/* The sensitivities of psnr_hvs, how a plane is cut into blocks, and the raw sums. */
#ifndef VMAFX_KERNELS_PSNR_HVS_PSNR_HVS_MATH_H
#define VMAFX_KERNELS_PSNR_HVS_PSNR_HVS_MATH_H

#include <cstdint>

#include "kernels/arithmetic/fixed.h"
#include "kernels/gpu/device.h"

namespace vmafx {

inline constexpr int kPsnrHvsBlock = 8;  // samples a side
inline constexpr int kPsnrHvsStep = 7;   // from one block to the next: neighbors share a row or column

/* Blocks along a side of n >= 8 samples. */
VMAFX_HD int psnr_hvs_blocks(int n) { return (n - kPsnrHvsBlock) / kPsnrHvsStep + 1; }

/* A sum of errors. A block's is below 64 · 4095² · 2.63² < 2^33; a plane's has two words. */
inline constexpr int kPsnrHvsSumBits = 7;
using PsnrHvsSum = Fixed2<kPsnrHvsSumBits>;

/* The raw sums of one frame. */
struct PsnrHvsSums {
  PsnrHvsSum error[3];  // Σ of squared visible errors per plane, as counted
};

inline constexpr int kPsnrHvsMapSide = 4;  // of the blocks of maps, in blocks of samples

/* Contrast sensitivity per plane (Y, Cb, Cr) and frequency, vertical and horizontal: the inverse of quantization steps
 * at the point of transparency. From Daala's tools/dump_psnrhvs.c; the same for all chroma formats. */
VMAFX_CONSTANT float kPsnrHvsCsf[3][8][8] = {
    {{1.6193873f, 2.29015948f, 2.08509756f, 1.48366094f, 1.00227514f, 0.678296995f, 0.466224901f, 0.326509154f},
     {2.29015948f, 1.94321815f, 2.04793073f, 1.68731109f, 1.2305667f, 0.868920337f, 0.612809917f, 0.436405794f},
     {2.08509756f, 2.04793073f, 1.34329019f, 1.09205636f, 0.875748795f, 0.670882927f, 0.501731932f, 0.372504255f},
     {1.48366094f, 1.68731109f, 1.09205636f, 0.772819798f, 0.60563638f, 0.483094057f, 0.380429447f, 0.295774039f},
     {1.00227514f, 1.2305667f, 0.875748795f, 0.60563638f, 0.448996257f, 0.352889269f, 0.283006984f, 0.226951348f},
     {0.678296995f, 0.868920337f, 0.670882927f, 0.483094057f, 0.352889269f, 0.270320734f, 0.21501774f, 0.174080673f},
     {0.466224901f, 0.612809917f, 0.501731932f, 0.380429447f, 0.283006984f, 0.21501774f, 0.168869546f, 0.136153931f},
     {0.326509154f, 0.436405794f, 0.372504255f, 0.295774039f, 0.226951348f, 0.174080673f, 0.136153931f, 0.109083846f}},
    {{1.91113097f, 2.4607421f, 1.18284185f, 1.14982565f, 1.05017075f, 0.898018824f, 0.74725392f, 0.615105596f},
     {2.4607421f, 1.58529308f, 1.2136325f, 1.38190029f, 1.3310019f, 1.17428549f, 0.996404342f, 0.830890434f},
     {1.18284185f, 1.2136325f, 0.978712414f, 1.02624506f, 1.03145147f, 0.960060382f, 0.849823426f, 0.731221237f},
     {1.14982565f, 1.38190029f, 1.02624506f, 0.861317502f, 0.801821139f, 0.751437591f, 0.685398513f, 0.608694761f},
     {1.05017075f, 1.3310019f, 1.03145147f, 0.801821139f, 0.676555426f, 0.605503173f, 0.550020137f, 0.495804539f},
     {0.898018824f, 1.17428549f, 0.960060382f, 0.751437591f, 0.605503173f, 0.514674451f, 0.454353483f, 0.407050309f},
     {0.74725392f, 0.996404342f, 0.849823426f, 0.685398513f, 0.550020137f, 0.454353483f, 0.389234903f, 0.342354f},
     {0.615105596f, 0.830890434f, 0.731221237f, 0.608694761f, 0.495804539f, 0.407050309f, 0.342354f, 0.295530605f}},
    {{2.03871979f, 2.62502345f, 1.26180943f, 1.1101979f, 1.01397751f, 0.867069376f, 0.721500456f, 0.59390651f},
     {2.62502345f, 1.69112867f, 1.1718057f, 1.33427429f, 1.28513006f, 1.13381475f, 0.962064122f, 0.802254508f},
     {1.26180943f, 1.1718057f, 0.944981931f, 0.990876406f, 0.995903384f, 0.926972725f, 0.820534991f, 0.706020325f},
     {1.1101979f, 1.33427429f, 0.990876406f, 0.831632933f, 0.774187062f, 0.72553994f, 0.661776842f, 0.587716619f},
     {1.01397751f, 1.28513006f, 0.995903384f, 0.774187062f, 0.653238524f, 0.584635026f, 0.531064165f, 0.478717061f},
     {0.867069376f, 1.13381475f, 0.926972725f, 0.72553994f, 0.584635026f, 0.496936638f, 0.43869458f, 0.39302167f},
     {0.721500456f, 0.962064122f, 0.820534991f, 0.661776842f, 0.531064165f, 0.43869458f, 0.375820256f, 0.330555063f},
     {0.59390651f, 0.802254508f, 0.706020325f, 0.587716619f, 0.478717061f, 0.39302167f, 0.330555063f, 0.285345397f}}};

/* The weights of the coefficients of one vertical frequency. */
struct PsnrHvsWeights {
  float csf[8];
  float inverse[8];  // 1 / csf, and 0 for the mean of the block, which nothing masks
  float first_ac;    // csf[0], but 0 for the mean, which masks nothing
};

VMAFX_HD PsnrHvsWeights psnr_hvs_weights(int plane, int row) {
  PsnrHvsWeights weights = {};
  VMAFX_UNROLL
  for (int j = 0; j < 8; j++) {
    weights.csf[j] = kPsnrHvsCsf[plane][row][j];
    weights.inverse[j] = 1 / weights.csf[j];
  }
  weights.first_ac = row == 0 ? 0 : weights.csf[0];
  if (row == 0) weights.inverse[0] = 0;
  return weights;
}

}  // namespace vmafx

#endif
