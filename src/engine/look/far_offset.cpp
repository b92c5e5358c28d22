#include "engine/look/far_offset.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace vmafx::look {

namespace {

/* Memory and time are bounded: frames that are kept, and the farthest offset. */
constexpr int64_t kMostFrames = 1200;
constexpr int64_t kFarthest = 300;

/* Frames that both streams must share at an offset, and their least part of all. */
constexpr int64_t kLeastShared = 60, kShared = 2;

/* Energy below which a change is that of an encoder: a quarter of a level, per cell. */
constexpr float kLeastChange = 0.06F;

/* The best offset's correlation: at least, more than any that is not beside it, more than within the reach of shifts,
 * and in deviations of those of all offsets, of which 600 with the distribution of chance reach 5 once in 5,000. */
constexpr double kLeast = 0.45, kMoreThanOthers = 0.15, kMoreThanNear = 0.3, kDeviations = 5;
constexpr int64_t kBeside = 4;

/* Sums of products, in parts that do not wait for one another. */
double product(const double* a, const double* b, int64_t n) {
  double parts[4] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) parts[k] += a[i + k] * b[i + k];
  for (; i < n; i++) parts[0] += a[i] * b[i];
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

}  // namespace

void FarOffset::Series::add(double value) {
  values_.push_back(value);
  sums_.push_back(sums_.back() + value);
  squares_.push_back(squares_.back() + value * value);
}

void FarOffset::add(const FrameEvidence& evidence) {
  if (ended_) return;
  if (!frames_++) from_ = evidence.frame;
  for (int b = 0; b < kBlocks; b++) {
    ref_[b].add(std::log(evidence.moves[b] + kLeastChange));
    dist_[b].add(std::log(evidence.own_moves[b] + kLeastChange));
  }
  if (frames_ == kMostFrames) end();
}

/* A finding stays: the series are given up. */
void FarOffset::end() {
  if (ended_ || !frames_) return;
  found_ = found();
  ended_ = true;
  for (int b = 0; b < kBlocks; b++) ref_[b] = dist_[b] = Series();
}

/* Mean over blocks of the correlation of both streams' changes, if frame i shows the reference's i + offset. The first
 * frame has no change. */
double FarOffset::correlation(int64_t offset) const {
  const int64_t begin = std::max<int64_t>(1, 1 - offset), end = std::min(frames_, frames_ - offset);
  const auto count = static_cast<double>(end - begin);
  double sum = 0;
  for (int b = 0; b < kBlocks; b++) {
    const Series &ref = ref_[b], &dist = dist_[b];
    const double x = ref.sum(begin + offset, end + offset), y = dist.sum(begin, end);
    const double vx = ref.squares(begin + offset, end + offset) - x * x / count;
    const double vy = dist.squares(begin, end) - y * y / count;
    if (vx <= 0.01 * count || vy <= 0.01 * count) continue;
    const double xy = product(ref.from(begin + offset), dist.from(begin), end - begin);
    sum += (xy - x * y / count) / std::sqrt(vx * vy);
  }
  return sum / kBlocks;
}

std::optional<Finding> FarOffset::finish() const { return ended_ ? found_ : found(); }

std::optional<Finding> FarOffset::found() const {
  const int64_t n = frames_, reach = std::min({kFarthest, n - n / kShared, n - 1 - kLeastShared});
  if (reach <= kMostShift) return std::nullopt;
  /* Most streams have their offset here, so that no other one can be so much more. */
  for (int64_t offset = 1 - kMostShift; offset < kMostShift; offset++)
    if (correlation(offset) > 1 - kMoreThanNear) return std::nullopt;
  std::vector<double> all;
  for (int64_t offset = -reach; offset <= reach; offset++) all.push_back(correlation(offset));
  const int64_t best = std::max_element(all.begin(), all.end()) - all.begin() - reach;
  const double most = all[static_cast<size_t>(best + reach)];
  if (std::abs(best) < kMostShift || most < kLeast) return std::nullopt;
  double other = -1, near = -1, sum = 0, squares = 0, count = 0;
  for (int64_t offset = -reach; offset <= reach; offset++) {
    const double value = all[static_cast<size_t>(offset + reach)];
    if (std::abs(offset) < kMostShift) near = std::max(near, value);
    if (std::abs(offset - best) <= kBeside) continue;
    other = std::max(other, value);
    sum += value;
    squares += value * value;
    count++;
  }
  const double mean = sum / count, deviation = std::sqrt(std::max(squares / count - mean * mean, 1e-6));
  if (most < other + kMoreThanOthers || most < near + kMoreThanNear || most < mean + kDeviations * deviation)
    return std::nullopt;
  return Finding{Kind::kOffset,
                 Certainty::kLikely,
                 from_,
                 from_ + n,
                 {{"frames", static_cast<double>(best)}, {"correlation", most}, {"other", other}}};
}

}  // namespace vmafx::look
