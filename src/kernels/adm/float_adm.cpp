#include "kernels/adm/float_adm.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/cpu.h"
#include "kernels/adm/adm_csf.h"
#include "kernels/adm/adm_scores.h"
#include "kernels/arithmetic/fixed.h"
#include "kernels/steps/row_sums.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr OptionInfo kOptions[] = {
    {"debug", nullptr, Type::kBool, 0, 0, 1, false, "also provide adm and the num and den of every scale"},
    adm_options::kGainLimit,
    adm_options::kViewDist,
    adm_options::kNoiseWeight,
    adm_options::kCsfScale,
    adm_options::kCsfDiagScale,
    adm_options::display_height("rdf"),
    {"adm_csf_mode", "csf", Type::kInt, 0, 0, 9, true,
     "contrast sensitivity: 1 Barten, 2 that of the ADM paper, any other Watson 1997"},
    {"adm_bypass_cm", "bcm", Type::kInt, 0, 0, 1, true, "1: no contrast masking"},
    {"adm_adm3_apply_hm", "aah", Type::kBool, 0, 0, 1, true, "adm3 is the harmonic mean of adm2 and aim"},
    {"adm_p_norm", "apn", Type::kDouble, 3, 1, 20, true, "p of the norm over a band's coefficients"},
    adm_options::kDlmWeight,
    adm_options::kMinVal,
    {"adm_f1s0", "f1s0", Type::kDouble, -1, -1, 10, true,
     "sensitivity of the horizontal and vertical bands of scale 0, if not negative"},
    {"adm_f1s1", "f1s1", Type::kDouble, -1, -1, 10, true, "the same of scale 1"},
    {"adm_f1s2", "f1s2", Type::kDouble, -1, -1, 10, true, "the same of scale 2"},
    {"adm_f1s3", "f1s3", Type::kDouble, -1, -1, 10, true, "the same of scale 3"},
    {"adm_f2s0", "f2s0", Type::kDouble, -1, -1, 10, true, "sensitivity of the diagonal band of scale 0, if not negative"},
    {"adm_f2s1", "f2s1", Type::kDouble, -1, -1, 10, true, "the same of scale 1"},
    {"adm_f2s2", "f2s2", Type::kDouble, -1, -1, 10, true, "the same of scale 2"},
    {"adm_f2s3", "f2s3", Type::kDouble, -1, -1, 10, true, "the same of scale 3"},
    {"adm_skip_aim_scale", "sasc", Type::kInt, -1, 0, 3, true, "leave this scale out of aim"},
    adm_options::kSkipScale0,
};

constexpr FeatureInfo kFeatures[] = {
    {"VMAF_feature_adm2_score", "adm2"},
    {.name = "VMAF_feature_aim_score", .key = "aim", .worse = Worse::kHigh},
    {"VMAF_feature_adm3_score", "adm3"},
    {"VMAF_feature_adm_scale0_score", "adm_scale0"},
    {"VMAF_feature_adm_scale1_score", "adm_scale1"},
    {"VMAF_feature_adm_scale2_score", "adm_scale2"},
    {"VMAF_feature_adm_scale3_score", "adm_scale3"},
    {.name = "adm", .key = "adm", .bare = true}, // as libvmaf writes it, in this extractor alone
    neutral_feature("adm_num"),
    neutral_feature("adm_den"),
    neutral_feature("adm_num_scale0"),
    neutral_feature("adm_den_scale0"),
    neutral_feature("adm_num_scale1"),
    neutral_feature("adm_den_scale1"),
    neutral_feature("adm_num_scale2"),
    neutral_feature("adm_den_scale2"),
    neutral_feature("adm_num_scale3"),
    neutral_feature("adm_den_scale3"),
};
static_assert(std::size(kFeatures) == kAdmDebugFeatures);

/* -- Parameters ---------------------------------------------------------------------------------------------------- */

AdmSensitivity modelled_sensitivity(const Options& options, int scale) {
  const AdmDisplay display = {options.number("adm_norm_view_dist"), options.integer("adm_ref_display_height")};
  switch (options.integer("adm_csf_mode")) {
    case 1:
      return barten_sensitivity(display, scale, options.number("adm_csf_scale"), options.number("adm_csf_diag_scale"));
    case 2: return adm_paper_sensitivity(display, scale);
    default: return watson_sensitivity(display, scale);
  }
}

AdmSensitivity sensitivity(const Options& options, int scale) {
  constexpr const char* kStraight[kAdmScales] = {"adm_f1s0", "adm_f1s1", "adm_f1s2", "adm_f1s3"};
  constexpr const char* kDiagonal[kAdmScales] = {"adm_f2s0", "adm_f2s1", "adm_f2s2", "adm_f2s3"};
  AdmSensitivity s = modelled_sensitivity(options, scale);
  if (options.number(kStraight[scale]) >= 0) s.straight = static_cast<float>(options.number(kStraight[scale]));
  if (options.number(kDiagonal[scale]) >= 0) s.diagonal = static_cast<float>(options.number(kDiagonal[scale]));
  return s;
}

int unit_of_powers(int scale, const AdmSensitivity& sensitivity) {
  const double largest = 128 * std::pow(kFloatAdmGain, 2 * (scale + 1)) * std::max(sensitivity.straight, sensitivity.diagonal);
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

/* -- The extractor ------------------------------------------------------------------------------------------------- */

/* What only finalize() needs. */
struct Weights {
  double noise;
  double dlm;
  double min_val;
  bool harmonic_mean;
  int not_for_aim;  // a scale, or -1
};

class FloatAdm : public Extractor {
 public:
  FloatAdm(const FloatAdmParams& params, const Weights& weights, bool debug, Placement placement)
      : params_(params), weights_(weights), debug_(debug), use_reference_(use_reference_cpu()),
        device_twin_(placement == Placement::kDevice ? float_adm_hip(params) : nullptr) {}

  std::span<const FeatureInfo> features() const override {
    return std::span(kFeatures).first(debug_ ? kAdmDebugFeatures : kAdmFeatures);
  }
  size_t sums_bytes() const override { return params_.sums_bytes(); }
  size_t scratch_bytes() const override {
    return use_reference_ ? float_adm_scratch_bytes_ref(params_) : float_adm_scratch_bytes_simd(params_);
  }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    const auto twin = use_reference_ ? float_adm_ref : float_adm_simd;
    twin(params_, frames.ref.plane[0], frames.dist.plane[0], scratch, static_cast<uint64_t*>(sums));
  }

  void finalize(int64_t frame, const void* raw_sums, ScoreSink& sink) override {
    const auto* sums = static_cast<const uint64_t*>(raw_sums);
    AdmScaleScore scales[kAdmScales];
    for (int s = params_.skip_scale0 ? 1 : 0; s < kAdmScales; s++) {
      scales[s].num = pooled(params_, kFloatAdmDlm, s, sums, weights_.noise);
      scales[s].den = pooled(params_, kFloatAdmDen, s, sums, weights_.noise);
      scales[s].aim_num = pooled(params_, kFloatAdmAim, s, sums, 0);
    }
    AdmScores whole = adm_combined(scales, params_.scale[0], weights_.not_for_aim);
    whole.aim = std::min(whole.aim, 1.0);
    put_adm_scores(frame, whole, std::max(adm3(whole.adm2, whole.aim), weights_.min_val), scales, debug_, sink);
  }

  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  double adm3(double adm2, double aim) const {
    if (!weights_.harmonic_mean) return adm2 * weights_.dlm + (1 - aim) * (1 - weights_.dlm);
    return adm2 + aim == 0 ? 0 : 2 * adm2 * aim / (adm2 + aim);
  }

  const FloatAdmParams params_;
  const Weights weights_;
  const bool debug_, use_reference_;
  const std::unique_ptr<DeviceTwin> device_twin_;
};

StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const FloatAdmParams params, float_adm_params(options, format));
  const Weights weights = {.noise = options.number("adm_noise_weight"),
                           .dlm = options.number("adm_dlm_weight"),
                           .min_val = options.number("adm_min_val"),
                           .harmonic_mean = options.flag("adm_adm3_apply_hm"),
                           .not_for_aim = options.integer("adm_skip_aim_scale")};
  return std::unique_ptr<Extractor>(std::make_unique<FloatAdm>(params, weights, options.flag("debug"), placement));
}

}  // namespace

StatusOr<FloatAdmParams> float_adm_params(const Options& options, const VideoFormat& format) {
  if (format.w < kAdmMinSize || format.h < kAdmMinSize)
    return error(EINVAL, "float_adm: %dx%d is too small; its coarsest scale needs pictures of at least %dx%d", format.w,
                 format.h, kAdmMinSize, kAdmMinSize);
  FloatAdmParams params;
  params.bpc = format.bpc;
  params.gain_limit = options.number("adm_enhn_gain_limit");
  params.p_norm = options.number("adm_p_norm");
  params.masked = !options.integer("adm_bypass_cm");
  params.skip_scale0 = options.flag("adm_skip_scale0");
  int w = format.w, h = format.h;
  for (int s = 0; s < kAdmScales; s++) {
    const AdmSensitivity weights = sensitivity(options, s);
    params.scale[s] = make_scale(adm_extent(w, h), weights, params.cubes() ? 0 : unit_of_powers(s, weights));
    w = params.scale[s].w;
    h = params.scale[s].h;
  }
  return params;
}

constexpr ExtractorInfo kFloatAdmExtractor = {
    .name = "float_adm",
    .help = "detail loss and additive impairment at four scales, floating point",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = create,
};

}  // namespace vmafx
