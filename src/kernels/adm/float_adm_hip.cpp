/* The HIP twin of float_adm: one kernel for each scale, from the finest on, and with maps one more for its blocks. */
#include <algorithm>
#include <optional>

#include "kernels/adm/adm_pass.h"
#include "kernels/adm/float_adm.h"
#include "kernels/adm/float_adm_work.h"
#include "kernels/device_twin.h"
#include "kernels/steps/block_sums_hip.h"
#include "kernels/steps/row_sums_hip.h"

namespace vmafx {
namespace {

/* The tiles of a scale in one direction. */
struct Tiling {
  int first = 0, count = 0;
};

/* Tiles that write [made.begin, made.end) of the band a and score [from, to); one of them may be empty. The first
 * begins at an even place. */
Tiling make_tiling(Interval made, int from, int to, int step) {
  const bool makes = made.begin < made.end, scores = from < to;
  int first = makes ? made.begin : from - 1, last = makes ? made.end : to - 1;
  if (makes && scores) {
    first = std::min(first, from - 1);
    last = std::max(last, to - 1);
  }
  Tiling tiling;
  tiling.first = first & ~1;
  tiling.count = (last - tiling.first + step - 1) / step;
  return tiling;
}

class FloatAdmHip : public DeviceTwin {
 public:
  FloatAdmHip(const FloatAdmParams& params, bool maps)
      : cubes_(params.cubes()),
        samples_(kernels_.add((cubes_ ? kernels::float_adm : kernels::float_adm_powers).of(params.bpc))),
        bands_(kernels_.add(cubes_ ? kernels::float_adm_bands : kernels::float_adm_powers_bands)) {
    AdmNeeds needs[kAdmScales];
    for (int s = kAdmScales - 1; s >= 0; s--) {
      const bool scored = s > 0 || !params.skip_scale0;
      needs[s] = adm_needs(params.scale[s], scored, s + 1 < kAdmScales ? &needs[s + 1] : nullptr);
    }
    for (int s = 0; s < kAdmScales; s++) plan_scale(params, s, needs[s]);
    if (!maps || !cubes_) return;
    block_sums_.emplace(kernels_);
    for (int s = 0; s < kAdmScales; s++)
      first_block_[s] = params.sums_bytes() + float_adm_first_block(params, s) * sizeof(FloatAdmBlockSums);
  }

  size_t scratch_bytes(int frames) const override {
    ScratchLayout memory;
    memory.reserve(row_sums_.scratch_bytes(frames));
    for (int s = 0; s < kAdmScales; s++) take_bands(s, frames, memory);
    return memory.bytes();
  }

  Status launch(const DeviceBatch& batch) const override {
    ScratchLayout memory(batch.scratch);
    const auto rows = memory.take<std::byte>(row_sums_.scratch_bytes(batch.count));
    PlanePairs<float> bands;
    for (int s = 0; s < kAdmScales; s++) {
      FloatAdmStage stage = stages_[s];
      stage.from.planes = bands;
      stage.to.planes = bands = take_bands(s, batch.count, memory);
      stage.luma = batch.planes[0];
      if (!cubes_) stage.sums = batch.sums_of<FloatAdmPowerSums>(s * sizeof(FloatAdmPowerSums));
      if (cubes_ && stage.scored) stage.values = row_sums_.values(parts_[s], rows);
      VMAFX_TRY((s == 0 ? samples_ : bands_).launch(batch, batch.grid(tiles_[s][0], tiles_[s][1]), stage));
      if (!cubes_ || !stage.scored) continue;
      if (block_sums_) VMAFX_TRY(add_blocks(batch, s, stage));
      VMAFX_TRY(row_sums_.add_rows(batch, parts_[s], rows));
    }
    return cubes_ ? row_sums_.add_sums(batch, rows) : Status();
  }

 private:
  /* The bands a; the last scale has none. */
  PlanePairs<float> take_bands(int s, int frames, ScratchLayout& memory) const {
    const FloatAdmBand& to = stages_[s].to;
    return memory.take_pairs<float>(round_up(to.x.end - to.first_x, 4), to.y.end - to.y.begin, frames);
  }

  Status add_blocks(const DeviceBatch& batch, int index, const FloatAdmStage& stage) const {
    const FloatAdmScale& scale = stage.scale;
    const BlockGrid grid = FloatAdmBlocks::grid(scale, index);
    const BlocksOfValues blocks = {grid.side, grid.w, grid.h, stage.columns.begin, scale.top, scale.left, scale.right};
    return block_sums_->add(batch, stage.values, blocks, 0, kFloatAdmKinds * kAdmBands, first_block_[index]);
  }

  void plan_scale(const FloatAdmParams& params, int index, const AdmNeeds& needs) {
    FloatAdmStage& stage = stages_[index];
    const FloatAdmScale& scale = stage.scale = params.scale[index];
    stage.scored = index > 0 || !params.skip_scale0;
    stage.makes_a = index + 1 < kAdmScales;
    stage.masked = params.masked;
    stage.gain_limit = params.gain_limit;
    stage.p_norm = static_cast<float>(params.p_norm);
    if (stage.scored) {
      const int begin = scale.left & ~1;
      stage.columns = {begin, begin + static_cast<int>(round_up(scale.right - begin, 4))};
    }
    if (cubes_ && stage.scored)
      parts_[index] =
          row_sums_.add_part(stage.columns.end - stage.columns.begin, scale.bottom - scale.top,
                             kFloatAdmKinds * kAdmBands, float_adm_sum_index(0, index, 0) * sizeof(uint64_t));
    stage.sample_scale = 1.0f / static_cast<float>(1 << (params.bpc - 8));
    if (index == 0) {
      stage.from.x = {0, scale.in_w};
      stage.from.y = {0, scale.in_h};
    } else {
      stage.from = stages_[index - 1].to;
    }
    const Interval nothing = {0, 0};
    const Tiling x =
        make_tiling(stage.makes_a ? needs.cols : nothing, stage.columns.begin, stage.columns.end, kFloatAdmStepX);
    const Tiling y = make_tiling(stage.makes_a ? needs.rows : nothing, stage.scored ? scale.top : 0,
                                 stage.scored ? scale.bottom : 0, kFloatAdmStepY);
    stage.first_x = x.first;
    stage.first_y = y.first;
    tiles_[index][0] = static_cast<unsigned>(x.count);
    tiles_[index][1] = static_cast<unsigned>(y.count);
    if (!stage.makes_a) return;
    FloatAdmBand& to = stage.to;
    to.x = {std::max(x.first, 0), std::min(x.first + x.count * kFloatAdmStepX, scale.w)};
    to.y = {std::max(y.first, 0), std::min(y.first + y.count * kFloatAdmStepY, scale.h)};
    to.first_x = to.x.begin & ~3;
  }

  const bool cubes_;
  FloatAdmStage stages_[kAdmScales];
  unsigned tiles_[kAdmScales][2] = {};
  RowSumsDevice row_sums_{kernels_};
  int parts_[kAdmScales] = {};                 // numbers of the parts of the sums
  std::optional<BlockSumsDevice> block_sums_;  // with maps
  size_t first_block_[kAdmScales] = {};        // bytes
  const TwinKernel<FloatAdmStage> samples_, bands_;
};

}  // namespace

OwnedDeviceTwin float_adm_hip(const FloatAdmParams& params) { return {std::make_unique<FloatAdmHip>(params, false)}; }
OwnedDeviceTwin float_adm_mapped_hip(const FloatAdmParams& params) {
  return {std::make_unique<FloatAdmHip>(params, true)};
}

}  // namespace vmafx
