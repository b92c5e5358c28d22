/* float_adm, SIMD: what the stages hand each other, row by row. Rows start on a cache line and have room for what whole vectors touch
 * beyond both ends. */
#ifndef VMAFX_KERNELS_FLOAT_ADM_FLOAT_ADM_ROWS_H
#define VMAFX_KERNELS_FLOAT_ADM_FLOAT_ADM_ROWS_H

#include "kernels/float_adm/float_adm.h"

namespace vmafx {

/* Even columns and odd ones, both at column / 2: the wavelet's taps then are whole vectors. */
struct SplitRow {
  float* even;
  float* odd;
};

/* A row of bands from the filtered rows through decoupling and csf. Of each pair, [0] is ref's and [1] dist's. */
struct BandWork {
  const FloatAdmParams* params;
  const FloatAdmScale* scale;
  SplitRow low[2], high[2];        // after the vertical pass
  SplitRow a[2];                   // to the next scale's input
  float* restored[kAdmBands];      // weighted magnitudes
  float* added[kAdmBands];
  float* mask_of_restored;
  float* mask_of_added;
  const float* scored;  // all ones in the scored columns
  uint64_t* den;        // sums of the scale; null in rows that do not count
};

/* A row through masking. */
struct MaskWork {
  const FloatAdmParams* params;
  const float* scored;
  const float* signal[kAdmBands];  // BandWork's restored or added
  const float *above, *here, *below;  // masks of the other part
  uint64_t* sums;                  // of the scale
};

}  // namespace vmafx

#endif
