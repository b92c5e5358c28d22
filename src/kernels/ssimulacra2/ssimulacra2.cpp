#include "kernels/ssimulacra2/ssimulacra2.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <vector>

#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"
#include "kernels/steps/linear_light_of.h"

namespace vmafx {
namespace {

struct Ssimulacra2Scores {
  double ssimulacra2;
};

constexpr FeatureInfo kFeatures[] = {
    read_alone(plain_feature("ssimulacra2", VMAFX_SCORE(Ssimulacra2Scores, ssimulacra2)))};

// -- Score -----------------------------------------------------------------------------------------------------------

/* The weights of the reference, found there by a search on the data sets CID22, TID2013, Kadid10k and KonFiG-IQA. A
 * line for each scale: of the means of ssim, artifact and detail, then of their fourth roots. */
// clang-format off
constexpr double kWeights[108] = {
    // x
    0, 0.0007376606707406586, 0, 0, 0.0007793481682867309, 0,
    0, 0.0004371155730107379, 0, 1.1041726426657346, 0.00066284834129271, 0.00015231632783718752,
    0, 0.0016406437456599754, 0, 1.8422455520539298, 11.441172603757666, 0,
    0.0007989109436015163, 0.000176816438078653, 0, 1.8787594979546387, 10.94906990605142, 0,
    0.0007289346991508072, 0.9677937080626833, 0, 0.00014003424285435884, 0.9981766977854967, 0.00031949755934435053,
    0.0004550992113792063, 0, 0, 0.0013648766163243398, 0, 0,
    // y
    0, 0, 0, 7.466890328078848, 0, 17.445833984131262,
    0.0006235601634041466, 0, 0, 6.683678146179332, 0.00037724407979611296, 1.027889937768264,
    225.20515300849274, 0, 0, 19.213238186143016, 0.0011401524586618361, 0.001237755635509985,
    176.39317598450694, 0, 0, 24.43300999870476, 0.28520802612117757, 0.0004485436923833408,
    0, 0, 0, 34.77906344483772, 44.835625328877896, 0,
    0, 0, 0, 0, 0, 0,
    // b
    0, 0.0008680556573291698, 0, 0, 0, 0,
    0, 0.0005313191874358747, 0, 0.00016533814161379112, 0, 0,
    0, 0, 0, 0.0004179171803251336, 0.0017290828234722833, 0,
    0.0020827005846636437, 0, 0, 8.826982764996862, 23.19243343998926, 0,
    95.1080498811086, 0.9863978034400682, 0.9834382792465353, 0.0012286405048278493,
    171.2667255897307, 0.9807858872435379,
    0, 0, 0, 0.0005130064588990679, 0, 0.00010854057858411537,
};
// clang-format on

/* The weighted errors of all maps. Weights are used up in order, by the scales that are there. */
double weighted(const Ssimulacra2Sums& sums, int w, int h) {
  const int scales = ssimulacra2_scales(w, h);
  double total = 0;
  int weight = 0;
  for (int channel = 0; channel < 3; channel++)
    for (int scale = 0; scale < scales; scale++) {
      const double samples = static_cast<double>(ssimulacra2_size(w, scale)) * ssimulacra2_size(h, scale);
      const auto& maps = sums.map[scale][channel];
      for (const auto& map : maps) total += kWeights[weight++] * (from_fixed<kSsimulacra2SumBits>(map.sum) / samples);
      for (const auto& map : maps) {
        const double mean = map.fourth_powers.value() / kSsimulacra2FourthScale / samples;
        total += kWeights[weight++] * std::sqrt(std::sqrt(mean));
      }
    }
  return total;
}

/* Fitted by the reference to the scale of JPEG qualities. */
double bent(double errors) {
  const double e = errors * 0.9562382616834844;
  const double cubic = 2.326765642916932 * e - 0.020884521182843837 * e * e + 6.248496625763138e-05 * e * e * e;
  return cubic > 0 ? 100.0 - 10.0 * std::pow(cubic, 0.6276336467831387) : 100.0;
}

// -- The extractor ---------------------------------------------------------------------------------------------------

Reads reads_of(const Ssimulacra2Params& params) {
  const unsigned planes = params.has_chroma ? 7 : 1;
  return {.ref = planes, .dist = planes, .whole_chroma = true};
}

class Ssimulacra2 : public Metric<Ssimulacra2Params, Ssimulacra2Sums, Ssimulacra2Scores> {
 public:
  using Metric::Metric;

  Reads reads() const override { return reads_of(params_); }

 private:
  Ssimulacra2Scores scores(const Ssimulacra2Sums& sums) const override {
    return {bent(weighted(sums, params_.w, params_.h))};
  }
};

void run_plain(const Ssimulacra2Params& params, const FrameSet& frames, std::byte* scratch, Ssimulacra2Sums& sums) {
  ssimulacra2_plain(params, frames.ref, frames.dist, scratch, sums);
}

void run_encodes(const Ssimulacra2Params& params, std::span<const FrameSet> frames, std::byte* scratch,
                 std::span<Ssimulacra2Sums* const> sums) {
  const Picture* dists[kMostEncodes];
  for (size_t i = 0; i < frames.size(); i++) dists[i] = &frames[i].dist;
  ssimulacra2_simd(params, frames[0].ref, {dists, frames.size()}, scratch, sums);
}

size_t scratch_bytes_of_one(const Ssimulacra2Params& params) { return ssimulacra2_scratch_bytes_simd(params, 1); }

constexpr Twins<Ssimulacra2Params, Ssimulacra2Sums> kTwins = {
    .plain = {ssimulacra2_scratch_bytes_plain, run_plain},
    .simd = {scratch_bytes_of_one, of_one<run_encodes>, ssimulacra2_scratch_bytes_simd, run_encodes},
    .device = ssimulacra2_hip,
};

Status named(const Status& status) { return error(EINVAL, "ssimulacra2: %s", status.message().c_str()); }

/* The absorbance of cones by linear light of BT.709's primaries. Each row adds up to 1. */
constexpr double kOpsin[3][3] = {
    {0.30, 0.622, 0.078},
    {0.23, 0.692, 0.078},
    {0.24342268924547819, 0.20476744424496821, 1 - 0.24342268924547819 - 0.20476744424496821}};

Created create(const NoOptions&, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const Ssimulacra2Params params, ssimulacra2_params(format));
  return std::unique_ptr<Extractor>(new Ssimulacra2(params, kTwins, kFeatures, placement));
}

// -- Map: what each block adds to the weighted errors ----------------------------------------------------------------

constexpr int kBlockSide = 64;

/* Raw sums: Ssimulacra2Sums, then the blocks' of each scale. On the CPU, the definition makes them. */
class Ssimulacra2Mapping final : public MappingExtractor {
 public:
  Ssimulacra2Mapping(const Ssimulacra2Params& params, Placement placement)
      : MappingExtractor(reads_of(params), {map_of(params)}), params_(params),
        device_twin_(placement == Placement::kDevice ? ssimulacra2_mapped_hip(params).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }
  size_t sums_bytes() const override {
    return sizeof(Ssimulacra2Sums) +
           ssimulacra2_first_block(params_, kSsimulacra2Scales) * sizeof(Ssimulacra2BlockSums);
  }
  size_t scratch_bytes() const override { return ssimulacra2_scratch_bytes_plain(params_); }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    auto& of_frame = *static_cast<Ssimulacra2Sums*>(sums);
    Ssimulacra2Blocks blocks;
    for (int s = 0; s < kSsimulacra2Scales; s++)
      blocks.scale[s] = reinterpret_cast<Ssimulacra2BlockSums*>(&of_frame + 1) + ssimulacra2_first_block(params_, s);
    ssimulacra2_mapped_plain(params_, frames.ref, frames.dist, scratch, of_frame, blocks);
  }
  void read_map(const void* sums, size_t, std::span<double> values) const override;

 private:
  static MapInfo map_of(const Ssimulacra2Params& params) {
    const BlockGrid grid = block_grid(params.w, params.h, kBlockSide);
    return {"ssimulacra2", "weighted errors", grid.w, grid.h, kBlockSide, kBlockSide};
  }

  const Ssimulacra2Params params_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

/* A block's share of weighted() at a scale. Its share of a fourth root is that of the fourth powers. */
double weighted_of_block(const Ssimulacra2BlockSums& block, const Ssimulacra2Sums& all, int scales, int scale,
                         double samples) {
  double total = 0;
  for (int channel = 0; channel < 3; channel++)
    for (int i = 0; i < 3; i++) {
      const double* const weight = kWeights + (channel * scales + scale) * 6 + i;
      total += weight[0] * (from_fixed<kSsimulacra2SumBits>(block.map[channel][i].sum) / samples);
      const double powers = all.map[scale][channel][i].fourth_powers.value();
      if (!(powers > 0)) continue;
      const double root = std::sqrt(std::sqrt(powers / kSsimulacra2FourthScale / samples));
      total += weight[3] * root * (block.map[channel][i].fourth_powers.value() / powers);
    }
  return total;
}

void Ssimulacra2Mapping::read_map(const void* sums, size_t, std::span<double> values) const {
  const auto& of_frame = *static_cast<const Ssimulacra2Sums*>(sums);
  const auto* const blocks = reinterpret_cast<const Ssimulacra2BlockSums*>(&of_frame + 1);
  const int scales = ssimulacra2_scales(params_.w, params_.h);
  std::ranges::fill(values, 0.0);
  for (int scale = 0; scale < scales; scale++) {
    const BlockGrid grid = Ssimulacra2Blocks::grid(params_, scale);
    const double samples = static_cast<double>(ssimulacra2_size(params_.w, scale)) * ssimulacra2_size(params_.h, scale);
    std::vector<double> of_scale;
    for (size_t n = 0; n < grid.blocks(); n++)
      of_scale.push_back(
          weighted_of_block(blocks[ssimulacra2_first_block(params_, scale) + n], of_frame, scales, scale, samples));
    const int side = grid.side << scale;
    spread_blocks({params_.w, params_.h, grid.w, side, side}, of_scale, block_grid(params_.w, params_.h, kBlockSide),
                  values);
  }
}

Created create_mapping(const NoOptions&, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const Ssimulacra2Params params, ssimulacra2_params(format));
  return std::unique_ptr<Extractor>(new Ssimulacra2Mapping(params, placement));
}

}  // namespace

StatusOr<Ssimulacra2Params> ssimulacra2_params(const VideoFormat& format) {
  if (format.w < kSsimulacra2MinSize || format.h < kSsimulacra2MinSize)
    return error(EINVAL, "ssimulacra2: %dx%d is too small; it needs pictures of at least %dx%d", format.w, format.h,
                 kSsimulacra2MinSize, kSsimulacra2MinSize);
  const auto light = picture_light_of(format);
  if (!light.ok()) return named(light.status());
  const auto primaries = primaries_to_bt709(format);
  if (!primaries.ok()) return named(primaries.status());
  Ssimulacra2Params params = {light.value(), {}};
  for (int i = 0; i < 9; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += kOpsin[i / 3][k] * primaries.value()[3 * k + i % 3];
    params.absorbance[i] = static_cast<float>(sum);
  }
  return params;
}

constexpr ExtractorInfo kSsimulacra2Extractor = {
    .name = "ssimulacra2",
    .measures = "quality",
    .help = "SSIMULACRA 2.1, from linear light of the whole picture",
    .range = "up to 100; below 0 for very bad pictures",
    .flags = kHip | kColor | kWholeChroma | kMaps,
    .features = kFeatures,
    .options = {},
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
};

}  // namespace vmafx
