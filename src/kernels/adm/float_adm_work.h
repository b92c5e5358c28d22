/* How the kernels of float_adm cut the bands of a scale into tiles, and what they are given: for the host, which plans
 * it, and for the kernels. */
#ifndef VMAFX_KERNELS_ADM_FLOAT_ADM_WORK_H
#define VMAFX_KERNELS_ADM_FLOAT_ADM_WORK_H

#include <stdint.h>

#include "hip/frame_planes.h"
#include "kernels/adm/float_adm_math.h"
#include "kernels/steps/row_sums_work.h"

namespace vmafx {

/* A block makes the bands of a tile, in columns and rows of the bands; each thread has some neighboring columns of one
 * row. Masking looks one sample further, so neighboring tiles overlap by two: a tile scores what is inside its
 * outermost rows and columns, and writes the band a of all but its last two. */
inline constexpr int kFloatAdmTileW = 32, kFloatAdmTileH = 16, kFloatAdmColumns = 2;
inline constexpr int kFloatAdmStepX = kFloatAdmTileW - 2, kFloatAdmStepY = kFloatAdmTileH - 2;
inline constexpr unsigned kFloatAdmThreads = kFloatAdmTileW / kFloatAdmColumns * kFloatAdmTileH;

/* From begin to before end. */
struct FloatAdmRange {
  int32_t begin = 0, end = 0;
};

/* The part of a scale's band a that the next scale reads. */
struct FloatAdmBand {
  PlanePairs<float> planes;  // rows `y`; from first_x on, the stride a multiple of 4
  FloatAdmRange x, y;        // the part that exists
  int32_t first_x = 0;       // first column of a row; a multiple of 4
};

/* One scale. */
struct FloatAdmStage {
  FloatAdmScale scale;
  int32_t first_x = 0, first_y = 0;  // the first tile's; first_x is even
  int32_t scored = 0;                // not adm_skip_scale0
  /* The scored ones and up to four more, for aligned stores: begin is even, the size a multiple of 4. */
  FloatAdmRange columns;
  int32_t makes_a = 0;
  int32_t masked = 0;
  double gain_limit = 1;
  float p_norm = 3;
  float sample_scale = 1;  // to 8 bits
  hip::BatchPlanes luma;   // scale 0
  FloatAdmBand from;       // at scale 0 only x and y
  FloatAdmBand to;
  RowValues values;  // the cubes of `columns` and the scored rows, a plane for each of the scale's sums
  BatchSums<FloatAdmPowerSums> sums;  // the scale's sums of powers
};
VMAFX_DECLARE_SAMPLE_KERNELS(float_adm, FloatAdmStage, kFloatAdmThreads);
VMAFX_DECLARE_KERNEL(float_adm_bands, FloatAdmStage, kFloatAdmThreads);
VMAFX_DECLARE_SAMPLE_KERNELS(float_adm_powers, FloatAdmStage, kFloatAdmThreads);
VMAFX_DECLARE_KERNEL(float_adm_powers_bands, FloatAdmStage, kFloatAdmThreads);

}  // namespace vmafx

#endif
