#include "engine/look/color_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/look/color_mistakes.h"
#include "engine/look/numbers.h"

namespace vmafx::look {

namespace {

using What = ColorMistake::What;

/* More cells are left out evenly. */
constexpr size_t kMostCells = 750, kLeastCells = 100;

/* A plane is fitted by these: a level, luma and its square, for any curve, Cb and Cr. */
enum Term { kLevel, kLuma, kSquare, kCb, kCr, kTerms };
using Terms = std::array<double, kTerms>;

Terms terms_of(const Samples3& s) {
  const double luma = (s[0] - 126) / 50;
  return {1, luma, luma * luma, s[1] - 128, s[2] - 128};
}

/* The coefficients that mistakes are told by, and what of them encoders make: luma's of Cb and Cr, Cb's, Cr's. */
constexpr int kPlanes = 3, kCoefficients = 6;
using Coefficients = std::array<double, kCoefficients>;
constexpr Coefficients kOfEncoders = {0.008, 0.008, 0.06, 0.02, 0.02, 0.06};
/* Standard deviations of the fit count so many times: cells of one place are not independent. */
constexpr double kDependence = 2;

/* A matrix is said from these squared distances on: of the best mistake, or its part of that of no mistake, but of no
 * greater part than the third; of no mistake; and how much further the best one of another kind is. */
constexpr double kMatrixBest = 12, kMatrixPart = 0.1, kMatrixMost = 0.15, kMatrixNone = 40, kMatrixOther = 20;
/* Primaries are said from these on. Part of what speaks against no mistake must be luma's, as encoders take saturation,
 * and the gains of chroma must be known so well. */
constexpr double kPrimariesBest = 4.5, kPrimariesNone = 22, kPrimariesOther = 18, kOfLuma = 8, kMostError = 0.03;
constexpr double kLikelyBest = 3, kLikelyNone = 30;

/* Weighted least squares of one plane by the terms. */
class PlaneFit {
 public:
  PlaneFit(const std::vector<Terms>& rows, const std::vector<double>& values) : weights_(rows.size(), 1.0) {
    constexpr int kPasses = 6;
    for (int pass = 0; pass < kPasses; pass++) {
      invert(rows);
      const Terms fit = solve(rows, values);
      weigh(rows, values, fit);
    }
    invert(rows);
  }

  /* Coefficients of other values of the same cells. */
  Terms solve(const std::vector<Terms>& rows, const std::vector<double>& values) const {
    Terms right{}, fit{};
    for (size_t i = 0; i < rows.size(); i++)
      for (int t = 0; t < kTerms; t++) right[t] += weights_[i] * rows[i][t] * values[i];
    for (int t = 0; t < kTerms; t++)
      for (int u = 0; u < kTerms; u++) fit[t] += inverse_[t][u] * right[u];
    return fit;
  }
  double error(Term term) const { return std::sqrt(std::max(inverse_[term][term], 0.0)) * deviation_; }

 private:
  /* Inverts the normal matrix; a little is added to its diagonal, so that terms without evidence stay 0. */
  void invert(const std::vector<Terms>& rows) {
    double m[kTerms][2 * kTerms] = {};
    for (size_t i = 0; i < rows.size(); i++)
      for (int t = 0; t < kTerms; t++)
        for (int u = 0; u < kTerms; u++) m[t][u] += weights_[i] * rows[i][t] * rows[i][u];
    for (int t = 0; t < kTerms; t++) m[t][t] += 1e-6, m[t][kTerms + t] = 1;
    for (int t = 0; t < kTerms; t++) {
      for (int row = 0; row < kTerms; row++) {
        if (row == t) continue;
        const double part = m[row][t] / m[t][t];
        for (int u = 0; u < 2 * kTerms; u++) m[row][u] -= part * m[t][u];
      }
    }
    for (int t = 0; t < kTerms; t++)
      for (int u = 0; u < kTerms; u++) inverse_[t][u] = m[t][kTerms + u] / m[t][t];
  }

  void weigh(const std::vector<Terms>& rows, const std::vector<double>& values, const Terms& fit) {
    std::vector<double> residuals(rows.size()), sizes(rows.size());
    for (size_t i = 0; i < rows.size(); i++) {
      residuals[i] = values[i];
      for (int t = 0; t < kTerms; t++) residuals[i] -= fit[t] * rows[i][t];
      sizes[i] = std::abs(residuals[i]);
    }
    deviation_ = 1.48 * median_of(sizes) + 0.02;
    for (size_t i = 0; i < rows.size(); i++) {
      const double r = residuals[i] / (2 * deviation_);
      weights_[i] = 1 / (1 + r * r);
    }
  }

  std::vector<double> weights_;
  double inverse_[kTerms][kTerms] = {};
  double deviation_ = 0;
};

/* The fits of all planes. */
class ColorFit {
 public:
  explicit ColorFit(std::span<const Levels::CellPair> cells) {
    const size_t step = (cells.size() + kMostCells - 1) / kMostCells | 1;  // odd, so that all columns count
    std::vector<double> values[kPlanes];
    for (size_t i = 0; i < cells.size(); i += step) {
      const Levels::Color3& ref = cells[i].ref;
      ref_.push_back({ref[0], ref[1], ref[2]});
      rows_.push_back(terms_of(ref_.back()));
      for (int p = 0; p < kPlanes; p++) values[p].push_back(cells[i].dist[p]);
    }
    for (int p = 0; p < kPlanes; p++) {
      fits_.emplace_back(rows_, values[p]);
      put(p, fits_[p].solve(rows_, values[p]), seen_);
      put(p, {0, 0, 0, fits_[p].error(kCb), fits_[p].error(kCr)}, errors_);
    }
  }

  const Coefficients& errors() const { return errors_; }

  /* Squares of distances between what is seen and what a mistake makes, in standard deviations, of each coefficient. */
  Coefficients distances(const ColorMistake& mistake) const {
    std::vector<double> values[kPlanes];
    for (const Samples3& ref : ref_) {
      const Samples3 made = mistake.apply(ref);
      for (int p = 0; p < kPlanes; p++) values[p].push_back(made[p]);
    }
    Coefficients made{}, squares{};
    for (int p = 0; p < kPlanes; p++) put(p, fits_[p].solve(rows_, values[p]), made);
    for (int k = 0; k < kCoefficients; k++) {
      const double error = kDependence * errors_[k];
      squares[k] = std::pow(seen_[k] - made[k], 2) / (error * error + kOfEncoders[k] * kOfEncoders[k]);
    }
    return squares;
  }

 private:
  static void put(int plane, const Terms& fit, Coefficients& to) {
    to[2 * plane] = fit[kCb];
    to[2 * plane + 1] = fit[kCr];
  }

  std::vector<Samples3> ref_;
  std::vector<Terms> rows_;
  std::vector<PlaneFit> fits_;
  Coefficients seen_{}, errors_{};
};

double sum_of(const Coefficients& squares) {
  double sum = 0;
  for (double square : squares) sum += square;
  return sum;
}

/* The mistakes for what samples of the reference may mean, where tags do not say it. */
std::vector<ColorMistake> mistakes_for(const Color& color) {
  std::vector<ColorMistake> all = color_mistakes(color);
  if (color.transfer != Color::kUnspecified) return all;
  Color wide = color;
  wide.matrix = color.matrix == Color::kUnspecified ? 9 : color.matrix;
  wide.transfer = 16;
  for (const ColorMistake& mistake : color_mistakes(wide))
    if (mistake.what == What::kPrimaries) all.push_back(mistake);
  return all;
}

struct Candidate {
  What what;
  int from, to;
  double distance;
};

}  // namespace

std::optional<Finding> find_mixed_colors(std::span<const Levels::CellPair> cells, const Color& color) {
  if (cells.size() < kLeastCells) return std::nullopt;
  const ColorFit fit(cells);
  std::vector<Candidate> candidates;
  double of_luma = 0;
  for (const ColorMistake& mistake : mistakes_for(color)) {
    if (mistake.what != What::kNone && mistake.what != What::kMatrix && mistake.what != What::kPrimaries) continue;
    const Coefficients squares = fit.distances(mistake);
    if (mistake.what == What::kNone) of_luma = squares[0] + squares[1];
    candidates.push_back({mistake.what, mistake.from, mistake.to, sum_of(squares)});
  }
  const Candidate best = *std::ranges::min_element(candidates, {}, &Candidate::distance);
  double none = candidates[0].distance, other = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates)
    if (candidate.what != best.what) other = std::min(other, candidate.distance);
  Finding found{.kind = Kind::kMatrix, .certainty = Certainty::kLikely};
  found.evidence = {{"from", best.from},
                    {"to", best.to},
                    {"distance", rounded(std::sqrt(best.distance))},
                    {"distance_without", rounded(std::sqrt(none))}};
  if (best.what == What::kMatrix) {
    const bool clear = best.distance < std::min(std::max(kMatrixBest, kMatrixPart * none), kMatrixMost * none) &&
                       none > kMatrixNone && other > best.distance + kMatrixOther;
    return clear ? std::optional(found) : std::nullopt;
  }
  const bool known = std::max(fit.errors()[2], fit.errors()[5]) < kMostError;
  if (best.what != What::kPrimaries || !known || of_luma < kOfLuma || best.distance > kPrimariesBest ||
      none < kPrimariesNone || other < best.distance + kPrimariesOther)
    return std::nullopt;
  found.kind = Kind::kPrimaries;
  /* Saturation that was changed explains nearly as much: evidence, no proof. */
  if (best.distance > kLikelyBest || none < kLikelyNone) found.certainty = Certainty::kPossible;
  return found;
}

}  // namespace vmafx::look
