/* Which kernels of ssimulacra2 run, on what planes, in which order: one for the absorbances of the further scales, one
 * for the sums of all scales. Both take all frames of the batch. */
#include "base/aligned.h"
#include "kernels/device_twin.h"
#include "kernels/ssimulacra2/ssimulacra2.h"
#include "kernels/ssimulacra2/ssimulacra2_work.h"

namespace vmafx {
namespace {

class Ssimulacra2Hip : public DeviceTwin {
 public:
  explicit Ssimulacra2Hip(const Ssimulacra2Params& params)
      : params_(params), scales_(ssimulacra2_scales(params.w, params.h)) {
    for (int s = 0; s < scales_; s++) {
      Ssimulacra2ScaleWork& scale = scale_[s];
      scale.w = ssimulacra2_size(params.w, s);
      scale.h = ssimulacra2_size(params.h, s);
      scale.stride = static_cast<int64_t>(round_up(static_cast<size_t>(scale.w), 32));
      scale.plane_floats = scale.stride * scale.h;
      scale.tiles_across = static_cast<int32_t>(hip::blocks_for(scale.w, kSsimulacra2TileColumns));
      scale.first_block = static_cast<int32_t>(sum_blocks_);
      sum_blocks_ += scale.tiles_across * hip::blocks_for(scale.h, kSsimulacra2TileRows);
    }
  }

  size_t scratch_bytes(int frames) const override {
    size_t floats = 0;
    for (int s = 1; s < scales_; s++) floats += 6 * static_cast<size_t>(scale_[s].plane_floats) * frames;
    return floats * sizeof(float);
  }

  Status load(const hip::Module& kernels) override {
    const bool bytes = params_.bpc == 8;
    VMAFX_ASSIGN(pyramid_, kernels.kernel<Ssimulacra2Work>(bytes ? "vmafx_ssimulacra2_pyramid_8"
                                                                 : "vmafx_ssimulacra2_pyramid_16"));
    VMAFX_ASSIGN(sums_,
                 kernels.kernel<Ssimulacra2Work>(bytes ? "vmafx_ssimulacra2_sums_8" : "vmafx_ssimulacra2_sums_16"));
    return {};
  }

  Status launch(const DeviceBatch& batch) const override {
    const Ssimulacra2Work work = work_of(batch);
    const auto frames = static_cast<unsigned>(batch.count);
    const unsigned tiles = hip::blocks_for(params_.w, kSsimulacra2PyramidColumns) *
                           hip::blocks_for(params_.h, kSsimulacra2PyramidRows);
    VMAFX_TRY(hip::launch(*batch.stream, pyramid_, {tiles, 2, frames}, {kSsimulacra2PyramidThreads}, 0, work));
    return hip::launch(*batch.stream, sums_, {sum_blocks_, 1, frames}, {kSsimulacra2TileThreads, 3}, 0, work);
  }

 private:
  Ssimulacra2Work work_of(const DeviceBatch& batch) const {
    Ssimulacra2Work work;
    for (int p = 0; p < (params_.has_chroma ? 3 : 1); p++) work.planes[p] = batch.planes[p];
    work.scratch = batch.scratch.as<float>();
    work.sums = batch.sums.as<uint64_t>();
    work.sums_stride = batch.sums_stride / sizeof(uint64_t);
    work.params = params_;
    work.chroma_w = params_.across.halved ? params_.w / 2 : params_.w;
    work.chroma_h = params_.down.halved ? params_.h / 2 : params_.h;
    work.scales = scales_;
    work.pyramid_across = static_cast<int32_t>(hip::blocks_for(params_.w, kSsimulacra2PyramidColumns));
    int64_t floats = 0;
    for (int s = 0; s < scales_; s++) {
      work.scale[s] = scale_[s];
      work.scale[s].first_plane = floats;
      if (s > 0) floats += 6 * scale_[s].plane_floats * batch.count;
    }
    return work;
  }

  const Ssimulacra2Params params_;
  const int scales_;
  Ssimulacra2ScaleWork scale_[kSsimulacra2Scales] = {};
  unsigned sum_blocks_ = 0;
  hip::Kernel<Ssimulacra2Work> pyramid_, sums_;
};

}  // namespace

std::unique_ptr<DeviceTwin> ssimulacra2_hip(const Ssimulacra2Params& params) {
  return std::make_unique<Ssimulacra2Hip>(params);
}

}  // namespace vmafx
