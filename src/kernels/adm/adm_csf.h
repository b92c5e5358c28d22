/* The eye's contrast sensitivity for wavelet bands: models of it, and what the integer ADM takes of them. */
#ifndef VMAFX_KERNELS_ADM_ADM_CSF_H
#define VMAFX_KERNELS_ADM_ADM_CSF_H

#include <span>

#include "base/status.h"
#include "kernels/adm/adm_math.h"

namespace vmafx {

/* -- Models, of which both forms of ADM offer a choice ------------------------------------------------------------- */

/* How the picture is looked at. */
struct AdmDisplay {
  double distance_h = 3;  // adm_norm_view_dist, in heights of the display
  int height = 1080;      // adm_ref_display_height, in lines
};

/* The sensitivity by which a band's coefficients are multiplied; bands h and v share one. */
struct AdmSensitivity {
  float straight = 0;
  float diagonal = 0;
};

/* Scale 0 is the finest. */
AdmSensitivity watson_sensitivity(const AdmDisplay& display, int scale);
AdmSensitivity barten_sensitivity(const AdmDisplay& display, int scale, double straight_weight, double diagonal_weight);
AdmSensitivity adm_paper_sensitivity(const AdmDisplay& display, int scale);

/* -- The integer ADM ----------------------------------------------------------------------------------------------- */

enum class AdmCsfMode { kWatson97 = 0, kBarten = 1, kBlend = 2, kBlendMae = 3 };  // values of adm_csf_mode

/* How the picture is looked at. */
struct AdmViewing {
  AdmCsfMode mode = AdmCsfMode::kWatson97;
  double distance_h = 3;      // adm_norm_view_dist, in heights of the display
  int display_height = 1080;  // adm_ref_display_height, in lines
  double scale = 1;           // adm_csf_scale, kBarten only: weight of the bands h and v
  double diagonal_scale = 1;  // adm_csf_diag_scale, kBarten only: weight of the band d
};

/* Fills the sensitivities of all scales. EINVAL for a viewing distance that the 16-bit arithmetic or the mode's table
 * cannot serve. */
Status adm_sensitivities(const AdmViewing& viewing, std::span<AdmSensitivity, kAdmScales> scales);

/* Fills AdmScale::rfactor with a scale's sensitivities as the arithmetic takes them, and returns the unit that they
 * have: 2^unit times what is in `rfactor` is the sensitivity. The unit is 0 but for kBarten, whose factors are a
 * thousand times those of the other modes and more. */
int adm_fixed_sensitivity(const AdmViewing& viewing, int scale, const AdmSensitivity& sensitivity,
                          uint32_t (&rfactor)[kAdmBands]);

}  // namespace vmafx

#endif
