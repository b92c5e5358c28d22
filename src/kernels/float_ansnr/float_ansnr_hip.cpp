/* Which kernels of float_ansnr run, on what planes, in which order: one that writes squares, on the lumas of all frames, and those
 * that add them up. */
#include "kernels/float_ansnr/float_ansnr.h"
#include "kernels/float_ansnr/float_ansnr_work.h"
#include "kernels/steps/row_sums_hip.h"
#include "kernels/steps/rows.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

class AnsnrHip : public DeviceTwin {
 public:
  explicit AnsnrHip(const VideoFormat& format) : format_(format) { sums_.add_part(format.w, format.h, 2, 0); }

  size_t scratch_bytes(int frames) const override { return sums_.scratch_bytes(frames); }

  Status load(const hip::Module& kernels) override {
    VMAFX_ASSIGN(kernel_, kernels.kernel<AnsnrWork>(format_.bpc == 8 ? "vmafx_ansnr_8" : "vmafx_ansnr_16"));
    return sums_.load(kernels);
  }

  Status launch(const DeviceBatch& batch) const override {
    VMAFX_TRY(put_squares(batch));
    VMAFX_TRY(sums_.add_rows(batch, 0, batch.scratch));
    return sums_.add_sums(batch, batch.scratch);
  }

 private:
  Status put_squares(const DeviceBatch& batch) const {
    AnsnrWork work;
    work.w = format_.w;
    work.h = format_.h;
    work.sample_scale = scale_to_8_bits(format_.bpc);
    work.luma = batch.planes[0];
    work.squares = sums_.values(0, batch.scratch);
    const hip::Dim grid = {hip::blocks_for(format_.w, kAnsnrTileW), hip::blocks_for(format_.h, kAnsnrTileH),
                           static_cast<unsigned>(batch.count)};
    return hip::launch(*batch.stream, kernel_, grid, {kAnsnrTileW, kAnsnrThreadRows}, 0, work);
  }

  const VideoFormat format_;
  RowSumsDevice sums_;
  hip::Kernel<AnsnrWork> kernel_;
};

}  // namespace

static_assert(sizeof(AnsnrSums) == 2 * sizeof(uint64_t));

std::unique_ptr<DeviceTwin> ansnr_hip(const VideoFormat& format) { return std::make_unique<AnsnrHip>(format); }

}  // namespace vmafx
