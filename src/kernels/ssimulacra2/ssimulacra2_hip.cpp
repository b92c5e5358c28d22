/* Which kernels of ssimulacra2 run, on what planes, in which order: three for each chunk of rows. They take all scales of
 * all frames of the batch. */
#include "kernels/device_twin.h"
#include "kernels/ssimulacra2/ssimulacra2.h"
#include "kernels/ssimulacra2/ssimulacra2_work.h"

namespace vmafx {
namespace {

class Ssimulacra2Hip : public DeviceTwin {
 public:
  explicit Ssimulacra2Hip(const Ssimulacra2Params& params)
      : params_(params), scales_(ssimulacra2_scales(params.w, params.h)) {
    for (int s = 0; s < scales_; s++) {
      Ssimulacra2ScaleWork& scale = scale_[s];
      scale.w = ssimulacra2_size(params.w, s);
      scale.h = ssimulacra2_size(params.h, s);
      scale.quads = static_cast<int32_t>(hip::blocks_for(scale.w, 4));
      scale.rows = kSsimulacra2ChunkRows >> s;
      scale.ring = scale.rows + kSsimulacra2EarlierRows;
      scale.ring_plane = int64_t{4} * scale.quads * scale.ring;
      scale.state_line = 4 * scale.quads;
      add_blocks(scale);
    }
  }

  size_t scratch_bytes(int frames) const override {
    Ssimulacra2ScaleWork scales[kSsimulacra2Scales];
    return lay_out(frames, scales);
  }

  Status launch(const DeviceBatch& batch) const override {
    Ssimulacra2Work work = work_of(batch);
    const unsigned tiles =
        static_cast<unsigned>(work.value_tiles_across) * kSsimulacra2ChunkRows / kSsimulacra2ValueRows;
    for (; work.chunk < work.chunks; work.chunk++) {
      VMAFX_TRY(values_.launch(batch, batch.grid(tiles, 2), work));
      VMAFX_TRY(rows_.launch(batch, batch.grid(row_blocks_), work));
      VMAFX_TRY(columns_.launch(batch, batch.grid(column_blocks_), work));
    }
    return {};
  }

 private:
  void add_blocks(Ssimulacra2ScaleWork& scale) {
    constexpr int kPlanes = kSsimulacra2Channels * kSsimulacra2Streams;
    scale.first_row_block = static_cast<int32_t>(row_blocks_);
    scale.first_column_block = static_cast<int32_t>(column_blocks_);
    row_blocks_ += hip::blocks_for(kPlanes * scale.rows, kSsimulacra2RowThreads);
    column_blocks_ += hip::blocks_for(scale.w, kSsimulacra2ColumnThreads);
  }

  /* Says where the planes of a batch are; how many bytes they take. */
  size_t lay_out(int frames, Ssimulacra2ScaleWork (&scales)[kSsimulacra2Scales]) const {
    constexpr int kPlanes = kSsimulacra2Channels * kSsimulacra2Streams;
    ScratchLayout memory;
    const auto take = [&](int64_t count) {
      return static_cast<int64_t>(memory.reserve(sizeof(float) * count * frames) / sizeof(float));
    };
    for (int s = 0; s < scales_; s++) {
      scales[s] = scale_[s];
      scales[s].values = take(2 * kSsimulacra2Channels * scale_[s].ring_plane);
      scales[s].blurred = take(kPlanes * scale_[s].ring_plane);
      scales[s].states = take(2 * kSsimulacra2Sections * kPlanes * scale_[s].state_line);
    }
    return memory.bytes();
  }

  Ssimulacra2Work work_of(const DeviceBatch& batch) const {
    Ssimulacra2Work work;
    for (int p = 0; p < (params_.has_chroma ? 3 : 1); p++) work.planes[p] = batch.planes[p];
    work.scratch = batch.scratch.as<float>();
    work.sums = batch.sums_of<Ssimulacra2Sums>();
    work.params = params_;
    work.chroma_w = params_.across.halved ? params_.w / 2 : params_.w;
    work.chroma_h = params_.down.halved ? params_.h / 2 : params_.h;
    work.scales = scales_;
    work.value_tiles_across = static_cast<int32_t>(hip::blocks_for(params_.w, kSsimulacra2ValueColumns));
    work.chunks = static_cast<int32_t>(hip::blocks_for(params_.h, kSsimulacra2ChunkRows));
    lay_out(batch.count, work.scale);
    return work;
  }

  const Ssimulacra2Params params_;
  const int scales_;
  Ssimulacra2ScaleWork scale_[kSsimulacra2Scales] = {};
  unsigned row_blocks_ = 0, column_blocks_ = 0;
  const TwinKernel<Ssimulacra2Work> values_ = kernels_.add(kernels::ssimulacra2_values.of(params_.bpc));
  const TwinKernel<Ssimulacra2Work> rows_ = kernels_.add(kernels::ssimulacra2_rows);
  const TwinKernel<Ssimulacra2Work> columns_ = kernels_.add(kernels::ssimulacra2_columns);
};

}  // namespace

std::unique_ptr<DeviceTwin> ssimulacra2_hip(const Ssimulacra2Params& params) {
  return std::make_unique<Ssimulacra2Hip>(params);
}

}  // namespace vmafx
