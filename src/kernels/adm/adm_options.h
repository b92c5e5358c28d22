/* Options that the integer and the floating-point ADM share. */
#ifndef VMAFX_KERNELS_ADM_ADM_OPTIONS_H
#define VMAFX_KERNELS_ADM_ADM_OPTIONS_H

#include "kernels/options.h"

namespace vmafx::adm_options {

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

}  // namespace vmafx::adm_options

#endif
