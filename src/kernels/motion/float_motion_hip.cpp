/* Which kernels of float_motion run, on what planes, in which order: for each plane and size one that writes magnitudes,
 * and those that add them up. */
#include <vector>

#include "kernels/device_twin.h"
#include "kernels/motion/float_motion.h"
#include "kernels/motion/float_motion_work.h"
#include "kernels/steps/row_sums_hip.h"
#include "kernels/steps/rows.h"

namespace vmafx {
namespace {

class FloatMotionHip : public DeviceTwin {
 public:
  FloatMotionHip(const FloatMotionParams& params, const VideoFormat& format) : params_(params), format_(format) {
    for (int p = 0; p < params_.planes; p++) {
      const int w = format_.plane_w(p), h = format_.plane_h(p);
      add_pass({.plane = p, .half_size = false}, w, h);
      if (params_.half_size[p]) add_pass({.plane = p, .half_size = true}, float_motion_half(w), float_motion_half(h));
    }
  }

  size_t scratch_bytes(int frames) const override { return sums_.scratch_bytes(frames); }

  Status launch(const DeviceBatch& batch) const override {
    for (const Pass& pass : passes_) {
      VMAFX_TRY(put_magnitudes(batch, pass));
      VMAFX_TRY(sums_.add_rows(batch, pass.part, batch.scratch));
    }
    return passes_.empty() ? Status() : sums_.add_sums(batch, batch.scratch);
  }

 private:
  struct Pass {
    int plane;
    bool half_size;
    int part = 0;  // of sums_
  };

  void add_pass(Pass pass, int w, int h) {
    const size_t sad =
        pass.half_size ? offsetof(FloatMotionPlaneSums, half_size_sad) : offsetof(FloatMotionPlaneSums, sad);
    pass.part = sums_.add_part(w, h, 1, pass.plane * sizeof(FloatMotionPlaneSums) + sad);
    passes_.push_back(pass);
  }

  Status put_magnitudes(const DeviceBatch& batch, const Pass& pass) const {
    FloatMotionWork work;
    work.plane = batch.planes[pass.plane];
    work.w = format_.plane_w(pass.plane);
    work.h = format_.plane_h(pass.plane);
    work.taps = params_.taps;
    work.sample_scale = scale_to_8_bits(format_.bpc);
    work.half_size = pass.half_size;
    work.magnitudes = sums_.values(pass.part, batch.scratch);
    const int shrink = pass.half_size ? 2 : 1;
    const unsigned across = hip::blocks_for(work.magnitudes.n, kFloatMotionTileW / shrink);
    return kernel_.launch(batch, batch.grid(across, hip::blocks_for(work.magnitudes.h, kFloatMotionTileH / shrink)),
                          work);
  }

  const FloatMotionParams params_;
  const VideoFormat format_;
  std::vector<Pass> passes_;
  RowSumsDevice sums_{kernels_};
  const TwinKernel<FloatMotionWork> kernel_ = kernels_.add(kernels::float_motion.of(format_.bpc));
};

}  // namespace

std::unique_ptr<DeviceTwin> float_motion_hip(const FloatMotionParams& params, const VideoFormat& format) {
  return std::make_unique<FloatMotionHip>(params, format);
}

}  // namespace vmafx
