/* The HIP twin of ssimulacra2: three kernels for each chunk of rows, of which another one goes down the columns with
 * maps. They take all scales of all frames of the batch. */
#include <bit>
#include <span>

#include "kernels/device_twin.h"
#include "kernels/ssimulacra2/ssimulacra2.h"
#include "kernels/ssimulacra2/ssimulacra2_work.h"

namespace vmafx {
namespace {

constexpr int kPlanes = kSsimulacra2Channels * kSsimulacra2Streams;

class Ssimulacra2Hip : public DeviceTwin {
 public:
  Ssimulacra2Hip(const Ssimulacra2Params& params, bool maps)
      : maps_(maps), values_(kernels_.add(kernels::ssimulacra2_values.of(params.bpc))) {
    work_.params = params;
    work_.scales = ssimulacra2_scales(params.w, params.h);
    work_.value_tiles_across = static_cast<int32_t>(hip::blocks_for(params.w, kSsimulacra2ValueColumns));
    work_.chunks = static_cast<int32_t>(hip::blocks_for(params.h, kSsimulacra2ChunkRows));
    for (int s = 0; s < work_.scales; s++) {
      Ssimulacra2ScaleWork& scale = work_.scale[s];
      scale.w = ssimulacra2_size(params.w, s);
      scale.h = ssimulacra2_size(params.h, s);
      scale.stride = static_cast<int32_t>(hip::blocks_for(scale.w, kSsimulacra2TileColumns)) * kSsimulacra2TileColumns;
      scale.rows_log2 = std::countr_zero(unsigned{kSsimulacra2ChunkRows}) - s;
      scale.rows = 1 << scale.rows_log2;
      scale.ring = scale.rows + kSsimulacra2EarlierRows;
      scale.ring_plane = int64_t{scale.stride} * scale.ring;
      scale.state_line = scale.stride;
      scale.first_row_block = static_cast<int32_t>(row_blocks_);
      scale.first_column_block = static_cast<int32_t>(column_blocks_);
      row_blocks_ += hip::blocks_for(kSsimulacra2Channels * scale.rows, kSsimulacra2Lines);
      column_blocks_ += hip::blocks_for(scale.w, kSsimulacra2ColumnThreads);
      const BlockGrid grid = Ssimulacra2Blocks::grid(params, s);
      work_.block_side[s] = grid.side;
      work_.blocks_across[s] = grid.w;
      work_.first_block[s] = static_cast<int32_t>(ssimulacra2_first_block(params, s));
    }
  }

  size_t scratch_bytes(int frames) const override {
    Ssimulacra2Work work = work_;
    return lay_out(frames, work);
  }

  Status launch(const DeviceBatch& batch) const override {
    Ssimulacra2MapWork work = work_;
    for (int p = 0; p < (work.params.has_chroma ? 3 : 1); p++) work.planes[p] = batch.planes[p];
    work.scratch = batch.scratch.as<float>();
    work.sums = batch.sums_of<Ssimulacra2Sums>();
    if (maps_) work.blocks = batch.sums_of<Ssimulacra2BlockSums>(sizeof(Ssimulacra2Sums));
    lay_out(batch.count, work);
    const unsigned tiles =
        static_cast<unsigned>(work.value_tiles_across) * kSsimulacra2ChunkRows / kSsimulacra2ValueRows;
    const auto frames = static_cast<unsigned>(batch.count);
    for (; work.chunk < work.chunks; work.chunk++) {
      for (Ssimulacra2ScaleWork& scale : work.scale)
        if (scale.ring > 0) scale.first_slot = work.chunk * scale.rows % scale.ring;
      VMAFX_TRY(values_.launch(batch, {frames, 2, tiles}, work));
      VMAFX_TRY(rows_.launch(batch, {frames, 1, row_blocks_}, work));
      const hip::Dim columns = {frames, kSsimulacra2Channels, column_blocks_};
      VMAFX_TRY(maps_ ? map_columns_.launch(batch, columns, work) : columns_.launch(batch, columns, work));
    }
    return {};
  }

 private:
  /* Says where the planes of a batch are; how many bytes they take. */
  static size_t lay_out(int frames, Ssimulacra2Work& work) {
    ScratchLayout memory;
    const auto take = [&](int64_t count) {
      return static_cast<int64_t>(memory.reserve(sizeof(float) * count * frames) / sizeof(float));
    };
    for (Ssimulacra2ScaleWork& scale : std::span(work.scale).first(work.scales)) {
      scale.values = take(2 * kSsimulacra2Channels * scale.ring_plane);
      scale.blurred = take(kPlanes * scale.ring_plane);
      scale.states = take(2 * kSsimulacra2Sections * kPlanes * scale.state_line);
    }
    return memory.bytes();
  }

  const bool maps_;
  Ssimulacra2MapWork work_;  // but for what belongs to a batch
  unsigned row_blocks_ = 0, column_blocks_ = 0;
  const TwinKernel<Ssimulacra2Work> values_;
  const TwinKernel<Ssimulacra2Work> rows_ = kernels_.add(kernels::ssimulacra2_rows);
  const TwinKernel<Ssimulacra2Work> columns_ = kernels_.add(kernels::ssimulacra2_columns);
  const TwinKernel<Ssimulacra2MapWork> map_columns_ = kernels_.add(kernels::ssimulacra2_map_columns);
};

}  // namespace

OwnedDeviceTwin ssimulacra2_hip(const Ssimulacra2Params& params) {
  return {std::make_unique<Ssimulacra2Hip>(params, false)};
}
OwnedDeviceTwin ssimulacra2_mapped_hip(const Ssimulacra2Params& params) {
  return {std::make_unique<Ssimulacra2Hip>(params, true)};
}

}  // namespace vmafx
