#include "kernels/vif/vif.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"
#include "kernels/vif/vif_scores.h"

namespace vmafx {
namespace {

constexpr OptionInfo kOptions[] = {
    scoring(adding(
        option<&VifOptions::debug>("debug", nullptr, "also provide integer_vif and the num and den of every scale"))),
    kVifGainLimit<VifOptions>,
    kVifSkipScale0<VifOptions>,
};

constexpr FeatureInfo kFeatures[] = {VMAFX_VIF_FEATURES("integer_")};

/* The numerator and denominator of one scale are floats, and so is their quotient, as in libvmaf. */
struct FloatRatio {
  float num, den;
};
FloatRatio ratio(const VifScaleSums& s) {
  const double non_log = s.den_non_log - (s.num_non_log / 16384.0) / 65025.0;
  return {static_cast<float>(s.num_log / 2048.0 + non_log), static_cast<float>(s.den_log / 2048.0 + s.den_non_log)};
}

/* The blocks of a scale, in sums with maps: they follow VifSums. */
BlockGrid grid_of(const VifParams& params) { return block_grid(params.w, params.h, kVifBlockSide); }
const VifScaleSums* blocks_of(const VifParams& params, const void* sums, int scale) {
  return reinterpret_cast<const VifScaleSums*>(static_cast<const VifSums*>(sums) + 1) +
         static_cast<size_t>(scale) * grid_of(params).blocks();
}

/* den - num, in bits. */
double lost(const VifScaleSums& block) {
  return static_cast<double>(block.den_log - block.num_log) / 2048 +
         static_cast<double>(block.num_non_log) / 16384 / 65025;
}

double den_of(const VifScaleSums& block) { return static_cast<double>(block.den_log) / 2048 + block.den_non_log; }

class Vif : public Metric<VifParams, VifSums, VifScores> {
 public:
  using Metric::Metric;

  bool read_deviation(const void* sums, ScoreId score, size_t map, std::span<double> values) const override {
    const int scale = static_cast<int>(map) + params_.skip_scale0;
    if (score != kFeatures[scale].score) return false;
    const VifScaleSums* const blocks = blocks_of(params_, sums, scale);
    const double den = ratio(static_cast<const VifSums*>(sums)->scale[scale]).den;
    for (size_t n = 0; n < values.size(); n++) values[n] = lost(blocks[n]) / den;
    return true;
  }

  double score_region(const void* sums, ScoreId score, BlockShares shares) const override {
    const int scale = vif_scale_of(kFeatures, score), map = scale - params_.skip_scale0;
    if (map < 0) return kVifSkipped.score;
    const VifScaleSums* const blocks = blocks_of(params_, sums, scale);
    return vif_of_region(
        shares[map], [blocks](size_t n) { return lost(blocks[n]); }, [blocks](size_t n) { return den_of(blocks[n]); });
  }

 private:
  VifScores scores(const VifSums& sums) const override {
    VifRatio scales[kVifScales];
    for (int s = 0; s < kVifScales; s++) {
      const auto [num, den] = ratio(sums.scale[s]);
      scales[s] = {num, den, num / den};
    }
    return vif_scores(scales, params_.skip_scale0);
  }
};

constexpr Twins<VifParams, VifSums> kTwins = {
    .plain = {vif_scratch_bytes_plain, on_luma<vif_plain>},
    .simd = {vif_scratch_bytes_simd, on_luma<vif_simd>, vif_encodes_scratch_bytes_simd,
             on_luma_of_encodes<vif_encodes_simd>},
    .device = vif_hip,
};

StatusOr<VifParams> params_of(const VifOptions& options, const VideoFormat& format) {
  if (format.w < kVifMinSize || format.h < kVifMinSize)
    return error(EINVAL, "vif: %dx%d is too small; its coarsest scale needs pictures of at least %dx%d", format.w,
                 format.h, kVifMinSize, kVifMinSize);
  return VifParams{format.w, format.h, format.bpc, options.gain_limit, options.skip_scale0};
}

Created create(const VifOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const VifParams params, params_of(options, format));
  return std::unique_ptr<Extractor>(new Vif(params, kTwins, vif_provided(kFeatures, options.debug), placement));
}

/* -- Maps: the information that is lost, den - num of each block --------------------------------------------------- */

std::vector<MapInfo> maps_of(const VifParams& params) {
  constexpr const char* kNames[] = {"vif_scale0", "vif_scale1", "vif_scale2", "vif_scale3"};
  const BlockGrid grid = grid_of(params);
  std::vector<MapInfo> maps;
  for (const char* name : std::span(kNames).subspan(params.skip_scale0))
    maps.push_back({name, "lost information, bits", grid.w, grid.h, grid.side, grid.side});
  return maps;
}

/* Raw sums: VifSums, then the blocks' of each scale. */
class VifMapping final : public MappingExtractor {
 public:
  VifMapping(const VifParams& params, Placement placement)
      : MappingExtractor({}, maps_of(params)), params_(params),
        device_twin_(placement == Placement::kDevice ? vif_mapped_hip(params).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }

  size_t sums_bytes() const override {
    return sizeof(VifSums) + kVifScales * grid_of(params_).blocks() * sizeof(VifScaleSums);
  }
  size_t scratch_bytes() const override {
    return use_plain_cpu() ? vif_scratch_bytes_plain(params_) : vif_scratch_bytes_simd(params_);
  }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    auto& of_frame = *static_cast<VifSums*>(sums);
    VifBlocks blocks = {{}, grid_of(params_)};
    for (int s = 0; s < kVifScales; s++)
      blocks.scale[s] = reinterpret_cast<VifScaleSums*>(&of_frame + 1) + s * blocks.grid.blocks();
    const auto twin = use_plain_cpu() ? vif_mapped_plain : vif_mapped_simd;
    twin(params_, frames.ref.plane[0], frames.dist.plane[0], scratch, of_frame, blocks);
  }
  void read_map(const void* sums, size_t map, std::span<double> values) const override {
    const VifScaleSums* const blocks = blocks_of(params_, sums, static_cast<int>(map) + params_.skip_scale0);
    std::transform(blocks, blocks + values.size(), values.begin(), lost);
  }

 private:
  const VifParams params_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

Created create_mapping(const VifOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const VifParams params, params_of(options, format));
  return std::unique_ptr<Extractor>(new VifMapping(params, placement));
}

}  // namespace

constexpr ExtractorInfo kVifExtractor = {
    .name = "vif",
    .measures = "information",
    .help = "visual information fidelity at four scales, integer arithmetic",
    .range = "0 to 1; more where contrast is raised",
    .flags = kHip | kMaps,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
};

}  // namespace vmafx
