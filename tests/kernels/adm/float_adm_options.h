/* Sets of options that take float_adm's arithmetic down each of its paths, for the tests of all its twins. */
#ifndef VMAFX_TESTS_KERNELS_FLOAT_ADM_OPTIONS_H
#define VMAFX_TESTS_KERNELS_FLOAT_ADM_OPTIONS_H

#include <vector>

#include "kernels/options.h"

namespace vmafx::test {

inline std::vector<OptionTexts> float_adm_option_sets() {
  return {
      {{"adm_enhn_gain_limit", "1"}},
      {{"adm_enhn_gain_limit", "1.2"}},
      {{"adm_skip_scale0", "true"}},
      {{"adm_bypass_cm", "1"}},
      {{"adm_norm_view_dist", "24"}, {"adm_ref_display_height", "4320"}},
      {{"adm_norm_view_dist", "0.75"}, {"adm_ref_display_height", "1"}},
      {{"adm_csf_mode", "1"}, {"adm_csf_scale", "50"}, {"adm_csf_diag_scale", "0.01"}},
      {{"adm_csf_mode", "1"}, {"adm_csf_scale", "0"}, {"adm_csf_diag_scale", "0"}},
      {{"adm_csf_mode", "2"}},
      {{"adm_f1s0", "0.3"}, {"adm_f2s1", "10"}, {"adm_f1s2", "0"}, {"adm_f2s3", "0.01"}},
      {{"adm_p_norm", "1"}},
      {{"adm_p_norm", "2.5"}, {"adm_skip_scale0", "true"}},
      {{"adm_p_norm", "20"}, {"adm_bypass_cm", "1"}},
  };
}

}  // namespace vmafx::test

#endif
