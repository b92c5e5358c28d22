/* The parameters of butteraugli's kernels. They take a chunk of rows at a time, of all frames, and one step after the
 * other, as the SIMD twin does (butteraugli_rows.h): steps leave their rows in rings, each some rows behind the one
 * before. */
#ifndef VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_WORK_H
#define VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_WORK_H

#include "kernels/butteraugli/butteraugli_math.h"
#include "kernels/gpu/work.h"

namespace vmafx {

/* Rows of the full size in a chunk. Each step is a launch for each chunk; each ring has these rows and up to 32 more,
 * which makes 256 of full size: a power of two. */
inline constexpr int kButteraugliChunk = 224;

inline constexpr unsigned kButteraugliThreadsX = 64, kButteraugliThreadsY = 4;
inline constexpr int kButteraugliThreadRows = 4;     // per thread that blurs downwards, or sums up lines
inline constexpr int kButteraugliLowThreadRows = 8;  // per thread that blurs by the widest blur, which reads many
inline constexpr int kButteraugliThreadColumns = 4;  // per thread that blurs along rows

/* Rings of rows in scratch memory: of each frame, and of each of its two sides if it has those, some planes. */
struct ButteraugliDeviceRing {
  int64_t first = 0;  // in floats
  int32_t rows = 0;   // a power of two
  int32_t planes = 0;
  int64_t plane_floats = 0;
};

struct ButteraugliRings {
  ButteraugliDeviceRing light, xyb, xyb_along, low, rest, rest_along, middle, highs, highs_along, active, active_along,
      activity;
  ButteraugliDeviceRing low_error, error, lines;
  ButteraugliDeviceRing map;  // has all rows
};

/* The rings for pictures of full size, or of half. */
struct ButteraugliLevelWork {
  int32_t w = 0, h = 0, pitch = 0;
  ButteraugliRings rings;
};

/* A step of one size makes rows y0 to y1 - 1. */
struct ButteraugliWork {
  hip::DevicePtr<float> scratch;
  ButteraugliLevelWork level, half;  // half: where light of half the size goes to, or where the map comes from
  int32_t y0 = 0, y1 = 0;
  uint32_t first_block = 0;  // in x
  float absorbance[9] = {};
  double norm = 3;
  ButteraugliVersion version = {};
  BatchSums<ButteraugliRow> sums;
};

/* A step of both sizes in one launch, since that of half the size alone would have little to do. Block (tile of
 * columns, of full size and behind them of half; tile of rows; side of a frame, or frame). */
struct ButteraugliStepWork {
  ButteraugliWork of[2];  // full size, half
  ButteraugliBlurScales<ButteraugliLowBlur> low = decltype(low)::all();
  ButteraugliBlurScales<ButteraugliMiddleBlur> middle = decltype(middle)::all();
  ButteraugliBlurScales<ButteraugliHighBlur> high = decltype(high)::all();
  ButteraugliBlurScales<ButteraugliMaskBlur> mask = decltype(mask)::all();
};

struct ButteraugliLightWork {
  hip::DevicePtr<float> scratch;
  ButteraugliLevelWork level;
  int32_t y0 = 0, y1 = 0;
  uint32_t first_block = 0;
  PictureLight params = {};
  hip::BatchPlanes planes[3];
};

VMAFX_DECLARE_SAMPLE_KERNELS(butteraugli_light, ButteraugliLightWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_halve, ButteraugliWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_xyb, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_xyb_along, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_low, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_rest_along, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_middle, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_highs_along, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_errors, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_active_along, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_activity, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_lines, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);
VMAFX_DECLARE_KERNEL(butteraugli_map, ButteraugliStepWork, kButteraugliThreadsX, kButteraugliThreadsY);

/* Block (some rows, frame): a thread for each sum of a row. */
inline constexpr unsigned kButteraugliSumRows = 16;
VMAFX_DECLARE_KERNEL(butteraugli_sums, ButteraugliWork, kButteraugliLanes, kButteraugliSumRows);

/* The sums of the blocks of maps. Block (block of the map, frame): its threads take so many rows at a time, of each
 * sample the powers, which a thread for each power then adds up. */
inline constexpr unsigned kButteraugliBlockRows = 8;
struct ButteraugliMapWork : ButteraugliWork {
  BatchSums<ButteraugliRow> blocks;
  int32_t blocks_across = 1;
};
VMAFX_DECLARE_KERNEL(butteraugli_blocks, ButteraugliMapWork, kButteraugliBlockSide, kButteraugliBlockRows);

}  // namespace vmafx

#endif
