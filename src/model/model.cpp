#include "model/model.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

namespace vmafx {
namespace {

/* The features that chroma-from-luma joins: SpEED's chroma score is a number only where there is chroma texture; where
 * it is exactly 0, C - C * adm3 stands in for it. */
constexpr const char* kGuide = "adm3";
constexpr const char* kGuided = "speed_chroma";

double map_by_knots(double x, const std::vector<std::pair<double, double>>& knots) {
  double y = x;
  for (size_t i = 0; i + 1 < knots.size(); i++) {
    const auto [x0, y0] = knots[i];
    const auto [x1, y1] = knots[i + 1];
    const bool below = i == 0 && x < x0, above = i + 2 == knots.size() && x > x1;
    if (!below && !above && !(x0 <= x && x <= x1)) continue;
    const double slope = (y1 - y0) / (x1 - x0);
    y = y0 == y1 ? y0 : slope * x + (y0 - x0 * slope);
  }
  return y;
}

double transformed(const std::optional<ScoreTransform>& transform, double raw) {
  if (!transform) return raw;
  double y = raw;
  if (transform->p0 || transform->p1 || transform->p2) {
    y = 0;
    if (transform->p0) y += *transform->p0;
    if (transform->p1) y += *transform->p1 * raw;
    if (transform->p2) y += *transform->p2 * raw * raw;
  }
  y = map_by_knots(y, transform->knots);
  if (transform->out_lte_in) y = y > raw ? raw : y;
  if (transform->out_gte_in) y = y < raw ? raw : y;
  return y;
}

/* A raw score as it is reported. (A NaN passes both comparisons and stays.) */
double finished(const ModelMember& member, double raw) {
  double score = transformed(member.transform, raw);
  if (member.clip) {
    score = score < member.clip->first ? member.clip->first : score;
    score = score > member.clip->second ? member.clip->second : score;
  }
  return score;
}

double normalized(const ModelMember& member, size_t i, double feature) {
  return member.rescale ? member.slopes[1 + i] * feature + member.intercepts[1 + i] : feature;
}

double denormalized(const ModelMember& member, size_t i, double x) {
  return member.rescale ? (x - member.intercepts[1 + i]) / member.slopes[1 + i] : x;
}

/* The inputs that chroma-from-luma joins. */
struct ChromaCorrection {
  size_t guide, guided;
};

/* Corrects inputs of the machine; nullopt: they are left as they are. */
std::optional<ChromaCorrection> correct_chroma(const ModelMember& member, std::span<double> x) {
  const double c = member.chroma_correction.value_or(0);
  const auto find = [&](const char* part) {
    return std::ranges::find_if(member.features,
                                [&](const ModelFeature& f) { return f.name.find(part) != f.name.npos; }) -
           member.features.begin();
  };
  const size_t guide = find(kGuide), guided = find(kGuided);
  if (c == 0 || guide == x.size() || guided == x.size() || denormalized(member, guided, x[guided]) != 0)
    return std::nullopt;
  x[guided] = normalized(member, guided, -c * denormalized(member, guide, x[guide]) + c);
  return ChromaCorrection{guide, guided};
}

/* The mean slope between two raw scores of the way from a raw score to a reported one. */
double mapping_slope(const ModelMember& member, double from, double to) {
  constexpr double kLeast = 1e-6;  // apart; the difference of closer ones is lost in rounding
  if (std::abs(to - from) < kLeast) to = from + kLeast;
  return (finished(member, to) - finished(member, from)) / (to - from);
}

/* Has slopes explain a difference of scores: each takes of what is missing in proportion to what it explains. */
void hand_out(double difference, std::span<const double> features, std::span<const double> best,
              std::span<double> slopes) {
  double missing = difference, weight = 0;
  for (size_t i = 0; i < slopes.size(); i++) {
    missing -= slopes[i] * (best[i] - features[i]);
    weight += std::abs(slopes[i] * (best[i] - features[i]));
  }
  if (!(weight > 0)) return;
  for (size_t i = 0; i < slopes.size(); i++) {
    const double share = slopes[i] * (best[i] - features[i]);
    slopes[i] *= share < 0 ? 1 - missing / weight : 1 + missing / weight;
  }
}

/* Linear between the two nearest of the ascending `scores`. */
double percentile_of_sorted(std::span<const double> scores, double percent) {
  const double rank = percent * (scores.size() - 1) / 100.;
  const size_t left = static_cast<size_t>(std::floor(rank)), right = static_cast<size_t>(std::ceil(rank));
  return left == right ? scores[left] : scores[left] * (right - rank) + scores[right] * (rank - left);
}

}  // namespace

Model::Model(std::string name, std::vector<ModelMember> members, std::string sha256)
    : name_(std::move(name)), members_(std::move(members)), sha256_(std::move(sha256)) {
  for (size_t m = 0; m < members_.size(); m++) {
    inputs_.emplace_back();
    for (const ModelFeature& feature : members_[m].features) {
      const auto found = std::ranges::find(features_, feature);
      inputs_.back().push_back(static_cast<int>(found - features_.begin()));
      if (found == features_.end()) features_.push_back(feature);
    }
    score_keys_.push_back(m == 0 ? name_ : format_text("%s_%04zu", name_.c_str(), m));
  }
  if (members_.size() > 1)
    for (const char* suffix : {"_bagging", "_stddev", "_ci_p95_lo", "_ci_p95_hi"})
      score_keys_.push_back(name_ + suffix);
}

Status Model::predict(std::span<const double> features, std::span<double> scores) const {
  if (features.size() != features_.size() || scores.size() != score_keys_.size())
    return error(EINVAL, "model %s: %zu features give %zu scores, not %zu and %zu", name_.c_str(), features_.size(),
                 score_keys_.size(), features.size(), scores.size());
  std::array<double, kMaxMembers> raw;
  for (size_t m = 0; m < members_.size(); m++) {
    raw[m] = raw_score(m, features);
    scores[m] = finished(members_[m], raw[m]);
  }
  if (members_.size() > 1)
    bootstrap_scores(std::span(raw).subspan(1, members_.size() - 1), scores.subspan(members_.size()));
  return {};
}

/* The SVM's score in the scale of VMAF, before transform and clip. */
double Model::raw_score(size_t m, std::span<const double> features) const {
  const ModelMember& member = members_[m];
  std::array<double, kMaxFeatures> inputs;
  const std::span x(inputs.data(), member.features.size());
  for (size_t i = 0; i < x.size(); i++) x[i] = normalized(member, i, features[inputs_[m][i]]);
  if (member.chroma_correction) correct_chroma(member, x);
  const double y = member.svm.predict(x);
  return member.rescale ? (y - member.intercepts[0]) / member.slopes[0] : y;
}

double Model::explain(std::span<const double> features, std::span<const double> best, std::span<double> slopes) const {
  const size_t n = features.size();
  std::vector<double> at(best.begin(), best.end()), slopes_here(n), slopes_next(n);
  std::ranges::fill(slopes, 0.0);
  const ModelMember& member = members_.front();
  double raw = raw_slopes(at, slopes_here);
  const double of_best = finished(member, raw);
  for (int step = 1; step <= kExplainSteps; step++) {
    const double way = static_cast<double>(step) / kExplainSteps;
    for (size_t i = 0; i < n; i++)
      at[i] = step == kExplainSteps ? features[i] : best[i] + way * (features[i] - best[i]);
    const double raw_next = raw_slopes(at, slopes_next);
    const double weight = mapping_slope(member, raw, raw_next) / kExplainSteps;
    for (size_t i = 0; i < n; i++) slopes[i] += weight * (slopes_here[i] + slopes_next[i]) / 2;
    raw = raw_next;
    slopes_here.swap(slopes_next);
  }
  hand_out(of_best - finished(member, raw), features, best, slopes);
  return of_best;
}

/* The base model's raw score and its partial derivatives. */
double Model::raw_slopes(std::span<const double> features, std::span<double> slopes) const {
  const ModelMember& member = members_.front();
  std::array<double, kMaxFeatures> inputs, of_inputs;
  const std::span x(inputs.data(), member.features.size()), by_input(of_inputs.data(), x.size());
  for (size_t i = 0; i < x.size(); i++) x[i] = normalized(member, i, features[inputs_[0][i]]);
  std::optional<ChromaCorrection> corrected;
  if (member.chroma_correction) corrected = correct_chroma(member, x);
  const double y = member.svm.differentiate(x, by_input);
  const auto scale = [&](size_t i) { return member.rescale ? member.slopes[1 + i] : 1.0; };
  for (size_t i = 0; i < x.size(); i++) by_input[i] *= scale(i) / (member.rescale ? member.slopes[0] : 1);
  if (corrected) {
    by_input[corrected->guide] -= *member.chroma_correction * by_input[corrected->guided];
    by_input[corrected->guided] = 0;
  }
  std::ranges::fill(slopes, 0.0);
  for (size_t i = 0; i < x.size(); i++) slopes[inputs_[0][i]] += by_input[i];
  return member.rescale ? (y - member.intercepts[0]) / member.slopes[0] : y;
}

/* Bagging, stddev, lower and upper end of the interval. The statistics are those of the raw scores, then mapped like a
 * score; the stddev is scaled by the slope of that mapping around the mean. */
void Model::bootstrap_scores(std::span<double> raw, std::span<double> scores) const {
  const ModelMember& member = members_[1];
  const double n = static_cast<double>(raw.size());
  double sum = 0;
  for (const double score : raw) sum += score;
  const double mean = sum / n;
  if (!std::isfinite(mean)) {  // NaN has no order, so no percentiles
    std::ranges::fill(scores, std::nan(""));
    return;
  }
  double squares = 0;
  for (const double score : raw) squares += (score - mean) * (score - mean);

  constexpr double kDelta = 0.01;
  const double slope = (finished(member, mean + kDelta) - finished(member, mean - kDelta)) / (2.0 * kDelta);
  std::ranges::sort(raw);
  scores[0] = finished(member, mean);
  scores[1] = std::sqrt(squares / n) * slope;
  scores[2] = finished(member, percentile_of_sorted(raw, 2.5));
  scores[3] = finished(member, percentile_of_sorted(raw, 97.5));
}

}  // namespace vmafx
