#include "engine/look/neighbors.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/look/vectors.h"

namespace vmafx::look {

namespace {

/* Energy of a cell's rounding and of noise that no encoder keeps, in steps: about 0.15 levels. */
constexpr float kLeastNoise = 13.F * kBlockCells;

/* The usual misfit follows the last pairs, so many of them. */
constexpr float kNoiseMemory = 24;

/* Changes whose energy is below this in a block, or below this part of the usual one, tell little: encoders make as
 * much of their own. */
constexpr float kLeastChange = 20.F * kCellSteps * kCellSteps, kPartOfUsual = 0.5F;

/* Cells of a block that err independently: half of them are the weight of a squared correlation as the logarithm of a
 * likelihood. */
constexpr float kFreeCells = 16;

/* Squared steps of a picture to squared levels of a cell. */
constexpr float kToLevels = 1.F / (kCellSteps * kCellSteps * kBlocks * kBlockCells);

float sum_of(const BlockValues& values) {
  float sum = 0;
  for (float value : values) sum += value;
  return sum;
}

}  // namespace

/* Of a frame with each neighbor: products with it, the gain that fits best, and the energy that is left. */
struct Neighbors::Fit {
  BlockValues product[kShifts];
  BlockValues left[kShifts];
  float gain[kShifts], total[kShifts];
  bool there[kShifts];
};

Neighbors::Neighbors(const VideoFormat& format) : scale_(format), ref_(kKept), dist_(kKept), frames_(kKept) {}

void Neighbors::keep(const PictureSignature& signature, std::vector<Picture>* pictures) const {
  Picture& picture = (*pictures)[static_cast<size_t>(pairs_ % kKept)];
  scale_.convert(signature, &picture.cells);
  products(picture.cells, picture.cells, &picture.energy);
  picture.previous = picture.change = {};
  if (pairs_) {
    const Picture& before = (*pictures)[static_cast<size_t>((pairs_ - 1) % kKept)];
    products(picture.cells, before.cells, &picture.previous);
    for (int b = 0; b < kBlocks; b++)
      picture.change[b] = picture.energy[b] + before.energy[b] - 2 * picture.previous[b];
  }
  picture.changes = sum_of(picture.change);
}

bool Neighbors::add(int64_t frame, const SignatureSums& sums, FrameEvidence* evidence) {
  keep(sums.ref, &ref_);
  keep(sums.dist, &dist_);
  frames_[static_cast<size_t>(pairs_++ % kKept)] = frame;
  if (pairs_ <= kMostShift) return false;
  compare(compared_++, evidence);
  return true;
}

bool Neighbors::rest(FrameEvidence* evidence) {
  if (compared_ == pairs_) return false;
  compare(compared_++, evidence);
  return true;
}

/* Energy of the change from the picture before, per block, and in all. */
const BlockValues& Neighbors::change(const std::vector<Picture>& pictures, int64_t place) const {
  static constexpr BlockValues kNone{};
  return has(place) ? pictures[static_cast<size_t>(place % kKept)].change : kNone;
}
float Neighbors::changes(const std::vector<Picture>& pictures, int64_t place) const {
  return has(place) ? pictures[static_cast<size_t>(place % kKept)].changes : 0;
}

void Neighbors::fit_all(int64_t place, Fit* fit) const {
  const Picture& picture = dist(place);
  for (int i = 0; i < kShifts; i++) {
    const int64_t other = place + i - kMostShift;
    fit->there[i] = has(other);
    if (!fit->there[i]) continue;
    products(picture.cells, ref(other).cells, &fit->product[i]);
    const float energy = sum_of(ref(other).energy);
    const float gain = energy > 0 ? std::clamp(sum_of(fit->product[i]) / energy, 0.F, 4.F) : 0;
    fit->gain[i] = gain;
    for (int b = 0; b < kBlocks; b++) {
      const float left = picture.energy[b] - 2 * gain * fit->product[i][b] + gain * gain * ref(other).energy[b];
      fit->left[i][b] = std::max(left, 0.F);
    }
    fit->total[i] = sum_of(fit->left[i]);
  }
}

void Neighbors::vote(int64_t place, const Fit& fit, FrameEvidence* evidence) const {
  BlockValues best = fit.left[kMostShift], moves{};
  for (int i = 0; i < kShifts; i++) {
    if (!fit.there[i]) continue;
    for (int b = 0; b < kBlocks; b++) best[b] = std::min(best[b], fit.left[i][b]);
  }
  for (int s = -1; s <= 1; s++) {
    const BlockValues& change_there = change(ref_, place + s);
    for (int b = 0; b < kBlocks; b++) moves[b] = std::max(moves[b], change_there[b]);
  }
  const BlockValues& own = change(dist_, place);
  const float floor = noise_ + kLeastNoise;
  for (int i = 0; i < kShifts; i++) {
    if (!fit.there[i]) continue;
    float votes = 0, weighted = 0;
    for (int b = 0; b < kBlocks; b++) {
      const float vote = (fit.left[i][b] - best[b]) / (fit.left[i][b] + best[b] + floor);
      votes += vote;
      weighted += vote * std::min(1.25F * own[b] / (own[b] + 0.25F * moves[b] + 1), 1.F);
    }
    evidence->plain[i] = votes;
    evidence->votes[i] = 0.5F * (votes + weighted);
  }
}

/* Mean over blocks with detail. Detail that only one of both pictures has counts, but no more than the other's. */
float Neighbors::misfit(int64_t place, int i, const Fit& fit) const {
  float sum = 0, blocks = 0;
  for (int b = 0; b < kBlocks; b++) {
    const float detail = std::max(dist(place).energy[b], ref(place + i - kMostShift).energy[b]);
    if (detail < 4 * kLeastNoise) continue;
    sum += std::min(fit.left[i][b] / detail, 1.F);
    blocks++;
  }
  return blocks > 0 ? sum / blocks : 0;
}

void Neighbors::mix(int64_t place, const Fit& fit, FrameEvidence* evidence) const {
  for (int i = 0; i + 1 < kShifts; i++) {
    if (!fit.there[i] || !fit.there[i + 1]) continue;
    const Picture& next = ref(place + i + 1 - kMostShift);
    const float gain = fit.gain[i], here = fit.total[i];
    const float moved = changes(ref_, place + i + 1 - kMostShift) * gain * gain;
    const float along = gain * (sum_of(fit.product[i + 1]) - sum_of(fit.product[i])) -
                        gain * gain * (sum_of(next.previous) - sum_of(ref(place + i - kMostShift).energy));
    if (moved <= 0) continue;
    const float part = std::clamp(along / moved, 0.F, 1.F);
    const float mixed = std::max(here - 2 * part * along + part * part * moved, 0.F);
    /* In a fade each picture has a gain of its own, and the next one fits with that. */
    const float least = std::min({here, here - 2 * along + moved, fit.total[i + 1]});
    evidence->mix[i] = part;
    evidence->mix_gain[i] = std::max((least - mixed) / (least + mixed + kBlocks * (noise_ + kLeastNoise)), 0.F);
  }
}

/* What an encoder loses of a picture, it loses in the next one, too: the errors of both hardly differ, and what changes
 * between them follows the reference even where each of them fits many neighbors. An encode that lags behind the
 * reference for lack of bits changes late in parts, but never more like the frame before than like its own. */
void Neighbors::follow(int64_t place, const Fit& fit, FrameEvidence* evidence) {
  const BlockValues &own = change(dist_, place), &moves = change(ref_, place);
  for (int b = 0; b < kBlocks; b++) {
    evidence->moves[b] = std::max(moves[b], 0.F) * kBlocks * kToLevels;
    evidence->own_moves[b] = std::max(own[b], 0.F) * kBlocks * kToLevels;
  }
  if (has(place - 1)) {
    const float memory = std::min(static_cast<float>(++moved_), kNoiseMemory);
    const auto learn = [&](float energy, float* usual) {
      const float root = std::sqrt(std::max(energy, 0.F));
      *usual += ((moved_ > 1 ? std::min(root, 3 * *usual + 2 * kCellSteps) : root) - *usual) / memory;
    };
    for (int b = 0; b < kBlocks; b++) learn(own[b], &usual_dist_[b]), learn(moves[b], &usual_ref_[b]);
  }
  float most = 0;
  bool known[kShifts] = {};
  for (int i = 1; i + 1 < kShifts; i++) {
    const int64_t other = place + i - kMostShift;
    if (!has(place - 1) || !has(other) || !has(other - 1)) continue;
    known[i] = true;
    const BlockValues& there = change(ref_, other);
    float sum = 0, opposite = 0;
    for (int b = 0; b < kBlocks; b++) {
      const float both = fit.product[i][b] - fit.product[i - 1][b] - product_before_[i + 1][b] + product_before_[i][b];
      const float of_ref = there[b] + kPartOfUsual * usual_ref_[b] * usual_ref_[b] + kLeastChange;
      const float of_dist = own[b] + kPartOfUsual * usual_dist_[b] * usual_dist_[b] + kLeastChange;
      (both > 0 ? sum : opposite) += both * both / (of_ref * of_dist);
    }
    evidence->follows[i] = 0.5F * kFreeCells * sum;
    evidence->reverses[i] = 0.5F * kFreeCells * opposite;
    most = std::max(most, evidence->follows[i]);
  }
  for (int i = 0; i < kShifts; i++)
    if (!known[i]) evidence->follows[i] = most;
  evidence->follows[0] = evidence->follows[1];
  evidence->follows[kShifts - 1] = evidence->follows[kShifts - 2];
  std::copy(std::begin(fit.product), std::end(fit.product), std::begin(product_before_));
}

void Neighbors::compare(int64_t place, FrameEvidence* evidence) {
  Fit fit;
  fit_all(place, &fit);
  *evidence = {};
  evidence->frame = frames_[static_cast<size_t>(place % kKept)];
  vote(place, fit, evidence);
  mix(place, fit, evidence);
  follow(place, fit, evidence);
  float least = fit.total[kMostShift];
  for (int i = 0; i < kShifts; i++) {
    if (fit.there[i]) least = std::min(least, fit.total[i]);
    if (fit.there[i]) evidence->misfit[i] = misfit(place, i, fit);
    evidence->error[i] = fit.total[fit.there[i] ? i : kMostShift] * kToLevels;
    evidence->changes[i] = changes(ref_, place + i - kMostShift) * kToLevels;
  }
  evidence->change = changes(dist_, place) * kToLevels;
  const float memory = std::min(static_cast<float>(++learned_), kNoiseMemory);
  noise_ += (least / kBlocks - noise_) / memory;
  evidence->noise = noise_ * kBlocks * kToLevels;
  for (int i = 0; i < kShifts; i++) {
    if (fit.there[i]) continue;
    (i < kMostShift ? evidence->first : evidence->last) = i < kMostShift ? i + 1 : std::min(evidence->last, i - 1);
    evidence->plain[i] = evidence->plain[kMostShift];
    evidence->votes[i] = evidence->votes[kMostShift];
    evidence->misfit[i] = evidence->misfit[kMostShift];
  }
}

}  // namespace vmafx::look
