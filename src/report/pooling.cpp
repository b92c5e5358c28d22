#include "report/pooling.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace vmafx {
namespace {

using Method = Pool::Method;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

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

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double harmonic_mean_of(std::span<const double> values) {
  double inverses = 0;
  for (const double value : values) inverses += 1. / (value + 1.);
  return static_cast<double>(values.size()) / inverses - 1.0;
}

double stddev_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

double percentile_of(std::span<const double> values, double percent) {
  std::vector<double> sorted(values.begin(), values.end());
  const double rank = percent / 100. * static_cast<double>(values.size() - 1);
  const size_t left = static_cast<size_t>(rank);
  std::ranges::nth_element(sorted, sorted.begin() + left);
  if (rank == static_cast<double>(left)) return sorted[left];
  const double right = *std::ranges::min_element(sorted.begin() + left + 1, sorted.end());
  const double fraction = rank - static_cast<double>(left);
  return sorted[left] * (1 - fraction) + right * fraction;
}

void count_not_finite(double score, PoolValues& column) {
  if (!column.not_finite++) column.infinity = score;
  else if (column.infinity != score) column.infinity = kNan;
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

PoolValues pool_values(const ScoreTable& table, int column, int n_subsample, FrameRange range) {
  PoolValues result{.mean = table.mean(column)};
  const int64_t first = (range.first + n_subsample - 1) / n_subsample * n_subsample;
  for (int64_t frame = first; frame < std::min(range.end, table.frames()); frame += n_subsample) {
    const auto score = table.get(frame, column);
    if (!score) result.missing++;
    else if (!std::isfinite(*score)) count_not_finite(*score, result);
    else result.values.push_back(*score);
  }
  return result;
}

double pool_scores(const Pool& pool, std::span<const double> values) {
  if (values.empty()) return kNan;
  switch (pool.method) {
    case Method::kMean: return mean_of(values);
    case Method::kMin: return *std::ranges::min_element(values);
    case Method::kMax: return *std::ranges::max_element(values);
    case Method::kHarmonicMean: return harmonic_mean_of(values);
    case Method::kMedian: return percentile_of(values, 50);
    case Method::kStddev: return stddev_of(values);
    case Method::kPercentile: return percentile_of(values, pool.percent);
  }
  return mean_of(values);
}

std::optional<double> pool_column(const Pool& pool, const PoolValues& column) {
  if (!column.values.empty() && column.mean && pool.method == Method::kMean) return column.mean(column.values);
  if (!column.values.empty()) return pool_scores(pool, column.values);
  if (!column.not_finite) return std::nullopt;
  return pool.method == Method::kStddev ? kNan : column.infinity;
}

}  // namespace vmafx
