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
    for (int p = 0; p < 3; p++) {
      rows_[p] = {psnr_hvs_blocks(format.plane_w(p)), row_count_};
      row_count_ += psnr_hvs_blocks(format.plane_h(p));
    }
  }

  size_t scratch_bytes(int frames) const override { return size_t{2} * sizeof(int64_t) * row_count_ * frames; }

  Status load(const hip::Module& kernels) override {
    VMAFX_ASSIGN(exact_, kernels.kernel<PsnrHvsWork>(bpc_ == 8 ? "vmafx_psnr_hvs_rows_8" : "vmafx_psnr_hvs_rows_16"));
    VMAFX_ASSIGN(sums_, kernels.kernel<PsnrHvsWork>(bpc_ == 8 ? "vmafx_psnr_hvs_sums_8" : "vmafx_psnr_hvs_sums_16"));
    return {};
  }

  Status launch(const DeviceBatch& batch) const override {
    PsnrHvsWork work;
    for (int p = 0; p < 3; p++) {
      work.rows[p] = rows_[p];
      work.planes[p] = batch.planes[p];
    }
    work.middle = 1 << (bpc_ - 1);
    work.sums = batch.sums.as<uint64_t>();
    work.sums_stride = batch.sums_stride / sizeof(uint64_t);
    work.exact = batch.scratch.as<int64_t>();
    const hip::Dim grid = {row_count_, 1, static_cast<unsigned>(batch.count)};
    VMAFX_TRY(hip::launch(*batch.stream, exact_, grid, {kPsnrHvsThreads}, 0, work));
    return hip::launch(*batch.stream, sums_, grid, {kPsnrHvsThreads}, 0, work);
  }

 private:
  const int bpc_;
  PsnrHvsRowsOfPlane rows_[3];
  unsigned row_count_ = 0;
  hip::Kernel<PsnrHvsWork> exact_, sums_;
};

}  // namespace

std::unique_ptr<DeviceTwin> psnr_hvs_hip(const VideoFormat& format) { return std::make_unique<PsnrHvsHip>(format); }

}  // namespace vmafx
