/* ADM, SIMD: the rows that the stages hand each other. They are indexed by the column of the band, start on a cache line
 * and have room for what whole vectors touch beyond both ends. */
#ifndef VMAFX_KERNELS_ADM_ADM_ROWS_H
#define VMAFX_KERNELS_ADM_ADM_ROWS_H

#include <cstdint>

#include "kernels/adm/adm.h"
#include "kernels/adm/adm_pass.h"

namespace vmafx {

/* What a masking picture adds to the thresholds, summed over its bands. Scale 0 keeps even columns in [0] and odd ones
 * in [1], both at column / 2; the others only have [0]. */
struct AdmMaskRow {
  int32_t* neighbors[2];
  int32_t* center[2];  // less the neighbors entry of the same column, so that a whole 3x3 window can be added up
};

struct AdmMaskRows {
  AdmMaskRow rows[kAdmNearRows];

  const AdmMaskRow& row(int y) const { return rows[y % kAdmNearRows]; }
};

/* A scale and its rows, of int16_t at scale 0, of int32_t at others. */
struct AdmRowsOfLevel : AdmLevel<AdmScale> {
  std::byte* input[2][kAdmInputRows];  // band a of the scale before: [ref or dist], scales 1 to 3
  std::byte* detail[2][kAdmBands];
  std::byte* scored;                               // all ones in the scored columns
  std::byte* restored[kAdmSignalRows][kAdmBands];  // magnitudes; weighted, except at scale 0
  std::byte* added[kAdmSignalRows][kAdmBands];
  AdmMaskRows mask_of_added, mask_of_restored;
};

struct AdmPyramid {
  AdmRowsOfLevel level[kAdmScales];
  int16_t* passed[kAdmInputRows];  // a row after the vertical pass: low and high; from scale 1 on each in halves
  std::byte* unused;               // where the last scale's band a goes
};

/* Places all rows; returns their bytes. */
inline size_t place_adm_rows(const AdmParams& params, std::byte* scratch, AdmPyramid& p) {
  AdmRowMemory memory(scratch);
  for (int16_t*& row : p.passed) row = memory.row<int16_t>(params.scale[0].in_w);
  p.unused = memory.bytes(params.scale[kAdmScales - 1].w * sizeof(int32_t));
  for (int i = 0; i < kAdmScales; i++) {
    const AdmScale& s = params.scale[i];
    AdmRowsOfLevel& level = p.level[i];
    const int size = i == 0 ? sizeof(int16_t) : sizeof(int32_t);  // of a band's samples
    for (auto& ring : level.input)
      for (std::byte*& row : ring)
        row = i == 0 ? nullptr : memory.bytes(s.in_w * (i == 1 ? sizeof(int16_t) : sizeof(int32_t)));
    for (auto* rings : {&level.detail, &level.restored, &level.added})
      for (auto& bands : *rings)
        for (std::byte*& row : bands) row = memory.bytes(s.w * size);
    level.scored = memory.bytes(s.w * size);
    const int parities = i == 0 ? 2 : 1, samples = (s.w + parities - 1) / parities;
    for (AdmMaskRows* mask : {&level.mask_of_added, &level.mask_of_restored})
      for (AdmMaskRow& row : mask->rows)
        for (int parity = 0; parity < parities; parity++) {
          row.neighbors[parity] = memory.row<int32_t>(samples);
          row.center[parity] = memory.row<int32_t>(samples);
        }
  }
  return memory.used();
}

}  // namespace vmafx

#endif
