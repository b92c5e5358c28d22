/* The HIP twin of vif: one kernel for the planes of each further scale, then one for the sums of all scales, with or
 * without those of the blocks of maps. All take all frames of the batch. What belongs to a reference alone is made once for the frames
 * that share it. */
#include "base/rounding.h"
#include "kernels/device_twin.h"
#include "kernels/vif/vif.h"
#include "kernels/vif/vif_work.h"

namespace vmafx {
namespace {

class VifHip : public DeviceTwin {
 public:
  VifHip(const VifParams& params, bool maps) : params_(params), maps_(maps) {
    for (int s = 0; s < kVifScales; s++) {
      VifScale& scale = scale_[s];
      scale.w = params.w >> s;
      scale.h = params.h >> s;
      scale.tiles_across = static_cast<int>(hip::blocks_for(scale.w, vif_tile_columns(s)));
      scale.tiles_inverse = (uint64_t{1} << 32) / scale.tiles_across + 1;
      scale.first_block = static_cast<int>(sum_blocks_);
      if (s > 0 || !params.skip_scale0) sum_blocks_ += scale.tiles_across * hip::blocks_for(scale.h, kVifTileRows);
    }
  }

  size_t scratch_bytes(int frames) const override {
    ScratchLayout memory;
    for (int s = 1; s < kVifScales; s++) take_planes(s, frames, memory);
    return memory.bytes();
  }

  Status launch(const DeviceBatch& batch) const override {
    VifMapWork work;
    static_cast<VifWork&>(work) = work_of(batch);
    for (int s = 1; s < kVifScales; s++) {
      const unsigned across = hip::blocks_for(scale_[s].w, vif_decimated_columns(s));
      const unsigned down = hip::blocks_for(scale_[s].h, kVifDecimatedRows);
      VMAFX_TRY(decimate_[s].launch(batch, {across, down, work.decimated.pairs()}, work));
    }
    if (maps_) {
      const BlockGrid grid = block_grid(params_.w, params_.h, kVifBlockSide);
      work.blocks = batch.sums_of<VifScaleSums>(sizeof(VifSums));
      work.blocks_across = grid.w;
      work.blocks_of_scale = static_cast<int>(grid.blocks());
      return map_sums_.launch(batch, DeviceBatch::grid(work.groups, sum_blocks_), work);
    }
    const bool alone = work.groups.count == batch.count;
    return (alone ? sums_ : group_sums_).launch(batch, DeviceBatch::grid(work.groups, sum_blocks_), work);
  }

 private:
  PlanePairs<uint8_t> take_planes(int s, int frames, ScratchLayout& memory) const {
    return memory.take_pairs<uint8_t>(round_to_lines(sizeof(uint16_t) * scale_[s].w), scale_[s].h, frames);
  }

  static VifPlanes planes_of(const FrameGroups& groups, int frames) {
    VifPlanes planes;
    for (int frame = 0; frame < frames; frame++) {
      if (groups.picture[frame] == frame) planes.add(vif_plane(frame, 0));
      planes.add(vif_plane(frame, 1));
    }
    return planes;
  }

  VifWork work_of(const DeviceBatch& batch) const {
    VifWork work;
    work.luma = batch.planes[0];
    work.groups = batch.groups(sum_blocks_);
    work.decimated = planes_of(work.groups, batch.count);
    work.sums = batch.sums_of<VifSums>();
    work.gain_limit = params_.gain_limit;
    work.bpc = params_.bpc;
    ScratchLayout memory(batch.scratch);
    for (int s = 0; s < kVifScales; s++) {
      work.scale[s] = scale_[s];
      if (s > 0) work.scale[s].planes = take_planes(s, batch.count, memory);
    }
    return work;
  }

  const VifParams params_;
  const bool maps_;
  VifScale scale_[kVifScales];
  unsigned sum_blocks_ = 0;
  const TwinKernel<VifWork> decimate_[kVifScales] = {{},  // scale 0 is there
                                                     kernels_.add(kernels::vif_decimate.of(params_.bpc)),
                                                     kernels_.add(kernels::vif_decimate_1),
                                                     kernels_.add(kernels::vif_decimate_2)};
  const TwinKernel<VifWork> sums_ = kernels_.add(kernels::vif_sums.of(params_.bpc));
  const TwinKernel<VifWork> group_sums_ = kernels_.add(kernels::vif_group_sums.of(params_.bpc));
  const TwinKernel<VifMapWork> map_sums_ = kernels_.add(kernels::vif_map_sums.of(params_.bpc));
};

}  // namespace

OwnedDeviceTwin vif_hip(const VifParams& params) { return {std::make_unique<VifHip>(params, false)}; }
OwnedDeviceTwin vif_mapped_hip(const VifParams& params) { return {std::make_unique<VifHip>(params, true)}; }

}  // namespace vmafx
