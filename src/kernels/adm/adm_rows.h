/* ADM, SIMD: what the stages hand each other, row by row. Rows are indexed by the column of the band; they start on a
 * cache line and have room for what whole vectors touch beyond both ends. */
#ifndef VMAFX_KERNELS_ADM_ADM_ROWS_H
#define VMAFX_KERNELS_ADM_ADM_ROWS_H

#include <cstdint>
#include <span>

#include "kernels/adm/adm_math.h"
#include "kernels/steps/prefetch.h"

namespace vmafx {

/* A masking picture's shares in the thresholds, summed over its bands. Scale 0 keeps even columns in [0] and odd ones
 * in [1], both at column / 2; the others only have [0]. */
struct MaskRow {
  int32_t* neighbors[2];
  int32_t* center[2];  // less the neighbors entry of the same column, so that a whole 3x3 window can be added up
};

/* The results of decoupling and csf for a row of an encode, viewed in one way. T: int16_t at scale 0, int32_t at the
 * others. */
template <class T>
struct ViewRow {
  T* restored[kAdmBands];  // magnitudes; weighted, except at scale 0, where all views have the same
  T* added[kAdmBands];
  MaskRow mask_of_added;
  MaskRow mask_of_restored;
};

template <class T>
struct EncodeRow {
  const T* dist[kAdmBands];
  ViewRow<T> view[kAdmMostViews];
};

/* One row through decoupling and csf: the reference's, against those of all encodes. */
template <class T>
struct RowWork {
  const AdmScale* scale;
  int index;  // of the scale
  std::span<const AdmView> views;
  bool measure_aim;
  double gain_limit;
  bool row_scored;  // counts in the denominator
  const T* scored;  // all ones in the scored columns
  const T* ref[kAdmBands];
  std::span<const EncodeRow<T>> encodes;
  std::span<const Ahead> ahead;  // rows of the pictures that are read next, twice as wide
  uint64_t* den;                 // AdmSums::csf_den
};

/* One row through masking. */
template <class T>
struct MaskingWork {
  const AdmScale* scale;
  const uint32_t* rfactor;  // AdmView's of this scale
  const T* scored;
  const T* signal[kAdmBands];  // ViewRow's restored or added
  const int32_t* above[2];     // MaskRow::neighbors of the other picture
  const int32_t* here[2];
  const int32_t* below[2];
  const int32_t* center[2];
  int64_t* sums;  // AdmSums::dlm or aim
};

}  // namespace vmafx

#endif
