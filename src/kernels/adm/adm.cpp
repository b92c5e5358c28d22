#include "kernels/adm/adm.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/adm/adm_scores.h"

namespace vmafx {
namespace {

struct AdmOptions : AdmSharedOptions {
  bool skip_aim = false;
};
using Shared = AdmOption<AdmOptions>;

constexpr OptionInfo kOptions[] = {
    Shared::debug("also provide integer_adm and the num and den of every scale"),
    Shared::kCsfScale,
    Shared::kCsfDiagScale,
    Shared::kDlmWeight,
    Shared::kGainLimit,
    Shared::kViewDist,
    Shared::display_height("rdh"),
    Shared::csf_mode(3,
                     "contrast sensitivity: 0 Watson 1997, 1 Barten, 2 a blend of both, 3 the blend of models from "
                     "v1.0.17 on"),
    Shared::kNoiseWeight,
    option<&AdmOptions::skip_aim>("adm_skip_aim", nullptr, "do not compute aim; it is then 0"),
    Shared::kSkipScale0,
    Shared::kMinVal,
};

constexpr FeatureInfo kFeatures[] = {VMAFX_ADM_FEATURES("integer_", "integer_adm_scale", "", false)};

/* -- Plan ---------------------------------------------------------------------------------------------------------- */

int ceil_log2(int n) { return std::bit_width(static_cast<unsigned>(n) - 1); }

AdmScale make_scale(int index, const AdmExtent& extent, int bpc) {
  AdmScale s = {extent};
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
  float roots[kAdmBands];
  for (int band = 0; band < kAdmBands; band++) {
    const double unit = std::ldexp(1.0, num_places(index, band) - s.cube_shift[band] - s.row_shift);
    const float sum =
        index == 0 ? static_cast<float>(sums[band] / unit) : static_cast<float>(sums[band]) / static_cast<float>(unit);
    roots[band] = cube_root(sum);
  }
  return adm_pooled(s, noise_weight, 3, roots);
}

float pooled_den(const AdmScale& s, int index, const uint64_t (&sums)[kAdmBands], const AdmSensitivity& sensitivity,
                 double noise_weight) {
  const double unit = std::ldexp(1.0, kDenPlaces[index] - s.den_cube_shift - s.den_row_shift);
  float roots[kAdmBands];
  for (int band = 0; band < kAdmBands; band++) {
    const double factor = std::pow(static_cast<double>(band < 2 ? sensitivity.straight : sensitivity.diagonal), 3.0);
    roots[band] = cube_root(static_cast<float>(sums[band] / unit * factor));
  }
  return adm_pooled(s, noise_weight, 3, roots);
}

/* -- The extractor ------------------------------------------------------------------------------------------------- */

class Adm : public Metric<AdmParams, AdmSums, AdmScores> {
 public:
  Adm(const AdmOptions& options, const AdmParams& params, const Twins<AdmParams, AdmSums>& twins, Placement placement)
      : Metric(params, twins, adm_provided(kFeatures, options.debug), placement), options_(options) {}

 private:
  AdmScores scores(const AdmSums& sums) override {
    AdmScaleScore scales[kAdmScales];
    for (int s = params_.skip_scale0 ? 1 : 0; s < kAdmScales; s++) {
      const AdmScale& scale = params_.scale[s];
      scales[s].num = pooled_num(scale, s, sums.dlm[s], options_.noise_weight);
      scales[s].den = pooled_den(scale, s, sums.csf_den[s], params_.sensitivity[s], options_.noise_weight);
      if (params_.measure_aim) scales[s].aim_num = pooled_num(scale, s, sums.aim[s], 0);
    }
    AdmScores scores = adm_combined(scales, params_.scale[0]);
    const double adm3 = scores.adm2 * options_.dlm_weight + (1 - scores.aim) * (1 - options_.dlm_weight);
    scores.adm3 = adm3 > options_.min_val ? adm3 : options_.min_val;
    return scores;
  }

  const AdmOptions options_;
};

constexpr Twins<AdmParams, AdmSums> kTwins = {
    .ref = {adm_scratch_bytes_ref, on_luma<adm_ref>},
    .simd = {adm_scratch_bytes_simd, on_luma<adm_simd>},
    .device = adm_hip,
};

StatusOr<AdmParams> params_of(const AdmOptions& options, const VideoFormat& format) {
  AdmParams params;
  VMAFX_TRY(adm_sensitivities(options, params.sensitivity));
  params.measure_aim = !options.skip_aim;
  const auto scale = [&](int index, const AdmExtent& extent) {
    AdmScale made = make_scale(index, extent, format.bpc);
    adm_fixed_sensitivity(options, index, params.sensitivity[index], made.rfactor);
    return made;
  };
  VMAFX_TRY(plan_adm("adm", options, format, scale, params));
  return params;
}

Created create(const AdmOptions& options, const VideoFormat& format, Placement placement) {
  VMAFX_ASSIGN(const AdmParams params, params_of(options, format));
  return std::unique_ptr<Extractor>(new Adm(options, params, kTwins, placement));
}

}  // namespace

StatusOr<AdmParams> adm_params(const Options& options, const VideoFormat& format) {
  return params_of(options.fields<AdmOptions>(), format);
}

constexpr ExtractorInfo kAdmExtractor = {
    .name = "adm",
    .help = "detail loss and additive impairment at four scales, integer arithmetic",
    .flags = kHip,
    .features = kFeatures,
    .options = kOptions,
    .create = with_fields<create>,
};

}  // namespace vmafx
