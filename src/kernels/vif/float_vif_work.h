/* The parameters of float_vif's kernels, for float_vif.hip and for float_vif_hip.cpp, which starts them. */
#ifndef VMAFX_KERNELS_VIF_FLOAT_VIF_WORK_H
#define VMAFX_KERNELS_VIF_FLOAT_VIF_WORK_H

#include <cstdint>

#include "hip/device_ptr.h"
#include "hip/frame_planes.h"
#include "kernels/steps/gaussian_window.h"
#include "kernels/steps/row_sums_work.h"
#include "kernels/vif/float_vif_math.h"

namespace vmafx {

/* A block works on a tile: a thread filters down one of its columns and margins; then each takes runs of samples of a
 * row. */
inline constexpr int kFloatVifThreads = 256;
inline constexpr int kFloatVifTileRows = 8;
inline constexpr int kFloatVifRun = 4;
VMAFX_HD constexpr int float_vif_tile_columns(int half) {
  return (kFloatVifThreads - 2 * half) / kFloatVifRun * kFloatVifRun;
}

/* One scale. */
struct FloatVifWork {
  hip::BatchPlanes luma;  // the input of a kernel that takes samples
  float sample_scale = 1;
  PlanePairs<float> in;   // the input of a kernel that takes floats
  PlanePairs<float> out;  // the next scale's planes, w / 2 x h / 2; null at the last
  int w, h;
  bool wanted;  // the sums of this scale
  GaussianWindow window, next;
  FloatVifEye eye;
  RowValues values;  // the samples' contributions: planes of num and den
};
VMAFX_DECLARE_SAMPLE_KERNELS(float_vif, FloatVifWork, kFloatVifThreads);
VMAFX_DECLARE_KERNEL(float_vif_scale1, FloatVifWork, kFloatVifThreads);
VMAFX_DECLARE_KERNEL(float_vif_scale2, FloatVifWork, kFloatVifThreads);
VMAFX_DECLARE_KERNEL(float_vif_scale3, FloatVifWork, kFloatVifThreads);
/* Kernels for windows of any size: of samples, and of floats. */
VMAFX_DECLARE_SAMPLE_KERNELS(float_vif_any, FloatVifWork, kFloatVifThreads);
VMAFX_DECLARE_KERNEL(float_vif_any_scale, FloatVifWork, kFloatVifThreads);

}  // namespace vmafx

#endif
