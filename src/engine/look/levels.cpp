#include "engine/look/levels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "engine/look/color_fit.h"
#include "engine/look/color_mistakes.h"
#include "engine/look/local.h"
#include "engine/look/numbers.h"
#include "engine/look/vectors.h"

namespace vmafx::look {

namespace {

/* One in so many frames has its luma counted. */
constexpr int kLumaPeriod = 4;
/* Frames whose chroma is kept. */
constexpr size_t kMostFrames = 32;
/* Frames whose chroma is kept of a chapter. */
constexpr size_t kMostOfChapter = 8;
/* A level counts that so many cells have, and such a share of all. */
constexpr uint32_t kLeastCells = 24, kLeastAreas = 6;
constexpr double kLeastShare = 1e-3;

using What = ColorMistake::What;

/* --- Luma: a curve --- */

/* The encode's level at a level of the reference: the median of its cells, and how far half of them lie from it. */
struct Point {
  double ref, dist, weight, spread;
};

/* The level that a share of a row's cells stay below. */
double quantile(const uint32_t* row, double share, double total) {
  double below = 0;
  for (int k = 0; k < Levels::kLevels; k++) {
    if (below + row[k] >= share * total) return k - 0.5 + (share * total - below) / std::max<double>(row[k], 1);
    below += row[k];
  }
  return Levels::kLevels - 1;
}

struct Curve {
  std::vector<Point> points{};
  double low = 0, high = 0;                // levels of the reference, 3 % of the cells below and above
  double deviation = 0;                    // of the reference's levels
  double scatter = 0;                      // of the encode's cells about the curve
  double dist_deviation = 0;               // of the curve
  bool tells() const { return tells(6); }  // false: levels that span too little for a gain
  bool tells(double least_deviation) const {
    return points.size() >= 8 && deviation > least_deviation && scatter < 0.35 * std::max(dist_deviation, 1.0);
  }
};

Curve curve_of(const std::vector<uint32_t>& histogram, uint32_t least) {
  Curve curve;
  double totals[Levels::kLevels], all = 0;
  for (int r = 0; r < Levels::kLevels; r++) {
    totals[r] = 0;
    for (int d = 0; d < Levels::kLevels; d++) totals[r] += histogram[r * Levels::kLevels + d];
    all += totals[r];
  }
  double w = 0, x = 0, xx = 0, y = 0, yy = 0, spread = 0, below = 0;
  for (int r = 0; r < Levels::kLevels; r++) {
    below += totals[r];
    if (below < 0.03 * all) curve.low = r + 1;
    if (below < 0.97 * all) curve.high = r + 1;
    if (totals[r] < least || totals[r] < kLeastShare * all) continue;
    const uint32_t* const row = &histogram[r * Levels::kLevels];
    const Point p{static_cast<double>(r), quantile(row, 0.5, totals[r]), std::sqrt(totals[r]),
                  (quantile(row, 0.75, totals[r]) - quantile(row, 0.25, totals[r])) / 2};
    curve.points.push_back(p);
    w += totals[r];
    x += totals[r] * r;
    xx += totals[r] * r * r;
    y += totals[r] * p.dist;
    yy += totals[r] * p.dist * p.dist;
    spread += totals[r] * p.spread;
  }
  if (w <= 0) return curve;
  curve.deviation = std::sqrt(std::max(xx / w - x / w * (x / w), 0.0));
  curve.dist_deviation = std::sqrt(std::max(yy / w - y / w * (y / w), 0.0));
  curve.scatter = spread / w;
  return curve;
}

/* How well a function of a level predicts the curve: the root mean square over its points, outliers limited. Clipped
 * points, whose level is at an end of the scale, do not count. */
bool clipped(const Point& p) { return p.dist < 1.5 || p.dist > 253.5; }

template <class Function>
double misfit(const Curve& curve, Function predict) {
  double sum = 0, weights = 0;
  for (const Point& p : curve.points) {
    if (clipped(p)) continue;
    const double e = std::min(std::abs(p.dist - predict(p.ref)), 12.0);
    sum += p.weight * e * e;
    weights += p.weight;
  }
  return weights > 0 ? std::sqrt(sum / weights) : std::numeric_limits<double>::infinity();
}

struct Line {
  double gain = 1, level = 0;
  double operator()(double x) const { return gain * x + level; }
};

/* A line through values of x and y, with weights that outliers lose. */
template <class Values>
Line robust_line(const Values& values) {
  Line line;
  double limit = 1e9;
  for (int pass = 0; pass < 8; pass++) {
    double w = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    std::vector<double> residuals;
    for (const auto& [x, y, weight] : values) {
      const double r = (y - line(x)) / limit, part = weight / (1 + r * r);
      w += part;
      sx += part * x;
      sy += part * y;
      sxx += part * x * x;
      sxy += part * x * y;
    }
    const double spread = sxx - sx * sx / w;
    if (!(spread > 1e-9 * sxx)) return {};
    line.gain = (sxy - sx * sy / w) / spread;
    line.level = (sy - line.gain * sx) / w;
    for (const auto& [x, y, weight] : values) residuals.push_back(std::abs(y - line(x)));
    limit = 2 * median_of(residuals) + 0.25;
  }
  return line;
}

struct Weighted {
  double x, y, weight;
};

Line line_of(const Curve& curve) {
  std::vector<Weighted> values;
  for (const Point& p : curve.points) {
    if (!clipped(p)) values.push_back({p.ref, p.dist, p.weight});
  }
  return values.size() < 8 ? Line{} : robust_line(values);
}

/* The function with the least misfit among those that numbers from `low` to `high` make. */
template <class Make>
double best_number(const Curve& curve, double low, double high, Make make) {
  double best = low, least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 3; round++) {
    const double step = (high - low) / 24;
    for (int k = 0; k <= 24; k++) {
      const double error = misfit(curve, make(low + k * step));
      if (error < least) {
        least = error;
        best = low + k * step;
      }
    }
    low = best - step;
    high = best + step;
  }
  return best;
}

/* --- Chroma: predictions --- */

struct Chroma {
  std::vector<Levels::CellPair> cells{};
  double deviation_ref[3] = {0, 0, 0}, deviation_dist[3] = {0, 0, 0};
};

Chroma chroma_of(const std::vector<Levels::Frame>& frames) {
  Chroma chroma;
  for (const Levels::Frame& frame : frames)
    chroma.cells.insert(chroma.cells.end(), frame.cells.begin(), frame.cells.end());
  /* Robust deviations: half the distance between the levels that 10 % lie below and above. */
  const auto deviation = [&](auto value) {
    std::vector<double> values;
    for (const Levels::CellPair& cell : chroma.cells) values.push_back(value(cell));
    const size_t n = values.size();
    if (!n) return 0.0;
    const auto upper = values.begin() + static_cast<ptrdiff_t>(n - 1 - n / 10);
    const auto lower = values.begin() + static_cast<ptrdiff_t>(n / 10);
    std::nth_element(values.begin(), upper, values.end());
    const double most = *upper;
    if (lower < upper) std::nth_element(values.begin(), lower, upper);
    return (most - *lower) / 2;
  };
  for (int p = 0; p < 3; p++) {
    chroma.deviation_ref[p] = deviation([p](const Levels::CellPair& c) { return c.ref[p]; });
    chroma.deviation_dist[p] = deviation([p](const Levels::CellPair& c) { return c.dist[p]; });
  }
  return chroma;
}

/* The tenth of the squares that are largest does not count. */
double trimmed(std::vector<double>& squares) {
  const size_t n = squares.size() - squares.size() / 10;
  if (!n) return 0;
  std::nth_element(squares.begin(), squares.begin() + static_cast<ptrdiff_t>(n - 1), squares.end());
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += squares[i];
  return std::sqrt(sum / static_cast<double>(n));
}

/* How a mistake predicts: the root mean square of what it leaves of all three planes, and how far it moves chroma. */
struct Prediction {
  double left = 0, moves = 0;
};

/* Encoders and converters move all of a plane of chroma by up to so much, and change its gain by up to so much. What
 * becomes of luma is another finding. */
constexpr double kBias = 0.75, kGainBias = 0.08;

Prediction predict(const Chroma& chroma, const ColorMistake& mistake) {
  const size_t n = chroma.cells.size();
  std::vector<Weighted> values[3];
  std::vector<double> squares(n), moves(n);
  for (size_t i = 0; i < n; i++) {
    const Levels::CellPair& cell = chroma.cells[i];
    const Samples3 at = mistake.apply({cell.ref[0], cell.ref[1], cell.ref[2]});
    for (int p = 0; p < 3; p++) values[p].push_back({at[p], cell.dist[p], 1});
    moves[i] = std::pow(cell.ref[1] - at[1], 2) + std::pow(cell.ref[2] - at[2], 2);
  }
  for (int p = 0; p < 3; p++) {
    const double any = robust_line(values[p]).gain, gain = p ? std::clamp(any, 1 - kGainBias, 1 + kGainBias) : any;
    const double middle = p ? 128 : 0;
    std::vector<double> residuals;
    for (const Weighted& v : values[p]) residuals.push_back(v.y - middle - gain * (v.x - middle));
    std::vector<double> copy = residuals;
    const double bias = p ? std::clamp(median_of(copy), -kBias, kBias) : median_of(copy);
    for (size_t i = 0; i < n; i++) squares[i] += std::pow(residuals[i] - bias, 2);
  }
  return {trimmed(squares), trimmed(moves)};
}

/* The rest that the best linear map of chroma leaves, where either plane may come of both: an encoder's errors. */
double left_by_any_map(const Chroma& chroma) {
  double left = 0;
  for (int plane = 1; plane < 3; plane++) {
    /* Least squares of [u, v, 1], twice, without the worst tenth in the second pass. */
    std::vector<double> squares(chroma.cells.size(), 0.0);
    double limit = 1e12, a = 0, b = 0, c = 0;
    for (int pass = 0; pass < 4; pass++) {
      double n = 0, u = 0, v = 0, uu = 0, uv = 0, vv = 0, y = 0, uy = 0, vy = 0;
      for (size_t i = 0; i < chroma.cells.size(); i++) {
        if (squares[i] > limit) continue;
        const Levels::CellPair& cell = chroma.cells[i];
        const double x1 = cell.ref[1], x2 = cell.ref[2], d = cell.dist[plane];
        n++;
        u += x1;
        v += x2;
        uu += x1 * x1;
        uv += x1 * x2;
        vv += x2 * x2;
        y += d;
        uy += x1 * d;
        vy += x2 * d;
      }
      const double suu = uu - u * u / n + 0.01 * n, suv = uv - u * v / n, svv = vv - v * v / n + 0.01 * n;
      const double suy = uy - u * y / n, svy = vy - v * y / n, det = suu * svv - suv * suv;
      a = (svv * suy - suv * svy) / det;
      b = (suu * svy - suv * suy) / det;
      c = (y - a * u - b * v) / n;
      std::vector<double> sorted;
      for (size_t i = 0; i < chroma.cells.size(); i++) {
        const Levels::CellPair& cell = chroma.cells[i];
        const double r = cell.dist[plane] - a * cell.ref[1] - b * cell.ref[2] - c;
        squares[i] = r * r;
      }
      sorted = squares;
      const auto at = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() - 1 - sorted.size() / 10);
      std::nth_element(sorted.begin(), at, sorted.end());
      limit = *at;
    }
    const double e = trimmed(squares);
    left += e * e;
  }
  return std::sqrt(left);
}

/* Luma alone: brightness, gain, gamma, transfer. Ranges need chroma, too. */
constexpr double kBlack = 16;

struct LumaChange {
  Line line{};
  double deviates = 0;                 // from no change: root mean square over the curve
  double misfit = 0;                   // of the line
  double gamma = 1, gamma_misfit = 0;  // sample/255 to this power
  int from = 0, to = 0;                // transfers, if one fits
  double transfer_misfit = 0;
};

double with_gamma(double level, double gamma) { return 255 * std::pow(std::max(level, 0.0) / 255, gamma); }

/* Samples of one curve as those of another, with light times `scale`. */
struct Converted {
  int from, to;
  double scale, black, range;
  double operator()(double level) const {
    return black + range * sample_of(to, scale * light_of(from, (level - black) / range));
  }
};

/* HLG as converters make it and read it, without a number that is free: white of BT.709 and 203 cd/m2 of PQ are 203 of
 * the 1000 cd/m2 that HLG's brightest sample has, on a display that bends light by 1.2. */
struct Hlg {
  int other;  // 1 or 16, code points of H.273
  bool to_hlg;
  double black, range;

  static constexpr double kBend = 1.2;
  int curve() const { return other == 1 ? kDisplay : other; }
  double brightest() const { return other == 1 ? 0.203 : 10; }  // of the other curve, over that of HLG
  double operator()(double level) const {
    const double sample = (level - black) / range;
    if (to_hlg) {
      const double light = std::clamp(brightest() * light_of(curve(), sample), 0.0, 1.0);
      return black + range * sample_of(18, std::pow(light, 1 / kBend));
    }
    return black + range * sample_of(curve(), std::pow(light_of(18, sample), kBend) / brightest());
  }
};

/* A curve of HLG that is seen leaves so little, and such a part of what a line or a power leaves; and levels that
 * changed so much. */
constexpr double kHlgMisfit = 1.3, kHlgPart = 0.6, kHlgChange = 2.5;

bool find_hlg(const Curve& curve, const Color& color, double changed, double plain, std::vector<Finding>& findings) {
  if (changed < kHlgChange) return false;
  const bool full = color.range == Color::Range::kFull;
  Finding found{.kind = Kind::kTransfer, .certainty = Certainty::kLikely};
  double least = std::min(kHlgMisfit, kHlgPart * plain);
  bool is_found = false;
  for (const int other : {1, 16}) {
    for (const bool to_hlg : {true, false}) {
      const double left = misfit(curve, Hlg{other, to_hlg, full ? 0.0 : 16.0, full ? 255.0 : 219.0});
      if (left >= least) continue;
      least = left;
      is_found = true;
      found.evidence = {{"from", to_hlg ? other : 18},
                        {"to", to_hlg ? 18 : other},
                        {"misfit", rounded(left)},
                        {"line_misfit", rounded(plain)}};
    }
  }
  if (is_found) findings.push_back(found);
  return is_found;
}

LumaChange change_of(const Curve& curve, const Color& color) {
  LumaChange change{.line = line_of(curve)};
  change.deviates = misfit(curve, Line{});
  change.misfit = misfit(curve, change.line);
  const auto gamma = [](double g) { return [g](double x) { return with_gamma(x, g); }; };
  change.gamma = best_number(curve, 0.3, 2.7, gamma);
  change.gamma_misfit = misfit(curve, gamma(change.gamma));
  change.transfer_misfit = std::numeric_limits<double>::infinity();
  const bool full = color.range == Color::Range::kFull;
  constexpr int kTransfers[] = {1, kDisplay, 16, 18};
  for (int from : kTransfers) {
    for (int to : kTransfers) {
      if (from == to || (from < 16 && to < 16)) continue;
      const auto make = [&](double log_scale) {
        return Converted{from, to, std::exp(log_scale), full ? 0.0 : 16.0, full ? 255.0 : 219.0};
      };
      const double error = misfit(curve, make(best_number(curve, -6.0, 6.0, make)));
      if (error >= change.transfer_misfit) continue;
      change.transfer_misfit = error;
      change.from = std::abs(from);
      change.to = std::abs(to);
    }
  }
  return change;
}

/* The line of a range that is mistaken, in luma and in chroma. */
struct MistakenRange {
  Line luma;
  double chroma;
};
constexpr MistakenRange kNarrower{{219.0 / 255, 16}, 224.0 / 255};
constexpr MistakenRange kWider{{255.0 / 219, -16 * 255.0 / 219}, 255.0 / 224};

/* Encoders that are short of bits lose contrast, as a mean of what a picture may have had has less: the encode's levels
 * change less than the reference's, but where the encode has other levels, the reference has them, too. A range that is
 * mistaken holds both ways: the reference's levels at those of the encode follow the inverse gain by such a part of its
 * way from 1, by 0.96 and more in pairs of which a range was sure. */
constexpr double kBothWays = 0.35, kSureBothWays = 0.8;

double part_backward(const MistakenRange& range, const std::vector<uint32_t>& histogram, uint32_t least) {
  std::vector<uint32_t> backward(histogram.size());
  for (int r = 0; r < Levels::kLevels; r++)
    for (int d = 0; d < Levels::kLevels; d++) backward[d * Levels::kLevels + r] = histogram[r * Levels::kLevels + d];
  const double inverse = 1 / range.luma.gain, gain = line_of(curve_of(backward, least)).gain;
  return (gain - 1) / (inverse - 1);
}

/* The line of areas lies so near that of a range, at both ends of their levels and in its gain; what it leaves; and
 * what the range leaves of no change's misfit. */
constexpr double kLeastOfAreas = 3, kAreaError = 3, kAreaGain = 0.045, kAreaMisfit = 2, kAreaPart = 0.4;

/* The gain of chroma, of the plane that has more of it; 0 without evidence. */
double chroma_gain(const Chroma& chroma) {
  const int plane = chroma.deviation_ref[1] > chroma.deviation_ref[2] ? 1 : 2;
  if (chroma.deviation_ref[plane] < 2) return 0;
  std::vector<Weighted> values;
  for (const Levels::CellPair& cell : chroma.cells) values.push_back({cell.ref[plane], cell.dist[plane], 1});
  return robust_line(values).gain;
}

/* Encoders that are short of bits bring the levels of single cells nearer to their neighbors', which makes the curve
 * flatter. Means of large areas keep their places. A range that is mistaken is nearer to them, and to chroma, than no
 * change is. */
bool find_range_of_areas(const std::vector<uint32_t>& histogram, double chroma_gain, std::vector<Finding>& findings) {
  const Curve areas = curve_of(histogram, kLeastAreas);
  if (!areas.tells(kLeastOfAreas)) return false;
  const Line line = line_of(areas);
  const double left = misfit(areas, line);
  for (const MistakenRange& range : {kNarrower, kWider}) {
    const auto away = [&](double level) { return std::abs(line(level) - range.luma(level)); };
    const bool luma = std::max(away(areas.low), away(areas.high)) < kAreaError && left < kAreaMisfit &&
                      std::abs(line.gain - range.luma.gain) < kAreaGain;
    const bool chroma = chroma_gain <= 0 || std::abs(chroma_gain - range.chroma) < std::abs(chroma_gain - 1) + 0.03;
    if (!luma || !chroma || misfit(areas, range.luma) > kAreaPart * misfit(areas, Line{})) continue;
    if (part_backward(range, histogram, kLeastAreas) <= kBothWays) continue;
    findings.push_back({.kind = Kind::kRange, .certainty = Certainty::kLikely});
    findings.back().evidence = {
        {"gain", rounded(line.gain)}, {"offset", rounded(line.level)}, {"chroma_gain", rounded(chroma_gain)}};
    return true;
  }
  return false;
}

/* Levels that span little tell a gain badly: a mistaken range is not excluded whose line lies so near to theirs at both
 * ends of them. */
constexpr double kRangeError = 3;

/* So many levels have changed by so much, all nearly alike, in cells that scatter less: parts of the change. */
constexpr size_t kLeastPoints = 5;
constexpr double kLeastOffset = 2.5, kUnlike = 0.4, kScattered = 0.5;

/* Dark pictures whose levels span too little for a gain may still all be brighter. */
void find_offset(const Curve& curve, std::vector<Finding>& findings) {
  if (curve.points.size() < kLeastPoints) return;
  std::vector<double> changes;
  for (const Point& p : curve.points)
    if (!clipped(p)) changes.push_back(p.dist - p.ref);
  if (changes.size() < kLeastPoints) return;
  const double offset = median_of(changes), size = std::abs(offset);
  if (size < kLeastOffset || curve.scatter > kScattered * size) return;
  if (misfit(curve, [&](double level) { return level + offset; }) > kUnlike * size) return;
  findings.push_back({.kind = Kind::kBrightness, .certainty = Certainty::kLikely});
  findings.back().evidence = {{"gain", 1}, {"offset", rounded(offset)}};
  if (const double error = std::min(misfit(curve, kNarrower.luma), misfit(curve, kWider.luma)); error < kRangeError)
    findings.back().evidence.emplace_back("range_error", rounded(error));
}

void find_luma(const std::vector<uint32_t>& histogram, const Chroma& chroma, const Color& color,
               std::vector<Finding>& findings) {
  const Curve curve = curve_of(histogram, kLeastCells);
  if (!curve.tells()) return find_offset(curve, findings);
  const Line line = line_of(curve);
  const auto away = [&](const Line& other) {
    return std::max(std::abs(line(curve.low) - other(curve.low)), std::abs(line(curve.high) - other(curve.high)));
  };
  if (away({}) < 2.5 && misfit(curve, Line{}) < 2) return;
  const LumaChange change = change_of(curve, color);
  const double gain = chroma_gain(chroma);
  for (const MistakenRange& range : {kNarrower, kWider}) {
    const bool luma = away(range.luma) < 1.6 && std::abs(line.gain - range.luma.gain) < 0.025 && change.misfit < 1;
    const bool both = gain > 0 && std::abs(gain - range.chroma) < 0.04;
    const bool near =
        both && away(range.luma) < 3 && std::abs(line.gain - range.luma.gain) < 0.03 && change.misfit < 1.5;
    if (!near && (!luma || (gain > 0 && std::abs(gain - range.chroma) > 0.05))) continue;
    const double backward = part_backward(range, histogram, kLeastCells);
    if (backward <= kBothWays) continue;
    const bool sure = luma && both && curve.deviation > 10 && backward > kSureBothWays;
    findings.push_back({.kind = Kind::kRange, .certainty = sure ? Certainty::kSure : Certainty::kLikely});
    findings.back().evidence = {
        {"gain", rounded(line.gain)}, {"offset", rounded(line.level)}, {"chroma_gain", rounded(gain)}};
    return;
  }
  const double plain = std::min(change.misfit, change.gamma_misfit);
  if (find_hlg(curve, color, change.deviates, plain, findings)) return;
  if (change.transfer_misfit < 0.5 * plain && change.transfer_misfit < 1.5 && plain > 1.2) {
    findings.push_back(
        {.kind = Kind::kTransfer,
         .certainty = change.transfer_misfit < 0.25 * plain && plain > 3 ? Certainty::kSure : Certainty::kLikely});
    findings.back().evidence = {{"from", change.from},
                                {"to", change.to},
                                {"misfit", rounded(change.transfer_misfit)},
                                {"line_misfit", rounded(change.misfit)}};
    return;
  }
  if (plain > 4 && curve.scatter < 0.25 * plain) {
    findings.push_back({.kind = Kind::kTransfer, .certainty = Certainty::kPossible});
    findings.back().evidence = {{"line_misfit", rounded(change.misfit)}};
    return;
  }
  const bool sure = change.deviates > 6 && plain < 0.3 * change.deviates && plain < 1.2 && curve.scatter < 2.5;
  const bool likely = change.deviates > 2.5 && plain < 0.5 * change.deviates && curve.scatter < 0.5 * change.deviates;
  if (!sure && !likely) return;
  /* Light up to the white of BT.709 is a line in HLG, for all planes: 1 becomes 0.66. */
  for (const auto& [from, to, scale] : {std::tuple{1, 18, 0.66}, std::tuple{18, 1, 1 / 0.66}}) {
    const double within = 0.06 * scale;
    const bool alike = std::abs(line.gain - scale) < within && std::abs(gain - scale) < 1.5 * within;
    if (!alike || std::abs(line(kBlack) - kBlack) > 2) continue;
    findings.push_back({.kind = Kind::kTransfer, .certainty = Certainty::kLikely});
    findings.back().evidence = {
        {"from", from}, {"to", to}, {"gain", rounded(line.gain)}, {"chroma_gain", rounded(gain)}};
    return;
  }
  findings.push_back({.kind = Kind::kBrightness, .certainty = sure ? Certainty::kSure : Certainty::kLikely});
  findings.back().evidence = {{"gain", rounded(line.gain)}, {"offset", rounded(line.level)}};
  if (change.gamma_misfit < 0.5 * change.misfit)
    findings.back().evidence.emplace_back("gamma", rounded(1 / change.gamma));
  if (const double error = std::min(away(kNarrower.luma), away(kWider.luma)); error < kRangeError)
    findings.back().evidence.emplace_back("range_error", rounded(error));
}

/* --- What is clearly not so --- */

/* Levels are as they are in the reference, and would clearly be others. */
constexpr double kClearlyAway = 4;

bool keeps_levels(const std::vector<uint32_t>& histogram, Kind kind) {
  const Curve curve = curve_of(histogram, kLeastCells);
  if (!curve.tells()) return false;
  const Line line = line_of(curve);
  const auto away = [&](const Line& other) {
    return std::max(std::abs(line(curve.low) - other(curve.low)), std::abs(line(curve.high) - other(curve.high)));
  };
  if (away({}) >= 2.5 || misfit(curve, Line{}) >= 2) return false;
  return kind != Kind::kRange || std::min(away(kNarrower.luma), away(kWider.luma)) > kClearlyAway;
}

/* Chroma deviates by this part of what the reference's does. */
constexpr double kDeviates = 0.5, kLeastDeviation = 4;

bool keeps_chroma(const Chroma& chroma) {
  bool tells = false;
  for (int p = 1; p < 3; p++) {
    if (chroma.deviation_ref[p] < kLeastDeviation) continue;
    tells = true;
    if (chroma.deviation_dist[p] < kDeviates * chroma.deviation_ref[p]) return false;
  }
  return tells;
}

/* No mistake leaves less than this part of what each mistake of a kind moves colors by, which is so much at least. */
constexpr double kPartOfMoves = 0.4, kLeastMoves = 0.6;

bool keeps_colors(const Chroma& chroma, Kind kind, const Color& color) {
  if (chroma.cells.empty()) return false;
  const What what = kind == Kind::kMatrix ? What::kMatrix : What::kExchanged;
  double least = std::numeric_limits<double>::infinity(), left = 0;
  for (const ColorMistake& mistake : color_mistakes(color)) {
    if (mistake.what == What::kNone) left = predict(chroma, mistake).left;
    if (mistake.what != what) continue;
    std::vector<double> moves;
    for (const Levels::CellPair& cell : chroma.cells) {
      const Samples3 at = mistake.apply({cell.ref[0], cell.ref[1], cell.ref[2]});
      moves.push_back(std::pow(cell.ref[1] - at[1], 2) + std::pow(cell.ref[2] - at[2], 2));
    }
    least = std::min(least, trimmed(moves));
  }
  return least > kLeastMoves && left < kPartOfMoves * least;
}

/* Cells whose chroma differs by so many levels from most of the picture's have color; so many of them tell, where they
 * are such a part of all. What the encode has of their color in a plane that is gray; where it is sure, and levels. */
constexpr double kColored = 8, kLeastColored = 24, kLeastColoredPart = 0.01;
constexpr double kKeptOfGray = 0.1, kKeptOfSureGray = 0.02, kLevelsOfSureGray = 0.5;

/* A plane without color where the reference has some in a small part of its pictures. */
std::optional<Finding> find_gray_spots(const Chroma& chroma, int plane) {
  std::vector<double> levels[2];
  for (const Levels::CellPair& cell : chroma.cells) {
    levels[0].push_back(cell.ref[plane]);
    levels[1].push_back(cell.dist[plane]);
  }
  const double ref_middle = median_of(levels[0]), dist_middle = median_of(levels[1]);
  double cells = 0, rr = 0, rd = 0, dd = 0, colored_in_dist = 0;
  for (const Levels::CellPair& cell : chroma.cells) {
    const double r = cell.ref[plane] - ref_middle, d = cell.dist[plane] - dist_middle;
    if (std::abs(d) >= kColored) colored_in_dist++;
    if (std::abs(r) < kColored) continue;
    cells++;
    rr += r * r;
    rd += r * d;
    dd += d * d;
  }
  if (cells < kLeastColored || cells < kLeastColoredPart * static_cast<double>(chroma.cells.size()))
    return std::nullopt;
  const double ref = std::sqrt(rr / cells), dist = std::sqrt(dd / cells);
  if (colored_in_dist > kKeptOfGray * cells) return std::nullopt;  // colors in other places: the picture is mirrored
  if (rd > kKeptOfGray * rr || dist > kKeptOfGray * ref) return std::nullopt;
  const bool sure = rd < kKeptOfSureGray * rr && dist < kLevelsOfSureGray;
  Finding found{.kind = Kind::kGray, .certainty = sure ? Certainty::kSure : Certainty::kLikely};
  found.evidence = {{"plane", plane}, {"deviation", rounded(dist)}, {"reference_deviation", rounded(ref)}};
  return found;
}

/* A mistake that moves colors by less than a level, and leaves little less than no mistake does, predicts nearly as
 * well as any linear map: errors of an encoder that happen to lie in its direction do not. */
constexpr double kLittleLess = 0.7, kSmallMove = 1, kNotAny = 1.5;

/* Chroma that deviates by less has color in spots at most; an encoder whose luma errs by more than chroma deviates may
 * leave all of a faint color out. */
constexpr double kLeastColor = 4, kFaintColor = 8;

/* Nine in ten cells' luma differs by less, but for what all differ by. */
double luma_error(const Chroma& chroma) {
  std::vector<double> errors;
  for (const Levels::CellPair& cell : chroma.cells) errors.push_back(cell.dist[0] - cell.ref[0]);
  const double middle = median_of(errors);
  for (double& error : errors) error = std::abs(error - middle);
  const auto at = errors.begin() + static_cast<ptrdiff_t>(errors.size() * 9 / 10);
  std::nth_element(errors.begin(), at, errors.end());
  return *at;
}

/* What is said of a mistake that predicts best. */
void find_chroma(const Chroma& chroma, const Color& color, std::vector<Finding>& findings) {
  if (chroma.cells.empty()) return;
  bool gray = false;
  for (int p = 1; p < 3; p++) {
    const double ref = chroma.deviation_ref[p], dist = chroma.deviation_dist[p];
    if (ref < kLeastColor) {
      const std::optional<Finding> found = find_gray_spots(chroma, p);
      if (found) findings.push_back(*found);
      gray = gray || found;
      continue;
    }
    if (dist > 0.15 * ref || (ref < kFaintColor && luma_error(chroma) > ref)) continue;
    gray = true;
    const bool sure = ref > kLeastColor && dist < 0.3 + 0.05 * ref;
    findings.push_back({.kind = Kind::kGray, .certainty = sure ? Certainty::kSure : Certainty::kLikely});
    findings.back().evidence = {{"plane", p}, {"deviation", rounded(dist)}, {"reference_deviation", rounded(ref)}};
  }
  if (gray) return;
  std::vector<ColorMistake> mistakes = color_mistakes(color);
  std::vector<Prediction> predictions;
  for (const ColorMistake& mistake : mistakes) predictions.push_back(predict(chroma, mistake));
  size_t best = 0;
  for (size_t i = 0; i < mistakes.size(); i++) {
    if (mistakes[i].what == What::kNarrower || mistakes[i].what == What::kWider) continue;
    if (predictions[i].left < predictions[best].left) best = i;
  }
  double second = std::numeric_limits<double>::infinity(), other_kind = second;
  for (size_t i = 0; i < mistakes.size(); i++) {
    if (i == best) continue;
    second = std::min(second, predictions[i].left);
    if (mistakes[i].what != mistakes[best].what) other_kind = std::min(other_kind, predictions[i].left);
  }
  const double left = predictions[best].left, none = predictions[0].left, moves = predictions[best].moves;
  const What what = mistakes[best].what;
  if (what == What::kNone || what == What::kPrimaries || left > 0.85 * none || other_kind < 1.15 * left || moves < 0.35)
    return;
  const double any = left_by_any_map(chroma);
  /* Colors that do not exist in the other matrix are clipped, and fit less. */
  if (left > 1.6 * any + 1 && left > 0.4 * none) return;
  if (left > kLittleLess * none && moves < kSmallMove && left > kNotAny * any) return;
  const bool clear =
      left < 0.5 * none && other_kind > 2 * left && second > 1.25 * left && moves > 1.5 && left < 1.6 * any + 1;
  Certainty certainty = clear ? Certainty::kSure : Certainty::kLikely;
  Kind kind = Kind::kChromaSwapped;
  if (what == What::kMatrix) kind = Kind::kMatrix;
  findings.push_back({.kind = kind, .certainty = certainty});
  if (kind != Kind::kChromaSwapped)
    findings.back().evidence = {{"from", mistakes[best].from}, {"to", mistakes[best].to}};
  findings.back().evidence.insert(findings.back().evidence.end(),
                                  {{"left", rounded(left)}, {"left_without", rounded(none)}});
}

/* Halves the frames until they are `most`. */
void keep_some(std::vector<Levels::Frame>& frames, size_t most) {
  while (frames.size() > most) keep_every_second(frames);
}

}  // namespace

Levels::Levels(const VideoFormat& format) : means_(format), fit_for_(CellMeans::fit_for(format)), last_of_(fit_for_) {}

void Levels::add(int64_t frame, const SignatureSums& sums, const PairMeans& means) {
  if (!fit_for_) return;
  if (first_ < 0) first_ = frame;
  last_ = frame;
  if (chapters_.begins(frame)) close_chapter();
  Sums& chapter = chapters_.at(frame);
  const bool detail = has_detail(frame) && means_.format().planes() > 1;
  const bool counted = added_++ % kLumaPeriod == 0;
  if (counted) count(means);
  if (!detail) return;
  Frame f{.frame = frame, .cells = {}};
  add_cells(sums, means, f);
  chapter.frames.push_back(f);
  keep_some(chapter.frames, kMostOfChapter);
  if (frames_seen_++ % stride_ != 0) return;
  frames_.push_back(f);
  if (frames_.size() > kMostFrames) stride_ *= 2;
  keep_some(frames_, kMostFrames);
}

/* Adds the numbers to the last chapter, which may go on: chapters that are joined have both. */
void Levels::close_chapter() {
  if (chapters_.pairs().empty()) return;
  const auto taken = [](Histogram& histogram) {
    Counts counts;
    for (uint32_t i = 0; i < histogram.size(); i++)
      if (histogram[i]) counts.emplace_back(i, std::exchange(histogram[i], 0));
    return counts;
  };
  const Sums sums{.cells = taken(last_of_.cells), .areas = taken(last_of_.areas), .frames = {}};
  chapters_.at(chapters_.pairs().back().end - 1).add(sums);
}

Levels::Histogram Levels::histogram_of(const Counts& counts) {
  Histogram histogram(static_cast<size_t>(kLevels * kLevels));
  for (const auto& [place, number] : counts) histogram[place] = number;
  return histogram;
}

void Levels::Sums::add(const Sums& later) {
  const auto merge = [](Counts& to, const Counts& from) {
    Counts sum;
    sum.reserve(to.size() + from.size());
    auto a = to.cbegin(), b = from.cbegin();
    while (a != to.end() || b != from.end()) {
      const bool of_b = a == to.end() || (b != from.end() && b->first < a->first);
      sum.push_back(of_b ? *b++ : *a++);
      if (!of_b && b != from.end() && b->first == sum.back().first) sum.back().second += (b++)->second;
    }
    to = std::move(sum);
  };
  merge(cells, later.cells);
  merge(areas, later.areas);
  frames.insert(frames.end(), later.frames.begin(), later.frames.end());
  keep_some(frames, kMostFrames);
}

void Levels::count(const PairMeans& means) {
  constexpr int kSide = 4, kColumns = kSignatureColumns / kSide, kRows = kSignatureRows / kSide;
  int32_t ref[kCells], dist[kCells];
  const auto add_to = [&](std::vector<uint32_t>& histogram, const float* ref_means, const float* dist_means, int n) {
    round_levels(ref_means, n, ref);
    round_levels(dist_means, n, dist);
    for (int k = 0; k < n; k++) histogram[ref[k] * kLevels + dist[k]]++;
  };
  add_to(last_of_.cells, means.ref.data(), means.dist.data(), kCells);
  const auto areas_of = [](const LumaMeans& cells, float(&areas)[kRows * kColumns]) {
    for (int j = 0, k = 0; j < kSignatureRows; j++)
      for (int i = 0; i < kColumns; i++)
        for (int x = 0; x < kSide; x++, k++) areas[j / kSide * kColumns + i] += cells[k];
    for (float& area : areas) area /= kSide * kSide;
  };
  float areas[2][kRows * kColumns] = {};
  areas_of(means.ref, areas[0]);
  areas_of(means.dist, areas[1]);
  add_to(last_of_.areas, areas[0], areas[1], kRows * kColumns);
}

/* Cells of chroma, with the luma of the cells in their middle, whose rows chroma's are among. */
void Levels::add_cells(const SignatureSums& sums, const PairMeans& means, Frame& frame) const {
  constexpr int kWide = kSignatureColumns / kChromaColumns, kHigh = kSignatureRows / kChromaRows;
  ChromaMeans chroma[2][2];
  for (int plane = 0; plane < 2; plane++) {
    means_.chroma(sums.ref, plane, chroma[0][plane]);
    means_.chroma(sums.dist, plane, chroma[1][plane]);
  }
  for (int k = 0; k < kChromaCells; k++) {
    const int j = k / kChromaColumns, i = k % kChromaColumns;
    const auto luma = [&](const LumaMeans& cells) {
      float sum = 0;
      for (int y = kHigh / 2 - 1; y <= kHigh / 2; y++) {
        for (int x = 0; x < kWide; x++) sum += cells[(j * kHigh + y) * kSignatureColumns + i * kWide + x];
      }
      return sum / (2 * kWide);
    };
    frame.cells[k] = {{luma(means.ref), chroma[0][0][k], chroma[0][1][k]},
                      {luma(means.dist), chroma[1][0][k], chroma[1][1][k]}};
  }
}

/* `frames`: of which chroma is read. */
std::vector<Finding> Levels::judge(const Sums& sums, const std::vector<Frame>& frames, const Pairs& pairs) const {
  std::vector<Finding> findings;
  const Chroma chroma = chroma_of(frames);
  find_chroma(chroma, means_.format().color, findings);
  if (findings.empty() || (findings[0].kind == Kind::kMatrix && findings[0].certainty != Certainty::kSure))
    if (const auto mixed = find_mixed_colors(chroma.cells, means_.format().color)) findings.assign(1, *mixed);
  const bool mixed = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
    return (f.kind == Kind::kMatrix || f.kind == Kind::kPrimaries) && f.certainty > Certainty::kPossible;
  });
  /* Luma then depends on chroma, and its curve says nothing more. */
  if (!mixed) find_luma(histogram_of(sums.cells), chroma, means_.format().color, findings);
  const auto by_luma = [](const Finding& f) {
    return f.kind == Kind::kRange || f.kind == Kind::kTransfer || f.kind == Kind::kBrightness;
  };
  const auto told = std::find_if(findings.begin(), findings.end(), by_luma);
  const bool unsure = told == findings.end() || (told->kind != Kind::kRange && told->certainty != Certainty::kSure);
  std::vector<Finding> ranges;
  if (!mixed && unsure && find_range_of_areas(histogram_of(sums.areas), chroma_gain(chroma), ranges)) {
    std::erase_if(findings, by_luma);
    findings.push_back(ranges[0]);
  }
  for (Finding& found : findings) {
    found.from = pairs.from;
    found.end = pairs.end;
  }
  return findings;
}

std::vector<Finding> Levels::judge(size_t first, size_t end) const {
  const Sums sums = chapters_.sum(first, end);
  return judge(sums, sums.frames, {chapters_.pairs()[first].from, chapters_.pairs()[end - 1].end});
}

bool Levels::denies(size_t chapter, Kind kind) const {
  const Sums& sums = chapters_[chapter];
  if (kind == Kind::kRange || kind == Kind::kTransfer || kind == Kind::kBrightness)
    return keeps_levels(histogram_of(sums.cells), kind);
  const Chroma chroma = chroma_of(sums.frames);
  return kind == Kind::kGray ? keeps_chroma(chroma) : keeps_colors(chroma, kind, means_.format().color);
}

std::vector<Finding> Levels::finish() {
  if (!fit_for_ || first_ < 0) return {};
  close_chapter();
  std::vector<Finding> findings = judge(chapters_.sum(), frames_, {first_, last_ + 1});
  static constexpr Kind kOfLuma[] = {Kind::kRange, Kind::kTransfer, Kind::kBrightness};
  static constexpr Kind kOfChroma[] = {Kind::kMatrix, Kind::kChromaSwapped, Kind::kGray};
  const Divided divided{chapters_.pairs(), [&](size_t chapter, Kind kind) { return denies(chapter, kind); },
                        [&](size_t first, size_t end) { return judge(first, end); }};
  find_locally(divided, kOfLuma, &findings);
  find_locally(divided, kOfChroma, &findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.kind < b.kind; });
  return findings;
}

}  // namespace vmafx::look
