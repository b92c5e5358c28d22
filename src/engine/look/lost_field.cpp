#include "engine/look/lost_field.h"

#include <cmath>

#include "engine/look/numbers.h"

namespace vmafx::look {

namespace {

/* Half a row, and how near to it, beside chroma that is known and without it. */
constexpr double kHalf = 0.5, kNear = 0.2, kNearAlone = 0.15, kStill = 0.15, kLeastErrors = 3.5;
/* Rows of luma that scroll have no place, those of chroma have: half a row of their own, known so exactly. */
constexpr double kNearOfChroma = 0.15;
/* How much further chroma lies, as half a row of it is more than one of luma; chroma that is known so exactly to lie
 * where luma does says that the picture was moved. */
constexpr double kLeastChroma = 0.15, kMostChroma = 0.6, kExactChroma = 0.04;
/* Detail of rows over that of columns, at the distance 1; and how much less of it than at the distance 2. The less
 * detail an encoder leaves, the more it takes of rows by itself: the limit is a line. Without chroma as a witness more
 * is needed, as pictures that are moved by half a row lose detail, too. */
struct Limits {
  double of_rows, steep;
};
constexpr Limits kWithChroma{0.97, 0.8}, kAlone{0.75, 0.66};
constexpr double kByDetail = 0.3;
/* Detail of columns that is needed. */
constexpr double kLeastDetail = 0.3;

}  // namespace

void LostField::add(int64_t frame, const SignatureSums& sums) {
  if (first_ < 0) first_ = frame;
  last_ = frame;
  if (!has_detail(frame)) return;
  const auto add = [](const PictureSignature& picture, double(&to)[kDirections][2]) {
    for (int k = 0; k < 2; k++) {
      to[kRows][k] += static_cast<double>(picture.row_difference[k]);
      to[kColumns][k] += static_cast<double>(picture.column_difference[k]);
    }
  };
  add(sums.ref, ref_);
  add(sums.dist, dist_);
}

std::optional<Finding> LostField::find(const SmallShift& right, const SmallShift& down,
                                       const SmallShift& chroma_down) const {
  double kept[kDirections][2];
  for (int direction = 0; direction < kDirections; direction++) {
    for (int k = 0; k < 2; k++) {
      if (ref_[direction][k] <= 0 || dist_[direction][k] <= 0) return std::nullopt;
      kept[direction][k] = dist_[direction][k] / ref_[direction][k];
    }
  }
  const auto known = [](const SmallShift& shift) { return std::abs(shift.samples) > kLeastErrors * shift.error; };
  const auto is_half = [&](const SmallShift& shift, double near) {
    return known(shift) && std::abs(std::abs(shift.samples) - kHalf) < near;
  };
  const bool by_chroma = is_half(chroma_down, kNearOfChroma) && std::abs(down.samples) < kStill;
  const double further = chroma_down.samples * (down.samples > 0 ? 1 : -1);
  const bool exact = chroma_down.error > 0 && chroma_down.error < kExactChroma;
  const bool together = !by_chroma && exact && further < kLeastChroma;
  const bool beside = !by_chroma && known(chroma_down) && further > kLeastChroma && further < kMostChroma;
  const bool half = (by_chroma || is_half(down, beside ? kNear : kNearAlone)) && std::abs(right.samples) < kStill;
  const Limits& limits = beside ? kWithChroma : kAlone;
  const double of_rows = kept[kRows][0] / kept[kColumns][0];
  const double steep = of_rows / (kept[kRows][1] / kept[kColumns][1]), detail = kept[kColumns][0];
  if (!half || together || detail < kLeastDetail || of_rows > limits.of_rows ||
      steep > limits.steep + kByDetail * detail)
    return std::nullopt;
  Finding found{.kind = Kind::kFieldsDropped, .certainty = Certainty::kLikely, .from = first_, .end = last_ + 1};
  found.evidence = {{"rows_kept", rounded(of_rows)}, {"steepness", rounded(steep)}, {"y", rounded(down.samples)}};
  return found;
}

}  // namespace vmafx::look
