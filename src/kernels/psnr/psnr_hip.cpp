/* The HIP twin of psnr: one kernel, on all planes of all frames. */
#include <algorithm>

#include "kernels/device_twin.h"
#include "kernels/psnr/psnr.h"
#include "kernels/psnr/psnr_work.h"

namespace vmafx {
namespace {

class PsnrHip : public DeviceTwin {
 public:
  explicit PsnrHip(const PsnrParams& params) : kernel_(kernels_.add(kernels::psnr.of(params.format.bpc))) {
    for (int p = 0; p < 3; p++) {
      PsnrPlaneTiles& tiles = work_.tiles[p];
      tiles.first = tile_count_;
      if (p >= params.planes) continue;
      tiles.w = params.format.plane_w(p);
      tiles.h = params.format.plane_h(p);
      tiles.tiles_x = hip::blocks_for(params.format.row_bytes(p), 16 * kPsnrTilePacks);
      tile_count_ += tiles.tiles_x * hip::blocks_for(tiles.h, kPsnrTileRows);
    }
  }

  Status launch(const DeviceBatch& batch) const override {
    PsnrWork work = work_;
    std::ranges::copy(batch.planes, work.planes);
    work.sums = batch.sums_of<PsnrSums>();
    return kernel_.launch(batch, batch.grid(tile_count_), work);
  }

 private:
  PsnrWork work_;  // but for what belongs to a batch
  unsigned tile_count_ = 0;
  const TwinKernel<PsnrWork> kernel_;
};

}  // namespace

OwnedDeviceTwin psnr_hip(const PsnrParams& params) { return {std::make_unique<PsnrHip>(params)}; }

}  // namespace vmafx
