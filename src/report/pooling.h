/* Pooling: many frame scores to one number.
 *
 * Formulas and order of summation of mean, min, max and harmonic_mean are libvmaf's (f85a853, libvmaf.c). Scores that
 * are not finite are left out and counted. What is ours (the deviation, percentiles, a column's
 * own mean) is exact of scores that are all equal; libvmaf's means of them may end in another bit. */
#ifndef VMAFX_REPORT_POOLING_H
#define VMAFX_REPORT_POOLING_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "report/scores.h"

namespace vmafx {

struct Pool {
  enum class Method {
    kMean,
    kMin,
    kMax,
    kHarmonicMean,  // n / sum(1 / (s + 1)) - 1
    kMedian,        // the 50th percentile
    kStddev,        // population: sqrt(sum((s - mean)^2) / n)
    kPercentile,    // linear between the two nearest ranks: rank = percent / 100 * (n - 1), counted from 0
  };
  Method method = Method::kMean;
  double percent = 50;  // of kPercentile, 0..100

  bool operator==(const Pool&) const = default;
};

struct ParsedPool {
  Pool pool;
  bool known = true;  // false: the text was not understood and mean stands in for it
};

/* "mean", "min", "max", "harmonic_mean", "median", "stddev", and "p5", "perc5", "p99.9". "" is mean. Case matters. */
ParsedPool parse_pool(const std::string& text);

/* Parses a method; instead of an unknown one it takes the mean, and the log says so. */
Pool choose_pool(const std::string& text, Log& log);

/* Whether the scores of all frames must be there at once, and not their sums alone. */
bool needs_values(const Pool& pool);

/* The values of one column that take part in pooling. */
struct PoolValues {
  ScoreSums sums;                // of all of them
  std::vector<double> values;    // those that the table has not forgotten, in frame order, finite
  MeanOfScores* mean = nullptr;  // the column's own, if it has one

  void add(double score);
  bool is_complete() const { return static_cast<int64_t>(values.size()) == sums.count; }
};

/* Frames first .. end-1. */
struct FrameRange {
  int64_t first = 0;
  int64_t end = INT64_MAX;
};

/* Takes every n_subsample-th frame of a column, counted from frame 0: of all frames, or of a range of which the table
 * has forgotten none. */
PoolValues pool_values(const ScoreTable& table, int column, int n_subsample, FrameRange range = {});

/* Takes all scores, in the order of frames. */
PoolValues pool_values(std::span<const double> scores, MeanOfScores* mean);

/* NaN when there are none, or those that it needs are forgotten. */
double pool_scores(const Pool& pool, const PoolValues& column);

/* Pools a column for a report, by its own mean where it has one. A column without any finite score pools to what its
 * scores are: a metric of equal pictures that is infinite in all frames has an infinite mean. nullopt: it has no
 * scores, or they are forgotten. */
std::optional<double> pool_column(const Pool& pool, const PoolValues& column);

}  // namespace vmafx

#endif
