#include "kernels/ciede/ciede.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <vector>

#include "kernels/arithmetic/fixed.h"
#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"

namespace vmafx {
namespace {

struct CiedeScores {
  double ciede2000;
};

constexpr FeatureInfo kFeatures[] = {
    of_regions(read_alone(plain_feature("ciede2000", VMAFX_SCORE(CiedeScores, ciede2000))))};

CiedeParams params_of(const VideoFormat& format) {
  CiedeParams params;
  params.column_shift = format.chroma != Chroma::k444;
  params.row_shift = format.chroma == Chroma::k420;
  const int unit = 1 << (format.bpc - 8);
  params.bpc = format.bpc;
  params.w = format.w;
  params.h = format.h;
  params.chroma_w = format.plane_w(1);
  params.chroma_h = format.plane_h(1);
  params.luma_zero = static_cast<float>(16 * unit);
  params.luma_scale = 1. / (219 * unit) / 1.055;
  params.chroma_zero = static_cast<float>(128 * unit);
  params.chroma_scale = 1. / (224 * unit) / 1.055;
  return params;
}

BlockGrid grid_of(const CiedeParams& params) { return block_grid(params.w, params.h, kCiedeBlockSide); }

/* The blocks' sums, in sums with maps: they follow CiedeSums. */
const int64_t* blocks_of(const void* sums) {
  return reinterpret_cast<const int64_t*>(static_cast<const CiedeSums*>(sums) + 1);
}

class Ciede : public Metric<CiedeParams, CiedeSums, CiedeScores> {
 public:
  using Metric::Metric;

  Reads reads() const override { return {.ref = 7, .dist = 7}; }

  double score_region(const void* sums, ScoreId, BlockShares shares) const override {
    const auto difference = [blocks = blocks_of(sums)](size_t n) { return from_fixed<kCiedeSumBits>(blocks[n]); };
    return score_of(sum_region(grid_of(params_), params_.w, params_.h, shares[0], difference).mean());
  }

 private:
  CiedeScores scores(const CiedeSums& sums) const override {
    const double pixels = static_cast<double>(params_.w) * params_.h;
    return {score_of(from_fixed<kCiedeSumBits>(sums.difference) / pixels)};
  }
  static double score_of(double mean) { return 45 - 20 * std::log10(mean); }
};

size_t scratch_bytes(const CiedeParams& params) { return ciede_scratch_bytes(params.w); }

template <auto sum>
void run(const CiedeParams& params, const FrameSet& frames, std::byte* scratch, CiedeSums& sums) {
  sums.difference = sum(params, frames.ref, frames.dist, scratch);
}

constexpr Twins<CiedeParams, CiedeSums> kTwins = {
    .plain = {scratch_bytes, run<ciede_plain>},
    .simd = {scratch_bytes, run<ciede_simd>},
    .device = ciede_hip,
};

Status check_format(const VideoFormat& format) {
  if (format.planes() < 3 || format.plane_w(1) < 1 || format.plane_h(1) < 1)
    return error(EINVAL, "ciede: it compares colors, and %dx%d of this format has no chroma planes", format.w,
                 format.h);
  return {};
}

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  VMAFX_TRY(check_format(format));
  return std::unique_ptr<Extractor>(new Ciede(params_of(format), kTwins, kFeatures, placement));
}

/* -- Maps: the differences of each block --------------------------------------------------------------------------- */

/* Raw sums: CiedeSums, then the blocks'. */
class CiedeMapping final : public MappingExtractor {
 public:
  CiedeMapping(const CiedeParams& params, Placement placement)
      : MappingExtractor({.ref = 7, .dist = 7}, {map_of(params)}), params_(params),
        device_twin_(placement == Placement::kDevice ? ciede_mapped_hip(params).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }
  size_t sums_bytes() const override { return sizeof(CiedeSums) + grid_of(params_).blocks() * sizeof(int64_t); }
  size_t scratch_bytes() const override { return ciede_scratch_bytes(kCiedeBlockSide); }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override;
  void read_map(const void* sums, size_t, std::span<double> values) const override {
    const int64_t* const blocks = blocks_of(sums);
    std::transform(blocks, blocks + values.size(), values.begin(), from_fixed<kCiedeSumBits>);
  }

 private:
  static MapInfo map_of(const CiedeParams& params) {
    const BlockGrid grid = grid_of(params);
    return {"ciede2000", "color difference", grid.w, grid.h, kCiedeBlockSide, kCiedeBlockSide};
  }
  Picture block(const Picture& picture, size_t n) const;

  const CiedeParams params_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

/* Blocks of chroma lie where those of luma do. */
Picture CiedeMapping::block(const Picture& picture, size_t n) const {
  const BlockGrid grid = grid_of(params_);
  const size_t x = n % static_cast<size_t>(grid.w), y = n / static_cast<size_t>(grid.w);
  Picture block = {picture.bpc, {block_of(picture.plane[0], grid, n, params_.bpc)}};
  for (int p = 1; p < 3; p++) {
    const SamplePlane& plane = picture.plane[p];
    const int w = kCiedeBlockSide >> params_.column_shift, h = kCiedeBlockSide >> params_.row_shift;
    /* A last odd column or row of luma has no chroma of its own: its block begins with its neighbor's. */
    const int left = std::min(static_cast<int>(x) * w, plane.w - 1),
              top = std::min(static_cast<int>(y) * h, plane.h - 1);
    const auto* const row = static_cast<const std::byte*>(plane.data) + top * plane.stride;
    block.plane[p] = {row + static_cast<ptrdiff_t>(left) * (params_.bpc > 8 ? 2 : 1), plane.stride,
                      std::min(w, plane.w - left), std::min(h, plane.h - top)};
  }
  return block;
}

void CiedeMapping::extract(const FrameSet& frames, std::byte* scratch, void* sums) const {
  auto& of_frame = *static_cast<CiedeSums*>(sums);
  auto* const blocks = reinterpret_cast<int64_t*>(&of_frame + 1);
  const auto twin = use_plain_cpu() ? ciede_plain : ciede_simd;
  for (size_t n = 0; n < grid_of(params_).blocks(); n++) {
    const Picture ref = block(frames.ref, n), dist = block(frames.dist, n);
    CiedeParams params = params_;
    params.w = ref.plane[0].w;
    params.h = ref.plane[0].h;
    params.chroma_w = ref.plane[1].w;
    params.chroma_h = ref.plane[1].h;
    blocks[n] = twin(params, ref, dist, scratch);
    of_frame.difference += blocks[n];
  }
}

Created create_mapping(const NoOptions&, const VideoFormat& format, Placement placement) {
  VMAFX_TRY(check_format(format));
  return std::unique_ptr<Extractor>(new CiedeMapping(params_of(format), placement));
}

}  // namespace

constexpr ExtractorInfo kCiedeExtractor = {
    .name = "ciede",
    .measures = "color",
    .help = "color difference CIEDE2000",
    .range = "up to 100",
    .flags = kHip | kMaps,
    .features = kFeatures,
    .options = {},
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
};

}  // namespace vmafx
