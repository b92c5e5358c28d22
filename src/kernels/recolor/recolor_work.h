/* The kernel that converts pictures in device memory, see recolor.h, and what it is given. */
#ifndef VMAFX_KERNELS_RECOLOR_RECOLOR_WORK_H
#define VMAFX_KERNELS_RECOLOR_RECOLOR_WORK_H

#include "kernels/gpu/work.h"
#include "kernels/recolor/recolor_math.h"

namespace vmafx {

/* Planar, samples in the low bits of bytes or 16-bit words. All planes of `from` are there; planes of `to` that nobody
 * wants are null. */
struct RecolorPicture {
  hip::DevicePlane from[3];
  hip::DevicePtr<uint8_t> to[3];
  int64_t to_stride[3] = {};  // bytes
};

inline constexpr int kMostRecolored = 2 * hip::kMostBatch;  // in a launch: what an argument of 4 KiB has room for

struct RecolorWork {
  Recolor params;
  hip::DevicePtr<const float> tables;
  RecolorPicture picture[kMostRecolored];
};

/* The luma samples of a block's tile, both even. */
inline constexpr int kRecolorColumns = 64, kRecolorRows = 16;

VMAFX_DECLARE_SAMPLE_KERNELS(recolor, RecolorWork, 64, 4);

}  // namespace vmafx

#endif
