#include "engine/look/geometry.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/look/local.h"
#include "engine/look/numbers.h"
#include "engine/look/vectors.h"

namespace vmafx::look {

namespace {

/* Frames before and after whose reference is compared, too. */
constexpr int kNeighbours = 8;
/* One in so many frames has its symmetries looked at. */
constexpr int kSymmetryPeriod = 12;
/* Frames with profiles that are kept. */
constexpr size_t kMostDetails = 512;
/* After so many of them, fewer are registered: what lasts shows in one of two, then of four. */
constexpr size_t kManyDetails = 16, kVeryManyDetails = 32;
/* Side of the square that symmetries permute. */
constexpr int kSide = kSignatureRows;
/* Pictures with less variance (levels squared of 8 bits) are flat. */
constexpr double kFlat = 9;

using Square = std::array<float, kSide * kSide>;

/* The means of a square grid: 64 columns become 36. */
void make_square(const LumaMeans& means, Square& square) {
  constexpr double kRatio = static_cast<double>(kSignatureColumns) / kSide;
  for (int i = 0; i < kSide; i++) {
    const double begin = i * kRatio, end = begin + kRatio;
    for (int j = 0; j < kSide; j++) {
      double sum = 0;
      for (int k = static_cast<int>(begin); k < kSignatureColumns && k < end; k++) {
        const double part = std::min<double>(k + 1, end) - std::max<double>(k, begin);
        sum += part * means[j * kSignatureColumns + k];
      }
      square[j * kSide + i] = static_cast<float>(sum / kRatio);
    }
  }
}

/* Symmetries are numbers: bit 0 mirrors first, then come quarter turns clockwise. */
constexpr int kMirror = 1;
constexpr int turns_of(int symmetry) { return symmetry >> 1; }

/* The cell of the reference that a symmetry brings to row j, column i. */
int source_of(int symmetry, int j, int i) {
  for (int turn = 0; turn < turns_of(symmetry); turn++) {
    const int row = kSide - 1 - i;
    i = j;
    j = row;
  }
  return j * kSide + (symmetry & kMirror ? kSide - 1 - i : i);
}

/* A frame with detail is compared with this one, or is this one. */
bool is_near_detail(int64_t frame) {
  const int64_t behind = frame % kDetailPeriod;
  return behind <= kNeighbours || behind >= kDetailPeriod - kNeighbours;
}

/* Correlation of means, n of them. */
struct Moments {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  double gain() const {
    const double vx = xx - x * x / n;
    return vx > n * 0.01 ? (xy - x * y / n) / vx : 0;
  }
  double variance() const { return yy / n - y / n * (y / n); }
  /* Share of the variance of y that a line through x with a gain above 0 leaves. */
  double left() const {
    const double vx = xx - x * x / n, vy = yy - y * y / n, c = xy - x * y / n;
    if (vx < n * 0.01 || vy < n * 0.01 || c <= 0) return 1;
    return std::max(1 - c * c / (vx * vy), 0.0);
  }
};

template <size_t n>
Moments moments_of(const std::array<float, n>& x, const std::array<float, n>& y) {
  const PairSums sums = sum_pairs(x.data(), y.data(), n);
  return {static_cast<double>(n), sums.x, sums.y, sums.xx, sums.yy, sums.xy};
}

/* A row (column) is black up to so many levels above black. */
constexpr double kBlackTolerance = 1.5;
/* Displacements below are those of scalers and encoders; below the second one they are possible or likely at most. */
constexpr double kLeast = 0.2, kSmall = 0.75;
/* Cells fit so much better where they were displaced to, if a displacement is true although profiles are rough. */
constexpr double kPlaceOfCells = 3;
/* Square of the error of a displacement that comes of profiles' bins, in samples. */
constexpr double kErrorFloor = 1.0 / 256;

/* An encode stands still that follows less than this part of what moves within kNeighbours frames, in squared levels of
 * cells without their noise; and what must move, also as a part of the noise, which is what changes from one frame to
 * the next. */
constexpr double kStandsStill = 0.3, kLeastMoves = 0.5, kLeastOfNoise = 0.1;

/* The width of bars is sure if it changes by no more than this part of it. */
constexpr double kErrorOfBars = 0.15;

/* Pictures of the same leave less than this part of the encode's variance. */
constexpr double kMostLeft = 0.5;

/* A frame that fits so well shows no displacement if its edges are displaced by less, in samples. */
constexpr double kFittedInPlace = 0.9, kInPlace = 0.4;

/* The least shift of a part of the stream, in samples: encoders lag behind what moves, and the first frame, which has
 * no lag, is not there to tell. */
constexpr double kFar = 1.5;

bool is_far(const Finding& shift) { return std::max(std::abs(shift.value("x")), std::abs(shift.value("y"))) >= kFar; }

/* Names of evidence. */
constexpr const char* kEdgeNames[Geometry::kAxes][2] = {{"left", "right"}, {"top", "bottom"}};

/* Samples of evidence, to a hundredth. */
double in_hundredths(double samples) { return std::round(samples * 100) / 100; }

}  // namespace

Geometry::Geometry(const VideoFormat& format) : means_(format), fit_for_(CellMeans::fit_for(format)) {}

void Geometry::add(int64_t frame, const SignatureSums& signatures, const PairMeans& means) {
  if (!fit_for_) return;
  if (first_ < 0) start_ = first_ = frame;
  last_ = frame;
  Sums& sums = chapters_.at(frame);
  if (is_near_detail(frame)) kept_.push_back({frame, means.ref});
  see_pace(frame, means, sums);
  const bool detail = has_detail(frame) && details_seen_++ % stride_ == 0;
  if (added_++ % kSymmetryPeriod == 0) add_symmetries(means.ref, means.dist, sums);
  if (detail) {
    if (waiting_) register_waiting();
    sums.rows[0] += static_cast<double>(signatures.ref.row_difference[0]);
    sums.rows[1] += static_cast<double>(signatures.dist.row_difference[0]);
    Waiting now{.frame = frame, .dist = means.dist};
    for (int band = 0; band < kProfileBands; band++) {
      means_.columns(signatures.ref, band, now.ref[kX][band]);
      means_.rows(signatures.ref, band, now.ref[kY][band]);
      means_.columns(signatures.dist, band, now.encode[kX][band]);
      means_.rows(signatures.dist, band, now.encode[kY][band]);
    }
    waiting_ = std::move(now);
  }
  if (waiting_ && frame >= waiting_->frame + kNeighbours) register_waiting();
  while (!kept_.empty() && kept_.front().frame < frame - 2 * kNeighbours) kept_.pop_front();
}

/* --- What an encode follows --- */

/* Mean square of what changes between means, but for a change of all of them. */
static double change_between(const LumaMeans& before, const LumaMeans& after) {
  const PairSums sums = sum_pairs(before.data(), after.data(), kCells);
  const double all = (sums.y - sums.x) / kCells;
  return (sums.xx + sums.yy - 2 * sums.xy) / kCells - all * all;
}

void Geometry::see_pace(int64_t frame, const PairMeans& means, Sums& sums) {
  if (has_detail(frame + kNeighbours)) earlier_ = {frame, means};
  if (has_detail(frame + 1)) before_ = {frame, means};
  if (!has_detail(frame) || earlier_.frame != frame - kNeighbours || before_.frame != frame - 1) return;
  const auto noise = [&](LumaMeans PairMeans::* of) { return change_between(before_.means.*of, means.*of); };
  const auto moves = [&](LumaMeans PairMeans::* of) {
    return std::max(change_between(earlier_.means.*of, means.*of) - noise(of), 0.0);
  };
  const double of_ref = moves(&PairMeans::ref);
  if (of_ref < kLeastMoves || of_ref < kLeastOfNoise * noise(&PairMeans::ref)) return;
  sums.moving++;
  sums.still += moves(&PairMeans::dist) < kStandsStill * of_ref;
}

/* An encode that follows little of what moves shows, in other places, what was there some time ago; new pictures that
 * an encoder makes now and then are no motion. */
bool Geometry::is_still(const Sums& sums) { return sums.moving > 0 && 2 * sums.still >= sums.moving; }

/* --- Symmetries --- */

void Geometry::add_symmetries(const LumaMeans& ref, const LumaMeans& dist, Sums& sums) {
  const Moments identity = moments_of(ref, dist);
  if (identity.variance() < kFlat) return;
  sums.voters++;
  if (identity.left() < 0.02) {
    sums.identity_fits++;
    return;
  }
  Square from, to;
  make_square(ref, from);
  make_square(dist, to);
  double left[kSymmetries];
  for (int symmetry = 0; symmetry < kSymmetries; symmetry++) {
    static const auto kSources = [] {
      std::array<std::array<uint16_t, kSide * kSide>, kSymmetries> sources;
      for (int s = 0; s < kSymmetries; s++) {
        for (int k = 0; k < kSide * kSide; k++)
          sources[s][k] = static_cast<uint16_t>(source_of(s, k / kSide, k % kSide));
      }
      return sources;
    }();
    Square turned;
    for (int k = 0; k < kSide * kSide; k++) turned[k] = from[kSources[symmetry][k]];
    const Moments m = moments_of(turned, to);
    left[symmetry] = m.left();
    sums.left[symmetry] += left[symmetry] * m.variance();
    if (!symmetry) sums.variance += m.variance();
  }
  const auto best = std::min_element(left, left + kSymmetries);
  if (*best < 0.4 && *best < 0.5 * left[0]) sums.votes[best - left]++;
}

bool Geometry::are_same(const Sums& sums) {
  if (2 * sums.identity_fits >= sums.voters) return true;
  return *std::min_element(sums.left, sums.left + kSymmetries) < kMostLeft * sums.variance;
}

bool Geometry::find_symmetry(std::vector<Finding>& findings) const {
  const Sums& s = sums_;
  const auto best = static_cast<int>(std::min_element(s.left, s.left + kSymmetries) - s.left);
  if (best == 0 || s.variance <= 0 || s.voters == 0) return false;
  double second = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kSymmetries; k++) {
    if (k != best) second = std::min(second, s.left[k]);
  }
  const double fit = 1 - s.left[best] / s.variance, identity = 1 - s.left[0] / s.variance,
               better = second / std::max(s.left[best], 1e-9);
  const double share = static_cast<double>(s.votes[best]) / static_cast<double>(s.voters);
  const bool turned = turns_of(best) & 1;
  if (fit < (turned ? 0.7 : 0.85) || better < 2 || share < 0.5) return false;
  const bool sure = fit > (turned ? 0.8 : 0.9) && better > 2.5 && share > 0.8;
  const Certainty certainty = sure ? Certainty::kSure : Certainty::kLikely;
  const auto add = [&](Kind kind) -> Finding& {
    Finding f = finding(kind, certainty);
    f.evidence = {{"fit", in_hundredths(fit)}, {"identity_fit", in_hundredths(identity)}};
    findings.push_back(f);
    return findings.back();
  };
  /* Mirrored and turned by 180 degrees is flipped. */
  if (best == (kMirror | 2 << 1)) {
    add(Kind::kFlipped);
    return true;
  }
  if (best & kMirror) add(Kind::kMirrored);
  if (turns_of(best))
    add(Kind::kRotated).evidence.insert(findings.back().evidence.begin(), {"degrees", 90.0 * turns_of(best)});
  return true;
}

/* --- Profiles --- */

/* Means of the reference where displacements put them, between four cells. */
static void displace(const LumaMeans& ref, const Registration* axes, LumaMeans& moved) {
  const auto place = [&](int axis, int cell, int cells, int& whole, float& part) {
    const Displacement& at = axes[axis].best.at;
    const double t = (cell + 0.5) / cells, u = (t + at.first * (1 - t) + at.last * t) * cells - 0.5;
    whole = static_cast<int>(std::clamp(std::floor(u), 0.0, cells - 2.0));
    part = static_cast<float>(std::clamp(u - whole, 0.0, 1.0));
  };
  for (int j = 0; j < kSignatureRows; j++) {
    int y, x;
    float v, u;
    place(Geometry::kY, j, kSignatureRows, y, v);
    for (int i = 0; i < kSignatureColumns; i++) {
      place(Geometry::kX, i, kSignatureColumns, x, u);
      const float* const here = &ref[y * kSignatureColumns + x];
      const float* const below = here + kSignatureColumns;
      moved[j * kSignatureColumns + i] =
          (here[0] * (1 - u) + here[1] * u) * (1 - v) + (below[0] * (1 - u) + below[1] * u) * v;
    }
  }
}

/* What a mixture of two references leaves of the encode's variance: that is what an encoder leaves which lags behind,
 * and what an offset in time leaves. `fit`: the moments of the first one and the encode. */
static double left_by_mixture(const Moments& fit, const LumaMeans& own, const LumaMeans& other, const LumaMeans& dist) {
  LumaMeans change;
  for (int k = 0; k < kCells; k++) change[k] = other[k] - own[k];
  const Moments along = moments_of(own, change), both = moments_of(change, dist);
  const double n = kCells, vx = fit.xx - fit.x * fit.x / n, vz = both.xx - both.x * both.x / n;
  const double vy = fit.yy - fit.y * fit.y / n, xy = fit.xy - fit.x * fit.y / n, zy = both.xy - both.x * both.y / n;
  const double xz = along.xy - along.x * along.y / n, det = vx * vz - xz * xz;
  if (vy < n * 0.01 || vx < n * 0.01 || det < 1e-6 * vx * vz) return fit.left();
  const double gain = (vz * xy - xz * zy) / det;
  const double part = std::clamp((vx * zy - xz * xy) / det, -0.25 * std::abs(gain), 1.25 * std::abs(gain));
  const double left = vy - 2 * gain * xy - 2 * part * zy + gain * gain * vx + part * part * vz + 2 * gain * part * xz;
  return std::max(left / vy, 0.0);
}

/* What cells at the same place leave of the encode's variance over what displaced ones leave. Means are of other rows
 * there, so that it tells of displacements of half a cell and more; 1 for others. */
double Geometry::place_ratio(const Waiting& waiting, const Detail& detail) const {
  const Displacement &x = detail.axis[kX].best.at, &y = detail.axis[kY].best.at;
  const double cells = std::max(std::max(std::abs(x.first), std::abs(x.last)) * kSignatureColumns,
                                std::max(std::abs(y.first), std::abs(y.last)) * kSignatureRows);
  const auto own = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.frame == waiting.frame; });
  if (cells < 0.5 || own == kept_.end()) return 1;
  LumaMeans moved;
  displace(own->ref, detail.axis, moved);
  return moments_of(own->ref, waiting.dist).left() / std::max(moments_of(moved, waiting.dist).left(), 1e-6);
}

/* Coarse profiles of a grid. */
static BandProfiles coarse_profiles(const LumaMeans& means, int axis) {
  BandProfiles bands;
  for (int band = 0; band < kProfileBands; band++) {
    bands[band].assign(axis == Geometry::kX ? kSignatureColumns : kSignatureRows, 0);
    for (int j = 0; j < kSignatureRows; j++) {
      for (int i = 0; i < kSignatureColumns; i++) {
        const bool here = axis == Geometry::kX ? j / (kSignatureRows / 2) == band : i / (kSignatureColumns / 2) == band;
        if (here) bands[band][axis == Geometry::kX ? i : j] += means[j * kSignatureColumns + i];
      }
    }
    for (float& sum : bands[band]) sum /= axis == Geometry::kX ? kSignatureRows / 2 : kSignatureColumns / 2;
  }
  return bands;
}

/* How the reference moves around a frame, over as many frames as a fit can follow: displacements of the edges in
 * samples, x and y. */
std::optional<Geometry::Edges> Geometry::motion_around(int64_t frame) const {
  for (int64_t reach = kNeighbours; reach >= 1; reach /= 2) {
    const Kept *before = nullptr, *after = nullptr;
    for (const Kept& kept : kept_) {
      if (kept.frame >= frame - reach && kept.frame <= frame && !before) before = &kept;
      if (kept.frame >= frame && kept.frame <= frame + reach) after = &kept;
    }
    if (!before || !after || before == after) return std::nullopt;
    Edges motion{};
    bool fits = true;
    for (int axis = 0; axis < kAxes; axis++) {
      const ProfileFit fit = register_near(coarse_profiles(before->ref, axis), coarse_profiles(after->ref, axis));
      fits = fits && (fit.variance < kFlat || fit.fitted() > 0.97);
      if (fit.variance < kFlat) continue;
      motion[2 * axis] = fit.at.first * size(axis);
      motion[2 * axis + 1] = fit.at.last * size(axis);
    }
    if (fits) return motion;
  }
  return std::nullopt;
}

/* Where the edges lie in the reference, in samples: of x and of y the first and the last one. */
Geometry::Edges Geometry::edges_of(const Registration* axes) const {
  Edges edges{};
  for (int k = 0; k < 4; k++) {
    const ProfileFit& fit = axes[k / 2].best;
    if (fit.variance >= kFlat) edges[k] = (k & 1 ? fit.at.last : fit.at.first) * size(k / 2);
  }
  return edges;
}

static double product(const Geometry::Edges& a, const Geometry::Edges& b) {
  double sum = 0;
  for (int k = 0; k < 4; k++) sum += a[k] * b[k];
  return sum;
}

/* Whether edges are displaced in the direction of a motion, or against it. */
static bool is_along(const Geometry::Edges& edges, const Geometry::Edges& motion) {
  const double along = product(edges, motion), size = product(edges, edges), moves = product(motion, motion);
  return moves > 0.1 && along * along > 0.75 * size * moves;
}

static bool is_displaced(const Geometry::Edges& edges) {
  return std::ranges::any_of(edges, [](double edge) { return std::abs(edge) > kLeast; });
}

/* What the reference itself is displaced by since the frame with detail before, along the same line: the encode may be
 * so many frames away. Two frames that do not fit tell nothing. */
bool Geometry::drifts(const Waiting& waiting, const Detail& detail) const {
  const Edges edges = edges_of(detail.axis);
  if (ref_before_[kX][0].empty() || !is_displaced(edges)) return false;
  Registration axes[kAxes];
  for (int axis = 0; axis < kAxes; axis++) {
    const int n = static_cast<int>(waiting.ref[axis][0].size());
    axes[axis] = register_profiles(ref_before_[axis], waiting.ref[axis], {.far = false, .begin = 0, .end = n});
    if (axes[axis].best.variance >= kFlat && axes[axis].best.fitted() < 0.9) return false;
  }
  return is_along(edges, edges_of(axes));
}

/* A displacement says nothing where the picture moves as a whole and the displacement is along this motion, or where
 * the motion is not known and a mixture of neighbours in time explains as much. */
bool Geometry::time_explains(const Waiting& waiting, const Detail& detail) const {
  const Edges there = edges_of(detail.axis);
  if (!is_displaced(there)) return false;
  if (const auto motion = motion_around(waiting.frame)) return is_along(there, *motion);
  /* No motion is so fast that it could not be followed, and makes pictures larger or smaller. */
  for (int axis = 0; axis < kAxes; axis++) {
    const bool scaled = std::abs(there[2 * axis] - there[2 * axis + 1]) > 1;
    if (scaled && detail.axis[axis].ratio() > 3) return false;
  }
  const auto own = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.frame == waiting.frame; });
  if (own == kept_.end()) return true;
  LumaMeans moved;
  displace(own->ref, detail.axis, moved);
  const Moments fit = moments_of(own->ref, waiting.dist);
  const double by_place = moments_of(moved, waiting.dist).left(), unmoved = fit.left();
  double by_time = 1;
  for (const Kept& kept : kept_) {
    if (&kept == &*own || std::abs(kept.frame - waiting.frame) > kNeighbours) continue;
    by_time = std::min(by_time, left_by_mixture(fit, own->ref, kept.ref, waiting.dist));
  }
  return by_time < 0.8 * unmoved && by_place > 0.8 * by_time;
}

/* Counts black bins at the beginning of a profile, or at its end. */
static int black_bins(const BandProfiles& bands, double black, bool from_end) {
  const int n = static_cast<int>(bands[0].size());
  int count = 0;
  while (count < n) {
    const int k = from_end ? n - 1 - count : count;
    if (bands[0][k] > black || bands[1][k] > black) break;
    count++;
  }
  return count;
}

double Geometry::black() const {
  return (means_.format().color.range == Color::Range::kFull ? 0 : 16) + kBlackTolerance;
}

void Geometry::register_waiting() {
  Waiting waiting = std::move(*waiting_);
  waiting_.reset();
  Detail detail{.frame = waiting.frame};
  const bool far = details_seen_ >= next_far_;
  bool found = true;
  for (int axis = 0; axis < kAxes; axis++) {
    const BandProfiles &ref = waiting.ref[axis], &dist = waiting.encode[axis];
    const int n = static_cast<int>(ref[0].size());
    Search search{.guess = guess_[axis], .far = far, .begin = 0, .end = n};
    const int first = black_bins(dist, black(), false), last = black_bins(dist, black(), true);
    if (first + last < n / 2) {
      if (first > black_bins(ref, black(), false) + 2) search.begin = first + 2;
      if (last > black_bins(ref, black(), true) + 2) search.end = n - last - 2;
    }
    detail.axis[axis] = register_profiles(ref, dist, search);
    const double fitted = detail.axis[axis].best.fitted();
    if (fitted > 0.9) guess_[axis] = detail.axis[axis].best.at;
    found = found && (fitted > 0.9 || detail.axis[axis].best.variance < kFlat);
  }
  /* After a search in vain, the next one is twice as far away. */
  if (far) far_pause_ = found ? 1 : 2 * far_pause_;
  if (far) next_far_ = details_seen_ + far_pause_;
  see_bars(waiting);
  detail.place = place_ratio(waiting, detail);
  if (time_explains(waiting, detail)) detail.tells = false;
  detail.drifts = detail.tells && drifts(waiting, detail);
  for (int axis = 0; axis < kAxes; axis++) ref_before_[axis] = std::move(waiting.ref[axis]);
  keep(std::move(detail));
}

/* When there are too many, every second one goes, and only every second one of those that come is registered. */
void Geometry::keep(Detail&& detail) {
  details_.push_back(std::move(detail));
  if (stride_ == 1 && details_.size() >= kManyDetails) stride_ = 2;
  if (stride_ == 2 && details_.size() >= kVeryManyDetails) stride_ = 4;
  if (details_.size() <= kMostDetails) return;
  keep_every_second(details_);
  stride_ *= 2;
}

/* --- Bars --- */

void Geometry::see_bars(const Waiting& waiting) {
  const auto own = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.frame == waiting.frame; });
  if (own == kept_.end()) return;
  const Moments m = moments_of(own->ref, waiting.dist);
  const double gain = std::max(m.gain(), 0.1), level = (m.y - gain * m.x) / m.n;
  for (int axis = 0; axis < kAxes; axis++) {
    Bars& bars = chapters_.at(waiting.frame).bars[axis];
    const BandProfiles &ref = waiting.ref[axis], &dist = waiting.encode[axis];
    const int n = static_cast<int>(ref[0].size());
    const double samples = static_cast<double>(size(axis)) / n;
    int in_dist[2];
    bool content = true;
    for (int end = 0; end < 2; end++) {
      in_dist[end] = black_bins(dist, black(), end);
      content = content && in_dist[end] < n / 2 && black_bins(ref, black(), end) < n / 2;
    }
    if (!content) continue;
    bars.frames++;
    double lost = 0;
    for (int end = 0; end < 2; end++) {
      bars.ref[end] = std::min(bars.ref[end], black_bins(ref, black(), end) * samples);
      bars.dist[end] = std::min(bars.dist[end], in_dist[end] * samples);
      bars.most[end] = std::max(bars.most[end], in_dist[end] * samples);
      for (int k = 0; k < in_dist[end]; k++) {
        const int bin = end ? n - 1 - k : k;
        lost += gain * (ref[0][bin] + ref[1][bin]) / 2 + level - black();
      }
    }
    bars.lost += lost / std::max(in_dist[0] + in_dist[1], 1);
  }
}

/* --- What all frames say --- */

/* An axis of a frame, in samples, with the inverse of its error's covariance. */
struct Geometry::Told {
  double first, last, h[3];
  const Detail* detail;
  /* The square of the distance in standard deviations. */
  double distance(double from_first, double from_last) const {
    const double a = first - from_first, b = last - from_last;
    return h[0] * a * a + 2 * h[1] * a * b + h[2] * b * b;
  }
};

/* What frames say that tell. Errors are four times those of independent bins, and have a floor of a 1/16 sample. */
std::vector<Geometry::Told> Geometry::told_of(int axis) const {
  std::vector<Told> told;
  const double n = size(axis);
  for (const Detail& detail : details_) {
    const ProfileFit& fit = detail.axis[axis].best;
    if (!detail.tells || fit.variance < kFlat || fit.fitted() < 0.5) continue;
    const double* const i = fit.information;
    const double det = i[0] * i[2] - i[1] * i[1];
    if (!(det > 1e-9 * i[0] * i[2])) continue;
    const double c0 = 4 * n * n * i[2] / det + kErrorFloor, c1 = -4 * n * n * i[1] / det;
    const double c2 = 4 * n * n * i[0] / det + kErrorFloor, inverse = 1 / (c0 * c2 - c1 * c1);
    if (c0 > 4 || c2 > 4) continue;
    told.push_back({fit.at.first * n, fit.at.last * n, {c2 * inverse, -c1 * inverse, c0 * inverse}, &detail});
  }
  return told;
}

/* The displacement that most frames are near: a mean with weights that outliers lose, from the medians on. */
static void find_place(const auto& told, auto& joint) {
  std::vector<double> firsts, lasts;
  for (const auto& t : told) {
    firsts.push_back(t.first);
    lasts.push_back(t.last);
  }
  joint.first = median_of(firsts);
  joint.last = median_of(lasts);
  for (int pass = 0; pass < 5; pass++) {
    double h0 = 0, h1 = 0, h2 = 0, v0 = 0, v1 = 0;
    for (const auto& t : told) {
      const double a = t.first - joint.first, b = t.last - joint.last;
      const double w = 1 / (1 + t.distance(joint.first, joint.last) / 4);
      h0 += w * t.h[0];
      h1 += w * t.h[1];
      h2 += w * t.h[2];
      v0 += w * (t.h[0] * a + t.h[1] * b);
      v1 += w * (t.h[1] * a + t.h[2] * b);
    }
    const double det = h0 * h2 - h1 * h1;
    joint.first += (h2 * v0 - h1 * v1) / det;
    joint.last += (h0 * v1 - h1 * v0) / det;
    joint.error = std::sqrt(std::max(h0, h2) / det);
  }
}

/* A frame is displaced by less than half of what the others are, and not by the error of its place. */
static bool contradicts(const auto& told, const auto& joint) {
  const auto most = [](const auto& place) { return std::max(std::abs(place.first), std::abs(place.last)); };
  return told.distance(joint.first, joint.last) > 16 && most(told) < most(joint) / 2;
}

Geometry::Joint Geometry::joined(int axis) const {
  Joint joint;
  const std::vector<Told> told = told_of(axis);
  if (told.empty()) return joint;
  find_place(told, joint);
  double logs = 0, places = 0;
  for (const Told& t : told) {
    joint.frames++;
    const double away = std::max(std::abs(t.first - joint.first), std::abs(t.last - joint.last));
    if (!(t.distance(joint.first, joint.last) < 16 || away < 0.3)) continue;
    if (!joint.agree++) joint.begin = t.detail->frame;
    joint.end = t.detail->frame + 1;
    const Registration& r = t.detail->axis[axis];
    logs += std::log(r.ratio());
    joint.explained += r.explained();
    places += std::log(t.detail->place);
    joint.fitted += r.best.fitted();
    joint.drift += t.detail->drifts;
  }
  if (!joint.agree) return joint;
  joint.grows = told.front().detail->frame == start_ && contradicts(told.front(), joint);
  const auto frames = static_cast<double>(joint.agree);
  joint.ratio = std::exp(logs / frames);
  joint.place = std::exp(places / frames);
  joint.fitted /= frames;
  joint.explained /= frames;
  return joint;
}

/* Whether an axis tells what it shows, even if that is no change. A picture that was cropped is sure to be so only if
 * both axes tell: a crop of one alone would distort it. */
bool Geometry::is_settled(const Joint& axis) {
  if (!axis.agree || axis.fitted < 0.8 || 5 * axis.agree < 3 * axis.frames) return false;
  const double most = std::max(std::abs(axis.first), std::abs(axis.last));
  return most < kSmall || (most > 3 * axis.error && axis.ratio > 1.5);
}

std::optional<Certainty> Geometry::certainty_of(const Joint& axis, const Joint& other) const {
  if (!axis.agree) return std::nullopt;
  const double most = std::max(std::abs(axis.first), std::abs(axis.last));
  const double agree = static_cast<double>(axis.agree) / static_cast<double>(axis.frames);
  const bool both = other.frames == 0 || other.fitted > 0.8;
  const bool small = most < kSmall;
  /* Bands show other rows (columns) where much is cropped, so that less of their detail is explained. */
  const bool far = axis.ratio > 2 && axis.fitted > 0.85 && axis.place > 3;
  /* Scalers that lose detail move pictures by less than a sample. */
  const bool soft = small && sums_.rows[1] < 0.8 * sums_.rows[0];
  const bool scaled = std::abs(axis.first - axis.last) >
                      std::max(0.5 * kLeast, 3 * axis.error) + 0.15 * std::abs(axis.first + axis.last);
  if (scaled && std::abs(axis.first - axis.last) < 1.2)
    return axis.ratio > 1.8 ? std::optional(Certainty::kPossible) : std::nullopt;
  if (most < kLeast || most < 3 * axis.error || (axis.grows && !scaled)) return std::nullopt;
  /* Pictures are shifted as a whole. Encoders that lag behind what moves slowly shift parts of them. */
  const bool uneven = !scaled && std::abs(axis.first - axis.last) > 4 * axis.error;
  if (uneven && axis.ratio < 4) return std::nullopt;
  /* Encoders that are short of bits leave less detail than their errors, of which each profile shows others. What they
   * leave is where it was displaced to, and cells fit much better there, or both bands of several profiles do. */
  const bool cells = axis.place > kPlaceOfCells && axis.ratio > 1.3 && axis.fitted > 0.9 && axis.agree > 0;
  const bool several = axis.agree > 1 || axis.frames == 1;
  const bool bands = axis.ratio > 1.15 && axis.explained > 0.4 && most > 6 * axis.error && agree >= 0.4 && several;
  const std::optional<Certainty> rough =
      (cells || bands) && both && !small ? std::optional(Certainty::kLikely) : std::nullopt;
  if (agree < 0.6) return rough;
  if (axis.ratio > (far              ? 2
                    : axis.agree > 1 ? 2.5
                                     : 3.5) &&
      (axis.explained > 0.9 || far) && agree > 0.85 && is_settled(other) && most > 5 * axis.error && !small && !uneven)
    return 2 * axis.drift > axis.agree ? Certainty::kLikely : Certainty::kSure;
  if (axis.ratio > (small ? 1.3 : 1.5) && (axis.explained > 0.75 || far) && both && !soft) return Certainty::kLikely;
  if (rough && cells) return rough;
  return axis.ratio > 1.8 && axis.fitted > 0.8 ? std::optional(Certainty::kPossible) : std::nullopt;
}

void Geometry::find_bars(std::vector<Finding>& findings) const {
  Finding both = finding(Kind::kBars, Certainty::kSure);
  for (int axis = 0; axis < kAxes; axis++) {
    const Bars& bars = sums_.bars[axis];
    for (int end = 0; end < 2; end++) {
      const double width = bars.frames ? std::min(bars.ref[end], bars.dist[end]) : 0;
      if (width >= 4) both.evidence.emplace_back(kEdgeNames[axis][end], width);
    }
  }
  if (!both.evidence.empty()) findings.push_back(both);
}

/* A number of the evidence, and the kind of finding that it belongs to. */
struct Geometry::Number {
  Kind kind;
  Certainty certainty;
  const char* name;
  double value;
};

/* Borders of the encode that hide a part of the reference, so many levels above black. Where profiles tell nothing, as
 * all edges lie in one place, borders have to hide more. */
constexpr double kHidden = 4, kMuchHidden = 16;

void Geometry::add_padding(int axis, bool told, std::vector<Number>& numbers) const {
  const Bars& bars = sums_.bars[axis];
  if (!bars.in_dist() || bars.ref[0] >= 2 || bars.ref[1] >= 2) return;
  const double hidden = bars.lost / bars.frames;
  if (hidden <= (told ? kHidden : kMuchHidden)) return;
  const bool sure = bars.frames > 1 && hidden > kMuchHidden && bars.last() && told;
  const double bin = static_cast<double>(size(axis)) / (axis == kX ? means_.column_bins() : means_.row_bins());
  for (int end = 0; end < 2; end++) {
    if (bars.dist[end] < 4) continue;
    const double error = std::max(bars.most[end] - bars.dist[end], bin);
    numbers.push_back({Kind::kPadded,
                       sure && error <= kErrorOfBars * bars.dist[end] ? Certainty::kSure : Certainty::kLikely,
                       kEdgeNames[axis][end], in_hundredths(bars.dist[end])});
  }
}

/* The kind of a displacement, by the signs of what its edges show. */
void Geometry::add_displacement(int axis, const Joint& joint, Certainty certainty, std::vector<Number>& numbers) const {
  static constexpr const char* kAxisNames[kAxes] = {"x", "y"};
  const auto add = [&](Kind kind, const char* name, double value) {
    const Certainty most = kind == Kind::kScaled ? Certainty::kLikely : Certainty::kSure;
    numbers.push_back({kind, std::min(certainty, most), name, in_hundredths(value)});
  };
  const double n = size(axis), scale = 1 + (joint.last - joint.first) / n, sum = joint.first + joint.last;
  const double least = std::max(kLeast, 3 * joint.error);
  if (std::abs(joint.first - joint.last) < std::max(0.5 * kLeast, 3 * joint.error) + 0.15 * std::abs(sum))
    return add(Kind::kShifted, kAxisNames[axis], -sum / 2 / scale);
  /* Scales near 1 are those of encoders that lag behind a zoom. */
  if (std::max(std::abs(joint.first), std::abs(joint.last)) < kSmall) return;
  if (joint.first > -least && joint.last < least) {
    if (joint.first > least) add(Kind::kCropped, kEdgeNames[axis][0], joint.first);
    if (joint.last < -least) add(Kind::kCropped, kEdgeNames[axis][1], -joint.last);
  } else if (joint.first < least && joint.last > -least) {
    if (joint.first < -least) add(Kind::kPadded, kEdgeNames[axis][0], -joint.first / scale);
    if (joint.last > least) add(Kind::kPadded, kEdgeNames[axis][1], joint.last / scale);
  } else {
    add(Kind::kScaled, kAxisNames[axis], 1 / scale);
  }
}

/* The finding of a kind; where an axis is more than possible, what is just possible of the other one is left out. */
Finding Geometry::finding_of(Kind kind, const std::vector<Number>& numbers) const {
  Certainty most = Certainty::kPossible;
  for (const Number& n : numbers) most = n.kind == kind ? std::max(most, n.certainty) : most;
  Finding f = finding(kind, most);
  for (const Number& n : numbers) {
    if (n.kind != kind) continue;
    const bool left_out = n.certainty == Certainty::kPossible && most != Certainty::kPossible;
    f.certainty = std::min(f.certainty, left_out ? Certainty::kLikely : n.certainty);
    if (!left_out) f.evidence.emplace_back(n.name, n.value);
  }
  return f;
}

void Geometry::find_parts(std::vector<Finding>& findings) const {
  const Joint joints[kAxes] = {joined(kX), joined(kY)};
  const auto tells = [&](int axis) { return joints[axis].frames > 0; };
  const double fitted = tells(kX) && tells(kY) ? std::min(joints[kX].fitted, joints[kY].fitted)
                                               : std::max(joints[kX].fitted, joints[kY].fitted);
  std::vector<Number> numbers;
  for (int axis = 0; axis < kAxes; axis++) {
    if (const auto certainty = certainty_of(joints[axis], joints[1 - axis]))
      add_displacement(axis, joints[axis], *certainty, numbers);
    else if (fitted >= 0.5) add_padding(axis, tells(axis), numbers);
  }
  for (Kind kind : {Kind::kCropped, Kind::kPadded, Kind::kScaled, Kind::kShifted}) {
    Finding f = finding_of(kind, numbers);
    if (f.evidence.empty()) continue;
    f.evidence.emplace_back("fit", in_hundredths(fitted));
    findings.push_back(f);
  }
}

Finding Geometry::finding(Kind kind, Certainty certainty) const {
  return {.kind = kind, .certainty = certainty, .from = first_, .end = last_ + 1};
}

std::vector<Finding> Geometry::judge() const {
  std::vector<Finding> findings;
  if (!find_symmetry(findings) && !is_still(sums_)) find_parts(findings);
  find_bars(findings);
  return findings;
}

/* --- Parts of the stream --- */

void Geometry::Bars::add(const Bars& later) {
  frames += later.frames;
  for (int edge = 0; edge < 2; edge++) {
    ref[edge] = std::min(ref[edge], later.ref[edge]);
    dist[edge] = std::min(dist[edge], later.dist[edge]);
    most[edge] = std::max(most[edge], later.most[edge]);
  }
  lost += later.lost;
}

void Geometry::Sums::add(const Sums& later) {
  for (int axis = 0; axis < kAxes; axis++) bars[axis].add(later.bars[axis]);
  moving += later.moving;
  still += later.still;
  for (int k = 0; k < 2; k++) rows[k] += later.rows[k];
  for (int k = 0; k < kSymmetries; k++) {
    left[k] += later.left[k];
    votes[k] += later.votes[k];
  }
  variance += later.variance;
  voters += later.voters;
  identity_fits += later.identity_fits;
}

Geometry::Sums Geometry::sums_of(const Pairs& pairs) const {
  Sums sums;
  for (size_t i = 0; i < chapters_.pairs().size(); i++) {
    const Pairs& chapter = chapters_.pairs()[i];
    if (chapter.end > pairs.from && chapter.from < pairs.end) sums.add(chapters_[i]);
  }
  return sums;
}

Geometry Geometry::part_of(size_t first, size_t end) const {
  Geometry part(means_.format());
  part.start_ = start_;
  part.first_ = chapters_.pairs()[first].from;
  part.last_ = chapters_.pairs()[end - 1].end - 1;
  part.sums_ = chapters_.sum(first, end);
  for (const Detail& detail : details_)
    if (detail.frame >= part.first_ && detail.frame <= part.last_) part.details_.push_back(detail);
  return part;
}

/* Whether frames tell, and most of them clearly show no displacement. */
bool Geometry::is_in_place(const Pairs& pairs) const {
  int tell = 0, in_place = 0;
  for (const Detail& detail : details_) {
    if (detail.frame < pairs.from || detail.frame >= pairs.end || !detail.tells) continue;
    bool tells = true, here = true;
    for (int axis = 0; axis < kAxes; axis++) {
      const ProfileFit& fit = detail.axis[axis].best;
      tells = tells && fit.variance >= kFlat && fit.fitted() > kFittedInPlace;
      const double most = std::max(std::abs(fit.at.first), std::abs(fit.at.last)) * size(axis);
      here = here && most < kInPlace;
    }
    tell += tells;
    in_place += tells && here;
  }
  return tell > 0 && 2 * in_place > tell;
}

bool Geometry::denies(size_t chapter, Kind kind) const {
  const Sums& sums = chapters_[chapter];
  if (kind <= Kind::kRotated) return sums.voters > 0 && 2 * sums.identity_fits > sums.voters;
  if (kind == Kind::kPadded) {
    const bool bars = sums.bars[kX].in_dist() || sums.bars[kY].in_dist();
    if (bars) return false;
  }
  return is_in_place(chapters_.pairs()[chapter]);
}

std::vector<Finding> Geometry::finish() {
  if (waiting_) register_waiting();
  sums_ = chapters_.sum();
  std::vector<Finding> findings = judge();
  if (!fit_for_) return findings;
  const Divided divided{chapters_.pairs(), [&](size_t chapter, Kind kind) { return denies(chapter, kind); },
                        [&](size_t first, size_t end) {
                          std::vector<Finding> found = part_of(first, end).judge();
                          std::erase_if(found, [](const Finding& f) { return f.kind == Kind::kShifted && !is_far(f); });
                          return found;
                        }};
  static constexpr Kind kSymmetric[] = {Kind::kMirrored, Kind::kFlipped, Kind::kRotated};
  static constexpr Kind kPlaced[] = {Kind::kCropped, Kind::kPadded, Kind::kScaled, Kind::kShifted};
  find_locally(divided, kSymmetric, &findings);
  find_locally(divided, kPlaced, &findings);
  std::ranges::stable_sort(findings, {}, &Finding::kind);
  return findings;
}

}  // namespace vmafx::look
