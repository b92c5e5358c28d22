/* What the arithmetic of SpEED is given: for the host, which makes it once, and for the kernels. */
#ifndef VMAFX_KERNELS_SPEED_SPEED_WORK_H
#define VMAFX_KERNELS_SPEED_SPEED_WORK_H

#include <cstdint>

#include "kernels/common/gaussian_window.h"

namespace vmafx {

inline constexpr int kSpeedStep = 16;   // of the decimation, both ways
inline constexpr int kSpeedBlock = 5;   // samples of m, both ways
inline constexpr int kSpeedDim = kSpeedBlock * kSpeedBlock;

/* Sizes and options. Trivially copyable. */
struct SpeedShape {
  int w = 0, h = 0;                // of the plane under the first window: after prescaling
  int small_w = 0, small_h = 0;    // of x and m
  int blocks_x = 0, blocks_y = 0;  // whole blocks in m
  float scale = 1;                 // of samples: to 8 bit
  int weight_mode = 0;
  double sigma_nn = 0;
  double least_entropy = 0;        // blocks below it count nothing
  GaussianWindow antialias, local;

  constexpr int blocks() const { return blocks_x * blocks_y; }
  /* The samples of m that one element of a 5x5 window meets. */
  constexpr int windows_x() const { return (blocks_x - 1) * kSpeedBlock + 1; }
  constexpr int windows_y() const { return (blocks_y - 1) * kSpeedBlock + 1; }
};

}  // namespace vmafx

#endif
