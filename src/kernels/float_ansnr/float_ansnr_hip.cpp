/* The HIP twin of float_ansnr: one that writes squares, on the lumas of all frames, and those
 * that add them up. */
#include "kernels/device_twin.h"
#include "kernels/float_ansnr/float_ansnr.h"
#include "kernels/float_ansnr/float_ansnr_work.h"
#include "kernels/steps/row_sums_hip.h"
#include "kernels/steps/rows.h"

namespace vmafx {
namespace {

class AnsnrHip : public DeviceTwin {
 public:
  explicit AnsnrHip(const VideoFormat& format) : format_(format) {
    static_assert(offsetof(AnsnrSums, noise) == offsetof(AnsnrSums, signal) + sizeof(uint64_t));
    sums_.add_part(format.w, format.h, 2, offsetof(AnsnrSums, signal));
  }

  size_t scratch_bytes(int frames) const override { return sums_.scratch_bytes(frames); }

  Status launch(const DeviceBatch& batch) const override {
    const AnsnrWork work = {format_.w, format_.h, scale_to_8_bits(format_.bpc), batch.planes[0],
                            sums_.values(0, batch.scratch)};
    const unsigned across = hip::blocks_for(format_.w, kAnsnrTileW);
    VMAFX_TRY(kernel_.launch(batch, batch.grid(across, hip::blocks_for(format_.h, kAnsnrTileH)), work));
    VMAFX_TRY(sums_.add_rows(batch, 0, batch.scratch));
    return sums_.add_sums(batch, batch.scratch);
  }

 private:
  const VideoFormat format_;
  RowSumsDevice sums_{kernels_};
  const TwinKernel<AnsnrWork> kernel_ = kernels_.add(kernels::ansnr.of(format_.bpc));
};

}  // namespace

OwnedDeviceTwin ansnr_hip(const VideoFormat& format) { return {std::make_unique<AnsnrHip>(format)}; }

}  // namespace vmafx
