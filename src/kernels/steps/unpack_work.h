/* Planes that lie in device memory as a decoder left them (nv12, p010, p016, any address and stride) made into what
 * kernels read: planar, samples in the low bits, aligned rows. The device's counterpart of what PictureReader does on
 * the host. */
#ifndef VMAFX_KERNELS_STEPS_UNPACK_WORK_H
#define VMAFX_KERNELS_STEPS_UNPACK_WORK_H

#include "kernels/gpu/work.h"

namespace vmafx {

/* Sample x of row y becomes from[x * step + first] >> shift of that row. Rows of both begin at multiples of the
 * sample's size, those of `to` at multiples of 16 bytes. */
struct UnpackPlane {
  hip::DevicePtr<const uint8_t> from;
  hip::DevicePtr<uint8_t> to;
  int64_t from_stride = 0, to_stride = 0;  // bytes; from_stride may be negative
  int32_t w = 0, h = 0;                    // samples
  uint8_t sample_bytes = 1;                // 1 or 2
  uint8_t step = 1, first = 0;             // 2 and 0 or 1 where two planes are interleaved
  uint8_t shift = 0;
};

inline constexpr int kMostUnpacks = 48;  // in a launch: what an argument of 4 KiB has room for

/* A block works on kUnpackColumns * kUnpackRun samples of kUnpackRows rows, a thread on kUnpackRun neighbors. */
inline constexpr unsigned kUnpackColumns = 64, kUnpackRows = 4, kUnpackRun = 4;

struct UnpackPlanes {
  UnpackPlane plane[kMostUnpacks];
};
VMAFX_DECLARE_KERNEL(unpack, UnpackPlanes, kUnpackColumns, kUnpackRows);

}  // namespace vmafx

#endif
