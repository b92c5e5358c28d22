/* The HIP twin of float_vif: the kernels for prescaling if any, then for each scale one that also makes the planes of
 * the next, and one that adds up rows, with maps one more for blocks. All take all frames of the batch. */
#include <optional>

#include "kernels/device_twin.h"
#include "kernels/steps/block_sums_hip.h"
#include "kernels/steps/prescale_hip.h"
#include "kernels/steps/row_sums_hip.h"
#include "kernels/steps/rows.h"
#include "kernels/vif/float_vif.h"
#include "kernels/vif/float_vif_work.h"

namespace vmafx {
namespace {

class FloatVifHip : public DeviceTwin {
 public:
  FloatVifHip(const FloatVifParams& params, bool maps) : params_(params) {
    if (params.prescaler)
      prescale_.emplace(kernels_, params.prescaler->method(), params.prescaler->from_w(), params.prescaler->from_h(),
                        params.w, params.h, params.bpc, kFloatVifOffset);
    for (int s = 0; s < kFloatVifScales; s++)
      if (wanted(s)) part_[s] = sums_.add_part(params.w >> s, params.h >> s, 2, s * sizeof(FloatVifScaleSums));
    add_kernels();
    if (maps) block_sums_.emplace(kernels_);
  }

  size_t scratch_bytes(int frames) const override {
    ScratchLayout memory;
    memory.reserve(sums_.scratch_bytes(frames) + (prescale_ ? prescale_->scratch_bytes(frames) : 0));
    for (int s = 1; s < kFloatVifScales; s++) take_planes(s, frames, memory);
    return memory.bytes();
  }

  Status launch(const DeviceBatch& batch) const override {
    PlanePairs<float> in, out;
    ScratchLayout memory(batch.scratch);
    const auto rows = memory.take<std::byte>(sums_.scratch_bytes(batch.count));
    if (prescale_) {
      const auto scaled = memory.take<std::byte>(prescale_->scratch_bytes(batch.count));
      VMAFX_TRY(prescale_->launch(batch, 0, scaled));
      in = {scaled.as<float>(), params_.w, static_cast<int64_t>(prescale_->plane_floats())};
    }
    for (int s = 0; s < kFloatVifScales; s++, in = out) {
      out = s + 1 < kFloatVifScales ? take_planes(s + 1, batch.count, memory) : PlanePairs<float>();
      VMAFX_TRY(launch_scale(batch, s, in, out, rows));
      if (!wanted(s)) continue;
      if (block_sums_) VMAFX_TRY(add_blocks(batch, s, rows));
      VMAFX_TRY(sums_.add_rows(batch, part_[s], rows));
    }
    return sums_.add_sums(batch, rows);
  }

 private:
  bool wanted(int s) const { return s > 0 || !params_.skip_scale0; }

  PlanePairs<float> take_planes(int s, int frames, ScratchLayout& memory) const {
    return memory.take_pairs<float>(params_.w >> s, params_.h >> s, frames);
  }

  void add_kernels() {
    using namespace kernels;
    const bool usual = has_usual_windows();
    scale_[0] = kernels_.add(prescale_ ? float_vif_any_scale : (usual ? float_vif : float_vif_any).of(params_.bpc));
    const KernelDeclaration<FloatVifWork> others[] = {float_vif_scale1, float_vif_scale2, float_vif_scale3};
    for (int s = 1; s < kFloatVifScales; s++) scale_[s] = kernels_.add(usual ? others[s - 1] : float_vif_any_scale);
  }

  bool has_usual_windows() const {
    for (int s = 0; s < kFloatVifScales; s++)
      if (params_.window[s].half != 8 >> s) return false;
    return true;
  }

  Status launch_scale(const DeviceBatch& batch, int s, const PlanePairs<float>& in, const PlanePairs<float>& out,
                      hip::DevicePtr<std::byte> rows) const {
    FloatVifWork work;
    work.luma = batch.planes[0];
    work.sample_scale = scale_to_8_bits(params_.bpc);
    work.in = in;
    work.out = out;
    work.w = params_.w >> s;
    work.h = params_.h >> s;
    work.wanted = wanted(s);
    if (work.wanted) work.values = sums_.values(part_[s], rows);
    work.window = params_.window[s];
    if (s + 1 < kFloatVifScales) work.next = params_.window[s + 1];
    work.eye = params_.eye;
    const unsigned across = hip::blocks_for(work.w, float_vif_tile_columns(work.window.half));
    return scale_[s].launch(batch, batch.grid(across, hip::blocks_for(work.h, kFloatVifTileRows)), work);
  }

  Status add_blocks(const DeviceBatch& batch, int s, hip::DevicePtr<std::byte> rows) const {
    BlockGrid grid = float_vif_blocks(params_);
    const size_t first = sizeof(FloatVifSums) + s * grid.blocks() * sizeof(FloatVifBlockSums);
    grid.side >>= s;
    return block_sums_->add(batch, sums_.values(part_[s], rows), BlockSumsDevice::whole(grid, params_.w >> s), 0, 2,
                            first);
  }

  const FloatVifParams params_;
  std::optional<PrescaleDevice> prescale_;
  RowSumsDevice sums_{kernels_};
  std::optional<BlockSumsDevice> block_sums_;  // with maps
  int part_[kFloatVifScales] = {};
  TwinKernel<FloatVifWork> scale_[kFloatVifScales];
};

}  // namespace

OwnedDeviceTwin float_vif_hip(const FloatVifParams& params) { return {std::make_unique<FloatVifHip>(params, false)}; }
OwnedDeviceTwin float_vif_mapped_hip(const FloatVifParams& params) {
  return {std::make_unique<FloatVifHip>(params, true)};
}

}  // namespace vmafx
