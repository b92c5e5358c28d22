#include "engine/look/rhythm.h"

#include <algorithm>
#include <cmath>

namespace vmafx::look {

namespace {

constexpr size_t kMostFindings = 200;
constexpr size_t kWindow = 120, kLeastWindow = 40;
constexpr int kLongestPeriod = 30;

}  // namespace

void Rhythm::add(const Step& step) {
  const FrameEvidence& frame = step.evidence;
  const auto votes = [&](int shift) { return frame.plain[std::clamp(shift, -kMostShift, kMostShift) + kMostShift]; };
  Beat beat{frame.frame, {}, 0, std::min(votes(step.shift - 1), votes(step.shift + 1)), 0};
  for (int k = 0; k < 2; k++)
    beat.repeats[k] = std::clamp(votes(step.shift + k) - votes(step.shift + k - 1), -4.F, 4.F);
  for (int i = std::max(step.shift + kMostShift - 1, 0); i <= std::min(step.shift + kMostShift, kShifts - 2); i++)
    if (std::abs(frame.mix[i] - 0.5F) < 0.25F) beat.mixed = std::max(beat.mixed, frame.mix_gain[i]);
  beat.misfit = *std::min_element(frame.misfit.begin(), frame.misfit.end());
  beats_.push_back(beat);
  if (beats_.size() == kWindow) close();
}

/* Frames at some places of a period repeat the one before, those at the others do not. */
Rhythm::Pattern Rhythm::pattern_of(int which, int period) const {
  Pattern found;
  double against = 0, other = 0;
  for (int phase = 0; phase < period; phase++) {
    double sum = 0, positive = 0;
    int clear = 0, clear_against = 0;
    for (const Beat& beat : beats_) {
      if (beat.frame % period != phase) continue;
      const float x = beat.repeats[which];
      sum += x;
      positive += std::max(x, 0.F);
      clear += x >= 0.5F;
      clear_against += x <= -0.5F;
    }
    const bool repeats = sum > 0 && clear >= 3;
    if (!repeats) against += positive, other += positive - sum;
    if (!repeats) continue;
    against += positive - sum + clear_against;
    found.repeated++;
    found.evidence += sum;
    found.clear += clear;
  }
  found.of = period;
  if (found.repeated * 2 > period || against > 0.15 * found.evidence || other < 0.4 * found.evidence)
    found.repeated = 0;
  return found;
}

Rhythm::Pattern Rhythm::pattern(int which) const {
  for (int period = 2; period <= kLongestPeriod; period++) {
    const Pattern found = pattern_of(which, period);
    if (found.repeated && found.evidence >= 6 && found.clear >= 4) return found;
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

void Rhythm::close() {
  Pattern found = pattern(0);
  if (!found.repeated) found = pattern(1);
  if (found.repeated)
    say(Kind::kCadence, found.evidence >= 20 && found.clear >= 8 ? Certainty::kSure : Certainty::kLikely,
        {{"repeated", found.repeated}, {"of", found.of}, {"margin", found.evidence}});
  double mixed = 0, moving = 0, misfits = 0;
  for (const Beat& beat : beats_) {
    const bool mixture = beat.mixed >= 0.15F;
    mixed += mixture;
    moving += mixture || beat.moving >= 1;
    misfits += beat.misfit > 0.5F;
  }
  if (mixed >= 8 && mixed >= 0.25 * moving)
    say(Kind::kBlended, mixed >= 24 && mixed >= 0.4 * moving ? Certainty::kSure : Certainty::kLikely,
        {{"part", mixed / moving}});
  const auto frames = static_cast<double>(beats_.size());
  if (misfits >= 0.9 * frames) say(Kind::kOtherPictures, Certainty::kLikely, {{"part", misfits / frames}});
  beats_.clear();
}

void Rhythm::finish(std::vector<Finding>* findings) {
  if (beats_.size() >= kLeastWindow) close();
  findings->insert(findings->end(), findings_.begin(), findings_.end());
}

}  // namespace vmafx::look
