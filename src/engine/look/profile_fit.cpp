#include "engine/look/profile_fit.h"

#include <algorithm>
#include <cmath>

#include "engine/look/numbers.h"

namespace vmafx::look {

namespace {

/* Bins of the levels from coarse to fine; the finest has those of the profile. */
constexpr int kCoarseBins = 64, kMiddleBins = 192;
/* The search anywhere: displacements of an edge in coarse bins. */
constexpr int kFarthest = kCoarseBins / 4, kFarStep = 2;
/* A fit that explains less makes it necessary; one that explains so much ends it. */
constexpr double kExplained = 0.97, kWellExplained = 0.995;
/* Least share of the bins that must have a place in the reference. */
constexpr double kLeastOverlap = 0.55;
/* Residuals count up to so many times their median. */
constexpr double kOutlier = 3;
/* Residuals (levels squared) below do not count. */
constexpr double kResidualFloor = 2e-3;

using Doubles = std::vector<double>;

/* One band at one level: the reference as a cumulative sum, which a cubic curve runs through, so that the mean between
 * any two places can be read from it; the encode as means of bins. */
struct Band {
  Doubles cumulated, dist;
  int first = 0, last = 0;  // the bins of the encode that are compared
  int bins() const { return static_cast<int>(dist.size()); }

  /* The sum up to t bins, and its derivative, the level there. */
  void read(double t, double& sum, double& level) const {
    const int n = bins(), k = std::clamp(static_cast<int>(t), 0, n - 1);
    const double u = t - k, here = cumulated[k], next = cumulated[k + 1], step = next - here;
    const double slope0 = k ? (next - cumulated[k - 1]) / 2 : step;
    const double slope1 = k + 2 <= n ? (cumulated[k + 2] - here) / 2 : step;
    const double c2 = 3 * step - 2 * slope0 - slope1, c3 = slope0 + slope1 - 2 * step;
    sum = here + u * (slope0 + u * (c2 + u * c3));
    level = slope0 + u * (2 * c2 + u * 3 * c3);
  }
};
using Level = std::array<Band, kProfileBands>;

/* Halves the weight of single bins, whose widths may differ and which scalers treat differently. */
Doubles smoothed(const Profile& profile) {
  const int n = static_cast<int>(profile.size());
  Doubles smooth(n);
  for (int k = 0; k < n; k++) {
    const double before = profile[k ? k - 1 : 0], after = profile[k + 1 < n ? k + 1 : k];
    smooth[k] = (before + 2.0 * profile[k] + after) / 4;
  }
  return smooth;
}

Doubles cumulated(const Doubles& profile) {
  Doubles sums(profile.size() + 1, 0.0);
  for (size_t k = 0; k < profile.size(); k++) sums[k + 1] = sums[k] + profile[k];
  return sums;
}

/* Means of `bins` equal parts. */
Doubles resampled(const Doubles& sums, int bins) {
  const int n = static_cast<int>(sums.size()) - 1;
  Doubles means(bins);
  double last = 0;
  for (int k = 0; k < bins; k++) {
    const double t = static_cast<double>(k + 1) * n / bins;
    const int whole = std::min(static_cast<int>(t), n - 1);
    const double sum = sums[whole] + (t - whole) * (sums[whole + 1] - sums[whole]);
    means[k] = (sum - last) * bins / n;
    last = sum;
  }
  return means;
}

Level level_of(const std::array<Doubles, kProfileBands>& ref, const std::array<Doubles, kProfileBands>& dist, int bins,
               const Search& search) {
  Level level;
  const int n = static_cast<int>(ref[0].size()) - 1;
  for (int band = 0; band < kProfileBands; band++) {
    level[band].dist = resampled(dist[band], bins);
    level[band].cumulated = cumulated(resampled(ref[band], bins));
    level[band].first = (search.begin * bins + n - 1) / n;
    level[band].last = search.end * bins / n;
  }
  return level;
}

/* A band of the reference where a displacement puts it: means of bins, and how these change with the displacement of
 * either edge. */
struct Moved {
  int begin = 0, end = 0;  // the bins that have a place in the reference
  Doubles mean, by_first, by_last;
};

void move(const Band& band, const Displacement& at, bool derivatives, Moved& moved) {
  const int n = band.bins();
  moved.mean.resize(n);
  moved.by_first.resize(n);
  moved.by_last.resize(n);
  moved.begin = n;
  moved.end = 0;
  const double width = 1 + at.last - at.first;  // of a bin, in bins of the reference
  double before = 0, level_before = 0;
  for (int k = 0; k <= n; k++) {
    const double t = at.first * n + k * width;
    const bool inside = t >= -1e-9 && t <= n + 1e-9;
    double sum = 0, level = 0;
    if (inside) band.read(std::clamp(t, 0.0, static_cast<double>(n)), sum, level);
    if (k && inside && k - 1 >= moved.begin) {
      moved.mean[k - 1] = (sum - before) / width;
      moved.end = k;
      if (derivatives) {
        const double slope = (level - level_before) / width * n, part = (k - 0.5) / n;
        moved.by_first[k - 1] = slope * (1 - part);
        moved.by_last[k - 1] = slope * part;
      }
    }
    if (inside && moved.begin == n) moved.begin = k;
    before = sum;
    level_before = level;
  }
  moved.begin = std::max(moved.begin, band.first);
  moved.end = std::min(moved.end, band.last);
}

/* What is fitted along with each displacement: a gain, a level, and how much sharper or softer the encode is (a part of
 * the second difference), since a fit without it takes the softness of values between two bins for that of the encode,
 * and moves there. */
struct Shape {
  double gain = 0, level = 0, sharpness = 0;
  double at(const Doubles& mean, int k) const {
    return level + gain * mean[k] + sharpness * second_difference(mean, k);
  }
  static double second_difference(const Doubles& mean, int k) { return mean[k - 1] - 2 * mean[k] + mean[k + 1]; }
};

/* The shape of `values` over bins begin < k < end - 1 of `mean`, by least squares with weights. */
Shape shape_of(const Doubles& mean, const Doubles& values, const Doubles& weight, int begin, int end) {
  double w = 0, sx = 0, sy = 0;
  for (int k = begin + 1; k < end - 1; k++) {
    w += weight[k];
    sx += weight[k] * mean[k];
    sy += weight[k] * values[k];
  }
  const double x0 = sx / w, y0 = sy / w;
  double xx = 0, xz = 0, zz = 0, xy = 0, zy = 0, z0 = 0;
  for (int k = begin + 1; k < end - 1; k++) z0 += weight[k] * Shape::second_difference(mean, k);
  z0 /= w;
  for (int k = begin + 1; k < end - 1; k++) {
    const double x = mean[k] - x0, z = Shape::second_difference(mean, k) - z0, y = values[k] - y0;
    const double wx = weight[k] * x, wz = weight[k] * z;
    xx += wx * x;
    xz += wx * z;
    zz += wz * z;
    xy += wx * y;
    zy += wz * y;
  }
  if (xx < 1e-6 * w) return {0, y0, 0};
  zz += 1e-6 * w;
  const double det = xx * zz - xz * xz;
  if (det < 1e-6 * xx * zz) return {xy / xx, y0 - xy / xx * x0, 0};
  const double gain = (zz * xy - xz * zy) / det, sharpness = (xx * zy - xz * xy) / det;
  return {gain, y0 - gain * x0 - sharpness * z0, sharpness};
}

/* Weights that limit the influence of outliers to that of kOutlier medians. */
void weigh(const Doubles& residual, int begin, int end, Doubles& weight) {
  Doubles size(residual.begin() + begin, residual.begin() + end);
  for (double& r : size) r = std::abs(r);
  const double limit = kOutlier * median_of(size) + 0.02;
  for (int k = begin; k < end; k++) weight[k] = std::min(1.0, limit / std::max(std::abs(residual[k]), 1e-12));
}

/* What one band says at a displacement: residuals, and the normal equations of a better displacement. */
struct Equations {
  double h[3] = {0, 0, 0}, v[2] = {0, 0};
  double residual = 0, variance = 0, weights = 0;
  double band[kProfileBands] = {0, 0};
};

/* Working memory of a fit. */
struct Scratch {
  Moved moved;
  Doubles weight, residual;
};

/* A band whose fit would have a negative gain leaves all of its variance. */
bool add_flat(const Band& band, int begin, int end, Equations& sum) {
  double mean = 0, square = 0;
  for (int k = begin + 1; k < end - 1; k++) {
    mean += band.dist[k];
    square += band.dist[k] * band.dist[k];
  }
  const double variance = square - mean * mean / (end - begin - 2);
  sum.residual += variance;
  sum.variance += variance;
  sum.weights += end - begin - 2;
  return true;
}

bool add_band(const Band& band, const Displacement& at, bool derivatives, Scratch& s, Equations& sum) {
  move(band, at, derivatives, s.moved);
  const int n = band.bins(), begin = s.moved.begin, end = s.moved.end;
  if (end - begin < std::max(kLeastOverlap * (band.last - band.first), 8.0)) return false;
  s.weight.assign(n, 1.0);
  s.residual.resize(n);
  Shape shape;
  for (int pass = 0; pass < 2; pass++) {
    shape = shape_of(s.moved.mean, band.dist, s.weight, begin, end);
    for (int k = begin + 1; k < end - 1; k++) s.residual[k] = band.dist[k] - shape.at(s.moved.mean, k);
    weigh(s.residual, begin + 1, end - 1, s.weight);
  }
  /* A mirrored profile is none that was moved. */
  const double gain = std::max(shape.gain, 0.0);
  if (shape.gain < 0) return add_flat(band, begin, end, sum);
  if (derivatives) {
    for (Doubles* by : {&s.moved.by_first, &s.moved.by_last}) {
      const Shape along = shape_of(s.moved.mean, *by, s.weight, begin, end);
      for (int k = begin + 1; k < end - 1; k++) (*by)[k] -= along.at(s.moved.mean, k);
    }
  }
  double mean = 0, square = 0;
  for (int k = begin + 1; k < end - 1; k++) {
    const double w = s.weight[k], r = s.residual[k], first = gain * s.moved.by_first[k];
    const double last = gain * s.moved.by_last[k];
    sum.residual += w * r * r;
    mean += band.dist[k];
    square += band.dist[k] * band.dist[k];
    if (!derivatives) continue;
    sum.h[0] += w * first * first;
    sum.h[1] += w * first * last;
    sum.h[2] += w * last * last;
    sum.v[0] += w * first * r;
    sum.v[1] += w * last * r;
  }
  sum.variance += square - mean * mean / (end - begin - 2);
  sum.weights += end - begin - 2;
  return true;
}

std::optional<Equations> equations(const Level& level, const Displacement& at, bool derivatives, Scratch& scratch) {
  Equations sum;
  for (int band = 0; band < kProfileBands; band++) {
    const double residual = sum.residual, weights = sum.weights;
    if (!add_band(level[band], at, derivatives, scratch, sum)) return std::nullopt;
    sum.band[band] = (sum.residual - residual) / (sum.weights - weights);
  }
  return sum;
}

ProfileFit fit_of(const Equations& sum, const Displacement& at) {
  ProfileFit fit{.at = at};
  fit.residual = sum.residual / sum.weights;
  fit.variance = sum.variance / sum.weights;
  std::copy(sum.band, sum.band + kProfileBands, fit.band);
  for (int i = 0; i < 3; i++) fit.information[i] = sum.h[i] / (fit.residual + 1e-4);
  return fit;
}

/* Gauss and Newton's method from `at` on. */
ProfileFit refined(const Level& level, Displacement at, int most_steps, Scratch& scratch) {
  ProfileFit best;
  best.residual = HUGE_VAL;
  const double most = 2.0 / level[0].bins(), enough = 0.002 / level[0].bins();
  for (int step = 0; step <= most_steps; step++) {
    const std::optional<Equations> sum = equations(level, at, true, scratch);
    if (!sum) break;
    const ProfileFit fit = fit_of(*sum, at);
    if (fit.residual >= best.residual) break;
    best = fit;
    const double ridge = 1e-6 * (sum->h[0] + sum->h[2]) + 1e-12, a = sum->h[0] + ridge, c = sum->h[2] + ridge;
    const double b = sum->h[1], det = a * c - b * b;
    const double first = std::clamp((c * sum->v[0] - b * sum->v[1]) / det, -most, most);
    const double last = std::clamp((a * sum->v[1] - b * sum->v[0]) / det, -most, most);
    if (std::abs(first) < enough && std::abs(last) < enough) break;
    at = {at.first + first, at.last + last};
  }
  return best;
}

/* The share of the encode's variance that a displacement leaves, from sums over coarse bins alone; 1 if it does not
 * apply. */
double left_by(const Level& coarse, const Displacement& at) {
  const double width = 1 + at.last - at.first;
  double left = 0, variance = 0;
  for (const Band& band : coarse) {
    const int n = band.bins();
    double count = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, before = -1;
    for (int k = 0; k <= n; k++) {
      const double t = at.first * n + k * width;
      if (t < 0 || t > n) continue;
      const int whole = std::min(static_cast<int>(t), n - 1);
      const double sum = band.cumulated[whole] + (t - whole) * (band.cumulated[whole + 1] - band.cumulated[whole]);
      if (before >= 0 && k - 1 >= band.first && k <= band.last) {
        const double x = (sum - before) / width, y = band.dist[k - 1];
        count++;
        sx += x;
        sy += y;
        sxx += x * x;
        syy += y * y;
        sxy += x * y;
      }
      before = sum;
    }
    if (count < std::max(kLeastOverlap * (band.last - band.first), 8.0)) return 1;
    const double vx = sxx - sx * sx / count, vy = syy - sy * sy / count, c = std::max(sxy - sx * sy / count, 0.0);
    left += (vy - (vx > 1e-6 ? c * c / vx : 0)) / count;
    variance += vy / count;
  }
  return variance > 1e-6 ? left / variance : 1;
}

/* All displacements in steps of kFarStep coarse bins; the best few. */
std::vector<Displacement> far_candidates(const Level& coarse) {
  struct Candidate {
    double left;
    Displacement at;
  };
  std::vector<Candidate> found;
  for (int first = -kFarthest; first <= kFarthest; first += kFarStep) {
    for (int last = -kFarthest; last <= kFarthest; last += kFarStep) {
      const Displacement at{static_cast<double>(first) / kCoarseBins, static_cast<double>(last) / kCoarseBins};
      found.push_back({left_by(coarse, at), at});
    }
  }
  constexpr size_t kFew = 5;
  std::partial_sort(found.begin(), found.begin() + kFew, found.end(),
                    [](const Candidate& a, const Candidate& b) { return a.left < b.left; });
  std::vector<Displacement> candidates;
  for (size_t i = 0; i < kFew && found[i].left < 1; i++) candidates.push_back(found[i].at);
  return candidates;
}

bool better(const ProfileFit& a, const ProfileFit& b) {
  if (a.residual == HUGE_VAL) return false;
  return b.residual == HUGE_VAL || a.residual * b.variance < b.residual * a.variance;
}

/* What a moving mean over a sixteenth of the profile takes from it: mean square. */
double detail_of(const Doubles& sums, int begin, int end) {
  const int n = static_cast<int>(sums.size()) - 1, reach = std::max(n / 32, 2);
  double square = 0;
  int count = 0;
  for (int k = std::max(begin, reach); k < std::min(end, n - reach); k++, count++) {
    const double mean = (sums[k + reach + 1] - sums[k - reach]) / (2 * reach + 1), d = sums[k + 1] - sums[k] - mean;
    square += d * d;
  }
  return count ? square / count : 0;
}

}  // namespace

double Registration::ratio() const {
  double least = HUGE_VAL;
  for (int band = 0; band < kProfileBands; band++) {
    least = std::min(least, (identity.band[band] + kResidualFloor) / (best.band[band] + kResidualFloor));
  }
  return least;
}

Registration register_profiles(const BandProfiles& ref, const BandProfiles& dist, const Search& search) {
  const int bins = static_cast<int>(ref[0].size());
  std::array<Doubles, kProfileBands> ref_sums, dist_sums;
  for (int band = 0; band < kProfileBands; band++) {
    ref_sums[band] = cumulated(smoothed(ref[band]));
    dist_sums[band] = cumulated(smoothed(dist[band]));
  }
  const Level coarse = level_of(ref_sums, dist_sums, kCoarseBins, search);
  const Level middle = level_of(ref_sums, dist_sums, std::min(kMiddleBins, bins), search);
  const Level fine = level_of(ref_sums, dist_sums, bins, search);
  Scratch scratch;
  Registration registration;
  double detail[2] = {0, 0};
  for (int band = 0; band < kProfileBands; band++) {
    detail[0] += detail_of(ref_sums[band], 0, bins) / kProfileBands;
    detail[1] += detail_of(dist_sums[band], search.begin, search.end) / kProfileBands;
  }
  registration.detail = std::min(detail[0], detail[1]);
  const std::optional<Equations> identity = equations(fine, {}, false, scratch);
  if (!identity) return registration;
  registration.identity = registration.best = fit_of(*identity, {});
  registration.best.residual = HUGE_VAL;
  const auto finish_from = [&](const Displacement& at) {
    const ProfileFit fit = refined(fine, at, 5, scratch);
    if (better(fit, registration.best)) registration.best = fit;
  };
  const ProfileFit near = refined(middle, refined(coarse, {}, 4, scratch).at, 4, scratch);
  finish_from(near.at);
  if (better(registration.identity, registration.best)) finish_from({});
  if (search.guess && registration.best.fitted() < kWellExplained) finish_from(*search.guess);
  if (!search.far || registration.best.fitted() > kExplained) return registration;
  ProfileFit far;
  far.residual = HUGE_VAL;
  for (const Displacement& at : far_candidates(coarse)) {
    const ProfileFit rough = refined(coarse, at, 3, scratch);
    if (better(rough, far)) far = rough;
  }
  if (far.residual != HUGE_VAL) finish_from(refined(middle, far.at, 5, scratch).at);
  return registration;
}

ProfileFit register_near(const BandProfiles& ref, const BandProfiles& dist) {
  const int bins = static_cast<int>(ref[0].size());
  std::array<Doubles, kProfileBands> ref_sums, dist_sums;
  for (int band = 0; band < kProfileBands; band++) {
    ref_sums[band] = cumulated(smoothed(ref[band]));
    dist_sums[band] = cumulated(smoothed(dist[band]));
  }
  Scratch scratch;
  return refined(level_of(ref_sums, dist_sums, bins, {.begin = 0, .end = bins}), {}, 4, scratch);
}

}  // namespace vmafx::look
