#include "engine/look/small_shift.h"

#include <algorithm>
#include <cmath>

namespace vmafx::look {

namespace {

/* A side is flat that has less than this part of the squares of the other's slopes. */
constexpr double kFlat = 0.04;

/* Products of a segment's columns: a level, the mean of both pictures, its softness, its slope, and the difference. */
enum Column { kLevel, kMean, kSoftness, kSlope, kDifference, kColumns };
struct Products {
  double of[kColumns][kColumns] = {};  // below the diagonal and on it

  void add(const double (&row)[kColumns]) {
    for (int i = 0; i < kColumns; i++)
      for (int j = 0; j <= i; j++) of[i][j] += row[i] * row[j];
  }
  /* Takes out of all columns what `by` explains. */
  void sweep(Column by) {
    const double square = of[by][by];
    if (square < 1e-6) return;
    double part[kColumns];
    for (int i = 0; i < kColumns; i++) part[i] = (i < by ? of[by][i] : of[i][by]) / square;
    for (int i = 0; i < kColumns; i++)
      for (int j = 0; j <= i; j++) of[i][j] -= part[i] * part[j] * square;
  }
};

}  // namespace

Profile softened(const Profile& profile) {
  const int n = static_cast<int>(profile.size());
  Profile soft(profile.size());
  const auto at = [&](int k) { return profile[std::clamp(k, 0, n - 1)]; };
  for (int k = 0; k < n; k++) soft[k] = (at(k - 2) + 4 * at(k - 1) + 6 * at(k) + 4 * at(k + 1) + at(k + 2)) / 16;
  return soft;
}

void ShiftSums::add(const Profile& ref, const Profile& dist, int whole) {
  const int begin = 1 + kMostWhole, end = static_cast<int>(ref.size()) - begin;
  if (end <= begin) return;
  double slopes = 0, along = 0;
  const auto mean = [&](int k) { return (static_cast<double>(ref[k - whole]) + dist[k]) / 2; };
  for (int s = 0; s < kSegments; s++) {
    const int first = begin + (end - begin) * s / kSegments, last = begin + (end - begin) * (s + 1) / kSegments;
    Products products;
    for (int k = first; k < last; k++) {
      ref_edges_ += std::pow(ref[k - whole + 1] - ref[k - whole - 1], 2);
      dist_edges_ += std::pow(dist[k + 1] - dist[k - 1], 2);
      const double before = mean(k - 1), here = mean(k), after = mean(k + 1);
      products.add({1, here - 128, before - 2 * here + after, (before - after) / 2, dist[k] - ref[k - whole]});
    }
    for (const Column column : {kLevel, kMean, kSoftness}) products.sweep(column);
    slopes += products.of[kSlope][kSlope];
    along += products.of[kDifference][kSlope];
    segments_[s].slopes += products.of[kSlope][kSlope];
    segments_[s].along += products.of[kDifference][kSlope];
    segments_[s].differences += products.of[kDifference][kDifference];
  }
  frames_.slopes += slopes * slopes;
  frames_.both += slopes * along;
  frames_.along += along * along;
}

bool ShiftSums::is_flat_on_one_side() const {
  return std::min(ref_edges_, dist_edges_) < kFlat * std::max(ref_edges_, dist_edges_);
}

double ShiftSums::slopes() const {
  double sum = 0;
  for (const Segment& s : segments_) sum += s.slopes;
  return sum;
}

/* Encoders treat both planes of chroma alike: a segment of all profiles is one witness, a frame of all is one, too. A
 * segment that makes most of the mean hardly differs from it, so that each is compared with the mean of the others. */
double SmallShift::wide_error_of(std::span<const ShiftSums> profiles, double slopes, double part) {
  double scatter = 0, of_frames = 0;
  for (int k = 0; k < ShiftSums::kSegments; k++) {
    double here = 0, along = 0;
    for (const ShiftSums& profile : profiles) here += profile.segments_[k].slopes, along += profile.segments_[k].along;
    scatter += std::pow((along - part * here) / std::max(1 - here / slopes, 1e-3), 2);
  }
  for (const ShiftSums& profile : profiles) {
    const double own = profile.slopes() > 0 ? SmallShift::part_of(profile) : 0;
    const ShiftSums::Squares& f = profile.frames_;
    of_frames += std::sqrt(std::max(0., f.along - 2 * own * f.both + own * own * f.slopes));
  }
  return std::hypot(std::sqrt(scatter), of_frames) / slopes;
}

double SmallShift::part_of(const ShiftSums& profile) {
  double along = 0;
  for (const ShiftSums::Segment& s : profile.segments_) along += s.along;
  return along / profile.slopes();
}

SmallShift SmallShift::of(std::span<const ShiftSums> profiles, int whole) {
  double slopes = 0, along = 0, differences = 0, scatter = 0;
  for (const ShiftSums& profile : profiles)
    for (const ShiftSums::Segment& s : profile.segments_)
      slopes += s.slopes, along += s.along, differences += s.differences;
  if (slopes <= 0) return {};
  const double part = along / slopes;
  for (const ShiftSums& profile : profiles)
    for (const ShiftSums::Segment& s : profile.segments_) scatter += std::pow(s.along - part * s.slopes, 2);
  return {.samples = whole + part,
          .error = std::sqrt(scatter) / slopes,
          .wide_error = wide_error_of(profiles, slopes, part),
          .differences = differences,
          .left = differences - part * along};
}

}  // namespace vmafx::look
