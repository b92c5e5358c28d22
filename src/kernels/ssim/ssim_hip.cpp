/* Which kernels of float_ssim and float_ms_ssim run, on what planes, in which order: one for the means over blocks
 * where there are any, one for the planes of each further scale, then one for the sums of all scales. All take all
 * frames of the batch. */
#include "base/aligned.h"
#include "kernels/steps/rows.h"
#include "kernels/device_twin.h"
#include "kernels/ssim/ssim.h"
#include "kernels/ssim/ssim_work.h"

namespace vmafx {
namespace {

static_assert(kSsimMostScales == kMsSsimScales);

class SsimHip : public DeviceTwin {
 public:
  explicit SsimHip(const SsimParams& params) : params_(params) {
    int w = ssim_reduced(params.w, params.factor), h = ssim_reduced(params.h, params.factor);
    for (int s = 0; s < params.scales; s++) {
      SsimPlanes& planes = planes_[s];
      planes.w = w;
      planes.h = h;
      planes.stride = static_cast<int64_t>(round_to_lines(w * sizeof(float)) / sizeof(float));
      planes.plane = s == 0 && params.factor == 1 ? 0 : planes.stride * h;
      planes.tiles_across = static_cast<int>(hip::blocks_for(w - SsimWindow::kLength + 1, kSsimTileColumns));
      planes.first_block = static_cast<int>(blocks_);
      planes.with_l = params.with_l(s);
      blocks_ += planes.tiles_across * hip::blocks_for(h - SsimWindow::kLength + 1, kSsimTileRows);
      w = ssim_halved(w);
      h = ssim_halved(h);
    }
  }

  size_t scratch_bytes(int frames) const override {
    size_t floats = 0;
    for (const SsimPlanes& planes : planes_) floats += 2 * planes.plane * frames;
    return floats * sizeof(float);
  }

  Status launch(const DeviceBatch& batch) const override {
    SsimWork work = work_of(batch);
    if (params_.factor > 1) {
      const unsigned across = hip::blocks_for(planes_[0].w, kSsimThreads);
      VMAFX_TRY(means_.launch(batch, batch.grid(across, static_cast<unsigned>(planes_[0].h)), work));
    }
    for (work.next = 1; work.next < params_.scales; work.next++) {
      const SsimPlanes& next = planes_[work.next];
      const unsigned across = 2 * hip::blocks_for(next.w, kSsimTileColumns);
      VMAFX_TRY(halve_.launch(batch, batch.grid(across, hip::blocks_for(next.h, kSsimHalvedRows)), work));
    }
    return windows_.launch(batch, batch.grid(blocks_), work);
  }

 private:
  SsimWork work_of(const DeviceBatch& batch) const {
    SsimWork work = {};
    work.luma = batch.planes[0];
    work.scratch = batch.scratch.as<float>();
    work.sums = batch.sums_of<SsimSums[kSsimMostScales]>();
    work.w = params_.w;
    work.h = params_.h;
    work.factor = params_.factor;
    work.scales = params_.scales;
    work.scale = scale_to_8_bits(params_.bpc);
    int64_t floats = 0;
    for (int s = 0; s < params_.scales; s++) {
      work.of[s] = planes_[s];
      work.of[s].first = floats;
      floats += 2 * planes_[s].plane * batch.count;
    }
    return work;
  }

  const SsimParams params_;
  SsimPlanes planes_[kSsimMostScales] = {};
  unsigned blocks_ = 0;
  const TwinKernel<SsimWork> means_ = kernels_.add(kernels::ssim_means.of(params_.bpc));
  const TwinKernel<SsimWork> halve_ = kernels_.add(kernels::ssim_halve.of(params_.bpc));
  const TwinKernel<SsimWork> windows_ = kernels_.add(kernels::ssim_windows.of(params_.bpc));
};

}  // namespace

std::unique_ptr<DeviceTwin> ssim_hip(const SsimParams& params) { return std::make_unique<SsimHip>(params); }

}  // namespace vmafx
