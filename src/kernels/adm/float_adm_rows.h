/* float_adm, SIMD: what the stages hand each other, row by row. Rows start on a cache line and have room for what whole
 * vectors touch beyond both ends. */
#ifndef VMAFX_KERNELS_ADM_FLOAT_ADM_ROWS_H
#define VMAFX_KERNELS_ADM_FLOAT_ADM_ROWS_H

#include <span>

#include "kernels/adm/float_adm.h"

namespace vmafx {

/* Even columns and odd ones, both at column / 2: the wavelet's taps then are whole vectors. */
struct SplitRow {
  float* even;
  float* odd;
};

/* The place for a row's contributions to the sums of a scale. */
struct SumRow {
  float* cubes[kAdmBands];  // columns from `first` on
  int first;
  uint64_t* powers;  // bins
};

/* A picture's filtered rows. */
struct FilteredRow {
  SplitRow low, high;  // after the vertical pass
  SplitRow a;          // to the next scale's input
};

/* An encode's, and what becomes of it. */
struct EncodeWork {
  FilteredRow row;
  float* restored[kAdmBands];  // weighted magnitudes
  float* added[kAdmBands];
  float* share_of_restored[kAdmBands];
  float* share_of_added[kAdmBands];
};

/* A row of bands from the filtered rows through decoupling and csf: the reference's, and against it those of all
 * encodes. */
struct BandWork {
  const FloatAdmParams* params;
  const FloatAdmScale* scale;
  FilteredRow ref;
  std::span<const EncodeWork> encodes;
  const float* scored;  // all ones in the scored columns
  SumRow den;
};

/* A row through masking. */
struct MaskWork {
  const FloatAdmParams* params;
  const float* scored;
  const float* signal[kAdmBands];    // EncodeWork's restored or added
  const float* masking[kAdmBands];   // the other one
  const float* share[3][kAdmBands];  // shares of the other one, above, here and below
  SumRow sums;
};

}  // namespace vmafx

#endif
