/* The HIP twin of ciede: one kernel, on all frames. */
#include "kernels/ciede/ciede.h"
#include "kernels/ciede/ciede_work.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

class CiedeHip : public DeviceTwin {
 public:
  explicit CiedeHip(const CiedeParams& params) : params_(params) {}

  Status launch(const DeviceBatch& batch) const override {
    CiedeWork work;
    work.params = params_;
    for (int p = 0; p < 3; p++) work.planes[p] = batch.planes[p];
    work.sums = batch.sums_of<CiedeSums>();
    const unsigned across = hip::blocks_for(params_.w, kCiedeTileColumns);
    return kernel_.launch(batch, batch.grid(across, hip::blocks_for(params_.h, kCiedeTileRows)), work);
  }

 private:
  const CiedeParams params_;
  const TwinKernel<CiedeWork> kernel_ = kernels_.add(kernels::ciede.of(params_.bpc));
};

}  // namespace

OwnedDeviceTwin ciede_hip(const CiedeParams& params) { return {std::make_unique<CiedeHip>(params)}; }

}  // namespace vmafx
