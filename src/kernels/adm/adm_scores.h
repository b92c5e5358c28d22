/* From what the integer or the floating-point ADM summed up at each scale to its scores. */
#ifndef VMAFX_KERNELS_ADM_ADM_SCORES_H
#define VMAFX_KERNELS_ADM_ADM_SCORES_H

#include "kernels/adm/adm_scales.h"
#include "kernels/extractor.h"

namespace vmafx {

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
