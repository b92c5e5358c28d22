/* The HIP twin of ciede: one kernel, on all frames, with or without the blocks of maps. */
#include "kernels/blocks.h"
#include "kernels/ciede/ciede.h"
#include "kernels/ciede/ciede_work.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

class CiedeHip : public DeviceTwin {
 public:
  CiedeHip(const CiedeParams& params, bool maps) : params_(params), maps_(maps) {}

  Status launch(const DeviceBatch& batch) const override {
    CiedeMapWork work;
    work.params = params_;
    for (int p = 0; p < 3; p++) work.planes[p] = batch.planes[p];
    work.sums = batch.sums_of<CiedeSums>();
    work.blocks = batch.sums_of<int64_t>(sizeof(CiedeSums));
    work.across = block_grid(params_.w, params_.h, kCiedeBlockSide).w;
    const unsigned across = hip::blocks_for(params_.w, kCiedeTileColumns);
    const hip::Dim grid = batch.grid(across, hip::blocks_for(params_.h, kCiedeTileRows));
    return maps_ ? maps_kernel_.launch(batch, grid, work) : kernel_.launch(batch, grid, work);
  }

 private:
  const CiedeParams params_;
  const bool maps_;
  const TwinKernel<CiedeWork> kernel_ = kernels_.add(kernels::ciede.of(params_.bpc));
  const TwinKernel<CiedeMapWork> maps_kernel_ = kernels_.add(kernels::ciede_maps.of(params_.bpc));
};

}  // namespace

OwnedDeviceTwin ciede_hip(const CiedeParams& params) { return {std::make_unique<CiedeHip>(params, false)}; }
OwnedDeviceTwin ciede_mapped_hip(const CiedeParams& params) { return {std::make_unique<CiedeHip>(params, true)}; }

}  // namespace vmafx
