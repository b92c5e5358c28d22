/* Which kernels of float_ssim and float_ms_ssim run, on what planes, in which order: one for the means over blocks
 * where there are any, one for the planes of each further scale, then one for the sums of all scales. All take all
 * frames of the batch. */
#include "base/aligned.h"
#include "kernels/device_twin.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssim/ssim_work.h"
#include "kernels/steps/rows.h"

namespace vmafx {
namespace {

static_assert(kSsimMostScales == kMsSsimScales);

class SsimHip : public DeviceTwin {
 public:
  explicit SsimHip(const SsimParams& params) : params_(params) {
    int w = ssim_reduced(params.w, params.factor), h = ssim_reduced(params.h, params.factor);
    for (int s = 0; s < params.scales; s++) {
      SsimScale& scale = scale_[s];
      scale.w = w;
      scale.h = h;
      scale.tiles_across = static_cast<int>(hip::blocks_for(w - SsimWindow::kLength + 1, kSsimTileColumns));
      scale.first_block = static_cast<int>(blocks_);
      scale.with_l = params.with_l(s);
      blocks_ += scale.tiles_across * hip::blocks_for(h - SsimWindow::kLength + 1, kSsimTileRows);
      w = ssim_halved(w);
      h = ssim_halved(h);
    }
  }

  size_t scratch_bytes(int frames) const override {
    ScratchLayout memory;
    for (int s = 0; s < params_.scales; s++) take_planes(s, frames, memory);
    return memory.bytes();
  }

  Status launch(const DeviceBatch& batch) const override {
    SsimWork work = work_of(batch);
    if (params_.factor > 1) {
      const unsigned across = hip::blocks_for(scale_[0].w, kSsimThreads);
      VMAFX_TRY(means_.launch(batch, batch.grid(across, static_cast<unsigned>(scale_[0].h)), work));
    }
    for (work.next = 1; work.next < params_.scales; work.next++) {
      const SsimScale& next = scale_[work.next];
      const unsigned across = 2 * hip::blocks_for(next.w, kSsimTileColumns);
      VMAFX_TRY(halve_.launch(batch, batch.grid(across, hip::blocks_for(next.h, kSsimHalvedRows)), work));
    }
    return windows_.launch(batch, batch.grid(blocks_), work);
  }

 private:
  /* None where the samples themselves are the planes. */
  PlanePairs<float> take_planes(int s, int frames, ScratchLayout& memory) const {
    if (s == 0 && params_.factor == 1) return {};
    return memory.take_pairs<float>(round_to_lines(scale_[s].w * sizeof(float)) / sizeof(float), scale_[s].h, frames);
  }

  SsimWork work_of(const DeviceBatch& batch) const {
    SsimWork work = {};
    work.luma = batch.planes[0];
    work.sums = batch.sums_of<SsimSums[kSsimMostScales]>();
    work.w = params_.w;
    work.h = params_.h;
    work.factor = params_.factor;
    work.scales = params_.scales;
    work.scale = scale_to_8_bits(params_.bpc);
    ScratchLayout memory(batch.scratch);
    for (int s = 0; s < params_.scales; s++) {
      work.of[s] = scale_[s];
      work.of[s].planes = take_planes(s, batch.count, memory);
    }
    return work;
  }

  const SsimParams params_;
  SsimScale scale_[kSsimMostScales] = {};
  unsigned blocks_ = 0;
  const TwinKernel<SsimWork> means_ = kernels_.add(kernels::ssim_means.of(params_.bpc));
  const TwinKernel<SsimWork> halve_ = kernels_.add(kernels::ssim_halve.of(params_.bpc));
  const TwinKernel<SsimWork> windows_ = kernels_.add(kernels::ssim_windows.of(params_.bpc));
};

}  // namespace

std::unique_ptr<DeviceTwin> ssim_hip(const SsimParams& params) { return std::make_unique<SsimHip>(params); }

}  // namespace vmafx
