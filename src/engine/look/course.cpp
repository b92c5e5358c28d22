#include "engine/look/course.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace vmafx::look {

namespace {

/* Memory is bounded: a stream with more changes has a pattern, or nothing that is worth another line. */
constexpr size_t kMostFindings = 200;

/* Ratios of votes against the frame before a shift's, and against the next one, have so much more or less room. */
constexpr double kLagBelow = 1.4, kLagAbove = 0.8;

/* Frames that lie so far from their shift to the next one, on average, lag behind that. */
constexpr double kMostLean = 0.15;

/* A stretch whose shift is not known still tells that the next one's does not fit it, by this margin. */
constexpr double kLeastBefore = 1.5, kBeliefBefore = 8, kAgreeBefore = 1;

/* So many changes of one frame, equally far apart, are a rhythm. */
constexpr size_t kLeastRecurring = 4;

/* Frames after which the usual error around strays is known, and how many times as large theirs must be. */
constexpr int64_t kStrayDelay = 24;
constexpr double kErrorOfStrays = 2, kErrorOfOne = 4;
constexpr float kUnknownNoise = 1e9F;

/* More changes of shift than kMostInCrowd within kCrowd frames to both sides are a crowd. */
constexpr int64_t kCrowd = 60;
constexpr int kMostInCrowd = 3;

/* A frame may be away from its path if its votes there are so many fewer, and at most this part of those on it. */
constexpr float kAway = 0.75F, kPart = 0.5F;

/* Beyond the reach of shifts, an encode that changes by less than this part of the reference's change stands still,
 * noise of both frames aside. */
constexpr float kStill = 0.25F;

/* Changes of the reference below this many squared levels per cell are noise, which encoders leave out. */
constexpr float kLeastChange = 0.25F;

/* Before a stray, so many frames must have followed changes that were at least this part of its own, with at most this
 * part of the votes of the frame before; those that lag instead may be this part of them. */
constexpr int kLeastFollowers = 3;
constexpr float kPartOfChange = 0.5F, kFollows = 0.5F, kMostLaggards = 0.25F;

/* A frame whose change is the opposite of the reference's goes back. Chance reaches these numbers with the exponential
 * of their opposite; and the frame must follow the reference so much less. */
constexpr float kBack = 20, kBackOverForth = 3;

/* Changes of frames prove a shift against another one by their sum over the square root of the sum of their squares. If
 * both shifts were as likely, so that each frame's number is as likely with the other sign, chance would reach x with a
 * probability of at most exp(-x^2 / 2), whatever the numbers are: 8 % for kAgree, 1 in 800 and 1 in 270,000 for the
 * others. Sums tell that the numbers are more than what little moves by chance. */
constexpr double kAgree = 2.25, kLikelyAgree = 3.65, kSureAgree = 5;
constexpr double kLeastBelief = 40, kLikelyBelief = 60, kSureBelief = 120;

/* A displacement along a motion is like an offset in time, but no shift fits well: it has more of the other's votes. */
constexpr double kSureRatio = 0.45;

/* Frames that lie between two shifts, with more than this part of the other's votes, change as one does that lags: so
 * much agreement is none. */
constexpr double kBetweenRatio = 0.7, kBetweenAgree = 5;

/* Above this part of the other's votes the pictures fit both shifts: then changes prove none. Of 4,680 pairs, places in
 * time that were right had at most 0.93. */
constexpr double kMostRatio = 0.95;

/* Codecs that lag reach this part of the votes of no shift, and this agreement, where next to nothing moves. */
constexpr double kRatioOfLag = 0.4, kAgreeOfLag = 8;

/* One frame alone, whatever it changes by, has an agreement of 1. In fewer frames than kBrief it proves little: an
 * encoder that is short of bits may have drawn it late. A filter of noise that mixes frames draws one late by a margin
 * of 11, where frames that are really late had one of 22. */
constexpr int64_t kBrief = 12;
constexpr double kAgreeOfMore = 1.25, kMarginOfOne = 16;

/* The first frames of a stream prove its offset, too, by so much belief: else it may have begun later. */
constexpr int64_t kEarly = 10;
constexpr double kEarlyBelief = 8;

}  // namespace

bool Course::leans(const Stretch& stretch) { return stretch.lean > kMostLean * static_cast<double>(stretch.frames); }

Course::Proof Course::proof_by_changes(const Stretch& stretch, int shift) {
  const int i = shift + kMostShift;
  Proof proof;
  if (!stretch.there[i] || stretch.squares[i] <= 0) return proof;
  const double whole = static_cast<double>(stretch.frames) / static_cast<double>(stretch.there[i]);
  proof.belief = stretch.belief[i] * whole;
  proof.agreement = stretch.belief[i] / std::sqrt(stretch.squares[i]) * std::sqrt(whole);
  proof.known = proof.agreement >= kAgree && proof.belief >= kLeastBelief;
  if (proof.agreement >= kLikelyAgree && proof.belief >= kLikelyBelief) proof.certainty = Certainty::kLikely;
  const double ratio = stretch.votes[i] > 0 ? stretch.own_votes[i] / stretch.votes[i] : 1;
  const bool between = shift == stretch.shift + 1 && leans(stretch) && ratio > kBetweenRatio;
  if (between && proof.agreement < kBetweenAgree) proof.known = false;
  if (proof.agreement >= kSureAgree && proof.belief >= kSureBelief && ratio <= kSureRatio)
    proof.certainty = Certainty::kSure;
  return proof;
}

/* A stretch proves its shift against another one by how many votes that is better, by how much of the other's votes,
 * and in how many frames. Codecs that are short of bits lag behind: a frame may fit the one before nearly as well, and
 * a lag is no proof that it shows that one. No codec shows the next frame. What changes tells a lag, too: votes prove
 * nothing against the shift whose changes are the encode's, and the room of a lag is no certainty without them. */
Course::Proof Course::proof_against(const Stretch& stretch, int shift) {
  const int i = shift + kMostShift;
  const double lag = shift == stretch.shift - 1 ? kLagBelow : shift == stretch.shift + 1 && shift <= 0 ? kLagAbove : 1;
  const double whole =
      static_cast<double>(stretch.frames) / static_cast<double>(std::max<int64_t>(stretch.there[i], 1));
  Proof proof = proof_by_changes(stretch, shift);
  proof.margin = stretch.margin[i] * whole;
  proof.ratio = stretch.votes[i] > 0 ? stretch.own_votes[i] / stretch.votes[i] : 1;
  if (leans(stretch) || proof.agreement <= -kAgree) return proof;
  const bool alone = stretch.frames < kBrief && proof.agreement < kAgreeOfMore;
  const bool likely = proof.margin >= (alone && lag < 1 ? kMarginOfOne : 8) && proof.ratio <= 0.5 * lag;
  proof.known |= likely || (proof.margin >= 4 && proof.ratio <= 0.6 * lag && proof.agreement >= kAgreeBefore && !alone);
  if (likely) proof.certainty = std::max(proof.certainty, Certainty::kLikely);
  const double most = proof.agreement >= kLikelyAgree ? 0.35 * lag : 0.35 * std::min(lag, 1.);
  if (proof.margin >= 20 && proof.ratio <= most && static_cast<double>(stretch.strong[i]) * whole >= 4)
    proof.certainty = Certainty::kSure;
  return proof;
}

/* The proof against the shift that is the hardest to tell apart. */
Course::Proof Course::proof_of(const Stretch& stretch) {
  Proof least{true, Certainty::kSure, 1e30, 0, 0, 0};
  if (std::abs(stretch.shift) == kMostShift) return {};
  for (int shift = -kMostShift; shift <= kMostShift; shift++) {
    if (shift == stretch.shift || !stretch.there[shift + kMostShift]) continue;
    const Proof proof = proof_against(stretch, shift);
    if (!proof.known) return proof;
    if (proof.certainty < least.certainty || (proof.certainty == least.certainty && proof.margin < least.margin))
      least = proof;
  }
  if (least.ratio > kMostRatio) least.known = false;
  return least;
}

Finding Course::finding_of(Kind kind, const Proof& proof, int64_t from, int64_t end, int frames) {
  return {kind,
          proof.certainty,
          from,
          end,
          {{"frames", frames}, {"margin", proof.margin}, {"ratio", proof.ratio}, {"agreement", proof.agreement}}};
}

Finding* Course::report(const Finding& finding) {
  if (findings_.size() >= kMostFindings) return nullptr;
  findings_.push_back(finding);
  return &findings_.back();
}

/* Adds a frame to the strays if it shows the picture that is `away` from its shift. */
bool Course::strays(const Step& step, int away, Strays* strays) const {
  const FrameEvidence& frame = step.evidence;
  const int own = step.shift + kMostShift, other = own + away;
  if (std::min(own, other) < frame.first || std::max(own, other) > frame.last) return false;
  const float here = frame.plain[own], there = frame.plain[other];
  if (here - there < kAway || there > kPart * here) return false;
  if (!strays->frames && frame.changes[own] < kLeastChange) return false;
  if (!strays->frames) {
    strays->from = frame.frame;
    strays->usual = follows_usually(frame.changes[own]);
    strays->noise = frame.frame - start_ < kStrayDelay ? kUnknownNoise : noise_;
  }
  strays->end = frame.frame + 1;
  strays->frames++;
  strays->votes += there;
  strays->path_votes += here;
  strays->error += frame.error[own];
  return true;
}

/* Encoders that are short of bits repeat frames, and begin late to show what moves. They do so again and again. */
bool Course::follows_usually(float change) const {
  int followers = 0, laggards = 0;
  for (const Motion& motion : motions_) {
    if (motion.change < kPartOfChange * change) continue;
    (motion.own <= kFollows * motion.before ? followers : laggards)++;
  }
  return followers >= kLeastFollowers && static_cast<float>(laggards) <= kMostLaggards * static_cast<float>(followers);
}

void Course::remember(const Step& step) {
  const int own = step.shift + kMostShift;
  if (held_.frames || early_.frames || own <= step.evidence.first || own > step.evidence.last) return;
  motions_.push_back({step.evidence.changes[own], step.evidence.plain[own], step.evidence.plain[own - 1]});
  if (motions_.size() > static_cast<size_t>(kStrayDelay)) motions_.pop_front();
}

/* Two frames that were exchanged go forth by two, back by one, and forth by two. No encoder goes back. */
void Course::look_for_swaps(const Step& step) {
  const FrameEvidence& frame = step.evidence;
  const int own = step.shift + kMostShift;
  const float back = frame.reverses[own];
  if (own == 0 || frame.plain[own - 1] >= frame.plain[own]) return;
  if (back < kBack || back < kBackOverForth * frame.follows[own] || swaps_.size() >= kMostFindings) return;
  swaps_.push_back(
      {Kind::kSwapped, Certainty::kLikely, frame.frame - 1, frame.frame + 1, {{"frames", 2}, {"back", back}}});
}

/* Strays at a swap are a part of it. */
void Course::name_swaps() {
  for (const Finding& swap : swaps_) {
    const auto overlaps = [&](const Finding& other) { return other.from <= swap.end && swap.from <= other.end; };
    std::erase_if(findings_, [&](const Finding& other) {
      return other.kind == Kind::kFrozen && other.end - other.from <= 2 && overlaps(other);
    });
    const auto is_it = [&](const Finding& other) { return other.kind == Kind::kSwapped && overlaps(other); };
    if (std::none_of(findings_.begin(), findings_.end(), is_it)) report(swap);
  }
}

Course::Proof Course::proof_of(const Strays& strays) {
  Proof proof;
  proof.margin = strays.path_votes - strays.votes;
  proof.ratio = strays.path_votes > 0 ? strays.votes / strays.path_votes : 1;
  proof.known = (strays.usual || strays.frames > 2) && proof.margin >= 2 + std::min(strays.frames, 4) &&
                proof.ratio <= (strays.frames < 3 ? 0.35 : 0.15);
  const bool sure = proof.margin >= 6 + 2 * std::min(strays.frames, 3) && proof.ratio <= 0.2;
  proof.certainty = sure ? Certainty::kSure : Certainty::kLikely;
  return proof;
}

void Course::close_strays() {
  const Proof held = proof_of(held_), early = proof_of(early_);
  const bool swapped = held_.frames == 1 && early_.frames == 1 && early_.end == held_.from;
  const bool lags = held_.frames == 1 && held_.from == held_until_;  // a remainder of frames that stood still
  if (held.known && !lags && (early.known || !swapped) && waiting_.size() < kMostFindings) {
    Finding finding = finding_of(Kind::kFrozen, held, held_.from, held_.end, held_.frames);
    if (swapped)
      finding = finding_of(Kind::kSwapped, held.margin < early.margin ? held : early, early_.from, held_.end, 2);
    finding.evidence.emplace_back("noise", held_.noise);
    finding.evidence.emplace_back("error", held_.error / held_.frames);
    waiting_.push_back(finding);
  }
  if (held_.frames) held_until_ = held_.end;
  held_ = early_ = {};
}

/* Codecs that are short of bits leave changes out, but only those that are small beside the errors that they make
 * elsewhere. Several frames that are sure to be one picture need to stand out less, but not at the beginning of a
 * stream, where bits may be short. */
void Course::settle_strays(float noise, int64_t before) {
  while (!waiting_.empty() && waiting_.front().end <= before) {
    Finding& finding = waiting_.front();
    double& usual = finding.evidence[finding.evidence.size() - 2].second;
    usual = std::min(usual, static_cast<double>(noise));
    const bool several = finding.end - finding.from > 2 && finding.certainty == Certainty::kSure;
    const bool begins = finding.from - start_ < kStrayDelay;
    const double least = several && !begins ? kErrorOfStrays : kErrorOfOne;
    if (finding.evidence.back().second >= least * usual) report(finding);
    waiting_.erase(waiting_.begin());
  }
}

void Course::look_for_strays(const Step& step) {
  if (step.shift == -kMostShift) {
    held_.frames += held_.frames > 0;
    held_.end = step.evidence.frame + 1;
    return;
  }
  const bool changes = step.evidence.frame == now_.from && now_.from != start_;
  if (changes && !held_.frames && !early_.frames) return;
  if (strays(step, -held_.frames - 1, &held_)) return;
  const FrameEvidence& frame = step.evidence;
  const float still = kStill * frame.changes[step.shift + kMostShift] + 2 * std::min(held_.noise, noise_);
  if (held_.frames >= kMostShift && frame.change < still) {
    held_.frames++;
    held_.end = frame.frame + 1;
    return;
  }
  if (held_.frames || early_.frames) close_strays();
  if (!strays(step, 1, &early_)) strays(step, -1, &held_);
}

/* Another stretch. Frames that stand still for longer than shifts reach are held on. */
void Course::begin(const Step& step) {
  if (now_.frames) close();
  if (!now_.frames) start_ = step.evidence.frame;
  const bool far = step.shift == -kMostShift, back = now_.shift == -kMostShift && held_.frames;
  if (back && step.shift == last_.shift) close_strays();
  held_before_ = held_.frames && step.shift < last_.shift ? held_.from : -1;
  if (!far) held_ = {};
  early_ = {};
  now_ = {};
  now_.shift = step.shift;
  now_.from = step.evidence.frame;
}

void Course::add(const Step& step) {
  if (!now_.frames || step.shift != now_.shift) begin(step);
  now_.end = step.evidence.frame + 1;
  now_.frames++;
  const ShiftValues doubts = doubt(step.evidence), less = disbelief(step.evidence);
  const int own = step.shift + kMostShift;
  for (int i = step.evidence.first; i <= step.evidence.last; i++) {
    now_.there[i]++;
    now_.votes[i] += step.evidence.votes[i];
    now_.own_votes[i] += step.evidence.votes[own];
    now_.margin[i] += doubts[i] - doubts[own];
    const double more = less[i] - less[own];
    now_.belief[i] += more;
    now_.squares[i] += more * more;
    now_.strong[i] += step.evidence.votes[i] - step.evidence.votes[own] >= 1;
  }
  if (now_.frames == kEarly) now_.early = now_.belief[kMostShift];
  now_.lean += own < step.evidence.last ? step.evidence.mix[own] : 0;
  look_for_swaps(step);
  look_for_strays(step);
  remember(step);
  settle_strays(step.evidence.noise, step.evidence.frame - kStrayDelay);
  noise_ = step.evidence.noise;
}

/* The shift of the stretch that ends is known, and differs from the one before, or from 0. The stream's first frames
 * may have another one, because those that they show were before the reference's first. */
void Course::change(const Proof& proof) {
  const Proof before = last_.frames ? proof_against(last_, now_.shift) : Proof{};
  const int frames = now_.shift - (last_.frames ? last_.shift : 0);
  const bool told = known_ || (before.margin >= kLeastBefore && before.ratio <= 0.6) ||
                    (before.belief >= kBeliefBefore && before.agreement >= kAgreeBefore);
  /* An offset that is known from later on may have begun there: frames before it that fit no shift prove nothing. */
  const bool first = now_.from - start_ <= 1 + std::abs(now_.shift), lacks = first && now_.shift < 0;
  Finding* finding = nullptr;
  if (lacks || !told) {
    finding = report(finding_of(Kind::kOffset, proof, lacks ? start_ : now_.from, now_.end, now_.shift));
    const bool late = !first || (!lacks && last_.frames) || now_.early < kEarlyBelief;
    if (finding && late) finding->certainty = std::min(proof.certainty, Certainty::kLikely);
  } else {
    const bool doubled = frames < 0;
    const int64_t from = doubled && held_before_ >= 0 ? held_before_ : now_.from;
    finding = report(finding_of(doubled ? Kind::kDoubled : Kind::kDropped, proof, from, now_.end, std::abs(frames)));
    if (finding) finding->certainty = std::min(proof.certainty, known_ ? before.certainty : Certainty::kLikely);
  }
  lasting_ = finding ? static_cast<int64_t>(findings_.size()) - 1 : -1;
}

void Course::close() {
  const Proof proof = proof_of(now_);
  /* An encode that is a frame late from its first one on may have been made by a codec that lags. */
  const bool lags = !known_ && now_.shift == -1 && proof.ratio > kRatioOfLag && proof.agreement < kAgreeOfLag;
  if (!proof.known || lags) {
    if (!last_.frames && now_.shift == 0) last_ = now_;
    return;
  }
  if (now_.shift != (last_.frames ? last_.shift : 0)) change(proof);
  if (lasting_ >= 0) findings_[static_cast<size_t>(lasting_)].end = now_.end;
  if (now_.shift == 0) lasting_ = -1;
  last_ = now_;
  known_ = true;
}

/* The first of `count` changes from findings_[first] on becomes a cadence if they are one frame each and equally far
 * apart. */
bool Course::recurs(size_t first, size_t count) const {
  const int64_t distance = findings_[first + 1].from - findings_[first].from;
  for (size_t k = first; k < first + count; k++) {
    if (findings_[k].kind != findings_[first].kind || findings_[k].evidence[0].second != 1) return false;
    if (k > first && std::abs(findings_[k].from - findings_[k - 1].from - distance) > 1) return false;
  }
  return true;
}

/* One frame that is left out or added again and again makes a rhythm, such as 24 of 25 frames. */
void Course::join_recurring() {
  for (size_t first = 0; first + kLeastRecurring <= findings_.size(); first++) {
    const bool moves = findings_[first].kind == Kind::kDropped || findings_[first].kind == Kind::kDoubled;
    size_t count = kLeastRecurring;
    if (!moves || !recurs(first, count)) continue;
    while (first + count < findings_.size() && recurs(first, count + 1)) count++;
    Finding& finding = findings_[first];
    const Finding& last = findings_[first + count - 1];
    const auto of = static_cast<double>(last.from - finding.from) / static_cast<double>(count - 1);
    const bool dropped = finding.kind == Kind::kDropped;
    finding.evidence = {{dropped ? "dropped" : "repeated", 1}, {"of", std::round(of)}};
    finding.kind = Kind::kCadence;
    finding.end = last.end;
    findings_.erase(findings_.begin() + static_cast<ptrdiff_t>(first) + 1,
                    findings_.begin() + static_cast<ptrdiff_t>(first + count));
  }
}

/* Changes of shift that crowd are a pattern that no kind describes. */
void Course::doubt_crowds() {
  const auto changes = [](const Finding& finding) { return finding.kind <= Kind::kDoubled; };
  for (Finding& finding : findings_) {
    const auto near = [&](const Finding& other) {
      return changes(other) && std::abs(other.from - finding.from) <= kCrowd;
    };
    if (changes(finding) && std::count_if(findings_.begin(), findings_.end(), near) > kMostInCrowd)
      finding.certainty = Certainty::kPossible;
  }
}

void Course::finish(std::vector<Finding>* findings) {
  close_strays();
  if (now_.frames) close();
  settle_strays(noise_, now_.end);
  name_swaps();
  join_recurring();
  doubt_crowds();
  findings->insert(findings->end(), findings_.begin(), findings_.end());
}

}  // namespace vmafx::look
