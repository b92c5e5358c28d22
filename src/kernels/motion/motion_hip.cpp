/* The HIP twin of motion: one, on the luma of all reference frames. */
#include "kernels/device_twin.h"
#include "kernels/motion/motion.h"
#include "kernels/motion/motion_work.h"

namespace vmafx {
namespace {

class MotionHip : public DeviceTwin {
 public:
  explicit MotionHip(const MotionParams& params) : params_(params) {}

  Status launch(const DeviceBatch& batch) const override {
    if (params_.force_zero) return {};
    const VideoFormat& format = params_.format;
    const MotionWork work = {format.w,     format.h,        format.bpc,
                             params_.step, batch.planes[0], batch.sums_of<MotionSums>()};
    const unsigned across = hip::blocks_for(format.w, kMotionStripW * kMotionStrips);
    return kernel_.launch(batch, batch.grid(across, hip::blocks_for(format.h, kMotionStripH)), work);
  }

 private:
  const MotionParams params_;
  const TwinKernel<MotionWork> kernel_ = kernels_.add(kernels::motion.of(params_.format.bpc));
};

}  // namespace

OwnedDeviceTwin motion_hip(const MotionParams& params) { return {std::make_unique<MotionHip>(params)}; }

}  // namespace vmafx
