/* What the integer and the floating-point ADM share: options, and from what was summed up at each scale to scores. */
#ifndef VMAFX_KERNELS_ADM_ADM_SCORES_H
#define VMAFX_KERNELS_ADM_ADM_SCORES_H

#include "kernels/adm/adm_scales.h"
#include "kernels/extractor.h"

namespace vmafx {

namespace adm_options {

using Type = OptionInfo::Type;

inline constexpr OptionInfo kGainLimit = {
    "adm_enhn_gain_limit", "egl", Type::kDouble, 100, 1, 100, true,
    "upper bound of the enhancement gain; 1 gives no credit for enhancement"};
inline constexpr OptionInfo kViewDist = {
    "adm_norm_view_dist", "nvd", Type::kDouble, 3, 0.75, 24, true, "viewing distance in heights of the display"};
inline constexpr OptionInfo kNoiseWeight = {
    "adm_noise_weight", "nw", Type::kDouble, 0.03125, 0, 1500, true, "weight of the noise floor in num and den"};
inline constexpr OptionInfo kCsfScale = {
    "adm_csf_scale", "scf", Type::kDouble, 1, 0, 50, true,
    "weight of the horizontal and vertical bands (adm_csf_mode=1 only)"};
inline constexpr OptionInfo kCsfDiagScale = {
    "adm_csf_diag_scale", "scfd", Type::kDouble, 1, 0, 50, true, "weight of the diagonal band (adm_csf_mode=1 only)"};
inline constexpr OptionInfo kDlmWeight = {
    "adm_dlm_weight", "dlmw", Type::kDouble, 0.5, 0, 1, true,
    "weight of adm2 in adm3, against 1 - aim; 1 is adm2 alone"};
inline constexpr OptionInfo kMinVal = {
    "adm_min_val", "min", Type::kDouble, 0, 0, 1, true, "lower bound of adm3"};
inline constexpr OptionInfo kSkipScale0 = {
    "adm_skip_scale0", "ssz", Type::kBool, 0, 0, 1, true, "do not score scale 0; its score is 0"};

/* Its alias in report keys differs. */
constexpr OptionInfo display_height(const char* alias) {
  return {"adm_ref_display_height", alias, Type::kInt, 1080, 1, 4320, true, "height of the display in lines"};
}

}  // namespace adm_options

/* Both have these features, in this order: adm2, aim, adm3, the scales' scores; and with the option debug adm, num and den, and of each
 * scale num and den. */
inline constexpr size_t kAdmFeatures = 7, kAdmDebugFeatures = 18;

/* Each adds up the p-th roots of the bands' sums, with noise floors. The default is a scale that is not scored. */
struct AdmScaleScore {
  float num = 0;
  float den = 1e-10f;
  float aim_num = 0;
  double ratio() const { return den == 0 ? 1.0 : static_cast<double>(num) / den; }
};

struct AdmScores {
  double num, den, adm2, aim;
};

/* What the noise floor adds to a band's root: that of as many samples as are scored, each of `weight`. */
float adm_noise_floor(const AdmExtent& extent, double weight, double p_norm);

/* Of a picture whose scale 0 is `extent`. aim leaves the scale `not_for_aim` out, if there is one. Where nothing was to be kept,
 * adm2 is 1 and aim 0. */
AdmScores adm_combined(const AdmScaleScore (&scales)[kAdmScales], const AdmExtent& extent, int not_for_aim = -1);

void put_adm_scores(int64_t frame, const AdmScores& scores, double adm3, const AdmScaleScore (&scales)[kAdmScales], bool debug,
                    ScoreSink& sink);

}  // namespace vmafx

#endif
