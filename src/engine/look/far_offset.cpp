#include "engine/look/far_offset.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace vmafx::look {

namespace {

/* Memory and time are bounded: frames that are kept, and the farthest offset. */
constexpr size_t kMostFrames = 1200;
constexpr int64_t kFarthest = 300;

/* Frames that both streams must share at an offset, and their least part of all. */
constexpr int64_t kLeastShared = 60, kShared = 2;

/* Energy below which a change is that of an encoder: a quarter of a level, per cell. */
constexpr float kLeastChange = 0.06F;

/* The best offset's correlation: at least, more than any that is not beside it, more than within the reach of shifts,
 * and in deviations of those of all offsets, of which 600 with the distribution of chance reach 5 once in 5,000. */
constexpr double kLeast = 0.45, kMoreThanOthers = 0.15, kMoreThanNear = 0.3, kDeviations = 5;
constexpr int64_t kBeside = 4;

}  // namespace

void FarOffset::add(const FrameEvidence& evidence) {
  if (ended_ || frames_.size() >= kMostFrames) return;
  if (frames_.empty()) from_ = evidence.frame;
  Frame frame;
  for (int b = 0; b < kBlocks; b++) {
    frame.ref[b] = std::log(evidence.moves[b] + kLeastChange);
    frame.dist[b] = std::log(evidence.own_moves[b] + kLeastChange);
  }
  frames_.push_back(frame);
}

/* Mean over blocks of the correlation of both streams' changes, if frame i shows the reference's i + offset. The first
 * frame has no change. */
double FarOffset::correlation(int64_t offset) const {
  const auto n = static_cast<int64_t>(frames_.size());
  const int64_t begin = std::max<int64_t>(1, 1 - offset), end = std::min(n, n - offset);
  const auto count = static_cast<double>(end - begin);
  double sum = 0, blocks = 0;
  for (int b = 0; b < kBlocks; b++) {
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t i = begin; i < end; i++) {
      const double ref = frames_[static_cast<size_t>(i + offset)].ref[b];
      const double dist = frames_[static_cast<size_t>(i)].dist[b];
      x += ref;
      y += dist;
      xx += ref * ref;
      yy += dist * dist;
      xy += ref * dist;
    }
    const double vx = xx - x * x / count, vy = yy - y * y / count;
    blocks++;
    if (vx > 0.01 * count && vy > 0.01 * count) sum += (xy - x * y / count) / std::sqrt(vx * vy);
  }
  return sum / blocks;
}

std::optional<Finding> FarOffset::finish() const {
  const auto n = static_cast<int64_t>(frames_.size());
  const int64_t reach = std::min({kFarthest, n - n / kShared, n - 1 - kLeastShared});
  if (reach <= kMostShift) return std::nullopt;
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
