/* The HIP twin of butteraugli: for each chunk of rows all steps, of the picture and of the one of half the size; at the
 * end the sums, with maps also those of blocks. */
#include <algorithm>
#include <bit>
#include <memory>

#include "kernels/butteraugli/butteraugli.h"
#include "kernels/butteraugli/butteraugli_work.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

namespace lag = butteraugli_lag;

ButteraugliLevelWork level_of(int w, int h) {
  return {.w = w, .h = h, .pitch = static_cast<int32_t>(round_up(static_cast<size_t>(w), 64)), .rings = {}};
}

class ButteraugliHip : public DeviceTwin {
 public:
  ButteraugliHip(const ButteraugliParams& params, bool maps)
      : params_(params), maps_(maps), light_(kernels_.add(kernels::butteraugli_light.of(params.bpc))),
        full_(level_of(params.w, params.h)) {
    if (butteraugli_has_half(params.w, params.h))
      half_ = level_of(butteraugli_half(params.w), butteraugli_half(params.h));
  }

  size_t scratch_bytes(int frames) const override {
    ButteraugliLevelWork full = full_, half = half_;
    return lay_out(frames, full, half);
  }

  Status launch(const DeviceBatch& batch) const override;

 private:
  /* A step, with the rows of light that it has `lag` rows later. */
  struct Step {
    const TwinKernel<ButteraugliStepWork>& kernel;
    int lag;
    int of_each = 1;                          // per pair: its sides, and the planes that are taken one by one
    int thread_columns = 1, thread_rows = 1;  // samples per thread
  };

  static size_t lay_out(int frames, ButteraugliLevelWork& full, ButteraugliLevelWork& half);
  /* Launches the chunk of light from row t on. */
  Status launch_light(const DeviceBatch& batch, const ButteraugliLevelWork& level, int t) const;
  Status launch_steps(const DeviceBatch& batch, ButteraugliStepWork& work, int t) const;

  Status launch_blocks(const DeviceBatch& batch, const ButteraugliWork& full) const;

  const ButteraugliParams params_;
  const bool maps_;
  const TwinKernel<ButteraugliLightWork> light_;
  ButteraugliLevelWork full_, half_;  // without their rings
  const ButteraugliStepWork scales_;  // and nothing else
  const TwinKernel<ButteraugliWork> halve_ = kernels_.add(kernels::butteraugli_halve);
  const TwinKernel<ButteraugliStepWork> xyb_ = kernels_.add(kernels::butteraugli_xyb);
  const TwinKernel<ButteraugliStepWork> xyb_along_ = kernels_.add(kernels::butteraugli_xyb_along);
  const TwinKernel<ButteraugliStepWork> low_ = kernels_.add(kernels::butteraugli_low);
  const TwinKernel<ButteraugliStepWork> rest_along_ = kernels_.add(kernels::butteraugli_rest_along);
  const TwinKernel<ButteraugliStepWork> middle_ = kernels_.add(kernels::butteraugli_middle);
  const TwinKernel<ButteraugliStepWork> highs_along_ = kernels_.add(kernels::butteraugli_highs_along);
  const TwinKernel<ButteraugliStepWork> errors_ = kernels_.add(kernels::butteraugli_errors);
  const TwinKernel<ButteraugliStepWork> active_along_ = kernels_.add(kernels::butteraugli_active_along);
  const TwinKernel<ButteraugliStepWork> activity_ = kernels_.add(kernels::butteraugli_activity);
  const TwinKernel<ButteraugliStepWork> lines_ = kernels_.add(kernels::butteraugli_lines);
  const TwinKernel<ButteraugliStepWork> map_ = kernels_.add(kernels::butteraugli_map);
  const TwinKernel<ButteraugliWork> sums_ = kernels_.add(kernels::butteraugli_sums);
  const TwinKernel<ButteraugliMapWork> blocks_ = kernels_.add(kernels::butteraugli_blocks);
};

// -- Memory -----------------------------------------------------------------------------------------------------------

/* Lays out the rings of a level, whose chunks have so many rows. */
class Rings {
 public:
  Rings(ScratchLayout& memory, const ButteraugliLevelWork& level, int frames, int chunk)
      : memory_(memory), level_(level), frames_(frames), chunk_(chunk) {}

  /* From a step with one lag to that with another, which takes `reach` rows around each. */
  ButteraugliDeviceRing of_sides(int planes, int first, int last, int reach = 0) {
    return take(planes, 2, last - first + reach + chunk_);
  }
  ButteraugliDeviceRing of_pairs(int planes, int first, int last, int reach = 0) {
    return take(planes, 1, last - first + reach + chunk_);
  }
  ButteraugliDeviceRing whole() { return take(1, 1, level_.h); }

 private:
  ButteraugliDeviceRing take(int planes, int sides, int least_rows) {
    const size_t rows = std::bit_ceil(static_cast<size_t>(least_rows)), plane = rows * level_.pitch;
    const size_t begin = memory_.reserve(sizeof(float) * plane * planes * sides * frames_);
    return {static_cast<int64_t>(begin / sizeof(float)), static_cast<int32_t>(rows), planes,
            static_cast<int64_t>(plane)};
  }

  ScratchLayout& memory_;
  const ButteraugliLevelWork& level_;
  const int frames_, chunk_;
};

ButteraugliRings rings_of(Rings memory) {
  ButteraugliRings rings;
  rings.light = memory.of_sides(3, 0, lag::kXyb, kButteraugliLightRadius);
  rings.xyb = memory.of_sides(3, lag::kXyb, lag::kLow);
  rings.xyb_along = memory.of_sides(3, lag::kXyb, lag::kLow, ButteraugliLowBlur::kRadius);
  rings.low = memory.of_sides(3, lag::kLow, lag::kHigh);
  rings.rest = memory.of_sides(3, lag::kLow, lag::kMiddle);
  rings.rest_along = memory.of_sides(3, lag::kLow, lag::kMiddle, ButteraugliMiddleBlur::kRadius);
  rings.middle = memory.of_sides(3, lag::kMiddle, lag::kHigh);
  rings.highs = memory.of_sides(2, lag::kMiddle, lag::kHigh);
  rings.highs_along = memory.of_sides(2, lag::kMiddle, lag::kHigh, ButteraugliHighBlur::kRadius);
  rings.active = memory.of_sides(1, lag::kHigh, lag::kHigh);
  rings.active_along = memory.of_sides(1, lag::kHigh, lag::kActivity, ButteraugliMaskBlur::kRadius);
  rings.activity = memory.of_sides(1, lag::kActivity, lag::kMap, kButteraugliStep);
  rings.low_error = memory.of_pairs(1, lag::kHigh, lag::kMap);
  rings.error = memory.of_pairs(1, lag::kHigh, lag::kMap);
  rings.lines = memory.of_pairs(kButteraugliBands, lag::kHigh, lag::kLines, kButteraugliLineReach);
  rings.map = memory.whole();
  return rings;
}

/* Says where the rings of a batch are; how many bytes they take. */
size_t ButteraugliHip::lay_out(int frames, ButteraugliLevelWork& full, ButteraugliLevelWork& half) {
  ScratchLayout memory;
  full.rings = rings_of({memory, full, frames, kButteraugliChunk});
  if (half.h) half.rings = rings_of({memory, half, frames, kButteraugliChunk / 2});
  return memory.bytes();
}

// -- Launches ---------------------------------------------------------------------------------------------------------

/* Sets the rows of a step; how many blocks make them. */
template <class Work>
hip::Dim rows_of_step(Work& work, const ButteraugliLevelWork& level, int first, int count, int z,
                      int thread_columns = 1, int thread_rows = 1) {
  work.y0 = std::max(first, 0);
  work.y1 = std::min(first + count, level.h);
  const int rows = std::max(work.y1 - work.y0, 0);
  return {hip::blocks_for(static_cast<size_t>(level.w), kButteraugliThreadsX * static_cast<unsigned>(thread_columns)),
          hip::blocks_for(static_cast<size_t>(rows), kButteraugliThreadsY * static_cast<unsigned>(thread_rows)),
          static_cast<unsigned>(z)};
}

Status ButteraugliHip::launch_light(const DeviceBatch& batch, const ButteraugliLevelWork& level, int t) const {
  ButteraugliLightWork work;
  work.scratch = batch.scratch.as<float>();
  work.level = level;
  work.params = params_;
  for (int p = 0; p < (params_.has_chroma ? 3 : 1); p++) work.planes[p] = batch.planes[p];
  const hip::Dim grid = rows_of_step(work, level, t, kButteraugliChunk, 2 * batch.count);
  return grid.y ? light_.launch(batch, grid, work) : Status();
}

Status ButteraugliHip::launch_steps(const DeviceBatch& batch, ButteraugliStepWork& work, int t) const {
  constexpr int kAlong = kButteraugliThreadColumns, kDown = kButteraugliThreadRows;
  const Step steps[] = {{xyb_, lag::kXyb, 2, 1, kDown},
                        {xyb_along_, lag::kXyb, 2, kAlong},
                        {low_, lag::kLow, 2 * 3, 1, kButteraugliLowThreadRows},
                        {rest_along_, lag::kLow, 2, kAlong},
                        {middle_, lag::kMiddle, 2, 1, kDown},
                        {highs_along_, lag::kMiddle, 2, kAlong},
                        {errors_, lag::kHigh, 1, 1, kDown},
                        {active_along_, lag::kHigh, 2, kAlong},
                        {activity_, lag::kActivity, 2, 1, kDown},
                        {lines_, lag::kLines, 1, 1, kDown},
                        {map_, lag::kMap}};
  for (const Step& step : steps) {
    const int z = step.of_each * batch.count;
    const auto rows_of = [&](ButteraugliWork& of, int first, int count) {
      return rows_of_step(of, of.level, first, count, z, step.thread_columns, step.thread_rows);
    };
    hip::Dim grid = rows_of(work.of[0], t - step.lag, kButteraugliChunk);
    const hip::Dim half = rows_of(work.of[1], t / 2 - step.lag, kButteraugliChunk / 2);
    work.of[1].first_block = grid.x;
    grid.x += half.x;
    grid.y = std::max(grid.y, half.y);
    if (grid.y) VMAFX_TRY(step.kernel.launch(batch, grid, work));
  }
  return {};
}

Status ButteraugliHip::launch_blocks(const DeviceBatch& batch, const ButteraugliWork& full) const {
  ButteraugliMapWork work;
  static_cast<ButteraugliWork&>(work) = full;
  const BlockGrid grid = butteraugli_blocks(params_);
  work.blocks = batch.sums_of<ButteraugliRow>(static_cast<size_t>(params_.h) * sizeof(ButteraugliRow));
  work.blocks_across = grid.w;
  return blocks_.launch(batch, {static_cast<unsigned>(grid.blocks()), static_cast<unsigned>(batch.count)}, work);
}

Status ButteraugliHip::launch(const DeviceBatch& batch) const {
  ButteraugliStepWork step = scales_;
  ButteraugliWork& full = step.of[0];
  full.scratch = batch.scratch.as<float>();
  full.level = full_;
  full.half = half_;
  std::ranges::copy(params_.absorbance, full.absorbance);
  full.norm = params_.norm;
  full.version = params_.version;
  full.sums = batch.sums_of<ButteraugliRow>();
  lay_out(batch.count, full.level, full.half);
  step.of[1] = full;
  step.of[1].level = full.half;
  const int end = half_.h ? 2 * (half_.h + lag::kMap) : full_.h + lag::kMap;
  for (int t = 0; t < end; t += kButteraugliChunk) {
    VMAFX_TRY(launch_light(batch, full.level, t));
    const hip::Dim grid = rows_of_step(full, half_, t / 2, kButteraugliChunk / 2, 2 * batch.count);
    if (grid.y) VMAFX_TRY(halve_.launch(batch, grid, full));
    VMAFX_TRY(launch_steps(batch, step, t));
  }
  if (maps_) VMAFX_TRY(launch_blocks(batch, full));
  return sums_.launch(
      batch, {hip::blocks_for(static_cast<size_t>(full_.h), kButteraugliSumRows), static_cast<unsigned>(batch.count)},
      full);
}

}  // namespace

OwnedDeviceTwin butteraugli_hip(const ButteraugliParams& params) {
  return {std::make_unique<ButteraugliHip>(params, false)};
}
OwnedDeviceTwin butteraugli_mapped_hip(const ButteraugliParams& params) {
  return {std::make_unique<ButteraugliHip>(params, true)};
}

}  // namespace vmafx
