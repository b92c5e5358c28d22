/* The HIP twin of psnr_hvs: one kernel for the errors and the exact sums of rows of blocks, one for the counted parts
 * of the errors, with or without the blocks of maps. Both take all planes of all frames. */
#include "kernels/device_twin.h"
#include "kernels/psnr_hvs/psnr_hvs.h"
#include "kernels/psnr_hvs/psnr_hvs_work.h"

namespace vmafx {
namespace {

class PsnrHvsHip : public DeviceTwin {
 public:
  PsnrHvsHip(const VideoFormat& format, bool maps) : bpc_(format.bpc), maps_(maps) {
    work_.middle = 1 << (bpc_ - 1);
    for (int p = 0; p < 3; p++) {
      const int across = psnr_hvs_blocks(format.plane_w(p)), down = psnr_hvs_blocks(format.plane_h(p));
      work_.rows[p] = {across, row_count_, work_.blocks};
      row_count_ += static_cast<unsigned>(down);
      work_.blocks += static_cast<unsigned>(across) * static_cast<unsigned>(down);
    }
    const auto grid = [&](int p) { return psnr_hvs_map_blocks(format, p); };
    for (int p = 0; p < 3; p++) {
      work_.across[p] = grid(p).w;
      work_.first_of_plane[p] = static_cast<int32_t>(blocks_before(p, grid));
    }
  }

  size_t scratch_bytes(int frames) const override {
    ScratchLayout memory;
    PsnrHvsMapWork work = work_;
    lay_out(memory, frames, work);
    return memory.bytes();
  }

  Status launch(const DeviceBatch& batch) const override {
    PsnrHvsMapWork work = work_;
    for (int p = 0; p < 3; p++) work.planes[p] = batch.planes[p];
    work.sums = batch.sums_of<PsnrHvsSums>();
    work.map = batch.sums_of<PsnrHvsSum>(sizeof(PsnrHvsSums));
    ScratchLayout memory(batch.scratch);
    lay_out(memory, batch.count, work);
    VMAFX_TRY(rows_kernel_.launch(batch, batch.grid(row_count_), work));
    return maps_ ? map_sums_kernel_.launch(batch, batch.grid(row_count_), work)
                 : sums_kernel_.launch(batch, batch.grid(row_count_), work);
  }

 private:
  void lay_out(ScratchLayout& memory, int frames, PsnrHvsWork& work) const {
    work.exact = memory.take<PsnrHvsSum>(size_t{row_count_} * static_cast<size_t>(frames));
    work.squares = memory.take<float>(size_t{kPsnrHvsSquares} * work.blocks * static_cast<size_t>(frames));
  }

  const int bpc_;
  const bool maps_;
  PsnrHvsMapWork work_;  // but for what belongs to a batch
  unsigned row_count_ = 0;
  const TwinKernel<PsnrHvsWork> rows_kernel_ = kernels_.add(kernels::psnr_hvs_rows.of(bpc_));
  const TwinKernel<PsnrHvsWork> sums_kernel_ = kernels_.add(kernels::psnr_hvs_sums);
  const TwinKernel<PsnrHvsMapWork> map_sums_kernel_ = kernels_.add(kernels::psnr_hvs_map_sums);
};

}  // namespace

OwnedDeviceTwin psnr_hvs_hip(const VideoFormat& format) { return {std::make_unique<PsnrHvsHip>(format, false)}; }
OwnedDeviceTwin psnr_hvs_mapped_hip(const VideoFormat& format) { return {std::make_unique<PsnrHvsHip>(format, true)}; }

}  // namespace vmafx
