/* The HIP twin of float_moment: one, on the lumas of all frames. */
#include "kernels/device_twin.h"
#include "kernels/float_moment/float_moment.h"
#include "kernels/float_moment/float_moment_work.h"

namespace vmafx {
namespace {

class MomentHip : public DeviceTwin {
 public:
  explicit MomentHip(const VideoFormat& format) : format_(format) {}

  Status launch(const DeviceBatch& batch) const override {
    const MomentWork work = {format_.w, format_.h, batch.planes[0], batch.sums_of<MomentPair>()};
    hip::Dim grid =
        batch.grid(hip::blocks_for(format_.row_bytes(0), 16 * kMomentPacks), hip::blocks_for(format_.h, kMomentRows));
    grid.z *= 2;
    return kernel_.launch(batch, grid, work);
  }

 private:
  const VideoFormat format_;
  const TwinKernel<MomentWork> kernel_ = kernels_.add(kernels::moment.of(format_.bpc));
};

}  // namespace

OwnedDeviceTwin moment_hip(const VideoFormat& format) { return {std::make_unique<MomentHip>(format)}; }

}  // namespace vmafx
