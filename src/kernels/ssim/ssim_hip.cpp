/* The HIP twin of float_ssim and float_ms_ssim: one kernel for the means over blocks where there are any, one for the
 * planes of each further scale, then one for the sums of all scales, with or without those of the blocks of maps. All
 * take all frames of the batch. */
#include "base/rounding.h"
#include "kernels/device_twin.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssim/ssim_work.h"
#include "kernels/steps/rows.h"

namespace vmafx {
namespace {

class SsimHip : public DeviceTwin {
 public:
  /* `blocks`: of maps, at scale 0; nullptr: there are none. */
  SsimHip(const SsimParams& params, const BlockGrid* blocks) : params_(params), maps_(blocks) {
    if (blocks) {
      work_.side = blocks->side;
      work_.across = blocks->w;
      work_.blocks_of_scale = static_cast<int32_t>(blocks->blocks());
    }
    work_.w = params.w;
    work_.h = params.h;
    work_.factor = params.factor;
    work_.scales = params.scales;
    work_.scale = scale_to_8_bits(params.bpc);
    for (int s = 0; s < params.scales; s++) {
      const SsimSize size(params, s);
      const unsigned across = hip::blocks_for(size.w - SsimWindow::kLength + 1, kSsimTileColumns);
      work_.of[s] = {.w = size.w,
                     .h = size.h,
                     .tiles_across = static_cast<int>(across),
                     .first_block = static_cast<int>(blocks_),
                     .with_l = params.with_l(s)};
      blocks_ += across * hip::blocks_for(size.h - SsimWindow::kLength + 1, kSsimTileRows);
    }
  }

  size_t scratch_bytes(int frames) const override {
    ScratchLayout memory;
    for (int s = 0; s < params_.scales; s++) take_planes(s, frames, memory);
    return memory.bytes();
  }

  Status launch(const DeviceBatch& batch) const override {
    SsimMapWork work = work_;
    work.luma = batch.planes[0];
    work.sums = batch.sums_of<SsimSums[kMsSsimScales]>();
    ScratchLayout memory(batch.scratch);
    for (int s = 0; s < params_.scales; s++) work.of[s].planes = take_planes(s, batch.count, memory);
    if (params_.factor > 1) {
      const unsigned across = hip::blocks_for(work.of[0].w, kSsimThreads);
      VMAFX_TRY(means_.launch(batch, batch.grid(across, static_cast<unsigned>(work.of[0].h)), work));
    }
    for (work.next = 1; work.next < params_.scales; work.next++) {
      const SsimScale& next = work.of[work.next];
      const unsigned across = 2 * hip::blocks_for(next.w, kSsimTileColumns);
      VMAFX_TRY(halve_.launch(batch, batch.grid(across, hip::blocks_for(next.h, kSsimHalvedRows)), work));
    }
    work.blocks = batch.sums_of<SsimSums>(static_cast<size_t>(params_.scales) * sizeof(SsimSums));
    return maps_ ? map_windows_.launch(batch, batch.grid(blocks_), work)
                 : windows_.launch(batch, batch.grid(blocks_), work);
  }

 private:
  /* None where the samples themselves are the planes. */
  PlanePairs<float> take_planes(int s, int frames, ScratchLayout& memory) const {
    if (s == 0 && params_.factor == 1) return {};
    return memory.take_pairs<float>(round_to_lines(work_.of[s].w * sizeof(float)) / sizeof(float), work_.of[s].h,
                                    frames);
  }

  const SsimParams params_;
  const bool maps_;
  SsimMapWork work_ = {};  // but for what belongs to a batch
  unsigned blocks_ = 0;
  const TwinKernel<SsimWork> means_ = kernels_.add(kernels::ssim_means.of(params_.bpc));
  const TwinKernel<SsimWork> halve_ = kernels_.add(kernels::ssim_halve.of(params_.bpc));
  const TwinKernel<SsimWork> windows_ = kernels_.add(kernels::ssim_windows.of(params_.bpc));
  const TwinKernel<SsimMapWork> map_windows_ = kernels_.add(kernels::ssim_map_windows.of(params_.bpc));
};

}  // namespace

OwnedDeviceTwin ssim_hip(const SsimParams& params) { return {std::make_unique<SsimHip>(params, nullptr)}; }
OwnedDeviceTwin ssim_mapped_hip(const SsimParams& params, const BlockGrid& grid) {
  return {std::make_unique<SsimHip>(params, &grid)};
}

}  // namespace vmafx
