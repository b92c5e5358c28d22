/* The HIP twin of adm: one kernel for each scale, from the finest on, then one that adds up the rows of all of them.
 * Several views have kernels of their own, so that those of one view need no more registers; so have maps. */
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/adm/adm.h"
#include "kernels/adm/adm_blocks.h"
#include "kernels/adm/adm_work.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

/* Tiles that score [from, to), and if `all`, those around them that cover [0, size). The first begins at an even
 * place. */
AdmTiling make_tiling(int from, int to, int size, int step, bool all) {
  AdmTiling tiling;
  const int first_scored = (from - 1) & ~1;
  tiling.scored_from = all ? static_cast<int32_t>(hip::blocks_for(std::max(0, first_scored), step)) : 0;
  tiling.scored = static_cast<int32_t>(hip::blocks_for(to - first_scored - 1, step));
  tiling.first = first_scored - tiling.scored_from * step;
  tiling.count = all ? static_cast<int32_t>(hip::blocks_for(size - tiling.first, step)) : tiling.scored;
  return tiling;
}

class AdmHip : public DeviceTwin {
 public:
  AdmHip(const AdmParams& params, bool maps) : views_(static_cast<unsigned>(params.views.size())), maps_(maps) {
    if (maps_)
      add_kernels({&kernels::adm_map_scale0.of(params.bpc), &kernels::adm_map_scale1, &kernels::adm_map_scale2,
                   &kernels::adm_map_scale3});
    else if (views_ == 1)
      add_kernels(
          {&kernels::adm_scale0.of(params.bpc), &kernels::adm_scale1, &kernels::adm_scale2, &kernels::adm_scale3});
    else
      add_kernels({&kernels::adm_views_scale0.of(params.bpc), &kernels::adm_views_scale1, &kernels::adm_views_scale2,
                   &kernels::adm_views_scale3});
    for (int s = 0; s < kAdmScales; s++) plan_scale(params, s);
  }

  size_t scratch_bytes(int frames) const override {
    ScratchLayout memory;
    memory.take<uint64_t>(rows_.row_sums_stride * frames);
    for (int s = 0; s < kAdmScales; s++) take_bands(s, frames, memory);
    return memory.bytes();
  }

  Status launch(const DeviceBatch& batch) const override {
    ScratchLayout memory(batch.scratch);
    const auto row_sums = memory.take<uint64_t>(rows_.row_sums_stride * batch.count);
    PlanePairs<uint8_t> from;
    for (int s = 0; s < kAdmScales; s++) {
      AdmStage stage = stages_[s];
      stage.from = from;
      stage.to = take_bands(s, batch.count, memory);
      stage.row_sums = row_sums + rows_.scale[s].first;
      stage.luma = batch.planes[0];
      const hip::Dim grid = batch.grid(static_cast<unsigned>(stage.x.count), static_cast<unsigned>(stage.y.count));
      VMAFX_TRY(scale_kernels_[s].launch(batch, grid, stage));
      from = stage.to;
    }
    AdmRows rows = rows_;
    rows.row_sums = row_sums;
    rows.sums = batch.sums_of<AdmSums>();
    const hip::Dim grid = batch.grid(row_blocks_, views_ * kAdmScales * kAdmRowSums);
    VMAFX_TRY(rows_kernel_.launch(batch, grid, rows));
    if (!maps_) return {};
    AdmMapRows map_rows = map_rows_;
    for (int s = 0; s < kAdmScales; s++) map_rows.scale[s].rows = rows.scale[s];
    map_rows.row_sums = row_sums;
    map_rows.row_sums_stride = rows.row_sums_stride;
    map_rows.blocks = batch.sums_of<AdmBlockSums>(sizeof(AdmSums));
    return map_rows_kernel_.launch(batch, grid, map_rows);
  }

 private:
  void add_kernels(const std::array<const KernelDeclaration<AdmStage>*, kAdmScales>& declared) {
    for (int s = 0; s < kAdmScales; s++) scale_kernels_[s] = kernels_.add(*declared[static_cast<size_t>(s)]);
  }

  void plan_scale(const AdmParams& params, int index) {
    AdmStage& stage = stages_[index];
    const AdmScale& scale = stage.scale = params.scale[index];
    stage.views = static_cast<int32_t>(views_);
    for (size_t i = 0; i < params.views.size(); i++)
      std::ranges::copy(params.views[i].rfactor[index], stage.rfactor[i]);
    const bool makes_a = index < kAdmScales - 1;
    stage.x = make_tiling(scale.left, scale.right, scale.w, adm_tile_shape(index).step_x(), makes_a);
    stage.y = make_tiling(scale.top, scale.bottom, scale.h, adm_tile_shape(index).step_y(), makes_a);
    if (index == 0 && params.skip_scale0) stage.x.scored = stage.y.scored = 0;
    for (int band = 0; band < kAdmBands; band++) stage.cube_half[band] = (1 << scale.cube_shift[band]) / 2;
    stage.den_cube_half = (1u << scale.den_cube_shift) / 2;
    stage.gain_limit.value = params.gain_limit;
    if (params.gain_limit == std::trunc(params.gain_limit))
      stage.gain_limit.whole = static_cast<int32_t>(params.gain_limit);
    stage.measure_aim = params.measure_aim;
    if (index == 0) {
      const uint32_t half = 1u << (params.bpc - 1);
      stage.high_start = half;
      stage.low_start = half - narrow::kLowGain * half;
    }
    AdmRows::OfScale& rows = rows_.scale[index];
    rows.rows = stage.y.scored ? scale.bottom - scale.top : 0;
    rows.tiles = stage.x.scored * (maps_ ? kAdmBlocksAcross : 1);
    rows.row_shift = scale.row_shift;
    rows.den_row_shift = scale.den_row_shift;
    rows.first = rows_.row_sums_stride;
    rows_.row_sums_stride += int64_t{views_} * kAdmRowSums * rows.rows * rows.tiles;
    row_blocks_ = std::max(row_blocks_, hip::blocks_for(rows.rows, kAdmRowsPerBlock));
    const auto grid = [&](int s) { return AdmBlocks::grid(params.scale[s], s); };
    map_rows_.scale[index] = {.rows = {},
                              .left = scale.left,
                              .top = scale.top,
                              .first = stage.x.first + stage.x.scored_from * adm_tile_shape(index).step_x(),
                              .across = grid(index).w,
                              .first_block = static_cast<int64_t>(blocks_before(index, grid))};
    if (index < kAdmScales - 1) return;
    for (AdmStage& each : stages_) each.row_sums_stride = rows_.row_sums_stride;
  }

  /* The bands a; the last scale has none. */
  PlanePairs<uint8_t> take_bands(int s, int frames, ScratchLayout& memory) const {
    if (s == kAdmScales - 1) return {};
    const size_t sample_bytes = s == 0 ? sizeof(int16_t) : sizeof(int32_t);
    return memory.take_pairs<uint8_t>(round_up(stages_[s].scale.w * sample_bytes, 16), stages_[s].scale.h, frames);
  }

  const unsigned views_;
  const bool maps_;  // of the only view
  AdmStage stages_[kAdmScales];
  AdmRows rows_ = {};
  AdmMapRows map_rows_ = {};
  unsigned row_blocks_ = 0;
  TwinKernel<AdmStage> scale_kernels_[kAdmScales];
  const TwinKernel<AdmRows> rows_kernel_ = kernels_.add(kernels::adm_rows);
  const TwinKernel<AdmMapRows> map_rows_kernel_ = kernels_.add(kernels::adm_map_rows);
};

}  // namespace

OwnedDeviceTwin adm_hip(const AdmParams& params) { return {std::make_unique<AdmHip>(params, false)}; }
OwnedDeviceTwin adm_mapped_hip(const AdmParams& params) { return {std::make_unique<AdmHip>(params, true)}; }

}  // namespace vmafx
