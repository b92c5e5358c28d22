/* Which kernels of motion run, on what planes, in which order: one, on the luma of all reference frames. */
#include "kernels/device_twin.h"
#include "kernels/motion/motion.h"
#include "kernels/motion/motion_work.h"

namespace vmafx {
namespace {

class MotionHip : public DeviceTwin {
 public:
  MotionHip(const VideoFormat& format, int step) : format_(format), step_(step) {}

  Status launch(const DeviceBatch& batch) const override {
    if (step_ == 0) return {};
    MotionWork work;
    work.w = format_.w;
    work.h = format_.h;
    work.bpc = format_.bpc;
    work.step = step_;
    work.luma = batch.planes[0];
    work.sums = batch.sums_of<MotionSums>();
    const unsigned across = hip::blocks_for(format_.w, kMotionStripW * kMotionStrips);
    return kernel_.launch(batch, batch.grid(across, hip::blocks_for(format_.h, kMotionStripH)), work);
  }

 private:
  const VideoFormat format_;
  const int step_;
  const TwinKernel<MotionWork> kernel_ = kernels_.add(kernels::motion.of(format_.bpc));
};

}  // namespace

std::unique_ptr<DeviceTwin> motion_hip(const VideoFormat& format, int step) {
  return std::make_unique<MotionHip>(format, step);
}

}  // namespace vmafx
