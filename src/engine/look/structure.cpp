#include "engine/look/structure.h"

#include <algorithm>
#include <cmath>

#include "engine/look/local.h"
#include "engine/look/numbers.h"
#include "engine/look/vectors.h"

namespace vmafx::look {

namespace {

/* A combed picture's coefficient is above the one, that of others below the second, when its error is so small. */
constexpr double kCombed = 0.22, kWhole = 0.11, kMostError = 0.06;
/* Motion (levels squared) that is needed in the mean over cells. */
constexpr double kLeastMotion = 0.5;
/* Frames that must tell, for a likely and for a sure finding. */
constexpr int64_t kLeastFrames = 4, kSureFrames = 8;
/* A filter that takes the combing leaves at most so many frames as they were, for each one that lost it: an encoder
 * that is short of bits blurs the fields of some. */
constexpr double kMostKept = 0.25;
/* The difference of rows that follow one another over that of rows two apart: above the one in combed pictures (noise
 * has 1), below the second in others. */
constexpr double kCombedRows = 1.02, kWholeRows = 0.9;

/* Steps of a profile from bin to bin, in levels: the most that one counts, and what is needed in the mean. */
constexpr float kMostStep = 2;
constexpr double kLeastStep = 0.2;

}  // namespace

Structure::Structure(const VideoFormat& format) : means_(format), fit_for_(CellMeans::fit_for(format)) {}

/* Fits the difference of rows by motion and by the vertical slope, which rows one apart show, too. */
Structure::Combing Structure::combing_of(const Side& side) const {
  constexpr int kFirst = kSignatureColumns, n = kCells - 2 * kSignatureColumns;  // all rows but the outermost ones
  const Fields cells{&side.before[kFirst], &side.after[kFirst], &side.field[0][kFirst], &side.field[1][kFirst]};
  const auto [mm, gg, mg, dm, dg, dd] = sum_fields(cells, kSignatureColumns, n);
  /* What motion has that the slope does not explain. */
  const double own = mm - mg * mg / std::max(gg, 1e-9);
  if (own < kLeastMotion * n) return kUnknown;
  const double coefficient = (dm - mg * dg / std::max(gg, 1e-9)) / own;
  const double left = dd - dg * dg / std::max(gg, 1e-9) - coefficient * coefficient * own;
  const double error = std::sqrt(std::max(left, 0.0) / (n / 4.0) / own);
  if (error > kMostError) return kUnknown;
  if (std::abs(coefficient) > kCombed) return coefficient > 0 ? kEvenLater : kOddLater;
  return std::abs(coefficient) < kWhole ? kNone : kUnknown;
}

/* Whether bins of a profile come in pairs that are about equal: 0 (no) to 1. Pictures that are larger than a profile
 * has bins do not tell. */
static double twins_in(const BandProfiles& bands, int size) {
  if (size > kProfileBins) return 0;
  double within = 0, between = 0;
  int pairs = 0;
  for (const Profile& profile : bands) {
    for (size_t k = 0; k + 2 < profile.size(); k += 2) {
      /* Single edges count little: those of bars are large. */
      within += std::min(std::abs(profile[k] - profile[k + 1]), kMostStep);
      between += std::min(std::abs(profile[k + 1] - profile[k + 2]), kMostStep);
      pairs++;
    }
  }
  if (between < kLeastStep * pairs) return 0;
  return between > 0 ? std::clamp(1 - within / between, 0.0, 1.0) : 0;
}

void Structure::add_twins(const SignatureSums& signatures, Sums& sums) const {
  BandProfiles profiles[kTwins];
  for (int band = 0; band < kProfileBands; band++) {
    means_.rows(signatures.ref, band, profiles[kRefRows][band]);
    means_.rows(signatures.dist, band, profiles[kDistRows][band]);
    means_.columns(signatures.dist, band, profiles[kDistColumns][band]);
  }
  sums.details++;
  const int sizes[kTwins] = {means_.format().h, means_.format().h, means_.format().w};
  for (int p = 0; p < kTwins; p++) sums.twins[p] += twins_in(profiles[p], sizes[p]);
}

void Structure::add(int64_t frame, const SignatureSums& signatures, const PairMeans& means) {
  if (!fit_for_) return;
  Sums& sums = chapters_.at(frame);
  if (has_detail(frame)) {
    const PictureSignature* const pictures[2] = {&signatures.ref, &signatures.dist};
    for (int p = 0; p < 2; p++) {
      sums.neighbors[p] += static_cast<double>(pictures[p]->row_difference[0]);
      sums.next_but_one[p] += static_cast<double>(pictures[p]->row_difference[1]);
    }
    add_twins(signatures, sums);
  }
  if (first_ < 0) first_ = frame;
  if (next_ && frame != last_ + 1) next_ = 0;
  last_ = frame;
  if (next_ == 0) {
    ref_.before = means.ref;
    dist_.before = means.dist;
  } else if (next_ == 1) {
    for (int parity = 0; parity < 2; parity++) {
      means_.field(signatures.ref, parity, ref_.field[parity]);
      means_.field(signatures.dist, parity, dist_.field[parity]);
    }
  } else {
    ref_.after = means.ref;
    dist_.after = means.dist;
    sums.seen[combing_of(ref_)][combing_of(dist_)]++;
    field_motion_.add(ref_.before, ref_.field, dist_.field, ref_.after);
  }
  next_ = (next_ + 1) % 3;
}

void Structure::Sums::add(const Sums& later) {
  for (int r = 0; r < 4; r++)
    for (int d = 0; d < 4; d++) seen[r][d] += later.seen[r][d];
  for (int p = 0; p < 2; p++) {
    neighbors[p] += later.neighbors[p];
    next_but_one[p] += later.next_but_one[p];
  }
  for (int p = 0; p < kTwins; p++) twins[p] += later.twins[p];
  details += later.details;
}

/* Frames by what both pictures show, as far as it is known of both. */
struct Structure::Table {
  int64_t known = 0;
  int64_t gained = 0, lost = 0, turned = 0;  // the encode alone is combed, the reference alone, both in other orders
  int64_t kept = 0;                          // both are combed in the order that most of the reference's frames have
  double ref_share = 0, dist_share = 0;      // of frames with the sign that most of a side's frames have
};

Structure::Table Structure::table_of(const Sums& sums) {
  Table t;
  int64_t ref[3] = {}, dist[3] = {};
  for (int r = 0; r < 3; r++) {
    for (int d = 0; d < 3; d++) {
      t.known += sums.seen[r][d];
      ref[r] += sums.seen[r][d];
      dist[d] += sums.seen[r][d];
    }
  }
  if (!t.known) return t;
  const Combing ref_sign = ref[kOddLater] > ref[kEvenLater] ? kOddLater : kEvenLater;
  const Combing dist_sign = dist[kOddLater] > dist[kEvenLater] ? kOddLater : kEvenLater;
  const auto other = [](Combing sign) { return sign == kOddLater ? kEvenLater : kOddLater; };
  t.gained = sums.seen[kNone][dist_sign] + sums.seen[other(dist_sign)][dist_sign];
  t.lost = sums.seen[ref_sign][kNone];
  t.kept = sums.seen[ref_sign][ref_sign];
  t.turned = sums.seen[ref_sign][other(ref_sign)];
  t.ref_share = static_cast<double>(ref[ref_sign]) / static_cast<double>(t.known);
  t.dist_share = static_cast<double>(dist[dist_sign]) /
                 static_cast<double>(std::max<int64_t>(dist[kOddLater] + dist[kEvenLater], 1));
  return t;
}

/* Whether most frames tell and few of both pictures differ. */
bool Structure::denies(size_t chapter) const {
  const Table t = table_of(chapters_[chapter]);
  return t.known >= kLeastFrames && 10 * (t.gained + t.lost + t.turned) <= t.known;
}

std::vector<Finding> Structure::finish() {
  if (!fit_for_ || first_ < 0) return {};
  std::vector<Finding> findings = judge(chapters_.sum(), {first_, last_ + 1}, &field_motion_);
  static constexpr Kind kKinds[] = {Kind::kCombed, Kind::kReferenceCombed, Kind::kFieldOrder};
  const auto in_part = [&](size_t first, size_t end) {
    const Pairs pairs{chapters_.pairs()[first].from, chapters_.pairs()[end - 1].end};
    return judge(chapters_.sum(first, end), pairs, nullptr);
  };
  const Divided divided{chapters_.pairs(), [&](size_t chapter, Kind) { return denies(chapter); }, in_part};
  find_locally(divided, kKinds, &findings);
  std::ranges::stable_sort(findings, {}, &Finding::kind);
  return findings;
}

/* `field_motion` is of these pairs, or null. */
std::vector<Finding> Structure::judge(const Sums& sums, const Pairs& pairs, const FieldMotion* field_motion) const {
  std::vector<Finding> findings;
  const Table t = table_of(sums);
  const double ref = sums.next_but_one[0] > 0 ? sums.neighbors[0] / sums.next_but_one[0] : 0;
  const double dist = sums.next_but_one[1] > 0 ? sums.neighbors[1] / sums.next_but_one[1] : 0;
  const auto known = static_cast<double>(t.known);
  const auto add = [&](Kind kind, Certainty certainty, int64_t frames) {
    findings.push_back({.kind = kind, .certainty = certainty, .from = pairs.from, .end = pairs.end, .evidence = {}});
    findings.back().evidence = {{"share", rounded(t.known ? static_cast<double>(frames) / known : 0)},
                                {"rows", rounded(dist)},
                                {"reference_rows", rounded(ref)}};
  };
  const auto enough = [&](int64_t frames, double share) {
    return frames >= kLeastFrames && static_cast<double>(frames) >= share * known;
  };
  const bool whole = ref > kCombedRows && dist < kWholeRows;
  if (enough(t.turned, 0.7) && t.ref_share > 0.8 && !(whole && dist < 0.7 * ref)) {
    const bool sure = t.turned >= kSureFrames && t.ref_share > 0.9 && dist > 0.7 * ref;
    add(Kind::kFieldOrder,
        sure               ? Certainty::kSure
        : dist > 0.6 * ref ? Certainty::kLikely
                           : Certainty::kPossible,
        t.turned);
  } else if (enough(t.gained, 0.25) && t.lost <= 0.1 * known && t.dist_share > 0.8 && dist > 0.95 * ref) {
    const bool sure = t.gained >= kSureFrames && dist > kCombedRows && ref < kWholeRows && t.dist_share > 0.9;
    add(Kind::kCombed, sure ? Certainty::kSure : Certainty::kLikely, t.gained);
  } else if (enough(t.lost + (whole ? t.turned : 0), 0.3) && t.gained <= 0.1 * known && t.ref_share > 0.8 &&
             static_cast<double>(t.kept) <= kMostKept * static_cast<double>(t.lost)) {
    /* Encoders that leave little detail blur fields, too. */
    const bool detailed = sums.next_but_one[1] > 0.8 * sums.next_but_one[0];
    const bool likely = whole && detailed && dist < 0.66;
    const bool sure = likely && t.lost >= kSureFrames && t.ref_share > 0.9;
    const Certainty certainty = sure ? Certainty::kSure : likely ? Certainty::kLikely : Certainty::kPossible;
    add(Kind::kReferenceCombed, certainty, t.lost);
  }
  if (findings.empty() && field_motion) {
    if (const auto found = field_motion->find()) {
      findings.push_back(*found);
      findings[0].from = pairs.from;
      findings[0].end = pairs.end;
    }
  }
  /* Rows that come twice are a field of one parity; where columns do so, too, a scaler repeats samples. */
  const bool detail = sums.details > 0 && sums.next_but_one[1] > 0.4 * sums.next_but_one[0];
  const auto twins = [&](Twins of) { return sums.twins[of] / static_cast<double>(std::max<int64_t>(sums.details, 1)); };
  if (detail && twins(kDistRows) > 0.6 && twins(kDistColumns) < 0.3 && twins(kRefRows) < 0.3) {
    add(Kind::kFieldsDropped, Certainty::kLikely, 0);
  } else if (!findings.empty() && findings[0].kind == Kind::kReferenceCombed && dist < 0.55) {
    add(Kind::kFieldsDropped, Certainty::kPossible, t.lost);
  }
  return findings;
}

}  // namespace vmafx::look
