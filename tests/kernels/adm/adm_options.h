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

}  // namespace vmafx::test

#endif
