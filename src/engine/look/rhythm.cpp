#include "engine/look/rhythm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vmafx::look {

namespace {

constexpr size_t kMostFindings = 200;
constexpr size_t kWindow = 120, kLeastWindow = 40;
constexpr int kLongestPeriod = 30;

/* Frames that are repeated fit their own frame so much worse than the one before. Codecs that are short of bits repeat
 * much of a frame, too, but at the price of a smaller error. */
constexpr double kErrorOfRepeats = 1.4, kSureErrorOfRepeats = 1.8;

/* How much better a mixture fits than its frames: at least, at most where none is, and where nothing else explains
 * it. */
constexpr float kMixed = 0.15F, kClean = 0.03F, kWellMixed = 0.3F;
/* So few mixtures may be an encoder's, unless they fit so much better. */
constexpr int kFewMixed = 12;
constexpr double kFewWellMixed = 0.4;

/* Votes by which a beat is clear, and how many of a place must be. */
constexpr float kClear = 0.5F;
constexpr int kLeastClear = 3;

/* A picture shows none of its reference where this part of its detail is not the reference's, and this energy of it, in
 * squared levels of a cell: with less, it is nearly flat, and what an encoder adds is all that there is. */
constexpr float kOther = 0.5F, kLeastOther = 20;

/* An encode for which bits are so short that it stands still shows what was there some time ago. Where it changes by
 * less than this part of what the reference does, it must show as much less of it. */
constexpr float kStandsStill = 0.25F, kOtherThan = 0.8F;

/* A mixture lies so near the middle of two frames. */
constexpr float kNearMiddle = 0.15F;

float at_shift(const ShiftValues& values, int shift) {
  return values[std::clamp(shift, -kMostShift, kMostShift) + kMostShift];
}

float least_misfit(const FrameEvidence& frame) {
  return std::ranges::min(frame.error) > kLeastOther ? std::ranges::min(frame.misfit) : 0;
}

}  // namespace

void Rhythm::add(const Step& step) {
  const FrameEvidence& frame = step.evidence;
  const int own = step.shift + kMostShift;
  Beat beat{.frame = frame.frame,
            .shift = step.shift,
            .votes = frame.plain,
            .error = frame.error,
            .mixed = 0,
            .misfit = least_misfit(frame),
            .change = std::min(frame.change, frame.changes[own]),
            .moves = frame.changes[own]};
  for (int i = std::max(own - 1, 0); i <= std::min(own, kShifts - 2); i++)
    if (std::abs(frame.mix[i] - 0.5F) < kNearMiddle) beat.mixed = std::max(beat.mixed, frame.mix_gain[i]);
  beats_.push_back(beat);
  if (beats_.size() == kWindow) close();
}

/* The reference repeats itself after so few frames that other shifts fit as well. */
bool Rhythm::loops() const {
  for (int k = 2; k <= kMostShift; k++) {
    double next = 0, later = 0;
    for (const Beat& beat : beats_) {
      const float own = at_shift(beat.votes, beat.shift);
      const float beside = std::min(at_shift(beat.votes, beat.shift + 1), at_shift(beat.votes, beat.shift - 1));
      if (own > beside) continue;
      next += beside - own;
      later += std::min(at_shift(beat.votes, beat.shift + k), at_shift(beat.votes, beat.shift - k)) - own;
    }
    if (later < 0.3 * next) return true;
  }
  return false;
}

/* The beats of a place of the period: how much better they fit the shift before, or the next one, and how badly the
 * shift and the one before. */
struct Rhythm::Phase {
  double sum = 0, positive = 0, error[2] = {}, ahead = 0;
  int clear = 0, clear_ahead = 0;
};

/* Frames at some places of a period fit the shift before better, those at the others do not. */
Rhythm::Pattern Rhythm::pattern_of(int shift, int period) const {
  Phase phases[kLongestPeriod];
  for (const Beat& beat : beats_) {
    Phase& phase = phases[(beat.frame % period + period) % period];
    const float x = std::clamp(at_shift(beat.votes, shift) - at_shift(beat.votes, shift - 1), -4.F, 4.F);
    phase.sum += x;
    phase.positive += std::max(x, 0.F);
    phase.clear += x >= kClear;
    const float ahead = std::clamp(at_shift(beat.votes, shift) - at_shift(beat.votes, shift + 1), -4.F, 4.F);
    phase.ahead += ahead;
    phase.clear_ahead += ahead >= kClear;
    for (int k = 0; k < 2; k++) phase.error[k] += at_shift(beat.error, shift - k);
  }
  Pattern found;
  double against = 0, other = 0;
  int last = -1, shortest = period, longest = 0, first = -1, swapped = 0;
  for (int place = 0; place < period; place++) {
    const Phase& phase = phases[place];
    if (phase.sum <= 0 || phase.clear < kLeastClear) {
      against += phase.positive;
      other += phase.positive - phase.sum;
      continue;
    }
    against += phase.positive - phase.sum;
    found.evidence += phase.sum;
    found.clear += phase.clear;
    for (int k = 0; k < 2; k++) found.error[k] += phase.error[k];
    found.repeated++;
    const Phase& before = phases[(place + period - 1) % period];
    swapped += before.ahead > 0 && before.clear_ahead >= kLeastClear;
    if (last >= 0) shortest = std::min(shortest, place - last), longest = std::max(longest, place - last);
    if (first < 0) first = place;
    last = place;
  }
  if (first >= 0)
    shortest = std::min(shortest, first + period - last), longest = std::max(longest, first + period - last);
  found.of = period;
  found.swapped = found.repeated && swapped == found.repeated;
  const bool even = longest - shortest <= 1 && std::gcd(found.repeated, period) == 1;
  if (!even || against > 0.15 * found.evidence || other < 0.4 * found.evidence) found.repeated = 0;
  return found;
}

/* The shortest period that explains the window. */
Rhythm::Pattern Rhythm::pattern() const {
  int least = kMostShift, most = -kMostShift;
  for (const Beat& beat : beats_) least = std::min(least, beat.shift), most = std::max(most, beat.shift);
  for (int period = 2; period <= kLongestPeriod; period++)
    for (int shift = std::max(least, 1 - kMostShift); shift <= std::min(most + 1, kMostShift); shift++) {
      const Pattern found = pattern_of(shift, period);
      if (found.repeated && found.evidence >= 6 && found.clear >= 4 &&
          found.error[0] >= kErrorOfRepeats * found.error[1])
        return found;
    }
  return {};
}

/* Says it of the window, or lets the finding of the window before go on. */
void Rhythm::say(Kind kind, Certainty certainty, std::vector<std::pair<std::string, double>> evidence) {
  const int64_t from = beats_.front().frame, end = beats_.back().frame + 1;
  for (Finding& finding : findings_) {
    if (finding.kind != kind || finding.end != from) continue;
    if (kind == Kind::kCadence && (finding.evidence[0] != evidence[0] || finding.evidence[1] != evidence[1])) continue;
    finding.end = end;
    finding.certainty = std::max(finding.certainty, certainty);
    return;
  }
  if (findings_.size() < kMostFindings) findings_.push_back({kind, certainty, from, end, std::move(evidence)});
}

/* Conversions of frame rates mix some frames and leave others. Where all are mixtures, a filter against noise may have
 * made them, unless two frames explain them very well. */
void Rhythm::look_for_mixtures() {
  double mixed = 0, clean = 0, moving = 0, gain = 0;
  for (const Beat& beat : beats_) {
    const bool mixture = beat.mixed >= kMixed;
    const bool moves = std::min(at_shift(beat.votes, beat.shift + 1), at_shift(beat.votes, beat.shift - 1)) >= 1;
    mixed += mixture;
    gain += mixture ? beat.mixed : 0;
    clean += moves && beat.mixed < kClean;
    moving += mixture || moves;
  }
  if (mixed < 8 || mixed < 0.15 * moving) return;
  if (mixed < kFewMixed && gain < kFewWellMixed * mixed) return;
  const bool varies = clean >= 0.15 * moving;
  if (!varies && (mixed < 0.6 * moving || gain < kWellMixed * mixed)) return;
  const bool clear = varies && gain >= kWellMixed * mixed;
  const Certainty certainty = mixed >= 16 ? Certainty::kSure : Certainty::kLikely;
  say(Kind::kBlended, clear ? certainty : Certainty::kPossible, {{"part", mixed / moving}});
}

/* The part of the window's frames that show none of the reference's. */
double Rhythm::part_of_others() const {
  double change = 0, moves = 0;
  for (const Beat& beat : beats_) change += beat.change, moves += beat.moves;
  const float least = change < kStandsStill * moves ? kOtherThan : kOther;
  const auto others = std::ranges::count_if(beats_, [&](const Beat& beat) { return beat.misfit > least; });
  return static_cast<double>(others) / static_cast<double>(beats_.size());
}

void Rhythm::close() {
  const bool ambiguous = loops();
  const Pattern found = ambiguous ? Pattern{} : pattern();
  if (found.swapped && found.repeated) {
    say(Kind::kSwapped, Certainty::kLikely, {{"frames", 2}, {"of", found.of}, {"margin", found.evidence}});
  } else if (found.repeated) {
    const bool sure =
        found.evidence >= 20 && found.clear >= 8 && found.error[0] >= kSureErrorOfRepeats * found.error[1];
    say(Kind::kCadence, sure ? Certainty::kSure : Certainty::kLikely,
        {{"repeated", found.repeated}, {"of", found.of}, {"margin", found.evidence}});
  } else if (!ambiguous) {
    look_for_mixtures();
  }
  const double part = part_of_others();
  if (part >= 0.9) say(Kind::kOtherPictures, Certainty::kLikely, {{"part", part}});
  beats_.clear();
}

void Rhythm::finish(std::vector<Finding>* findings) {
  if (beats_.size() >= kLeastWindow) close();
  findings->insert(findings->end(), findings_.begin(), findings_.end());
}

}  // namespace vmafx::look
