/* Models of the eye's contrast sensitivity for wavelet bands, of which ADM offers a choice. */
#ifndef VMAFX_KERNELS_ADM_ADM_SENSITIVITY_H
#define VMAFX_KERNELS_ADM_ADM_SENSITIVITY_H

namespace vmafx {

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

}  // namespace vmafx

#endif
