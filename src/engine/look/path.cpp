#include "engine/look/path.h"

#include <algorithm>

namespace vmafx::look {

namespace {

/* The price of another shift. A frame's part in it is at most kMostDoubt, so that the path never follows two or
 * three frames that show other pictures. */
constexpr float kChangePrice = 6, kMostDoubt = 2;

/* Differences up to this many votes are none: codecs that skip what moves little lag behind by as much. */
constexpr float kTolerance = 0.15F;

/* Disbelief up to kLeastDisbelief is none. Votes that a unit of it is worth, and at most of a frame. */
constexpr float kLeastDisbelief = 0.5F;
constexpr float kOfDisbelief = 1.F / 3, kMostOfDisbelief = 4;

}  // namespace

ShiftValues doubt(const FrameEvidence& evidence) {
  const float least = *std::min_element(evidence.votes.begin(), evidence.votes.end());
  const float misfit = *std::min_element(evidence.misfit.begin(), evidence.misfit.end());
  ShiftValues values;
  for (int i = 0; i < kShifts; i++) values[i] = (1 - misfit) * std::max(evidence.votes[i] - least - kTolerance, 0.F);
  return values;
}

ShiftValues disbelief(const FrameEvidence& evidence) {
  const float most = *std::max_element(evidence.follows.begin(), evidence.follows.end());
  ShiftValues values;
  for (int i = 0; i < kShifts; i++) values[i] = std::min(most - evidence.follows[i], kMostDisbelief);
  return values;
}

Path::Path(bool by_changes) : by_changes_(by_changes), frames_(kDelay + kBatch) {
  cost_.fill(kChangePrice);
  cost_[kMostShift] = 0;
}

void Path::add(const FrameEvidence& evidence) {
  const ShiftValues doubts = doubt(evidence), less = by_changes_ ? disbelief(evidence) : ShiftValues{};
  Frame& frame = at(added_++);
  frame.evidence = evidence;
  const int best = static_cast<int>(std::min_element(cost_.begin(), cost_.end()) - cost_.begin());
  const float change = cost_[best] + kChangePrice;
  const auto price = [&](int i) {
    return std::min(kOfDisbelief * std::max(less[i] - kLeastDisbelief, 0.F), kMostOfDisbelief);
  };
  /* The change to the first frame of another shift is none of the reference's: it may resemble one at either shift. */
  const float price_before = price(best);
  for (int i = 0; i < kShifts; i++) {
    const float own = price(i), stay = cost_[i] + own, go = change + std::min(own, price_before);
    frame.from[i] = static_cast<uint8_t>(stay < go ? i : best);  // of equal ones the latest change
    cost_[i] = std::min(stay, go) + std::min(doubts[i], kMostDoubt);
  }
  const float least = *std::min_element(cost_.begin(), cost_.end());
  for (float& cost : cost_) cost -= least;
  if (added_ - settled_ == kDelay + kBatch) settle(settled_ + kBatch);
}

/* Goes back from the best shift of today, and settles the frames before `end`. */
void Path::settle(int64_t end) {
  auto shift = static_cast<uint8_t>(std::min_element(cost_.begin(), cost_.end()) - cost_.begin());
  for (int64_t place = added_ - 1; place >= settled_; place--) {
    at(place).shift = shift;
    shift = at(place).from[shift];
  }
  settled_ = end;
}

bool Path::next(bool all, Step* step) {
  if (all && settled_ < added_) settle(added_);
  if (given_ == settled_) return false;
  const Frame& frame = at(given_++);
  step->evidence = frame.evidence;
  step->shift = frame.shift - kMostShift;
  return true;
}

}  // namespace vmafx::look
