/* The HIP twin of xpsnr: one kernel, on all planes of all frames. */
#include <algorithm>

#include "kernels/device_twin.h"
#include "kernels/xpsnr/xpsnr.h"
#include "kernels/xpsnr/xpsnr_work.h"

namespace vmafx {
namespace {

class XpsnrHip : public DeviceTwin {
 public:
  explicit XpsnrHip(const XpsnrParams& params) : kernel_(kernels_.add(kernels::xpsnr.of(params.format.bpc))) {
    work_.grid = params.grid;
    work_.second_order = params.second_order;
  }

  Status launch(const DeviceBatch& batch) const override {
    XpsnrWork work = work_;
    std::ranges::copy(batch.planes, work.planes);
    work.sums = batch.sums_of<XpsnrBlock>();
    const XpsnrGrid& grid = work.grid;
    return kernel_.launch(batch, batch.grid(static_cast<unsigned>(grid.columns), static_cast<unsigned>(grid.rows)),
                          work);
  }

 private:
  XpsnrWork work_;  // but for what belongs to a batch
  const TwinKernel<XpsnrWork> kernel_;
};

}  // namespace

OwnedDeviceTwin xpsnr_hip(const XpsnrParams& params) { return {std::make_unique<XpsnrHip>(params)}; }

}  // namespace vmafx
