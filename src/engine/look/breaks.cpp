#include "engine/look/breaks.h"

#include <algorithm>
#include <cmath>

#include "engine/look/vectors.h"

namespace vmafx::look {

namespace {

/* Changes of a gain, of a level and of what a line leaves (as a part of the deviation) that count alike. */
constexpr double kUnit[3] = {0.03, 1, 0.03};
/* A break is so large at least, in squares of these. */
constexpr double kLeast = 0.5;
/* Breaks that are kept: half of them go when there are more. */
constexpr size_t kMost = 256;
/* Flat pictures tell nothing (squared levels). */
constexpr double kFlat = 9;

}  // namespace

void Breaks::add(int64_t frame, const PairMeans& means) {
  constexpr double n = kCells;
  const PairSums s = sum_pairs(means.ref.data(), means.dist.data(), kCells);
  const double xx = s.xx - s.x * s.x / n, yy = s.yy - s.y * s.y / n, xy = s.xy - s.x * s.y / n;
  if (xx < kFlat * n || yy < kFlat * n) return;
  const double left = xy > 0 ? std::max(1 - xy * xy / (xx * yy), 0.0) : 1;
  last_.push_back({frame, {xy / xx, (s.y - s.x) / n, std::sqrt(left)}});
  if (last_.size() < 2 * kReach) return;
  double size = 0;
  for (int k = 0; k < 3; k++) {
    double step = 0;
    for (int i = 0; i < 2 * kReach; i++) step += (i < kReach ? -1 : 1) * last_[i].follows[k] / kReach;
    size += step * step / (kUnit[k] * kUnit[k]);
  }
  const int64_t at = last_[kReach].frame;
  last_.pop_front();
  if (size < kLeast) return;
  if (!breaks_.empty() && at - breaks_.back().frame < kReach) {
    if (size > breaks_.back().size) breaks_.back() = {at, size};
    return;
  }
  breaks_.push_back({at, size});
  if (breaks_.size() > kMost) drop_small();
}

void Breaks::drop_small() {
  std::vector<double> sizes;
  for (const Break& b : breaks_) sizes.push_back(b.size);
  const auto middle = sizes.begin() + static_cast<ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  const double least = *middle;
  std::erase_if(breaks_, [&](const Break& b) { return b.size < least; });
}

std::optional<int64_t> Breaks::largest(int64_t from, int64_t to) const {
  const Break* largest = nullptr;
  for (const Break& b : breaks_)
    if (b.frame >= from && b.frame <= to && (!largest || b.size > largest->size)) largest = &b;
  return largest ? std::optional(largest->frame) : std::nullopt;
}

}  // namespace vmafx::look
