/* Which kernels of vif run, on what planes, in which order: one for the planes of each further scale, then one for the
 * sums of all scales. All take all frames of the batch. */
#include "base/aligned.h"
#include "kernels/device_twin.h"
#include "kernels/vif/vif.h"
#include "kernels/vif/vif_work.h"

namespace vmafx {
namespace {

class VifHip : public DeviceTwin {
 public:
  explicit VifHip(const VifParams& params) : params_(params) {
    for (int s = 0; s < kVifScales; s++) {
      VifPlanes& planes = planes_[s];
      planes.w = params.w >> s;
      planes.h = params.h >> s;
      planes.stride = static_cast<int64_t>(round_to_lines(sizeof(uint16_t) * planes.w));
      planes.plane_bytes = planes.stride * planes.h;
      planes.tiles_across = static_cast<int>(hip::blocks_for(planes.w, vif_tile_columns(s)));
      planes.tiles_inverse = (uint64_t{1} << 32) / planes.tiles_across + 1;
      planes.first_block = static_cast<int>(sum_blocks_);
      if (s > 0 || !params.skip_scale0) sum_blocks_ += planes.tiles_across * hip::blocks_for(planes.h, kVifTileRows);
    }
  }

  size_t scratch_bytes(int frames) const override {
    size_t bytes = 0;
    for (int s = 1; s < kVifScales; s++) bytes += 2 * planes_[s].plane_bytes * frames;
    return bytes;
  }

  Status launch(const DeviceBatch& batch) const override {
    const VifWork work = work_of(batch);
    for (int s = 1; s < kVifScales; s++) {
      const unsigned across = hip::blocks_for(planes_[s].w, vif_decimated_columns(s));
      const unsigned down = hip::blocks_for(planes_[s].h, kVifDecimatedRows);
      VMAFX_TRY(decimate_[s].launch(batch, batch.grid(across, down), work));
    }
    return sums_.launch(batch, batch.grid(sum_blocks_), work);
  }

 private:
  VifWork work_of(const DeviceBatch& batch) const {
    VifWork work;
    work.luma = batch.planes[0];
    work.scratch = batch.scratch.as<uint8_t>();
    work.sums = batch.sums_of<VifSums>();
    work.gain_limit = params_.gain_limit;
    work.bpc = params_.bpc;
    int64_t bytes = 0;
    for (int s = 0; s < kVifScales; s++) {
      work.scale[s] = planes_[s];
      work.scale[s].first_plane = bytes;
      if (s > 0) bytes += 2 * planes_[s].plane_bytes * batch.count;
    }
    return work;
  }

  const VifParams params_;
  VifPlanes planes_[kVifScales];
  unsigned sum_blocks_ = 0;
  const TwinKernel<VifWork> decimate_[kVifScales] = {{},  // scale 0 is there
                                                     kernels_.add(kernels::vif_decimate.of(params_.bpc)),
                                                     kernels_.add(kernels::vif_decimate_1),
                                                     kernels_.add(kernels::vif_decimate_2)};
  const TwinKernel<VifWork> sums_ = kernels_.add(kernels::vif_sums.of(params_.bpc));
};

}  // namespace

std::unique_ptr<DeviceTwin> vif_hip(const VifParams& params) { return std::make_unique<VifHip>(params); }

}  // namespace vmafx
