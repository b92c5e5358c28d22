/* What the kernels of ssimulacra2 are given, and their tiles: for the .hip file and for ssimulacra2_hip.cpp, which
 * starts them. */
#ifndef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_WORK_H
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_WORK_H

#include <stdint.h>

#include "hip/device_ptr.h"
#include "hip/frame_planes.h"
#include "kernels/ssimulacra2/ssimulacra2_math.h"

namespace vmafx {

/* A block of the pyramid makes what the further scales have of a tile of samples, 2x2 of them a thread at a time. */
inline constexpr int kSsimulacra2PyramidColumns = 64, kSsimulacra2PyramidRows = 32, kSsimulacra2PyramidThreads = 256;

/* A block of the sums runs down a tile in bands: a thread per column, margins included, and channel. */
inline constexpr int kSsimulacra2TileThreads = 128;
inline constexpr int kSsimulacra2TileColumns = kSsimulacra2TileThreads - 2 * kSsimulacra2Radius;
inline constexpr int kSsimulacra2TileRows = 64;

/* A scale. From the second on its absorbances lie in scratch memory: planes l, m, s of ref, then of dist, for each
 * frame. */
struct Ssimulacra2ScaleWork {
  int32_t w, h;
  int64_t first_plane, plane_floats, stride;  // floats
  int32_t first_block;                        // of those that add up this scale, a tile each
  int32_t tiles_across;
};

struct Ssimulacra2Work {
  hip::BatchPlanes planes[3];
  hip::DevicePtr<float> scratch;
  hip::DevicePtr<uint64_t> sums;  // Ssimulacra2Sums of the first frame
  uint64_t sums_stride = 0;       // words to those of the next
  Ssimulacra2Params params;
  int32_t chroma_w = 0, chroma_h = 0;
  int32_t scales = 0, pyramid_across = 1;
  Ssimulacra2ScaleWork scale[kSsimulacra2Scales] = {};
};

}  // namespace vmafx

#endif
