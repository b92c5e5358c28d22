/* Parameters of the kernels in row_sums.hip, and the place where a metric's kernel writes its values: see
 * row_sums_hip.h. */
#ifndef VMAFX_KERNELS_STEPS_ROW_SUMS_WORK_H
#define VMAFX_KERNELS_STEPS_ROW_SUMS_WORK_H

#include "kernels/gpu/work.h"

namespace vmafx {

/* Planes of h rows of n values: of a frame its `planes`, then those of the next frame. */
struct RowValues {
  hip::DevicePtr<float> first;  // 16-byte aligned
  int n = 0, h = 0, planes = 0;
  int pitch = 0;  // floats, a multiple of 4: rows are written, and read, that far

  /* The offset of row y behind `first`. */
  VMAFX_HD int64_t row(int frame, int plane, int y) const {
    return ((static_cast<int64_t>(frame) * planes + plane) * h + y) * pitch;
  }
};

/* A block adds up kRowsPerBlock rows, a thread each; all its threads load. Few rows: a frame has but some thousand. */
inline constexpr int kRowSumsThreads = 256, kRowsPerBlock = 16;

struct AddRowsWork {
  RowValues values;
  int rows = 0;                // in all planes and frames
  hip::DevicePtr<float> sums;  // one for each row
};
VMAFX_DECLARE_KERNEL(add_rows, AddRowsWork, kRowSumsThreads);

/* One part: the sum of its first plane goes to byte `offset` of the frame's raw sums, those of the next ones behind
 * it. */
struct RowSumsPart {
  hip::DevicePtr<const float> rows;
  int h = 0, planes = 0, offset = 0;
};

inline constexpr int kMostRowSumsParts = 8;

/* Block (plane of all parts, frame). */
struct AddRowSumsWork {
  RowSumsPart part[kMostRowSumsParts];
  BatchSums<uint8_t> sums;
};
VMAFX_DECLARE_KERNEL(add_row_sums, AddRowSumsWork, kRowSumsThreads);

}  // namespace vmafx

#endif
