#include "report/pooling.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace vmafx {
namespace {

using Method = Pool::Method;

constexpr struct {
  const char* name;
  Method method;
} kMethods[] = {
    {"", Method::kMean},
    {"mean", Method::kMean},
    {"min", Method::kMin},
    {"max", Method::kMax},
    {"harmonic_mean", Method::kHarmonicMean},
    {"median", Method::kMedian},
    {"stddev", Method::kStddev},
};

/* The N of "pN" and "percN". */
std::optional<double> parse_percent(std::string_view text) {
  for (const std::string_view prefix : {"perc", "p"}) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    double percent = 0;
    const auto [end, failure] =
        std::from_chars(text.data(), text.data() + text.size(), percent, std::chars_format::fixed);
    const bool whole = failure == std::errc() && end == text.data() + text.size();
    if (whole && percent >= 0 && percent <= 100) return percent;
    break;
  }
  return std::nullopt;
}

double mean_of(const ScoreSums& sums) { return sums.sum / static_cast<double>(sums.count); }

/* Rounding would give equal scores a deviation, and put what lies between two of them beside them. */
bool are_equal(const ScoreSums& sums) { return sums.least == sums.most; }

double stddev_of(const PoolValues& column) {
  if (are_equal(column.sums)) return 0;
  const double mean = mean_of(column.sums);
  double squares = 0;
  for (const double value : column.values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(column.sums.count));
}

double percentile_of(const PoolValues& column, double percent) {
  if (are_equal(column.sums)) return column.sums.least;
  std::vector<double> sorted = column.values;
  const double rank = percent / 100. * static_cast<double>(sorted.size() - 1);
  const size_t left = static_cast<size_t>(rank);
  std::ranges::nth_element(sorted, sorted.begin() + left);
  if (rank == static_cast<double>(left)) return sorted[left];
  const double right = *std::ranges::min_element(sorted.begin() + left + 1, sorted.end());
  const double fraction = rank - static_cast<double>(left);
  return sorted[left] * (1 - fraction) + right * fraction;
}

}  // namespace

ParsedPool parse_pool(const std::string& text) {
  for (const auto& [name, method] : kMethods)
    if (text == name) return {{method}, true};
  if (const auto percent = parse_percent(text)) return {{Method::kPercentile, *percent}, true};
  return {{}, false};
}

Pool choose_pool(const std::string& text, Log& log) {
  const ParsedPool parsed = parse_pool(text);
  if (!parsed.known)
    log.warning("pool=" + text +
                " is unknown, mean is used; known are mean, min, max, harmonic_mean, median, stddev and "
                "percentiles such as p5");
  return parsed.pool;
}

bool needs_values(const Pool& pool) {
  switch (pool.method) {
    case Method::kMean:
    case Method::kMin:
    case Method::kMax:
    case Method::kHarmonicMean: return false;
    case Method::kMedian:
    case Method::kStddev:
    case Method::kPercentile: break;
  }
  return true;
}

void PoolValues::add(double score) {
  sums.add(score);
  if (std::isfinite(score)) values.push_back(score);
}

PoolValues pool_values(const ScoreTable& table, int column, int n_subsample, FrameRange range) {
  PoolValues result{.mean = table.mean(column)};
  if (range.first == 0 && range.end >= table.kept_from()) result.sums = table.forgotten(column);
  const auto next = [&](int64_t frame) { return table.next_kept(frame, n_subsample); };
  for (int64_t frame = next(range.first); frame < std::min(range.end, table.frames()); frame = next(frame + 1)) {
    const auto score = table.get(frame, column);
    if (!score) continue;
    result.add(*score);
  }
  return result;
}

PoolValues pool_values(std::span<const double> scores, MeanOfScores* mean) {
  PoolValues result{.mean = mean};
  for (const double score : scores) result.add(score);
  return result;
}

double pool_scores(const Pool& pool, const PoolValues& column) {
  const ScoreSums& sums = column.sums;
  if (!sums.count || (needs_values(pool) && !column.is_complete())) return kNan;
  switch (pool.method) {
    case Method::kMean: break;
    case Method::kMin: return sums.least;
    case Method::kMax: return sums.most;
    case Method::kHarmonicMean: return static_cast<double>(sums.count) / sums.inverses - 1.0;
    case Method::kMedian: return percentile_of(column, 50);
    case Method::kStddev: return stddev_of(column);
    case Method::kPercentile: return percentile_of(column, pool.percent);
  }
  return mean_of(sums);
}

std::optional<double> pool_column(const Pool& pool, const PoolValues& column) {
  const ScoreSums& sums = column.sums;
  const bool own_mean = column.mean && pool.method == Method::kMean;
  if (sums.count && (own_mean || needs_values(pool)) && !column.is_complete()) return std::nullopt;
  if (sums.count) return own_mean && !are_equal(sums) ? column.mean(column.values) : pool_scores(pool, column);
  if (!sums.not_finite) return std::nullopt;
  return pool.method == Method::kStddev ? kNan : sums.infinity;
}

}  // namespace vmafx
