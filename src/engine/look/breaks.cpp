#include "engine/look/breaks.h"

#include <algorithm>
#include <cmath>

#include "engine/look/vectors.h"

namespace vmafx::look {

namespace {

/* Changes of a gain, of a level and of what a line leaves (as a part of the deviation) that count alike. */
constexpr double kGain = 0.03, kLevel = 1, kLeft = 0.03;
/* A break is so large at least, in squares of these. */
constexpr double kLeast = 0.5;
/* Breaks that are kept: half of them go when there are more. */
constexpr size_t kMost = 256;
/* Flat pictures tell nothing (squared levels). */
constexpr double kFlat = 9;

constexpr size_t kEnd = 2 * Breaks::kReach - 1;

/* How far a number of the later half of some pairs lies from that of the earlier half, squared. */
double square_of_step(std::span<const PairFit> pairs, double PairFit::* number, double unit) {
  double step = 0;
  for (size_t i = 0; i < pairs.size(); i++) step += (2 * i < pairs.size() ? -1 : 1) * pairs[i].*number;
  step /= static_cast<double>(pairs.size() / 2) * unit;
  return step * step;
}

}  // namespace

void Breaks::add(int64_t frame, const PairMeans& means) {
  constexpr double n = kCells;
  const PairSums s = sum_pairs(means.ref.data(), means.dist.data(), kCells);
  const double xx = s.xx - s.x * s.x / n, yy = s.yy - s.y * s.y / n, xy = s.xy - s.x * s.y / n;
  if (xx < kFlat * n || yy < kFlat * n) return;
  const double left = xy > 0 ? std::max(1 - xy * xy / (xx * yy), 0.0) : 1;
  add({.frame = frame, .gain = xy / xx, .offset = (s.y - s.x) / n, .left = std::sqrt(left)});
}

void Breaks::add(const PairFit& fit) {
  if (first_.size() < kEnd) first_.push_back(fit);
  added_++;
  last_.push_back(fit);
  if (last_.size() <= kEnd) return;
  const std::vector<PairFit> pairs(last_.begin(), last_.end());
  const double size = square_of_step(pairs, &PairFit::gain, kGain) + square_of_step(pairs, &PairFit::offset, kLevel) +
                      square_of_step(pairs, &PairFit::left, kLeft);
  const int64_t at = last_[kReach].frame;
  last_.pop_front();
  if (size < kLeast) return;
  if (!breaks_.empty() && at - breaks_.back().frame < static_cast<int64_t>(kReach)) {
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

std::vector<PairFit> Breaks::ends() const {
  std::vector<PairFit> ends = first_;
  const size_t later = added_ - first_.size();  // pairs that are not among the first ones
  const auto skipped = static_cast<ptrdiff_t>(last_.size() - std::min(last_.size(), later));
  ends.insert(ends.end(), last_.begin() + skipped, last_.end());
  return ends;
}

Breaks join_breaks(std::span<const Break> of_parts, std::span<const PairFit> ends, std::span<const int64_t> borders) {
  std::vector<Break> all(of_parts.begin(), of_parts.end());
  for (const int64_t border : borders) {
    const auto begin = std::ranges::lower_bound(ends, border, {}, &PairFit::frame);
    const ptrdiff_t before = std::min<ptrdiff_t>(begin - ends.begin(), kEnd);
    const ptrdiff_t after = std::min<ptrdiff_t>(ends.end() - begin, kEnd);
    Breaks met;
    for (auto fit = begin - before; fit != begin + after; ++fit) met.add(*fit);
    all.insert(all.end(), met.all().begin(), met.all().end());
  }
  std::ranges::stable_sort(all, {}, &Break::frame);
  Breaks joined;
  for (const Break& next : all) joined.add(next);
  return joined;
}

}  // namespace vmafx::look
