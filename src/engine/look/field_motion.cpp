#include "engine/look/field_motion.h"

#include <algorithm>
#include <cmath>

#include "engine/look/numbers.h"

namespace vmafx::look {

namespace {

/* Fields are apart by such a part of the motion per frame, at least so many times its error; and explain so much. */
constexpr double kLeastApart = 0.1, kLeastErrors = 5, kLeastExplained = 0.018;
/* Motion (levels squared) that is needed in the mean over cells, and frames. */
constexpr double kLeastMotion = 0.25;
constexpr int64_t kLeastFrames = 8;
/* All of so many frames count, then one in so many: they are enough. */
constexpr int64_t kAllOf = 72, kThen = 4;
/* A picture whose fields are of one moment: the most of the other one's. */
constexpr double kWhole = 0.35;
/* The field of another moment has more errors. */
constexpr double kMoreErrors = 1.25;

}  // namespace

void FieldMotion::add(const LumaMeans& before, const LumaMeans (&ref)[2], const LumaMeans (&dist)[2],
                      const LumaMeans& after) {
  const int64_t earlier = offered_++;
  if (earlier >= kAllOf && offered_ % kThen != 0) return;
  frames_++;
  for (int j = 1; j < kSignatureRows - 1; j++) {
    for (int i = 0; i < kSignatureColumns; i++) {
      const int k = j * kSignatureColumns + i;
      Part& part = parts_[j * kAcross / kSignatureRows * kAcross + i * kAcross / kSignatureColumns];
      const double motion = (static_cast<double>(after[k]) - before[k]) / 2;
      const double even = static_cast<double>(dist[0][k]) - ref[0][k],
                   odd = static_cast<double>(dist[1][k]) - ref[1][k];
      const double slope = static_cast<double>(before[k + kSignatureColumns]) - before[k - kSignatureColumns];
      const double own = static_cast<double>(ref[0][k]) - ref[1][k];
      part.motion += motion * motion;
      part.apart += (even - odd) * motion;
      part.square += (even - odd) * (even - odd);
      part.error[0] += even * even;
      part.error[1] += odd * odd;
      part.slope += slope * motion;
      part.slopes += slope * slope;
      part.own += own * motion;
      part.own_slope += own * slope;
    }
  }
}

std::optional<Finding> FieldMotion::find() const {
  Part all;
  for (const Part& part : parts_) {
    all.motion += part.motion;
    all.apart += part.apart;
    all.square += part.square;
    for (int p = 0; p < 2; p++) all.error[p] += part.error[p];
    all.slope += part.slope;
    all.slopes += part.slopes;
    all.own += part.own;
    all.own_slope += part.own_slope;
  }
  const auto cells = static_cast<double>(frames_) * (kSignatureRows - 2) * kSignatureColumns;
  if (frames_ < kLeastFrames || all.motion < kLeastMotion * cells) return std::nullopt;
  const double apart = all.apart / all.motion;
  double scatter = 0;
  for (const Part& part : parts_) scatter += std::pow(part.apart - apart * part.motion, 2);
  const double errors = std::abs(all.apart) / std::max(std::sqrt(scatter), 1e-9);
  if (std::abs(apart) < kLeastApart || errors < kLeastErrors || apart * all.apart < kLeastExplained * all.square)
    return std::nullopt;
  /* The reference's own fields, without what its slope explains: rows one apart show that, too. */
  const double slope = all.slopes > 0 ? all.slope / all.slopes : 0;
  const double left = all.motion - slope * all.slope;
  const double ref = left > 1e-9 ? (all.own - slope * all.own_slope) / left : 0, dist = ref + apart;
  Finding found{.kind = Kind::kFieldOrder, .certainty = Certainty::kLikely};
  found.evidence = {{"motion", rounded(dist)}, {"reference_motion", rounded(ref)}, {"errors", rounded(errors)}};
  const auto more = [&](int p) { return all.error[p] > kMoreErrors * all.error[1 - p]; };
  const bool both = std::min(std::abs(ref), std::abs(dist)) > kWhole * std::max(std::abs(ref), std::abs(dist));
  if (both && ref * dist < 0) return found;
  if (!more(0) && !more(1)) return std::nullopt;
  found.kind = std::abs(dist) > std::abs(ref) ? Kind::kCombed : Kind::kReferenceCombed;
  return found;
}

}  // namespace vmafx::look
