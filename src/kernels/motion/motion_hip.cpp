/* Which kernels of motion run, on what planes, in which order: one, on the luma of all reference frames. */
#include "kernels/device_twin.h"
#include "kernels/motion/motion.h"
#include "kernels/motion/motion_work.h"

namespace vmafx {
namespace {

class MotionHip : public DeviceTwin {
 public:
  MotionHip(const VideoFormat& format, int step) : format_(format), step_(step) {}

  size_t scratch_bytes(int) const override { return 0; }

  Status load(const hip::Module& kernels) override {
    VMAFX_ASSIGN(kernel_, kernels.kernel<MotionWork>(format_.bpc == 8 ? "vmafx_motion_8" : "vmafx_motion_16"));
    return {};
  }

  Status launch(const DeviceBatch& batch) const override {
    if (step_ == 0) return {};
    MotionWork work;
    work.w = format_.w;
    work.h = format_.h;
    work.bpc = format_.bpc;
    work.step = step_;
    work.luma = batch.planes[0];
    work.sums = batch.sums.as<uint64_t>();
    work.sums_stride = batch.sums_stride / sizeof(uint64_t);
    const hip::Dim grid = {hip::blocks_for(format_.w, kMotionStripW * kMotionStrips),
                           hip::blocks_for(format_.h, kMotionStripH), static_cast<unsigned>(batch.count)};
    return hip::launch(*batch.stream, kernel_, grid, {kMotionThreads}, 0, work);
  }

 private:
  const VideoFormat format_;
  const int step_;
  hip::Kernel<MotionWork> kernel_;
};

}  // namespace

std::unique_ptr<DeviceTwin> motion_hip(const VideoFormat& format, int step) {
  return std::make_unique<MotionHip>(format, step);
}

}  // namespace vmafx
