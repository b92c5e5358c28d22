/* float_adm, SIMD: what the stages hand each other, row by row. Rows start on a cache line and have room for what whole vectors touch
 * beyond both ends. */
#ifndef VMAFX_KERNELS_ADM_FLOAT_ADM_ROWS_H
#define VMAFX_KERNELS_ADM_FLOAT_ADM_ROWS_H

#include "kernels/adm/float_adm.h"

namespace vmafx {

/* Even columns and odd ones, both at column / 2: the wavelet's taps then are whole vectors. */
struct SplitRow {
  float* even;
  float* odd;
};

/* Where a row's contributions to the sums of a scale go. */
struct SumRow {
  float* cubes[kAdmBands];  // of columns from `first` on
  int first;
  uint64_t* powers;  // bins
};

/* A row of bands from the filtered rows through decoupling and csf. Of each pair, [0] is ref's and [1] dist's. */
struct BandWork {
  const FloatAdmParams* params;
  const FloatAdmScale* scale;
  SplitRow low[2], high[2];    // after the vertical pass
  SplitRow a[2];               // to the next scale's input
  float* restored[kAdmBands];  // weighted magnitudes
  float* added[kAdmBands];
  float* share_of_restored[kAdmBands];
  float* share_of_added[kAdmBands];
  const float* scored;  // all ones in the scored columns
  SumRow den;
};

/* A row through masking. */
struct MaskWork {
  const FloatAdmParams* params;
  const float* scored;
  const float* signal[kAdmBands];    // BandWork's restored or added
  const float* masking[kAdmBands];   // the other one
  const float* share[3][kAdmBands];  // of the other one, above, here and below
  SumRow sums;
};

}  // namespace vmafx

#endif
