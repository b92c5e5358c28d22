/* Which kernels of float_motion run, on what planes, in which order: one for each plane and size. */
#include "kernels/common/rows.h"
#include "kernels/device_twin.h"
#include "kernels/float_motion/float_motion.h"
#include "kernels/float_motion/float_motion_work.h"

namespace vmafx {
namespace {

class FloatMotionHip : public DeviceTwin {
 public:
  FloatMotionHip(const FloatMotionParams& params, const VideoFormat& format) : params_(params), format_(format) {}

  size_t scratch_bytes(int) const override { return 0; }

  Status load(const hip::Module& kernels) override {
    const char* const name = format_.bpc == 8 ? "vmafx_float_motion_8" : "vmafx_float_motion_16";
    VMAFX_ASSIGN(kernel_, kernels.kernel<FloatMotionWork>(name));
    return {};
  }

  Status launch(const DeviceBatch& batch) const override {
    for (int p = 0; p < params_.planes; p++) {
      VMAFX_TRY(launch_plane(batch, p, false));
      if (params_.half_size[p]) VMAFX_TRY(launch_plane(batch, p, true));
    }
    return {};
  }

 private:
  Status launch_plane(const DeviceBatch& batch, int p, bool half_size) const {
    FloatMotionWork work;
    work.plane = batch.planes[p];
    work.w = format_.plane_w(p);
    work.h = format_.plane_h(p);
    work.taps = params_.taps;
    work.sample_scale = scale_to_8_bits(format_.bpc);
    work.half_size = half_size;
    work.sum = batch.sums.as<uint64_t>() + (2 * p + half_size);
    work.sums_stride = batch.sums_stride / sizeof(uint64_t);
    const int shrink = half_size ? 2 : 1;
    const hip::Dim grid = {hip::blocks_for(half_size ? float_motion_half(work.w) : work.w, kFloatMotionTileW / shrink),
                           hip::blocks_for(half_size ? float_motion_half(work.h) : work.h, kFloatMotionTileH / shrink),
                           static_cast<unsigned>(batch.count)};
    return hip::launch(*batch.stream, kernel_, grid, {kFloatMotionThreads}, 0, work);
  }

  const FloatMotionParams params_;
  const VideoFormat format_;
  hip::Kernel<FloatMotionWork> kernel_;
};

}  // namespace

static_assert(sizeof(FloatMotionPlaneSums) == 2 * sizeof(uint64_t));

std::unique_ptr<DeviceTwin> float_motion_hip(const FloatMotionParams& params, const VideoFormat& format) {
  return std::make_unique<FloatMotionHip>(params, format);
}

}  // namespace vmafx
