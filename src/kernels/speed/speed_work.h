/* The raw sums of SpEED, and what its arithmetic is given: for the host, which makes it once, and for the kernels. */
#ifndef VMAFX_KERNELS_SPEED_SPEED_WORK_H
#define VMAFX_KERNELS_SPEED_SPEED_WORK_H

#include <cstddef>
#include <cstdint>

#include "hip/device_ptr.h"
#include "hip/frame_planes.h"
#include "kernels/gpu/work.h"
#include "kernels/steps/gaussian_window.h"
#include "kernels/steps/prescale_work.h"

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

/* Shapes of the kernels' blocks. */
inline constexpr int kSpeedSegment = 8;  // samples of x, in a row
inline constexpr unsigned kSpeedThreads = 128;
inline constexpr unsigned kSpeedPairThreads = 384;  // one for each pair of elements, then one for each element
inline constexpr unsigned kSpeedModelThreads = 256;
inline constexpr unsigned kSpeedMeasureThreads = 64;  // a block of the plane each
inline constexpr unsigned kSpeedScoreThreads = 256;
inline constexpr int kSpeedPartWords = kSpeedPairs + kSpeedDim;  // for one band
inline constexpr int kSpeedMostUnits = hip::kMostBatch * 4;

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

/* Everything in scratch memory lies in units: a plane of one side, number (frame · planes + plane) · 2 + side. */
struct SpeedWork {
  SpeedShape shape;
  hip::DevicePlane now[kSpeedMostUnits];
  hip::DevicePlane before[kSpeedMostUnits];  // in time; null where there is none
  int32_t plane_count = 0;
  int32_t in_time = 0;  // the plane before less the one now
  int32_t bands = 0;
  PrescaleWork prescale;           // its sizes and taps, where there is prescaling
  hip::DevicePtr<float> small;     // small_w · small_h of each unit
  hip::DevicePtr<float> centered;  // likewise
  hip::DevicePtr<double> parts;    // bands · kSpeedPartWords of each unit: sums of products, then sums
  hip::DevicePtr<SpeedModel> models;
  hip::DevicePtr<SpeedBlockSums> blocks;  // by unit
  BatchSums<SpeedSums> sums;              // the first plane's; those of the others follow
};
VMAFX_DECLARE_SAMPLE_KERNELS(speed_decimate, SpeedWork, kSpeedThreads);
VMAFX_DECLARE_SAMPLE_KERNELS(speed_decimate_scaled, SpeedWork, kSpeedThreads);
VMAFX_DECLARE_KERNEL(speed_center, SpeedWork, kSpeedThreads);
VMAFX_DECLARE_KERNEL(speed_multiply, SpeedWork, kSpeedPairThreads);
VMAFX_DECLARE_KERNEL(speed_model, SpeedWork, kSpeedModelThreads);
VMAFX_DECLARE_KERNEL(speed_measure, SpeedWork, kSpeedMeasureThreads);
VMAFX_DECLARE_KERNEL(speed_score, SpeedWork, kSpeedScoreThreads);

}  // namespace vmafx

#endif
