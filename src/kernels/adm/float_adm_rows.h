/* float_adm, SIMD: the rows that the stages hand each other. They start on a cache line and have room for what whole vectors touch
 * beyond both ends. */
#ifndef VMAFX_KERNELS_ADM_FLOAT_ADM_ROWS_H
#define VMAFX_KERNELS_ADM_FLOAT_ADM_ROWS_H

#include "kernels/adm/adm_pass.h"
#include "kernels/adm/float_adm.h"
#include "kernels/steps/row_sums.h"

namespace vmafx {

/* Even columns and odd ones, both at column / 2: the wavelet's taps then are whole vectors. */
struct FloatAdmSplitRow {
  float *even, *odd;

  float& at(int column) const { return (column & 1 ? odd : even)[column >> 1]; }
};

/* Of each band. */
using FloatAdmBandRows = float* [kAdmBands];

/* A part of the distorted picture: weighted magnitudes, and what they add to thresholds. */
struct FloatAdmPartRows {
  FloatAdmBandRows magnitude[kAdmSignalRows], share[kAdmNearRows];
};

/* A scale and its rows. */
struct FloatAdmRowsOfLevel : AdmLevel<FloatAdmScale> {
  FloatAdmSplitRow input[2][kAdmInputRows];  // [ref or dist]
  FloatAdmPartRows restored, added;
  float* scored;                    // all ones in the scored columns
  std::byte *den_rows, *part_rows;  // for the sums, of kAdmBands quantities and twice that
};

struct FloatAdmPyramid {
  FloatAdmRowsOfLevel level[kAdmScales];
  FloatAdmSplitRow low[2], high[2];  // after the vertical pass
  FloatAdmSplitRow unused;           // where the last scale's band a goes
};

/* Places all rows; returns their bytes. */
inline size_t place_float_adm_rows(const FloatAdmParams& params, std::byte* scratch, FloatAdmPyramid& p) {
  AdmRowMemory memory(scratch);
  const auto split_row = [&](int samples) {
    float* even = memory.row<float>((samples + 1) / 2);
    return FloatAdmSplitRow{even, memory.row<float>((samples + 1) / 2)};
  };
  for (auto* rows : {&p.low, &p.high})
    for (FloatAdmSplitRow& row : *rows) row = split_row(params.scale[0].in_w);
  p.unused = split_row(params.scale[kAdmScales - 1].w);
  for (int i = 0; i < kAdmScales; i++) {
    const FloatAdmScale& s = params.scale[i];
    FloatAdmRowsOfLevel& level = p.level[i];
    for (auto& ring : level.input)
      for (FloatAdmSplitRow& row : ring) row = split_row(s.in_w);
    for (FloatAdmPartRows* part : {&level.restored, &level.added}) {
      for (FloatAdmBandRows& bands : part->magnitude)
        for (float*& row : bands) row = memory.row<float>(s.w);
      for (FloatAdmBandRows& bands : part->share)
        for (float*& row : bands) row = memory.row<float>(s.w);
    }
    level.scored = memory.row<float>(s.w);
    if (!params.cubes()) continue;
    level.den_rows = memory.bytes(RowStrip::bytes(kAdmBands, s.w));
    level.part_rows = memory.bytes(RowStrip::bytes(2 * kAdmBands, s.w));
  }
  return memory.used();
}

/* Where a row's contributions to the sums of a scale go. */
struct FloatAdmSumRow {
  const FloatAdmParams& params;
  const float* scored;
  FloatAdmBandRows cubes;  // of columns from `first` on
  int first;
  uint64_t* powers;  // bins
};

}  // namespace vmafx

#endif
