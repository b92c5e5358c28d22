/* Which kernels of float_moment run, on what planes, in which order: one, on the lumas of all frames. */
#include "kernels/device_twin.h"
#include "kernels/float_moment/float_moment.h"
#include "kernels/float_moment/float_moment_work.h"

namespace vmafx {
namespace {

class MomentHip : public DeviceTwin {
 public:
  explicit MomentHip(const VideoFormat& format) : format_(format) {}

  size_t scratch_bytes(int) const override { return 0; }

  Status load(const hip::Module& kernels) override {
    VMAFX_ASSIGN(kernel_, kernels.kernel<MomentWork>(format_.bpc == 8 ? "vmafx_moment_8" : "vmafx_moment_16"));
    return {};
  }

  Status launch(const DeviceBatch& batch) const override {
    MomentWork work;
    work.w = format_.w;
    work.h = format_.h;
    work.luma = batch.planes[0];
    work.sums = batch.sums.as<uint64_t>();
    work.sums_stride = batch.sums_stride / sizeof(uint64_t);
    const size_t row_bytes = static_cast<size_t>(format_.w) * (format_.bpc > 8 ? 2 : 1);
    const hip::Dim grid = {hip::blocks_for(row_bytes, 16 * kMomentPacks), hip::blocks_for(format_.h, kMomentRows),
                           static_cast<unsigned>(batch.count) * 2};
    return hip::launch(*batch.stream, kernel_, grid, {kMomentPacks}, 0, work);
  }

 private:
  const VideoFormat format_;
  hip::Kernel<MomentWork> kernel_;
};

}  // namespace

std::unique_ptr<DeviceTwin> moment_hip(const VideoFormat& format) { return std::make_unique<MomentHip>(format); }

}  // namespace vmafx
