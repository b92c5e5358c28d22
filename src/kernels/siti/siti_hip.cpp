/* The HIP twin of siti: one kernel, on the lumas of all frames and of those before them. */
#include "kernels/device_twin.h"
#include "kernels/siti/siti.h"
#include "kernels/siti/siti_work.h"

namespace vmafx {
namespace {

class SitiHip : public DeviceTwin {
 public:
  explicit SitiHip(const VideoFormat& format) : format_(format) {}

  Status launch(const DeviceBatch& batch) const override {
    const SitiWork work = {format_.w, format_.h, format_.bpc, batch.planes[0], batch.sums_of<SitiPair>()};
    hip::Dim grid = batch.grid(hip::blocks_for(format_.w, kSitiColumns), hip::blocks_for(format_.h, kSitiRows));
    grid.z *= 2;
    return kernel_.launch(batch, grid, work);
  }

 private:
  const VideoFormat format_;
  const TwinKernel<SitiWork> kernel_ = kernels_.add(kernels::siti.of(format_.bpc));
};

}  // namespace

OwnedDeviceTwin siti_hip(const VideoFormat& format) { return {std::make_unique<SitiHip>(format)}; }

}  // namespace vmafx
