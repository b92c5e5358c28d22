/* Which kernels of ciede run, on what planes, in which order: one, on all frames. */
#include "kernels/ciede/ciede.h"
#include "kernels/ciede/ciede_work.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

class CiedeHip : public DeviceTwin {
 public:
  CiedeHip(const CiedeParams& params, const VideoFormat& format) : params_(params), format_(format) {}

  size_t scratch_bytes(int) const override { return 0; }

  Status load(const hip::Module& kernels) override {
    VMAFX_ASSIGN(kernel_, kernels.kernel<CiedeWork>(params_.bpc == 8 ? "vmafx_ciede_8" : "vmafx_ciede_16"));
    return {};
  }

  Status launch(const DeviceBatch& batch) const override {
    CiedeWork work;
    work.params = params_;
    work.w = format_.w;
    work.h = format_.h;
    work.chroma_w = format_.plane_w(1);
    work.chroma_h = format_.plane_h(1);
    for (int p = 0; p < 3; p++) work.planes[p] = batch.planes[p];
    work.sums = batch.sums.as<uint64_t>();
    work.sums_stride = batch.sums_stride / sizeof(uint64_t);
    const hip::Dim grid = {hip::blocks_for(format_.w, kCiedeTileColumns), hip::blocks_for(format_.h, kCiedeTileRows),
                           static_cast<unsigned>(batch.count)};
    return hip::launch(*batch.stream, kernel_, grid, {kCiedeTileColumns, kCiedeTileRows}, 0, work);
  }

 private:
  const CiedeParams params_;
  const VideoFormat format_;
  hip::Kernel<CiedeWork> kernel_;
};

}  // namespace

std::unique_ptr<DeviceTwin> ciede_hip(const CiedeParams& params, const VideoFormat& format) {
  return std::make_unique<CiedeHip>(params, format);
}

}  // namespace vmafx
