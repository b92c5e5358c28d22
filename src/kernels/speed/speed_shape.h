/* The raw sums of SpEED, and what its arithmetic is given and leaves behind, for all twins. */
#ifndef VMAFX_KERNELS_SPEED_SPEED_SHAPE_H
#define VMAFX_KERNELS_SPEED_SPEED_SHAPE_H

#include <cstdint>

#include "kernels/steps/gaussian_window.h"

namespace vmafx {

/* The raw sums of one plane. */
struct SpeedSums {
  uint64_t difference;  // the bits of Σ over the blocks, a float, added up row by row
  uint64_t singular;    // bit 0: K of ref, bit 1: K of dist
};

inline constexpr int kSpeedStep = 16;  // decimation, both ways
inline constexpr int kSpeedBlock = 5;  // samples of m, both ways
inline constexpr int kSpeedDim = kSpeedBlock * kSpeedBlock;
inline constexpr int kSpeedPairs = kSpeedDim * (kSpeedDim + 1) / 2;  // pairs of elements of a block
inline constexpr int kSpeedRow = 32;                                 // from one row of a matrix to the next
inline constexpr int kSpeedBand = 4;                                 // rows of windows that are summed up apart

/* Sizes and options. Trivially copyable. */
struct SpeedShape {
  int w = 0, h = 0;                // the plane under the first window: after prescaling
  int small_w = 0, small_h = 0;    // x and m
  int blocks_x = 0, blocks_y = 0;  // whole blocks in m
  float scale = 1;                 // scales samples to 8 bit
  int weight_mode = 0;
  float sigma_nn = 0;
  float least_entropy = 0;  // blocks below it count nothing
  GaussianWindow antialias, local;

  constexpr int blocks() const { return blocks_x * blocks_y; }
  /* The samples of m that one element of a 5x5 window meets. */
  constexpr int windows_x() const { return (blocks_x - 1) * kSpeedBlock + 1; }
  constexpr int windows_y() const { return (blocks_y - 1) * kSpeedBlock + 1; }
  constexpr int padded_windows_x() const { return (windows_x() + 7) / 8 * 8; }
};

/* K made usable. */
struct SpeedModel {
  float turned[kSpeedDim][kSpeedRow], triangle[kSpeedDim][kSpeedRow];  // results of factorise()
  float eigenvalues[kSpeedDim];
  int32_t is_regular;   // all of the eigenvalues are above 0,
  int32_t is_solvable;  // and the diagonal of the triangle is
};

/* A block as one of the sides has it. */
struct SpeedBlockSums {
  float variance;  // S
  float entropy;   // E
};

}  // namespace vmafx

#endif
