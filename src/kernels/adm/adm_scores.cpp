#include "kernels/adm/adm_scores.h"

#include <cmath>

namespace vmafx {

float adm_noise_floor(const AdmExtent& extent, double weight, double p_norm) {
  const int samples = (extent.bottom - extent.top) * (extent.right - extent.left);
  return std::pow(static_cast<float>(samples * weight), static_cast<float>(1.0f / p_norm));
}

AdmScores adm_combined(const AdmScaleScore (&scales)[kAdmScales], const AdmExtent& extent, int not_for_aim) {
  double num = 0, den = 0, aim_num = 0, aim_den = 0;
  for (int s = 0; s < kAdmScales; s++) {
    num += scales[s].num;
    den += scales[s].den;
    if (s == not_for_aim) continue;
    aim_num += scales[s].aim_num;
    aim_den += scales[s].den;
  }
  /* Less than this is nothing. */
  const double limit = 1e-10 * (static_cast<double>(extent.in_w) * extent.in_h) / (1920.0 * 1080.0);
  if (num < limit) num = 0;
  if (den < limit) den = 0;
  AdmScores scores = {};
  scores.num = num;
  scores.den = den;
  scores.adm2 = scores.adm = den == 0 ? 1 : num / den;
  scores.aim = den == 0 || aim_den == 0 ? 0 : aim_num / aim_den;
  for (int s = 0; s < kAdmScales; s++) {
    scores.scale[s] = scales[s].ratio();
    scores.scale_num[s] = scales[s].num;
    scores.scale_den[s] = scales[s].den;
  }
  return scores;
}

double adm_deviation_weight(const AdmScores& of_frame, ScoreId score, bool added, double dlm_weight) {
  if (!(of_frame.den > 0)) return 0;
  if (score == kAdm2) return added ? 0 : 1 / of_frame.den;
  if (score == kAim) return added ? -1 / of_frame.den : 0;
  if (score == kAdm3) return (added ? 1 - dlm_weight : dlm_weight) / of_frame.den;
  return 0;
}

double adm_scale_deviation_weight(const AdmScores& of_frame, int scale, bool added) {
  return added || !(of_frame.scale_den[scale] > 0) ? 0 : 1 / of_frame.scale_den[scale];
}

double adm_per_cube(double a, double b) {
  const double x = std::cbrt(a), y = std::cbrt(b), factor = x * x + x * y + y * y;
  return factor > 0 ? 1 / factor : 0;
}

}  // namespace vmafx
