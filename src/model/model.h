/* Model: from the features of a frame to its VMAF scores.
 *
 * A plain model gives one score. A bootstrap collection (vmaf_b_v0.6.3) is a base model and N members trained on
 * resampled data; it gives the base score, every member's score, and the members' bagged mean, spread and 95 %
 * confidence interval. Arithmetic and its order are libvmaf's (f85a853, predict.c), so scores are equal to the last
 * bit. One deviation: a chroma correction of 0 means no correction (libvmaf leaves the score uninitialized). */
#ifndef VMAFX_MODEL_MODEL_H
#define VMAFX_MODEL_MODEL_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kernels/options.h"
#include "kernels/recolor/color_target.h"
#include "model/svm.h"

namespace vmafx {

/* A feature that a model needs, as its file names it: without the user's overloads. */
struct ModelFeature {
  std::string name;     // "VMAF_integer_feature_adm2_score"
  OptionTexts options;  // {"adm_enhn_gain_limit": "1"}
  bool operator==(const ModelFeature&) const = default;
};

/* The mapping of a raw score to the reported one, in this order: polynomial, knots, rectification. */
struct ScoreTransform {
  std::optional<double> p0, p1, p2;              // p0 + p1 y + p2 y^2; all unset: y
  std::vector<std::pair<double, double>> knots;  // (x, y), piecewise linear, the outer segments continue; empty: off
  bool out_lte_in = false;                       // never above the raw score
  bool out_gte_in = false;                       // never below it
};

inline constexpr int kMaxFeatures = 64;   // per member; libvmaf's limit
inline constexpr int kMaxMembers = 100;   // per collection; the largest known has 21
inline constexpr int kExplainSteps = 16;  // of Model::explain(); the machine's function is smooth on this scale

/* One support vector machine with what stands before and after it. */
struct ModelMember {
  std::vector<ModelFeature> features;       // in the order of the SVM's inputs
  bool rescale = true;                      // x = slope * feature + intercept, and back for the score
  std::vector<double> slopes, intercepts;   // [0]: the score, [1 + i]: feature i; empty without rescale
  std::optional<double> chroma_correction;  // the C of chroma-from-luma, see model.cpp
  std::optional<ScoreTransform> transform;  // only when it is in force
  std::optional<std::pair<double, double>> clip;
  std::optional<ColorTarget> color_target{};  // both pictures are converted to it before features are computed
  Svm svm;
};

class Model {
 public:
  /* 1 to kMaxMembers members, each with 1 to kMaxFeatures features; more than one member makes a bootstrap collection
   * whose base model is members[0]. */
  Model(std::string name, std::vector<ModelMember> members, std::string sha256 = "");

  /* The report key of the (base) score. */
  const std::string& name() const { return name_; }

  /* The SHA-256 of the model's file; that of a built-in model is of the file that its numbers come from. */
  const std::string& sha256() const { return sha256_; }

  /* The inputs of predict(): the union over all members, each feature once. */
  std::span<const ModelFeature> features() const { return features_; }

  /* The names of predict()'s results: {"vmaf"}, or for a collection "vmaf", "vmaf_0001", …, "vmaf_bagging",
   * "vmaf_stddev", "vmaf_ci_p95_lo", "vmaf_ci_p95_hi". */
  const std::vector<std::string>& score_keys() const { return score_keys_; }

  /* The place of "vmaf_stddev" among them; nullopt: the model is not a collection. */
  std::optional<size_t> stddev_index() const {
    return members_.size() > 1 ? std::optional(score_keys_.size() - 3) : std::nullopt;
  }

  /* `features` in the order of features(), `scores` in that of score_keys(). EINVAL when a length is wrong. Features
   * that are not finite give scores that are not finite. Thread-safe. */
  Status predict(std::span<const double> features, std::span<double> scores) const;

  /* Explains the (base) score of a frame by integrated gradients (Sundararajan, Taly, Yan: "Axiomatic attribution for
   * deep networks", ICML 2017) along the straight way from the best features:
   *
   *     score(best) - score(features) = sum_i slopes[i] * (best[i] - features[i])
   *
   * within the rounding of doubles. slopes[i] is the mean slope of the score, with transform and clip, on that way,
   * taken in kExplainSteps steps by the trapezoidal rule; what the steps leave of the difference is handed out in
   * proportion. Returns score(best). All three have one value for each of features(). Thread-safe. */
  double explain(std::span<const double> features, std::span<const double> best, std::span<double> slopes) const;

  /* The highest (base) score: 100 if scores are not clipped. */
  double highest() const { return members_.front().clip ? members_.front().clip->second : 100; }

  std::span<const ModelMember> members() const { return members_; }

  /* That of all members; nullopt: features are computed from pictures as they are. */
  const std::optional<ColorTarget>& color_target() const { return members_.front().color_target; }

 private:
  double raw_score(size_t member, std::span<const double> features) const;
  double raw_slopes(std::span<const double> features, std::span<double> slopes) const;
  void bootstrap_scores(std::span<double> raw, std::span<double> scores) const;

  std::string name_;
  std::vector<ModelMember> members_;
  std::string sha256_;
  std::vector<ModelFeature> features_;
  std::vector<std::vector<int>> inputs_;  // [member][SVM input] -> index into features_
  std::vector<std::string> score_keys_;
};

}  // namespace vmafx

#endif
