/* Sets of options that take adm's arithmetic down each of its paths, for the tests of all its twins. */
#ifndef VMAFX_TESTS_KERNELS_ADM_OPTIONS_H
#define VMAFX_TESTS_KERNELS_ADM_OPTIONS_H

#include <vector>

#include "kernels/options.h"

namespace vmafx::test {

inline std::vector<OptionTexts> adm_option_sets() {
  return {
      {{"adm_enhn_gain_limit", "1"}},
      {{"adm_enhn_gain_limit", "1.2"}},
      {{"adm_enhn_gain_limit", "7"}, {"adm_skip_aim", "true"}},
      {{"adm_enhn_gain_limit", "99.9"}},
      {{"adm_skip_scale0", "true"}},
      {{"adm_skip_scale0", "true"}, {"adm_skip_aim", "true"}},
      {{"adm_noise_weight", "0"}, {"adm_min_val", "0.5"}},
      {{"adm_norm_view_dist", "24"}, {"adm_ref_display_height", "4320"}},
      {{"adm_norm_view_dist", "1.5"}, {"adm_ref_display_height", "2160"}},
      {{"adm_csf_mode", "1"}},
      {{"adm_csf_mode", "1"}, {"adm_csf_scale", "0.02"}, {"adm_csf_diag_scale", "0.01"}},
      {{"adm_csf_mode", "1"}, {"adm_csf_scale", "3.3"}, {"adm_csf_diag_scale", "50"}},
      {{"adm_csf_mode", "1"}, {"adm_csf_scale", "0.41"}, {"adm_csf_diag_scale", "0.43"}, {"adm_enhn_gain_limit", "1"}},
      {{"adm_csf_mode", "1"}, {"adm_csf_scale", "0"}, {"adm_csf_diag_scale", "0"}},
      {{"adm_csf_mode", "2"}},
      {{"adm_csf_mode", "2"}, {"adm_norm_view_dist", "5"}, {"adm_ref_display_height", "2160"}},
      {{"adm_csf_mode", "3"}},
  };
}

/* Sets that differ in how the picture is viewed; two of them view it alike. */
inline std::vector<std::vector<OptionTexts>> adm_view_sets() {
  const auto blend = [](const char* lines, const char* heights) {
    return OptionTexts{{"adm_csf_mode", "2"},
                       {"adm_enhn_gain_limit", "1"},
                       {"adm_ref_display_height", lines},
                       {"adm_norm_view_dist", heights}};
  };
  return {
      {blend("1080", "3"), blend("1080", "5")},
      {blend("2160", "3"), blend("1080", "3"), blend("2160", "1.5"), blend("1080", "5")},
      {{{"adm_skip_aim", "true"}}, {{"adm_skip_aim", "true"}, {"adm_norm_view_dist", "24"}}},
      {{{"adm_enhn_gain_limit", "1.2"}, {"adm_skip_scale0", "true"}},
       {{"adm_enhn_gain_limit", "1.2"}, {"adm_skip_scale0", "true"}, {"adm_csf_mode", "1"}},
       {{"adm_enhn_gain_limit", "1.2"}, {"adm_skip_scale0", "true"}, {"adm_csf_mode", "3"}}},
  };
}

}  // namespace vmafx::test

#endif
