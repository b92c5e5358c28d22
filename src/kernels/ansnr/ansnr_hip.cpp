/* Which kernels of float_ansnr run, on what planes, in which order: one, on the lumas of all frames. */
#include "kernels/ansnr/ansnr.h"
#include "kernels/ansnr/ansnr_work.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

class AnsnrHip : public DeviceTwin {
 public:
  explicit AnsnrHip(const VideoFormat& format) : format_(format) {}

  size_t scratch_bytes(int) const override { return 0; }

  Status load(const hip::Module& kernels) override {
    VMAFX_ASSIGN(kernel_, kernels.kernel<AnsnrWork>(format_.bpc == 8 ? "vmafx_ansnr_8" : "vmafx_ansnr_16"));
    return {};
  }

  Status launch(const DeviceBatch& batch) const override {
    AnsnrWork work;
    work.w = format_.w;
    work.h = format_.h;
    work.bpc = format_.bpc;
    work.luma = batch.planes[0];
    work.sums = batch.sums.as<uint64_t>();
    work.sums_stride = batch.sums_stride / sizeof(uint64_t);
    const hip::Dim grid = {hip::blocks_for(format_.w, kAnsnrTileW), hip::blocks_for(format_.h, kAnsnrTileH),
                           static_cast<unsigned>(batch.count)};
    return hip::launch(*batch.stream, kernel_, grid, {kAnsnrTileW, kAnsnrThreadRows}, 0, work);
  }

 private:
  const VideoFormat format_;
  hip::Kernel<AnsnrWork> kernel_;
};

}  // namespace

std::unique_ptr<DeviceTwin> ansnr_hip(const VideoFormat& format) { return std::make_unique<AnsnrHip>(format); }

}  // namespace vmafx
