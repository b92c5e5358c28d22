/* Which kernels of float_moment run, on what planes, in which order: one, on the lumas of all frames. */
#include "kernels/device_twin.h"
#include "kernels/float_moment/float_moment.h"
#include "kernels/float_moment/float_moment_work.h"

namespace vmafx {
namespace {

class MomentHip : public DeviceTwin {
 public:
  explicit MomentHip(const VideoFormat& format) : format_(format) {}

  Status launch(const DeviceBatch& batch) const override {
    MomentWork work;
    work.w = format_.w;
    work.h = format_.h;
    work.luma = batch.planes[0];
    work.sums = batch.sums_of<MomentPair>();
    const size_t row_bytes = static_cast<size_t>(format_.w) * (format_.bpc > 8 ? 2 : 1);
    const hip::Dim grid = {hip::blocks_for(row_bytes, 16 * kMomentPacks), hip::blocks_for(format_.h, kMomentRows),
                           static_cast<unsigned>(batch.count) * 2};
    return kernel_.launch(batch, grid, work);
  }

 private:
  const VideoFormat format_;
  const TwinKernel<MomentWork> kernel_ = kernels_.add(kernels::moment.of(format_.bpc));
};

}  // namespace

std::unique_ptr<DeviceTwin> moment_hip(const VideoFormat& format) { return std::make_unique<MomentHip>(format); }

}  // namespace vmafx
