/* The HIP twin of float_ansnr: a kernel that writes squares, on the lumas of all frames, those that add them up, and
 * with maps one for the blocks. */
#include <optional>

#include "kernels/device_twin.h"
#include "kernels/float_ansnr/float_ansnr.h"
#include "kernels/float_ansnr/float_ansnr_work.h"
#include "kernels/steps/block_sums_hip.h"
#include "kernels/steps/row_sums_hip.h"
#include "kernels/steps/rows.h"

namespace vmafx {
namespace {

class AnsnrHip : public DeviceTwin {
 public:
  AnsnrHip(const VideoFormat& format, bool maps) : format_(format) {
    static_assert(offsetof(AnsnrSums, noise) == offsetof(AnsnrSums, signal) + sizeof(uint64_t));
    sums_.add_part(format.w, format.h, 2, offsetof(AnsnrSums, signal));
    if (maps) block_sums_.emplace(kernels_);
  }

  size_t scratch_bytes(int frames) const override { return sums_.scratch_bytes(frames); }

  Status launch(const DeviceBatch& batch) const override {
    const AnsnrWork work = {format_.w, format_.h, scale_to_8_bits(format_.bpc), batch.planes[0],
                            sums_.values(0, batch.scratch)};
    const unsigned across = hip::blocks_for(format_.w, kAnsnrTileW);
    VMAFX_TRY(kernel_.launch(batch, batch.grid(across, hip::blocks_for(format_.h, kAnsnrTileH)), work));
    if (block_sums_)
      VMAFX_TRY(block_sums_->add(batch, work.squares, BlockSumsDevice::whole(ansnr_blocks(format_), format_.w), 1, 1,
                                 sizeof(AnsnrSums)));
    VMAFX_TRY(sums_.add_rows(batch, 0, batch.scratch));
    return sums_.add_sums(batch, batch.scratch);
  }

 private:
  const VideoFormat format_;
  RowSumsDevice sums_{kernels_};
  std::optional<BlockSumsDevice> block_sums_;  // with maps
  const TwinKernel<AnsnrWork> kernel_ = kernels_.add(kernels::ansnr.of(format_.bpc));
};

}  // namespace

OwnedDeviceTwin ansnr_hip(const VideoFormat& format) { return {std::make_unique<AnsnrHip>(format, false)}; }
OwnedDeviceTwin ansnr_mapped_hip(const VideoFormat& format) { return {std::make_unique<AnsnrHip>(format, true)}; }

}  // namespace vmafx
