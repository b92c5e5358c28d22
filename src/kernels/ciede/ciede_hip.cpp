/* Which kernels of ciede run, on what planes, in which order: one, on all frames. */
#include "kernels/ciede/ciede.h"
#include "kernels/ciede/ciede_work.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

class CiedeHip : public DeviceTwin {
 public:
  CiedeHip(const CiedeParams& params, const VideoFormat& format) : params_(params), format_(format) {}

  Status launch(const DeviceBatch& batch) const override {
    CiedeWork work;
    work.params = params_;
    work.w = format_.w;
    work.h = format_.h;
    work.chroma_w = format_.plane_w(1);
    work.chroma_h = format_.plane_h(1);
    for (int p = 0; p < 3; p++) work.planes[p] = batch.planes[p];
    work.sums = batch.sums_of<CiedeSums>();
    const unsigned across = hip::blocks_for(format_.w, kCiedeTileColumns);
    return kernel_.launch(batch, batch.grid(across, hip::blocks_for(format_.h, kCiedeTileRows)), work);
  }

 private:
  const CiedeParams params_;
  const VideoFormat format_;
  const TwinKernel<CiedeWork> kernel_ = kernels_.add(kernels::ciede.of(params_.bpc));
};

}  // namespace

std::unique_ptr<DeviceTwin> ciede_hip(const CiedeParams& params, const VideoFormat& format) {
  return std::make_unique<CiedeHip>(params, format);
}

}  // namespace vmafx
