/* The HIP twins of psnr, with and without the blocks of maps, and msad: one kernel each, on all planes of all
 * frames. */
#include <algorithm>
#include <type_traits>

#include "kernels/device_twin.h"
#include "kernels/psnr/msad.h"
#include "kernels/psnr/psnr.h"
#include "kernels/psnr/psnr_work.h"

namespace vmafx {
namespace {

template <class Sums, class Work = PlaneErrorsWork<Sums>>
class PlaneErrorsHip : public DeviceTwin {
 public:
  PlaneErrorsHip(const PsnrParams& params, const SampleKernelDeclarations<Work>& kernels)
      : kernel_(kernels_.add(kernels.of(params.format.bpc))) {
    for (int p = 0; p < 3; p++) {
      PsnrPlaneTiles& tiles = work_.tiles[p];
      tiles.first = tile_count_;
      if (p >= params.planes) continue;
      tiles.w = params.format.plane_w(p);
      tiles.h = params.format.plane_h(p);
      tiles.tiles_x = hip::blocks_for(params.format.row_bytes(p), 16 * kPsnrTilePacks);
      tile_count_ += tiles.tiles_x * hip::blocks_for(tiles.h, kPsnrTileRows);
    }
    if constexpr (std::is_same_v<Work, PsnrMapWork>) {
      const auto grid = [&](int p) { return psnr_blocks(params.format, p); };
      for (int p = 0; p < params.planes; p++) {
        work_.across[p] = grid(p).w;
        work_.first_block[p] = static_cast<int32_t>(blocks_before(p, grid));
      }
    }
  }

  Status launch(const DeviceBatch& batch) const override {
    Work work = work_;
    std::ranges::copy(batch.planes, work.planes);
    work.sums = batch.sums_of<Sums>();
    if constexpr (std::is_same_v<Work, PsnrMapWork>) work.blocks = batch.sums_of<uint64_t>(sizeof(Sums));
    return kernel_.launch(batch, batch.grid(tile_count_), work);
  }

 private:
  Work work_;  // but for what belongs to a batch
  unsigned tile_count_ = 0;
  const TwinKernel<Work> kernel_;
};

}  // namespace

OwnedDeviceTwin psnr_hip(const PsnrParams& params) {
  return {std::make_unique<PlaneErrorsHip<PsnrSums>>(params, kernels::psnr)};
}
OwnedDeviceTwin psnr_mapped_hip(const PsnrParams& params) {
  return {std::make_unique<PlaneErrorsHip<PsnrSums, PsnrMapWork>>(params, kernels::psnr_maps)};
}
OwnedDeviceTwin msad_hip(const PsnrParams& params) {
  return {std::make_unique<PlaneErrorsHip<MsadSums>>(params, kernels::msad)};
}

}  // namespace vmafx
