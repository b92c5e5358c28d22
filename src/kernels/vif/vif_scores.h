/* Options and features of the integer and the floating-point VIF, and the way from the scales' ratios to scores. */
#ifndef VMAFX_KERNELS_VIF_VIF_SCORES_H
#define VMAFX_KERNELS_VIF_VIF_SCORES_H

#include "kernels/metric.h"
#include "kernels/vif/vif_math.h"

namespace vmafx {

struct VifOptions {
  bool debug = false, skip_scale0 = false;
  double gain_limit = 100;
};

template <class Fields>
inline constexpr OptionInfo kVifGainLimit = option<&VifOptions::gain_limit, Fields>(
    "vif_enhn_gain_limit", "egl", 1, 100, "upper bound of the enhancement gain; 1 gives no credit for enhancement");
template <class Fields>
inline constexpr OptionInfo kVifSkipScale0 =
    option<&VifOptions::skip_scale0, Fields>("vif_skip_scale0", "ssclz", "do not compute scale 0; its score is 0");

struct VifScores {
  double scale[kVifScales], whole, num, den, scale_num[kVifScales], scale_den[kVifScales];
};

/* `kind`: "integer_" or "". */
#define VMAFX_VIF_SCALE(kind, s) \
  of_regions(with_best(          \
      1, {"VMAF_" kind "feature_vif_scale" #s "_score", kind "vif_scale" #s, VMAFX_SCORE(VifScores, scale[s])}))
#define VMAFX_VIF_FEATURES(kind)                                                                          \
  VMAFX_VIF_SCALE(kind, 0), VMAFX_VIF_SCALE(kind, 1), VMAFX_VIF_SCALE(kind, 2), VMAFX_VIF_SCALE(kind, 3), \
      with_best(1, plain_feature(kind "vif", VMAFX_SCORE(VifScores, whole))),                             \
      neutral_feature(kind "vif_num", VMAFX_SCORE(VifScores, num)),                                       \
      neutral_feature(kind "vif_den", VMAFX_SCORE(VifScores, den)),                                       \
      neutral_feature(kind "vif_num_scale0", VMAFX_SCORE(VifScores, scale_num[0])),                       \
      neutral_feature(kind "vif_den_scale0", VMAFX_SCORE(VifScores, scale_den[0])),                       \
      neutral_feature(kind "vif_num_scale1", VMAFX_SCORE(VifScores, scale_num[1])),                       \
      neutral_feature(kind "vif_den_scale1", VMAFX_SCORE(VifScores, scale_den[1])),                       \
      neutral_feature(kind "vif_num_scale2", VMAFX_SCORE(VifScores, scale_num[2])),                       \
      neutral_feature(kind "vif_den_scale2", VMAFX_SCORE(VifScores, scale_den[2])),                       \
      neutral_feature(kind "vif_num_scale3", VMAFX_SCORE(VifScores, scale_num[3])),                       \
      neutral_feature(kind "vif_den_scale3", VMAFX_SCORE(VifScores, scale_den[3]))

/* The features that an instance provides. */
inline std::span<const FeatureInfo> vif_provided(std::span<const FeatureInfo> all, bool debug) {
  return debug ? all : all.first(kVifScales);
}

/* The scale of a feature that is a scale's score. */
inline int vif_scale_of(std::span<const FeatureInfo> all, ScoreId score) {
  return static_cast<int>(std::ranges::find(all, score, &FeatureInfo::score) - all.begin());
}

/* The score of a region: `lost` and `den` of its blocks, by their shares. */
template <class Lost, class Den>
double vif_of_region(std::span<const double> shares, Lost lost, Den den) {
  double all_lost = 0, all_den = 0;
  for (size_t n = 0; n < shares.size(); n++) {
    all_lost += shares[n] * lost(n);
    all_den += shares[n] * den(n);
  }
  return (all_den - all_lost) / all_den;
}

/* A scale's sums and score. */
struct VifRatio {
  double num, den, score;
};
inline constexpr VifRatio kVifSkipped = {0, -1, 0};

inline VifScores vif_scores(const VifRatio (&scales)[kVifScales], bool skip_scale0) {
  VifScores scores = {};
  for (int s = 0; s < kVifScales; s++) {
    const VifRatio& ratio = s == 0 && skip_scale0 ? kVifSkipped : scales[s];
    scores.scale[s] = ratio.score;
    scores.scale_num[s] = ratio.num;
    scores.scale_den[s] = ratio.den;
    if (s == 0 && skip_scale0) continue;
    scores.num += ratio.num;
    scores.den += ratio.den;
  }
  scores.whole = scores.num / scores.den;
  return scores;
}

}  // namespace vmafx

#endif
