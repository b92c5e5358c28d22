/* The HIP twin of cambi: the kernels of cambi.hip, all on all pictures of the batch. */
#include <algorithm>

#include "kernels/cambi/cambi.h"
#include "kernels/cambi/cambi_work.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

CambiResampling resampling_of(int from, int to) {
  CambiResampling resampling;
  if (from == to) return resampling;
  resampling.from = from;
  resampling.stride = (to + kCambiMarks - 1) / kCambiMarks;
  resampling.step = cambi_nearest_step(from, to);
  float at = cambi_nearest_start(from, to);
  for (int i = 0; i < to; i++, at += resampling.step)
    if (i % resampling.stride == 0) resampling.marks[i / resampling.stride] = at;
  return resampling;
}

class CambiHip : public DeviceTwin {
 public:
  CambiHip(const CambiParams& params, const CambiView& dist, const CambiView* ref, const VideoFormat& format, bool maps)
      : params_(params), sides_(ref ? 2 : 1), maps_(maps), grid_(cambi_blocks(dist)) {
    const CambiView& other = ref ? *ref : dist;
    const int window = std::max(dist.window, other.window);
    if (params.levels.diffs == kCambiKnownDiffs && window <= kCambiKeys33.most_window)
      plan_keys(kCambiKeys33, kernels::cambi_keys_33);
    else if (params.levels.diffs == kCambiKnownDiffs && window <= kCambiKeys65.most_window)
      plan_keys(kCambiKeys65, kernels::cambi_keys_65);
    else plan_keys(kCambiKeysAny, kernels::cambi_keys);
    plan(dist, format, work_.side[0]);
    plan(other, format, work_.side[1]);
    work_.params = params;
  }

  size_t scratch_bytes(int frames) const override {
    size_t bytes = 0;
    for (int side = 0; side < sides_; side++) bytes += work_.side[side].picture_bytes * frames;
    return bytes;
  }

  Status launch(const DeviceBatch& batch) const override {
    CambiMapWork work;
    static_cast<CambiWork&>(work) = work_;
    work.luma = batch.planes[0];
    work.scratch = batch.scratch.as<uint8_t>();
    work.sums = batch.sums_of<CambiSums>();
    work.frames = batch.count;
    work.side[1].first_picture = work.side[0].picture_bytes * static_cast<uint64_t>(batch.count);
    const auto pictures = static_cast<unsigned>(batch.count * sides_);

    VMAFX_TRY(prepare_.launch(batch, {most(prepare_tiles), 1, pictures}, work));
    for (work.scale = 0; work.scale < kCambiScales; work.scale++)
      VMAFX_TRY(filter_.launch(batch, filter_grid(work.scale, pictures), work));
    VMAFX_TRY(keys_.launch(batch, {most([](const CambiSide& side) { return side.tiles; }), 1, pictures}, work));
    const unsigned rank_blocks = most([](const CambiSide& side) { return side.rank_blocks; });
    for (const TwinKernel<CambiWork>& rank : rank_) VMAFX_TRY(rank.launch(batch, {rank_blocks, 1, pictures}, work));
    if (!maps_) return {};
    work.blocks = batch.sums_of<CambiBlockSums>(sizeof(CambiSums));
    work.blocks_across = grid_.w;
    work.blocks_of_scale = static_cast<int32_t>(grid_.blocks());
    return blocks_.launch(batch, batch.grid(static_cast<unsigned>(grid_.blocks()), kCambiScales), work);
  }

 private:
  static int prepare_tiles(const CambiSide& side) {
    return static_cast<int>(hip::blocks_for(side.w, kCambiPrepareW) * hip::blocks_for(side.h, kCambiPrepareH));
  }
  template <class Count>
  unsigned most(Count count) const {
    return static_cast<unsigned>(std::max(count(work_.side[0]), count(work_.side[sides_ - 1])));
  }
  hip::Dim filter_grid(int scale, unsigned pictures) const {
    const unsigned w = most([&](const CambiSide& side) { return side.scale[scale].w; });
    const unsigned h = most([&](const CambiSide& side) { return side.scale[scale].h; });
    return {hip::blocks_for(w, kCambiFilterW), hip::blocks_for(h, kCambiFilterH), pictures};
  }

  void plan_keys(const CambiKeysShape& shape, const KernelDeclaration<CambiWork>& kernel) {
    keys_shape_ = shape;
    keys_ = kernels_.add(kernel);
  }

  void plan(const CambiView& view, const VideoFormat& format, CambiSide& side) const {
    side = {};
    side.w = view.w;
    side.h = view.h;
    if (!view.columns.empty()) {
      side.columns = resampling_of(format.w, view.w);
      side.rows = resampling_of(format.h, view.h);
    }
    side.mask_above = view.mask_above;
    side.radius = view.window / 2;
    side.reach = (side.radius + 3) / 4 * 4;
    const int words = (keys_shape_.w + 2 * side.reach) / 4;
    side.tile_rows = side.radius <= 8 ? 16 : 32;
    side.pitch = keys_shape_.pitch ? keys_shape_.pitch : (words + 23) / 32 * 32 + 8;
    side.levels = std::min(keys_shape_.words / side.pitch, kCambiMostLevel) - 2 * params_.levels.diffs;
    side.tabulated = cambi_is_tabulated(view.window);
    side.sum_bits = cambi_sum_bits(view.window);
    plan_scales(view, side);
  }

  void plan_scales(const CambiView& view, CambiSide& side) const {
    ScratchLayout picture;
    for (int scale = 0; scale < kCambiScales; scale++) {
      CambiScalePlanes& planes = side.scale[scale];
      planes.w = view.scale_w(params_, scale);
      planes.h = view.scale_h(params_, scale);
      const int64_t count = int64_t{planes.w} * planes.h;
      planes.wanted = static_cast<uint32_t>(cambi_wanted(count, params_.topk));
      planes.words = picture.reserve(sizeof(uint16_t) * count);
      planes.keys = picture.reserve(sizeof(uint32_t) * count);
      planes.tiles_x = static_cast<int>(hip::blocks_for(planes.w, keys_shape_.w));
      planes.first_tile = side.tiles;
      side.tiles += planes.tiles_x * static_cast<int>(hip::blocks_for(planes.h, side.tile_rows));
      planes.first_rank_block = side.rank_blocks;
      side.rank_blocks += static_cast<int>(hip::blocks_for(count, kCambiRankThreads * kCambiRankKeys));
    }
    side.prepared = side.scale[0].keys;  // read before keys are written
    side.digits = picture.reserve(kCambiScales * kCambiKeyDigits * kCambiDigitValues * sizeof(uint64_t));
    side.picture_bytes = picture.bytes();
  }

  const CambiParams params_;
  const int sides_;
  const bool maps_;
  const BlockGrid grid_;
  CambiKeysShape keys_shape_ = {};
  CambiWork work_ = {};
  TwinKernel<CambiWork> keys_;
  const TwinKernel<CambiWork> prepare_ = kernels_.add(kernels::cambi_prepare.of(params_.bpc));
  const TwinKernel<CambiWork> filter_ = kernels_.add(kernels::cambi_filter);
  const TwinKernel<CambiWork> rank_[kCambiKeyDigits + 1] = {
      kernels_.add(kernels::cambi_digits_0), kernels_.add(kernels::cambi_digits_1),
      kernels_.add(kernels::cambi_digits_2), kernels_.add(kernels::cambi_largest)};
  const TwinKernel<CambiMapWork> blocks_ = kernels_.add(kernels::cambi_blocks);
};

}  // namespace

OwnedDeviceTwin cambi_hip(const CambiParams& params, const CambiView& dist, const CambiView* ref,
                          const VideoFormat& format, bool maps) {
  return {std::make_unique<CambiHip>(params, dist, ref, format, maps)};
}

}  // namespace vmafx
