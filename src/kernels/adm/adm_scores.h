/* Options of the integer and the floating-point ADM, and the way from each scale's sums to scores. */
#ifndef VMAFX_KERNELS_ADM_ADM_SCORES_H
#define VMAFX_KERNELS_ADM_ADM_SCORES_H

#include "kernels/adm/adm_scales.h"
#include "kernels/metric.h"

namespace vmafx {

struct AdmSharedOptions {
  double gain_limit = 100, view_dist = 3, noise_weight = 0.03125, csf_scale = 1, csf_diag_scale = 1, dlm_weight = 0.5,
         min_val = 0;
  int display_height = 1080, csf_mode = 0;
  bool debug = false, skip_scale0 = false;
};

/* The options that both forms share, in a struct derived from AdmSharedOptions. */
template <class Fields>
struct AdmOption {
  static constexpr OptionInfo kGainLimit = option<&AdmSharedOptions::gain_limit, Fields>(
      "adm_enhn_gain_limit", "egl", 1, 100, "upper bound of the enhancement gain; 1 gives no credit for enhancement");
  static constexpr OptionInfo kViewDist = late(option<&AdmSharedOptions::view_dist, Fields>(
      "adm_norm_view_dist", "nvd", 0.75, 24, "viewing distance in heights of the display"));
  static constexpr OptionInfo kNoiseWeight = scoring(option<&AdmSharedOptions::noise_weight, Fields>(
      "adm_noise_weight", "nw", 0, 1500, "weight of the noise floor in num and den"));
  static constexpr OptionInfo kCsfScale = late(option<&AdmSharedOptions::csf_scale, Fields>(
      "adm_csf_scale", "scf", 0, 50, "weight of the horizontal and vertical bands (adm_csf_mode=1 only)"));
  static constexpr OptionInfo kCsfDiagScale = late(option<&AdmSharedOptions::csf_diag_scale, Fields>(
      "adm_csf_diag_scale", "scfd", 0, 50, "weight of the diagonal band (adm_csf_mode=1 only)"));
  static constexpr OptionInfo kDlmWeight = scoring(option<&AdmSharedOptions::dlm_weight, Fields>(
      "adm_dlm_weight", "dlmw", 0, 1, "weight of adm2 in adm3, against 1 - aim; 1 is adm2 alone"));
  static constexpr OptionInfo kMinVal =
      scoring(option<&AdmSharedOptions::min_val, Fields>("adm_min_val", "min", 0, 1, "lower bound of adm3"));
  static constexpr OptionInfo kSkipScale0 =
      option<&AdmSharedOptions::skip_scale0, Fields>("adm_skip_scale0", "ssz", "do not score scale 0; its score is 0");

  /* Names in report keys, ranges and texts differ. */
  static constexpr OptionInfo debug(const char* help) {
    return scoring(adding(option<&AdmSharedOptions::debug, Fields>("debug", nullptr, help)));
  }
  static constexpr OptionInfo display_height(const char* alias) {
    return late(option<&AdmSharedOptions::display_height, Fields>("adm_ref_display_height", alias, 1, 4320,
                                                                  "height of the display in lines"));
  }
  static constexpr OptionInfo csf_mode(double last, const char* help) {
    return late(option<&AdmSharedOptions::csf_mode, Fields>("adm_csf_mode", "csf", 0, last, help));
  }
};

struct AdmScores {
  double adm2, aim, adm3, scale[kAdmScales], adm, num, den, scale_num[kAdmScales], scale_den[kAdmScales];
};

/* `kind`: "integer_" or "". Models call the score of scale 1 scale_name "1" scale_end. The floating-point form's adm is
 * bare, as libvmaf writes it in this extractor alone. */
#define VMAFX_ADM_FEATURES(kind, scale_name, scale_end, bare_adm)                                     \
  with_best(1, {"VMAF_" kind "feature_adm2_score", kind "adm2", VMAFX_SCORE(AdmScores, adm2)}),       \
      with_best(0, {"VMAF_" kind "feature_aim_score", kind "aim", VMAFX_SCORE(AdmScores, aim), false, \
                    FirstScore::kWithItsFrame, Worse::kHigh}),                                        \
      with_best(1, {"VMAF_" kind "feature_adm3_score", kind "adm3", VMAFX_SCORE(AdmScores, adm3)}),   \
      with_best(1, {scale_name "0" scale_end, kind "adm_scale0", VMAFX_SCORE(AdmScores, scale[0])}),  \
      with_best(1, {scale_name "1" scale_end, kind "adm_scale1", VMAFX_SCORE(AdmScores, scale[1])}),  \
      with_best(1, {scale_name "2" scale_end, kind "adm_scale2", VMAFX_SCORE(AdmScores, scale[2])}),  \
      with_best(1, {scale_name "3" scale_end, kind "adm_scale3", VMAFX_SCORE(AdmScores, scale[3])}),  \
      {kind "adm", kind "adm", VMAFX_SCORE(AdmScores, adm), bare_adm},                                \
      neutral_feature(kind "adm_num", VMAFX_SCORE(AdmScores, num)),                                   \
      neutral_feature(kind "adm_den", VMAFX_SCORE(AdmScores, den)),                                   \
      neutral_feature(kind "adm_num_scale0", VMAFX_SCORE(AdmScores, scale_num[0])),                   \
      neutral_feature(kind "adm_den_scale0", VMAFX_SCORE(AdmScores, scale_den[0])),                   \
      neutral_feature(kind "adm_num_scale1", VMAFX_SCORE(AdmScores, scale_num[1])),                   \
      neutral_feature(kind "adm_den_scale1", VMAFX_SCORE(AdmScores, scale_den[1])),                   \
      neutral_feature(kind "adm_num_scale2", VMAFX_SCORE(AdmScores, scale_num[2])),                   \
      neutral_feature(kind "adm_den_scale2", VMAFX_SCORE(AdmScores, scale_den[2])),                   \
      neutral_feature(kind "adm_num_scale3", VMAFX_SCORE(AdmScores, scale_num[3])),                   \
      neutral_feature(kind "adm_den_scale3", VMAFX_SCORE(AdmScores, scale_den[3]))

/* The features that an instance provides: up to the scales' scores, and all with the option debug. */
inline std::span<const FeatureInfo> adm_provided(std::span<const FeatureInfo> all, bool debug) {
  return debug ? all : all.first(3 + kAdmScales);
}

/* Each adds up the p-th roots of the bands' sums, with noise floors. The default is a scale that is not scored. */
struct AdmScaleScore {
  float num = 0;
  float den = 1e-10f;
  float aim_num = 0;
  double ratio() const { return den == 0 ? 1.0 : static_cast<double>(num) / den; }
};

/* The share of the noise floor in a band's root: the root of as many samples as are scored, each of `weight`. */
float adm_noise_floor(const AdmExtent& extent, double weight, double p_norm);

/* All but adm3, of a picture whose scale 0 is `extent`. aim leaves the scale `not_for_aim` out, if there is one. Where
 * nothing was to be kept, adm2 is 1 and aim 0. */
AdmScores adm_combined(const AdmScaleScore (&scales)[kAdmScales], const AdmExtent& extent, int not_for_aim = -1);

/* How maps explain scores: what a score takes off its best is the sum, over bands and scales, of a weight times a
 * difference of roots. That is what the reference's root has more than the restored one's, or the root of what is
 * added. 0: a score does not come from that kind of map. */
inline constexpr ScoreId kAdm2 = VMAFX_SCORE(AdmScores, adm2), kAdm3 = VMAFX_SCORE(AdmScores, adm3),
                         kAim = VMAFX_SCORE(AdmScores, aim);
double adm_deviation_weight(const AdmScores& of_frame, ScoreId score, bool added, double dlm_weight);
double adm_scale_deviation_weight(const AdmScores& of_frame, int scale, bool added);  // of that scale's own score

/* Sums a and b of cubes by this factor are the difference of their roots, so that terms of a - b share it:
 * cbrt(a) - cbrt(b) = (a - b) * factor. */
double adm_per_cube(double a, double b);

}  // namespace vmafx

#endif
