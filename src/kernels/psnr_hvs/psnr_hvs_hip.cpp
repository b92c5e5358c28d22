/* Which kernels of psnr_hvs run, on what planes, in which order: one for the exact sums of rows of blocks, one for what
 * counts. Both take all planes of all frames. */
#include "kernels/device_twin.h"
#include "kernels/psnr_hvs/psnr_hvs.h"
#include "kernels/psnr_hvs/psnr_hvs_work.h"

namespace vmafx {
namespace {

class PsnrHvsHip : public DeviceTwin {
 public:
  explicit PsnrHvsHip(const VideoFormat& format) : bpc_(format.bpc) {
    work_.middle = 1 << (bpc_ - 1);
    for (int p = 0; p < 3; p++) {
      work_.rows[p] = {psnr_hvs_blocks(format.plane_w(p)), row_count_};
      row_count_ += psnr_hvs_blocks(format.plane_h(p));
    }
  }

  size_t scratch_bytes(int frames) const override { return sizeof(PsnrHvsSum) * row_count_ * frames; }

  Status launch(const DeviceBatch& batch) const override {
    PsnrHvsWork work = work_;
    for (int p = 0; p < 3; p++) work.planes[p] = batch.planes[p];
    work.sums = batch.sums_of<PsnrHvsSums>();
    work.exact = batch.scratch.as<PsnrHvsSum>();
    VMAFX_TRY(rows_kernel_.launch(batch, batch.grid(row_count_), work));
    return sums_kernel_.launch(batch, batch.grid(row_count_), work);
  }

 private:
  const int bpc_;
  PsnrHvsWork work_;  // but for what belongs to a batch
  unsigned row_count_ = 0;
  const TwinKernel<PsnrHvsWork> rows_kernel_ = kernels_.add(kernels::psnr_hvs_rows.of(bpc_));
  const TwinKernel<PsnrHvsWork> sums_kernel_ = kernels_.add(kernels::psnr_hvs_sums.of(bpc_));
};

}  // namespace

std::unique_ptr<DeviceTwin> psnr_hvs_hip(const VideoFormat& format) { return std::make_unique<PsnrHvsHip>(format); }

}  // namespace vmafx
