#include "kernels/adm/float_adm.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <vector>

#include "kernels/adm/adm_csf.h"
#include "kernels/adm/adm_scores.h"
#include "kernels/arithmetic/fixed.h"
#include "kernels/device_twin.h"
#include "kernels/maps.h"
#include "kernels/metric.h"
#include "kernels/steps/row_sums.h"

namespace vmafx {
namespace {

struct FloatAdmOptions : AdmSharedOptions {
  int bypass_cm = 0, skip_aim_scale = -1;
  bool adm3_apply_hm = false;
  double p_norm = 3;
  double f1s0 = -1, f1s1 = -1, f1s2 = -1, f1s3 = -1, f2s0 = -1, f2s1 = -1, f2s2 = -1, f2s3 = -1;
};
using Shared = AdmOption<FloatAdmOptions>;

constexpr OptionInfo kOptions[] = {
    Shared::debug("also provide adm and the num and den of every scale"),
    Shared::kGainLimit,
    Shared::kViewDist,
    Shared::kNoiseWeight,
    Shared::kCsfScale,
    Shared::kCsfDiagScale,
    Shared::display_height("rdf"),
    Shared::csf_mode(9, "contrast sensitivity: 1 Barten, 2 that of the ADM paper, any other Watson 1997"),
    option<&FloatAdmOptions::bypass_cm>("adm_bypass_cm", "bcm", 0, 1, "1: no contrast masking"),
    scoring(option<&FloatAdmOptions::adm3_apply_hm>("adm_adm3_apply_hm", "aah",
                                                    "adm3 is the harmonic mean of adm2 and aim")),
    option<&FloatAdmOptions::p_norm>("adm_p_norm", "apn", 1, 20, "p of the norm over a band's coefficients"),
    Shared::kDlmWeight,
    Shared::kMinVal,
    option<&FloatAdmOptions::f1s0>("adm_f1s0", "f1s0", -1, 10,
                                   "sensitivity of the horizontal and vertical bands of scale 0, if not negative"),
    option<&FloatAdmOptions::f1s1>("adm_f1s1", "f1s1", -1, 10, "the same of scale 1"),
    option<&FloatAdmOptions::f1s2>("adm_f1s2", "f1s2", -1, 10, "the same of scale 2"),
    option<&FloatAdmOptions::f1s3>("adm_f1s3", "f1s3", -1, 10, "the same of scale 3"),
    option<&FloatAdmOptions::f2s0>("adm_f2s0", "f2s0", -1, 10,
                                   "sensitivity of the diagonal band of scale 0, if not negative"),
    option<&FloatAdmOptions::f2s1>("adm_f2s1", "f2s1", -1, 10, "the same of scale 1"),
    option<&FloatAdmOptions::f2s2>("adm_f2s2", "f2s2", -1, 10, "the same of scale 2"),
    option<&FloatAdmOptions::f2s3>("adm_f2s3", "f2s3", -1, 10, "the same of scale 3"),
    scoring(
        option<&FloatAdmOptions::skip_aim_scale>("adm_skip_aim_scale", "sasc", 0, 3, "leave this scale out of aim")),
    Shared::kSkipScale0,
};

constexpr FeatureInfo kFeatures[] = {VMAFX_ADM_FEATURES("", "VMAF_feature_adm_scale", "_score", true)};

/* -- Parameters ---------------------------------------------------------------------------------------------------- */

AdmSensitivity modeled_sensitivity(const FloatAdmOptions& options, int scale) {
  const AdmDisplay display = {options.view_dist, options.display_height};
  switch (options.csf_mode) {
    case 1: return barten_sensitivity(display, scale, options.csf_scale, options.csf_diag_scale);
    case 2: return adm_paper_sensitivity(display, scale);
    default: return watson_sensitivity(display, scale);
  }
}

AdmSensitivity sensitivity(const FloatAdmOptions& options, int scale) {
  const double straight[kAdmScales] = {options.f1s0, options.f1s1, options.f1s2, options.f1s3};
  const double diagonal[kAdmScales] = {options.f2s0, options.f2s1, options.f2s2, options.f2s3};
  AdmSensitivity s = modeled_sensitivity(options, scale);
  if (straight[scale] >= 0) s.straight = static_cast<float>(straight[scale]);
  if (diagonal[scale] >= 0) s.diagonal = static_cast<float>(diagonal[scale]);
  return s;
}

int unit_of_powers(int scale, const AdmSensitivity& sensitivity) {
  const double largest =
      128 * std::pow(kFloatAdmGain, 2 * (scale + 1)) * std::max(sensitivity.straight, sensitivity.diagonal);
  int exponent = 0;
  std::frexp(largest * 1.0001, &exponent); /* largest < 2^exponent, rounding included */
  return exponent - kFloatAdmMostExponent;
}

FloatAdmScale make_scale(const AdmExtent& extent, const AdmSensitivity& sensitivity, int unit) {
  const float straight = std::ldexp(sensitivity.straight, -unit), diagonal = std::ldexp(sensitivity.diagonal, -unit);
  return {extent, {straight, straight, diagonal}, unit};
}

/* -- Sums to scores, with libvmaf's floats and doubles ------------------------------------------------------------- */

/* The p-th root of a sum. */
float root(const FloatAdmParams& params, int unit, const uint64_t* words) {
  const auto inverse = static_cast<float>(1.0f / params.p_norm);
  if (params.cubes()) return std::pow(sum_of_word(words[0]), inverse);
  double sum = 0;
  for (int bin = kFloatAdmBins - 1; bin >= 0; bin--)
    sum += from_fixed<kFloatAdmPowerBits>(static_cast<int64_t>(words[bin])) *
           std::exp2(params.p_norm * (kFloatAdmMostExponent - bin));
  return static_cast<float>(std::pow(sum, inverse) * std::exp2(unit * params.p_norm * inverse));
}

float pooled(const FloatAdmParams& params, int kind, int index, const uint64_t* sums, double noise_weight) {
  const FloatAdmScale& scale = params.scale[index];
  const float noise = adm_noise_floor(scale, noise_weight, params.p_norm);
  float parts[kAdmBands];
  for (int band = 0; band < kAdmBands; band++)
    parts[band] =
        root(params, scale.unit, sums + float_adm_sum_index(kind, index, band) * params.words_per_sum()) + noise;
  return parts[0] + parts[1] + parts[2];
}

/* -- Blocks, in sums with maps: they follow the frame's, scale by scale -------------------------------------------- */

const FloatAdmBlockSums* blocks_of(const FloatAdmParams& params, const void* sums, int scale) {
  return reinterpret_cast<const FloatAdmBlockSums*>(static_cast<const std::byte*>(sums) + params.sums_bytes()) +
         float_adm_first_block(params, scale);
}

/* The map of a scale: what is lost there, or what is added. */
struct FloatAdmMap {
  int scale;
  bool added;

  FloatAdmMap(const FloatAdmParams& params, size_t place)
      : scale(static_cast<int>(place / 2) + params.skip_scale0), added(place % 2) {}

  /* A block's share of a band. */
  double of(const FloatAdmBlockSums& block, int band) const {
    return added ? block.of[kFloatAdmAim][band] : block.of[kFloatAdmDen][band] - block.of[kFloatAdmDlm][band];
  }
};

/* -- The extractor ------------------------------------------------------------------------------------------------- */

class FloatAdm : public Metric<FloatAdmParams, uint64_t, AdmScores> {
 public:
  FloatAdm(const FloatAdmOptions& options, const FloatAdmParams& params, const Twins<FloatAdmParams, uint64_t>& twins,
           Placement placement)
      : Metric(params, twins, adm_provided(kFeatures, options.debug), placement), options_(options) {}

  size_t sums_bytes() const override { return params_.sums_bytes(); }
  bool read_deviation(const void* sums, ScoreId score, size_t map, std::span<double> values) const override;

 private:
  double cube_sum(const void* sums, int kind, int scale, int band) const {
    const auto* const words = static_cast<const uint64_t*>(sums);
    return static_cast<double>(sum_of_word(words[float_adm_sum_index(kind, scale, band)]));
  }
  AdmScores scores(const uint64_t& sums) const override {
    AdmScaleScore scales[kAdmScales];
    for (int s = params_.skip_scale0 ? 1 : 0; s < kAdmScales; s++) {
      scales[s].num = pooled(params_, kFloatAdmDlm, s, &sums, options_.noise_weight);
      scales[s].den = pooled(params_, kFloatAdmDen, s, &sums, options_.noise_weight);
      scales[s].aim_num = pooled(params_, kFloatAdmAim, s, &sums, 0);
    }
    AdmScores scores = adm_combined(scales, params_.scale[0], options_.skip_aim_scale);
    scores.aim = std::min(scores.aim, 1.0);
    scores.adm3 = std::max(adm3(scores.adm2, scores.aim), options_.min_val);
    return scores;
  }

  double adm3(double adm2, double aim) const {
    if (!options_.adm3_apply_hm) return adm2 * options_.dlm_weight + (1 - aim) * (1 - options_.dlm_weight);
    return adm2 + aim == 0 ? 0 : 2 * adm2 * aim / (adm2 + aim);
  }

  const FloatAdmOptions options_;
};

/* A band's blocks share the difference of the roots by their cubes, which are what adds up. Of adm3 by a harmonic mean
 * nothing is known. */
bool FloatAdm::read_deviation(const void* sums, ScoreId score, size_t place, std::span<double> values) const {
  const FloatAdmMap map(params_, place);
  const AdmScores of_frame = scores(*static_cast<const uint64_t*>(sums));
  const bool knows_adm3 = !options_.adm3_apply_hm && options_.skip_aim_scale < 0;
  const double weight = score == kFeatures[3 + map.scale].score
                            ? adm_scale_deviation_weight(of_frame, map.scale, map.added)
                            : adm_deviation_weight(of_frame, score, map.added, options_.dlm_weight);
  if (weight == 0 || (map.added && !knows_adm3) || (score == kAdm3 && !knows_adm3)) return false;
  double per_band[kAdmBands];
  for (int band = 0; band < kAdmBands; band++) {
    const auto sum = [&](int kind) { return cube_sum(sums, kind, map.scale, band); };
    per_band[band] =
        weight * (map.added ? adm_per_cube(sum(kFloatAdmAim), 0) : adm_per_cube(sum(kFloatAdmDen), sum(kFloatAdmDlm)));
  }
  const FloatAdmBlockSums* const blocks = blocks_of(params_, sums, map.scale);
  for (size_t n = 0; n < values.size(); n++) {
    values[n] = 0;
    for (int band = 0; band < kAdmBands; band++) values[n] += per_band[band] * map.of(blocks[n], band);
  }
  return true;
}

/* The sums are as many words as the parameters say. */
template <auto twin>
void run(const FloatAdmParams& params, const FrameSet& frames, std::byte* scratch, uint64_t& sums) {
  twin(params, frames.ref.plane[0], frames.dist.plane[0], scratch, &sums);
}

constexpr Twins<FloatAdmParams, uint64_t> kTwins = {
    .plain = {float_adm_scratch_bytes_plain, run<float_adm_plain>},
    .simd = {float_adm_scratch_bytes_simd, run<float_adm_simd>, float_adm_encodes_scratch_bytes_simd,
             on_luma_of_encodes<float_adm_encodes_simd>},
    .device = float_adm_hip,
};

StatusOr<FloatAdmParams> params_of(const FloatAdmOptions& options, const VideoFormat& format) {
  if (format.w < kAdmMinSize || format.h < kAdmMinSize)
    return error(EINVAL, "float_adm: %dx%d is too small; its coarsest scale needs pictures of at least %dx%d", format.w,
                 format.h, kAdmMinSize, kAdmMinSize);
  FloatAdmParams params;
  params.bpc = format.bpc;
  params.gain_limit = options.gain_limit;
  params.p_norm = options.p_norm;
  params.masked = !options.bypass_cm;
  params.skip_scale0 = options.skip_scale0;
  int w = format.w, h = format.h;
  for (int s = 0; s < kAdmScales; s++) {
    const AdmSensitivity weights = sensitivity(options, s);
    params.scale[s] = make_scale(adm_extent(w, h), weights, params.cubes() ? 0 : unit_of_powers(s, weights));
    w = params.scale[s].w;
    h = params.scale[s].h;
  }
  return params;
}

Created create(const FloatAdmOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const FloatAdmParams params, params_of(options, format));
  return std::unique_ptr<Extractor>(new FloatAdm(options, params, kTwins, placement));
}

/* -- Maps: the cubes of the detail that is lost, and of what is added ---------------------------------------------- */

constexpr const char* kMapNames[kAdmScales][2] = {{"float_adm_scale0_lost", "float_adm_scale0_added"},
                                                  {"float_adm_scale1_lost", "float_adm_scale1_added"},
                                                  {"float_adm_scale2_lost", "float_adm_scale2_added"},
                                                  {"float_adm_scale3_lost", "float_adm_scale3_added"}};

/* None if sums are not of cubes. */
std::vector<MapInfo> maps_of(const FloatAdmParams& params) {
  std::vector<MapInfo> maps;
  for (int s = params.skip_scale0; params.cubes() && s < kAdmScales; s++) {
    const BlockGrid grid = FloatAdmBlocks::grid(params.scale[s], s);
    const int side = grid.side << (s + 1);
    for (const char* name : kMapNames[s]) maps.push_back({name, "cubed visible contrast", grid.w, grid.h, side, side});
  }
  return maps;
}

/* Raw sums: the frame's, then the blocks' of each scale. */
class FloatAdmMapping final : public MappingExtractor {
 public:
  FloatAdmMapping(const FloatAdmParams& params, Placement placement)
      : MappingExtractor({}, maps_of(params)), params_(params),
        device_twin_(placement == Placement::kDevice ? float_adm_mapped_hip(params).twin : nullptr) {}

  DeviceTwin* device_twin() const override { return device_twin_.get(); }
  size_t sums_bytes() const override {
    return params_.sums_bytes() + float_adm_first_block(params_, kAdmScales) * sizeof(FloatAdmBlockSums);
  }
  size_t scratch_bytes() const override {
    return use_plain_cpu() ? float_adm_scratch_bytes_plain(params_) : float_adm_scratch_bytes_simd(params_);
  }
  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override;
  void read_map(const void* sums, size_t place, std::span<double> values) const override {
    const FloatAdmMap map(params_, place);
    const FloatAdmBlockSums* const blocks = blocks_of(params_, sums, map.scale);
    for (size_t n = 0; n < values.size(); n++)
      values[n] = map.of(blocks[n], 0) + map.of(blocks[n], 1) + map.of(blocks[n], 2);
  }

 private:
  const FloatAdmParams params_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

void FloatAdmMapping::extract(const FrameSet& frames, std::byte* scratch, void* sums) const {
  auto* const words = static_cast<uint64_t*>(sums);
  const SamplePlane &ref = frames.ref.plane[0], &dist = frames.dist.plane[0];
  if (!params_.cubes()) return (use_plain_cpu() ? float_adm_plain : float_adm_simd)(params_, ref, dist, scratch, words);
  FloatAdmBlocks blocks;
  for (int s = 0; s < kAdmScales; s++)
    blocks.scale[s] = reinterpret_cast<FloatAdmBlockSums*>(static_cast<std::byte*>(sums) + params_.sums_bytes()) +
                      float_adm_first_block(params_, s);
  (use_plain_cpu() ? float_adm_mapped_plain : float_adm_mapped_simd)(params_, ref, dist, scratch, words, blocks);
}

Created create_mapping(const FloatAdmOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const FloatAdmParams params, params_of(options, format));
  return std::unique_ptr<Extractor>(new FloatAdmMapping(params, placement));
}

}  // namespace

StatusOr<FloatAdmParams> float_adm_params(const Options& options, const VideoFormat& format) {
  return params_of(options.fields<FloatAdmOptions>(), format);
}

constexpr ExtractorInfo kFloatAdmExtractor = {
    .name = "float_adm",
    .measures = "detail",
    .help = "detail loss and additive impairment at four scales, floating point",
    .range = "0 to 1; more where contrast is raised",
    .flags = kHip | kMaps,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
    .create_mapping = with_fields<create_mapping>,
};

}  // namespace vmafx
