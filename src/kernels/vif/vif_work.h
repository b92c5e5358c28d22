/* What the kernels of vif are given, for vif.hip and for vif_hip.cpp, which starts them. */
#ifndef VMAFX_KERNELS_VIF_VIF_WORK_H
#define VMAFX_KERNELS_VIF_VIF_WORK_H

#include <cstddef>
#include <cstdint>

#include "hip/device_ptr.h"
#include "hip/frame_planes.h"
#include "kernels/vif/vif_math.h"

namespace vmafx {

/* A block filters the columns of a tile and of its margins vertically, one to a thread; then each thread takes a run of
 * samples of one row, between the margins. */
inline constexpr int kVifThreads = 256;
inline constexpr int kVifTileRows = 8;
inline constexpr int kVifRun = 8;
VMAFX_HD constexpr int vif_tile_columns(int scale) {
  return (kVifThreads - 2 * kVifHalfWidth[scale]) / kVifRun * kVifRun;
}

/* What a block that makes a plane of scale `next` makes of it. */
inline constexpr int kVifDecimatedRows = 4;
VMAFX_HD constexpr int vif_decimated_columns(int next) { return (kVifThreads - 2 * kVifHalfWidth[next]) / 2; }

/* The planes of one scale. From scale 1 on they lie in scratch memory, 16-bit, ref and dist of one frame after those of
 * the other. */
struct VifPlanes {
  int w, h;
  int64_t first_plane, plane_bytes, stride;  // bytes
  int tiles_across;
  int first_block;  // of those that add up this scale
};

struct VifWork {
  hip::BatchPlanes luma;
  hip::DevicePtr<uint8_t> scratch;
  hip::DevicePtr<uint8_t> sums;  // VifSums of the first frame
  uint64_t sums_stride;          // bytes to those of the next
  double gain_limit;
  int bpc;
  VifPlanes scale[kVifScales];
};

}  // namespace vmafx

#endif
