#include "report/summary.h"

#include <algorithm>
#include <cmath>

#include "report/pooling.h"
#include "report/score_format.h"

namespace vmafx {
namespace {

constexpr size_t kWorstFrames = 3;

struct FrameScore {
  int64_t frame;
  double score;
};

std::vector<FrameScore> finite_scores(const ScoreTable& table, int column, int n_subsample) {
  std::vector<FrameScore> scores;
  const auto next = [&](int64_t frame) { return table.next_kept(frame, n_subsample); };
  for (int64_t frame = next(0); frame < table.frames(); frame = next(frame + 1))
    if (const auto score = table.get(frame, column); score && std::isfinite(*score)) scores.push_back({frame, *score});
  return scores;
}

/* "; worst frames: …", the worst first; of equal ones the earlier. */
std::string worst_frames(const ScoreTable& table, std::vector<FrameScore> scores, Worse worse) {
  const size_t count = std::min(kWorstFrames, scores.size());
  std::ranges::partial_sort(scores, scores.begin() + static_cast<ptrdiff_t>(count),
                            [&](const FrameScore& a, const FrameScore& b) {
                              if (a.score == b.score) return a.frame < b.frame;
                              return worse == Worse::kHigh ? a.score > b.score : a.score < b.score;
                            });
  std::string text;
  for (size_t i = 0; i < count; i++) {
    text += format_text("%s%lld", i ? ", " : "; worst frames: ", static_cast<long long>(scores[i].frame));
    if (const auto time = table.time(scores[i].frame)) text += " (" + fixed_text(*time, 3) + " s)";
    text += " " + score_text(scores[i].score);
  }
  return text;
}

std::string summary_line(const ScoreTable& table, int column, int n_subsample, Worse worse) {
  using Method = Pool::Method;
  const PoolValues values = pool_values(table, column, n_subsample);
  const auto pooled = [&](Method method) { return score_text(pool_column({method}, values).value_or(std::nan(""))); };
  std::string text = table.keys()[column] + ": mean " + pooled(Method::kMean) + ", min " + pooled(Method::kMin) +
                     ", max " + pooled(Method::kMax);
  const ScoreSums& sums = values.sums;
  if (sums.not_finite && sums.count)
    text += format_text(", without %lld that are not finite", static_cast<long long>(sums.not_finite));
  if (worse == Worse::kNeither || !values.is_complete() || !sums.count || sums.least == sums.most) return text;
  return text + worst_frames(table, finite_scores(table, column, n_subsample), worse);
}

}  // namespace

std::vector<std::string> summary_lines(std::span<const SummaryColumn> columns, const ScoreTable& table,
                                       int n_subsample) {
  std::vector<std::string> lines;
  for (const auto& [column, worse] : columns) lines.push_back(summary_line(table, column, n_subsample, worse));
  return lines;
}

}  // namespace vmafx
