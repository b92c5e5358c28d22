#include "kernels/adm/adm.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>

#include "base/cpu.h"
#include "kernels/adm/adm_csf.h"
#include "kernels/adm/adm_scores.h"
#include "kernels/device_twin.h"

namespace vmafx {
namespace {

using Type = OptionInfo::Type;

constexpr OptionInfo kOptions[] = {
    {"debug", nullptr, Type::kBool, 0, 0, 1, false, "also provide integer_adm and the num and den of every scale"},
    adm_options::kCsfScale,
    adm_options::kCsfDiagScale,
    adm_options::kDlmWeight,
    adm_options::kGainLimit,
    adm_options::kViewDist,
    adm_options::display_height("rdh"),
    {"adm_csf_mode", "csf", Type::kInt, 0, 0, 3, true,
     "contrast sensitivity: 0 Watson 1997, 1 Barten, 2 a blend of both, 3 the blend of models from v1.0.17 on"},
    adm_options::kNoiseWeight,
    {"adm_skip_aim", nullptr, Type::kBool, 0, 0, 1, false, "do not compute aim; it is then 0"},
    adm_options::kSkipScale0,
    adm_options::kMinVal,
};

constexpr FeatureInfo kFeatures[] = {
    {"VMAF_integer_feature_adm2_score", "integer_adm2"},
    {.name = "VMAF_integer_feature_aim_score", .key = "integer_aim", .worse = Worse::kHigh},
    {"VMAF_integer_feature_adm3_score", "integer_adm3"},
    {"integer_adm_scale0", "integer_adm_scale0"},
    {"integer_adm_scale1", "integer_adm_scale1"},
    {"integer_adm_scale2", "integer_adm_scale2"},
    {"integer_adm_scale3", "integer_adm_scale3"},
    {"integer_adm", "integer_adm"},
    neutral_feature("integer_adm_num"),
    neutral_feature("integer_adm_den"),
    neutral_feature("integer_adm_num_scale0"),
    neutral_feature("integer_adm_den_scale0"),
    neutral_feature("integer_adm_num_scale1"),
    neutral_feature("integer_adm_den_scale1"),
    neutral_feature("integer_adm_num_scale2"),
    neutral_feature("integer_adm_den_scale2"),
    neutral_feature("integer_adm_num_scale3"),
    neutral_feature("integer_adm_den_scale3"),
};
static_assert(std::size(kFeatures) == kAdmDebugFeatures);

/* -- Plan ---------------------------------------------------------------------------------------------------------- */

int ceil_log2(int n) { return std::bit_width(static_cast<unsigned>(n) - 1); }

/* Sizes and shifts of the scale that decomposes an in_w x in_h plane. */
AdmScale make_scale(int index, int in_w, int in_h, int bpc) {
  AdmScale s = {adm_extent(in_w, in_h)};
  s.vertical_shift = adm_vertical_shift(index, bpc);
  s.horizontal_shift = adm_horizontal_shift(index);
  /* A row of 2^(w's bits) largest cubes still fits 64 bits, a column of rows again. */
  for (int band = 0; band < kAdmBands; band++)
    s.cube_shift[band] = index > 0 ? ceil_log2(s.w) : std::max(0, ceil_log2(s.w) - (band < 2 ? 4 : 3));
  s.row_shift = ceil_log2(s.h);
  if (index > 0) {
    s.den_cube_shift = ceil_log2(s.right - s.left);
    s.den_row_shift = ceil_log2(s.bottom - s.top);
  } else {
    s.den_row_shift = std::max(0, ceil_log2((s.bottom - s.top) * (s.right - s.left)) - 20);
  }
  return s;
}

AdmViewing viewing(const Options& options) {
  return {static_cast<AdmCsfMode>(options.integer("adm_csf_mode")), options.number("adm_norm_view_dist"),
          options.integer("adm_ref_display_height"), options.number("adm_csf_scale"),
          options.number("adm_csf_diag_scale")};
}

/* -- Sums to scores, with libvmaf's floats and doubles ------------------------------------------------------------- */

float cube_root(float x) { return std::pow(x, 1.0f / 3.0f); }

/* Binary places of a masked cube, and of a cube of the reference, before the shifts of AdmScale: three times those of
 * the weighted coefficient, less what squaring drops. */
int num_places(int index, int band) {
  constexpr int kPlaces[kAdmScales] = {52, 45, 39, 36};
  return index == 0 && band == 2 ? 57 : kPlaces[index];
}
constexpr int kDenPlaces[kAdmScales] = {18, 32, 27, 23};

float pooled_num(const AdmScale& s, int index, const int64_t (&sums)[kAdmBands], double noise_weight) {
  const float noise = adm_noise_floor(s, noise_weight, 3);
  float parts[kAdmBands];
  for (int band = 0; band < kAdmBands; band++) {
    const double unit = std::ldexp(1.0, num_places(index, band) - s.cube_shift[band] - s.row_shift);
    const float sum =
        index == 0 ? static_cast<float>(sums[band] / unit) : static_cast<float>(sums[band]) / static_cast<float>(unit);
    parts[band] = cube_root(sum) + noise;
  }
  return parts[0] + parts[1] + parts[2];
}

float pooled_den(const AdmScale& s, int index, const uint64_t (&sums)[kAdmBands], const AdmSensitivity& sensitivity,
                 double noise_weight) {
  const float noise = adm_noise_floor(s, noise_weight, 3);
  const double unit = std::ldexp(1.0, kDenPlaces[index] - s.den_cube_shift - s.den_row_shift);
  float parts[kAdmBands];
  for (int band = 0; band < kAdmBands; band++) {
    const double factor = std::pow(static_cast<double>(band < 2 ? sensitivity.straight : sensitivity.diagonal), 3.0);
    parts[band] = cube_root(static_cast<float>(sums[band] / unit * factor)) + noise;
  }
  return parts[0] + parts[1] + parts[2];
}

/* -- The extractor ------------------------------------------------------------------------------------------------- */

/* What only finalize() needs. */
struct Weights {
  AdmSensitivity sensitivity[kAdmScales];
  double noise;
  double dlm;
  double min_val;
};

class Adm : public Extractor {
 public:
  Adm(const AdmParams& params, const Weights& weights, bool debug, Placement placement)
      : params_(params), weights_(weights), debug_(debug), use_reference_(use_reference_cpu()),
        device_twin_(placement == Placement::kDevice ? adm_hip(params) : nullptr) {}

  std::span<const FeatureInfo> features() const override {
    return std::span(kFeatures).first(debug_ ? kAdmDebugFeatures : kAdmFeatures);
  }
  size_t sums_bytes() const override { return sizeof(AdmSums); }
  size_t scratch_bytes() const override {
    return use_reference_ ? adm_scratch_bytes_ref(params_) : adm_scratch_bytes_simd(params_);
  }

  void extract(const FrameSet& frames, std::byte* scratch, void* sums) const override {
    const auto twin = use_reference_ ? adm_ref : adm_simd;
    twin(params_, frames.ref.plane[0], frames.dist.plane[0], scratch, *static_cast<AdmSums*>(sums));
  }

  void finalize(int64_t frame, const void* raw_sums, ScoreSink& sink) override {
    const auto& sums = *static_cast<const AdmSums*>(raw_sums);
    AdmScaleScore scales[kAdmScales];
    for (int s = params_.skip_scale0 ? 1 : 0; s < kAdmScales; s++) {
      scales[s].num = pooled_num(params_.scale[s], s, sums.dlm[s], weights_.noise);
      scales[s].den = pooled_den(params_.scale[s], s, sums.csf_den[s], weights_.sensitivity[s], weights_.noise);
      if (params_.measure_aim) scales[s].aim_num = pooled_num(params_.scale[s], s, sums.aim[s], 0);
    }
    const AdmScores whole = adm_combined(scales, params_.scale[0]);
    const double adm3 = whole.adm2 * weights_.dlm + (1 - whole.aim) * (1 - weights_.dlm);
    put_adm_scores(frame, whole, adm3 > weights_.min_val ? adm3 : weights_.min_val, scales, debug_, sink);
  }

  DeviceTwin* device_twin() override { return device_twin_.get(); }

 private:
  AdmParams params_;
  Weights weights_;
  bool debug_;
  bool use_reference_;
  std::unique_ptr<DeviceTwin> device_twin_;
};

StatusOr<std::unique_ptr<Extractor>> create(const Options& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const AdmParams params, adm_params(options, format));
  Weights weights;
  weights.noise = options.number("adm_noise_weight");
  weights.dlm = options.number("adm_dlm_weight");
  weights.min_val = options.number("adm_min_val");
  VMAFX_TRY(adm_sensitivities(viewing(options), weights.sensitivity));
  return std::unique_ptr<Extractor>(std::make_unique<Adm>(params, weights, options.flag("debug"), placement));
}

}  // namespace

StatusOr<AdmParams> adm_params(const Options& options, const VideoFormat& format) {
  if (format.w < kAdmMinSize || format.h < kAdmMinSize)
    return error(EINVAL, "adm: %dx%d is too small; its coarsest scale needs pictures of at least %dx%d", format.w,
                 format.h, kAdmMinSize, kAdmMinSize);
  AdmSensitivity sensitivity[kAdmScales];
  VMAFX_TRY(adm_sensitivities(viewing(options), sensitivity));
  AdmParams params;
  params.bpc = format.bpc;
  params.gain_limit = options.number("adm_enhn_gain_limit");
  params.measure_aim = !options.flag("adm_skip_aim");
  params.skip_scale0 = options.flag("adm_skip_scale0");
  int w = format.w, h = format.h;
  for (int s = 0; s < kAdmScales; s++) {
    params.scale[s] = make_scale(s, w, h, format.bpc);
    adm_fixed_sensitivity(viewing(options), s, sensitivity[s], params.scale[s].rfactor);
    w = params.scale[s].w;
    h = params.scale[s].h;
  }
  return params;
}

constexpr ExtractorInfo kAdmExtractor = {
    .name = "adm",
    .help = "detail loss and additive impairment at four scales, integer arithmetic",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = create,
};

}  // namespace vmafx
