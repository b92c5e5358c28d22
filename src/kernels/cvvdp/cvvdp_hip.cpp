/* The HIP twin of cvvdp: one kernel for all pictures of a batch; then for some frames at a time one for the channels,
 * one for each of the larger levels of the pyramid and one for all the others, one for a few bands at a time, and one
 * for the base; with maps, other ones for the bands and the base. */
#include <algorithm>
#include <span>

#include "kernels/cvvdp/cvvdp.h"
#include "kernels/cvvdp/cvvdp_work.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

/* For the levels of the frames that are worked on at a time: four of 1920x1080, two of 3840x2160. */
constexpr size_t kMostScratch = size_t{720} << 20;

int stride_of(int w) { return static_cast<int>(round_up(static_cast<size_t>(w), kCvvdpRowFloats)); }

/* Gives each band its blocks; returns how many there are. */
unsigned place_blocks(CvvdpBandsWork& work) {
  unsigned blocks = 0;
  for (CvvdpBandWork& band : std::span(work.band, static_cast<size_t>(work.count))) {
    band.first_block = static_cast<int32_t>(blocks);
    blocks += static_cast<unsigned>(band.blocks_across) *
              hip::blocks_for(static_cast<size_t>(band.level.h), static_cast<unsigned>(work.rows));
  }
  return blocks;
}

class CvvdpHip : public DeviceTwin {
 public:
  CvvdpHip(const CvvdpParams& params, bool maps)
      : params_(params), maps_(maps), convert_(kernels_.add(kernels::cvvdp_convert.of(params.bpc))) {}

  size_t converted_bytes() const override {
    return scratch_aligned(sizeof(float) * kCvvdpPlanes * stride_of(params_.w) * static_cast<size_t>(params_.h));
  }

  size_t scratch_bytes(int frames) const override { return frame_bytes() * frames_at_once(frames); }

  Status convert(const DeviceBatch& batch, std::span<const PictureToConvert> pictures) const override {
    CvvdpConvertWork work;
    work.params = params_;
    work.converted = batch.converted.as<float>();
    work.place = static_cast<int64_t>(converted_bytes() / sizeof(float));
    work.stride = stride_of(params_.w);
    std::ranges::copy(pictures, work.picture);
    return convert_.launch(batch,
                           {hip::blocks_for(work.stride, kCvvdpConvertColumns * kCvvdpConvertRun),
                            hip::blocks_for(params_.h, kCvvdpConvertRows), static_cast<unsigned>(pictures.size())},
                           work);
  }

  Status launch(const DeviceBatch& batch) const override {
    const int at_once = frames_at_once(batch.count);
    for (int first = 0; first < batch.count; first += at_once)
      VMAFX_TRY(launch(batch, first, std::min(at_once, batch.count - first)));
    return {};
  }

 private:
  using Levels = CvvdpLevelPlanes[kCvvdpMostBands];

  int frames_at_once(int frames) const {
    return std::min(frames, static_cast<int>(std::clamp<size_t>(kMostScratch / frame_bytes(), 1, kCvvdpFrames)));
  }

  size_t frame_bytes() const {
    Levels levels;
    return lay_out({}, levels);
  }

  /* All levels of a frame, one behind the other; how many bytes they take. */
  size_t lay_out(hip::DevicePtr<std::byte> from, Levels& levels) const {
    ScratchLayout memory(from);
    for (int b = 0; b < params_.bands; b++) {
      CvvdpLevelPlanes& level = levels[b];
      level.w = params_.band[b].w;
      level.h = params_.band[b].h;
      level.stride = stride_of(level.w);
      level.plane = int64_t{level.stride} * level.h;
      level.first = memory.take<float>(static_cast<size_t>(level.plane) * kCvvdpFramePlanes);
    }
    for (CvvdpLevelPlanes& level : levels) level.frame = static_cast<int64_t>(memory.bytes() / sizeof(float));
    return memory.bytes();
  }

  Status launch(const DeviceBatch& batch, int first, int count) const {
    Levels levels;
    lay_out(batch.scratch, levels);
    BatchSums<CvvdpSums> sums = batch.sums_of<CvvdpSums>(static_cast<size_t>(first) * batch.sums_stride);
    VMAFX_TRY(filter(batch, first, count, levels[0]));
    VMAFX_TRY(reduce(batch, count, levels));
    VMAFX_TRY(add_bands(batch, count, levels, sums));
    CvvdpMapBaseWork base;
    static_cast<CvvdpBaseWork&>(base) = {sums, params_, band_work(levels, params_.bands - 1)};
    const hip::Dim grid = {static_cast<unsigned>(count)};
    if (!maps_) return base_.launch(batch, grid, base);
    base.blocks = blocks_behind(sums);
    base.blocks_of = blocks_of(params_.bands - 1);
    return map_base_.launch(batch, grid, base);
  }

  Status filter(const DeviceBatch& batch, int first, int count, const CvvdpLevelPlanes& out) const {
    CvvdpFilterWork work;
    work.converted = batch.converted.as<float>();
    work.place = static_cast<int64_t>(converted_bytes() / sizeof(float));
    work.stride = stride_of(params_.w);
    work.taps = params_.taps;
    work.first = first;
    work.count = count;
    work.places = batch.places;
    work.out = out;
    for (int c = 0; c < kCvvdpChannels; c++)
      std::copy_n(params_.filter[c], params_.taps, work.filter[c] + kCvvdpFrames - 1);
    return filter_.launch(
        batch, {hip::blocks_for(out.w, kCvvdpFilterColumns * kCvvdpRun), hip::blocks_for(out.h, kCvvdpFilterRows), 2},
        work);
  }

  /* Levels whose planes a block's memory holds go on in one launch. */
  Status reduce(const DeviceBatch& batch, int count, const Levels& levels) const {
    const auto planes = static_cast<unsigned>(count) * kCvvdpFramePlanes;
    int b = 1;
    for (; b < params_.bands && levels[b - 1].w * levels[b - 1].h > kCvvdpTopFloats; b++)
      VMAFX_TRY(reduce_.launch(
          batch,
          {hip::blocks_for(levels[b].w, kCvvdpReduceColumns), hip::blocks_for(levels[b].h, kCvvdpReduceRows), planes},
          {levels[b - 1], levels[b]}));
    if (b == params_.bands) return {};
    CvvdpTopWork work;
    work.levels = params_.bands - b;
    std::copy_n(levels + b - 1, work.levels + 1, work.level);
    return top_.launch(batch, {planes}, work);
  }

  static BatchSums<CvvdpBandSums> blocks_behind(const BatchSums<CvvdpSums>& sums) {
    return {sums.first + sizeof(CvvdpSums), sums.stride};
  }

  CvvdpBlocksOfBand blocks_of(int band) const {
    const BlockGrid grid = CvvdpBlocks::grid(params_, band);
    return {grid.side, grid.w, static_cast<int32_t>(cvvdp_first_block(params_, band))};
  }

  CvvdpBandWork band_work(const Levels& levels, int b) const {
    CvvdpBandWork work;
    work.band = b;
    work.level = levels[b];
    if (b + 1 < params_.bands) work.next = levels[b + 1];
    work.blocks_across = static_cast<int32_t>(hip::blocks_for(levels[b].w, kCvvdpBandColumns));
    for (int c = 0; c < kCvvdpChannels; c++) std::ranges::copy(params_.band[b].sensitivity[c], work.sensitivity[c]);
    return work;
  }

  Status add_bands(const DeviceBatch& batch, int count, const Levels& levels, BatchSums<CvvdpSums> sums) const {
    const int bands = params_.bands - 1;
    for (int first = 0; first < bands; first += kCvvdpBandsAtOnce) {
      CvvdpMapBandsWork work;
      work.sums = sums;
      work.count = std::min(kCvvdpBandsAtOnce, bands - first);
      work.masking = params_;
      if (maps_) work.blocks = blocks_behind(sums);
      for (int i = 0; i < work.count; i++) {
        work.band[i] = band_work(levels, first + i);
        work.blocks_of[i] = blocks_of(first + i);
      }
      unsigned blocks = place_blocks(work);
      while (work.rows > kCvvdpLeastBandRows && blocks * static_cast<unsigned>(count) < kCvvdpEnoughBlocks) {
        work.rows /= 2;
        blocks = place_blocks(work);
      }
      const hip::Dim grid = {blocks, 1, static_cast<unsigned>(count)};
      VMAFX_TRY(maps_ ? map_bands_.launch(batch, grid, work) : bands_.launch(batch, grid, work));
    }
    return {};
  }

  const CvvdpParams params_;
  const bool maps_;
  const TwinKernel<CvvdpConvertWork> convert_;
  const TwinKernel<CvvdpFilterWork> filter_ = kernels_.add(kernels::cvvdp_filter);
  const TwinKernel<CvvdpReduceWork> reduce_ = kernels_.add(kernels::cvvdp_reduce);
  const TwinKernel<CvvdpTopWork> top_ = kernels_.add(kernels::cvvdp_top);
  const TwinKernel<CvvdpBandsWork> bands_ = kernels_.add(kernels::cvvdp_bands);
  const TwinKernel<CvvdpBaseWork> base_ = kernels_.add(kernels::cvvdp_base);
  const TwinKernel<CvvdpMapBandsWork> map_bands_ = kernels_.add(kernels::cvvdp_map_bands);
  const TwinKernel<CvvdpMapBaseWork> map_base_ = kernels_.add(kernels::cvvdp_map_base);
};

}  // namespace

OwnedDeviceTwin cvvdp_hip(const CvvdpParams& params) { return {std::make_unique<CvvdpHip>(params, false)}; }
OwnedDeviceTwin cvvdp_mapped_hip(const CvvdpParams& params) { return {std::make_unique<CvvdpHip>(params, true)}; }

}  // namespace vmafx
