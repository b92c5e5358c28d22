/* The parameters of vif's kernels, for the .hip files and for vif_hip.cpp, which starts them. */
#ifndef VMAFX_KERNELS_VIF_VIF_WORK_H
#define VMAFX_KERNELS_VIF_VIF_WORK_H

#include <cstdint>

#include "hip/device_ptr.h"
#include "hip/frame_planes.h"
#include "kernels/gpu/work.h"
#include "kernels/vif/vif_math.h"

namespace vmafx {

/* A block works on a tile: it filters its columns and margins vertically, one to a thread; then each thread takes a run
 * of samples of one row, between the margins. Tiles with their margins begin at multiples of 8 bytes. */
inline constexpr int kVifThreads = 256;
inline constexpr int kVifTileRows = 8;
inline constexpr int kVifRun = 8;
VMAFX_HD constexpr int vif_margin(int scale) { return scale == 0 ? 8 : 4; }
VMAFX_HD constexpr int vif_tile_columns(int scale) { return kVifThreads - 2 * vif_margin(scale); }

/* The part of each plane of scale `next` that a block makes. */
inline constexpr int kVifDecimatedRows = 8;
inline constexpr int kVifDecimatedRun = 4;
VMAFX_HD constexpr int vif_decimated_columns(int next) { return vif_tile_columns(next - 1) / 2; }

/* One scale. From scale 1 on its planes, of 16 bits, lie in scratch memory. */
struct VifScale {
  int w, h;
  PlanePairs<uint8_t> planes;
  int first_block;  // the first block that adds up this scale, a tile each
  int tiles_across;
  uint64_t tiles_inverse;  // 2^32 / tiles_across and a bit: tile * this >> 32 is tile / tiles_across
};

/* Planes of a batch, by number; picture: 0 for ref, 1 for dist. */
constexpr uint8_t vif_plane(int frame, int picture) { return static_cast<uint8_t>(2 * frame + picture); }
struct VifPlanes {
  int32_t count = 0;
  uint8_t plane[2 * hip::kMostBatch] = {};

  /* Pairs of planes: two are taken at a time; an odd number's last one twice. */
  constexpr unsigned pairs() const { return static_cast<unsigned>(count + 1) / 2; }
  constexpr void add(uint8_t number) {
    plane[count++] = number;
    if (count % 2) plane[count] = number;
  }
};

struct VifWork {
  hip::BatchPlanes luma;
  FrameGroups groups;
  VifPlanes decimated;
  BatchSums<VifSums> sums;
  double gain_limit;
  int bpc;
  VifScale scale[kVifScales];
};
VMAFX_DECLARE_SAMPLE_KERNELS(vif_decimate, VifWork, kVifThreads);  // to scale 1
VMAFX_DECLARE_KERNEL(vif_decimate_1, VifWork, kVifThreads);        // scale 1 to 2
VMAFX_DECLARE_KERNEL(vif_decimate_2, VifWork, kVifThreads);
VMAFX_DECLARE_SAMPLE_KERNELS(vif_sums, VifWork, kVifThreads);        // for groups of one frame
VMAFX_DECLARE_SAMPLE_KERNELS(vif_group_sums, VifWork, kVifThreads);  // for any groups

/* The sums, and those of the blocks of maps. */
struct VifMapWork : VifWork {
  BatchSums<VifScaleSums> blocks;  // of each scale those of the grid
  int blocks_across, blocks_of_scale;
};
VMAFX_DECLARE_SAMPLE_KERNELS(vif_map_sums, VifMapWork, kVifThreads);  // for any groups

}  // namespace vmafx

#endif
