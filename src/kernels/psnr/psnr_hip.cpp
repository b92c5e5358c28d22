/* Which kernels of psnr run, on what planes, in which order: one, on all planes of all frames. */
#include "kernels/device_twin.h"
#include "kernels/psnr/psnr.h"
#include "kernels/psnr/psnr_work.h"

namespace vmafx {
namespace {

class PsnrHip : public DeviceTwin {
 public:
  PsnrHip(const VideoFormat& format, int planes) : planes_(planes), bpc_(format.bpc) {
    for (int p = 0; p < 3; p++) {
      tiles_[p].first = tile_count_;
      if (p < planes) add_tiles(&tiles_[p], format.plane_w(p), format.plane_h(p));
    }
  }

  Status launch(const DeviceBatch& batch) const override {
    PsnrWork work;
    for (int p = 0; p < 3; p++) work.tiles[p] = tiles_[p];
    for (int p = 0; p < planes_; p++) work.planes[p] = batch.planes[p];
    work.sums = batch.sums_of<PsnrSums>();
    return kernel_.launch(batch, batch.grid(tile_count_), work);
  }

 private:
  void add_tiles(PsnrPlaneTiles* tiles, int w, int h) {
    const size_t row_bytes = static_cast<size_t>(w) * (bpc_ > 8 ? 2 : 1);
    tiles->w = w;
    tiles->h = h;
    tiles->tiles_x = hip::blocks_for(row_bytes, 16 * kPsnrTilePacks);
    tile_count_ += tiles->tiles_x * hip::blocks_for(h, kPsnrTileRows);
  }

  const int planes_, bpc_;
  PsnrPlaneTiles tiles_[3];
  unsigned tile_count_ = 0;
  const TwinKernel<PsnrWork> kernel_ = kernels_.add(kernels::psnr.of(bpc_));
};

}  // namespace

std::unique_ptr<DeviceTwin> psnr_hip(const VideoFormat& format, int planes) {
  return std::make_unique<PsnrHip>(format, planes);
}

}  // namespace vmafx
