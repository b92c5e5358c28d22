/* Functions that the writers of the report formats share. */
#ifndef VMAFX_REPORT_REPORT_WRITERS_H
#define VMAFX_REPORT_REPORT_WRITERS_H

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/pooling.h"
#include "report/report.h"

namespace vmafx {

struct NamedPool {
  const char* name;
  Pool pool;
};

/* libvmaf's, in its order. */
inline constexpr NamedPool kPooledMetrics[] = {
    {"min", {Pool::Method::kMin}},
    {"max", {Pool::Method::kMax}},
    {"mean", {Pool::Method::kMean}},
    {"harmonic_mean", {Pool::Method::kHarmonicMean}},
};

inline constexpr NamedPool kPooledStatistics[] = {
    {"median", {Pool::Method::kMedian}},      {"stddev", {Pool::Method::kStddev}},
    {"p1", {Pool::Method::kPercentile, 1}},   {"p5", {Pool::Method::kPercentile, 5}},
    {"p10", {Pool::Method::kPercentile, 10}}, {"p25", {Pool::Method::kPercentile, 25}},
    {"p75", {Pool::Method::kPercentile, 75}}, {"p90", {Pool::Method::kPercentile, 90}},
    {"p95", {Pool::Method::kPercentile, 95}}, {"p99", {Pool::Method::kPercentile, 99}},
};

/* The encode that a writer writes. */
struct Report {
  const ReportOptions& options;
  const ScoreTable& scores;
  OutputFile& file;
  const EncodeLabel* label = nullptr;           // as EncodeReport's
  const ReportData* data = nullptr;             // at the end
  std::span<const char* const> early_doubts{};  // before that: of the frame that is written

  bool has_row(int64_t frame) const { return frame % options.n_subsample == 0 && scores.has_scores(frame); }

  /* Calls write_row(frame) for every row and stops at the first failure. */
  template <class WriteRow>
  Status for_each_row(WriteRow write_row) const {
    for (int64_t frame = scores.next_kept(0); frame < scores.frames(); frame = scores.next_kept(frame + 1))
      if (has_row(frame)) VMAFX_TRY(write_row(frame));
    return {};
  }

  std::string json_number(double value) const {
    const std::string text = options.score_format.print(value);
    return std::isfinite(value) ? text : options.exact ? json_string(text) : "null";
  }

  std::string plain_number(double value) const { return options.score_format.print(value); }

  /* As text, "4.520000"; "" if it is not known. */
  std::string time(int64_t frame) const { return time(scores.time(frame)); }
  std::string time(std::optional<double> seconds) const {
    if (!seconds) return "";
    return options.exact ? options.score_format.print(*seconds) : fixed_text(*seconds, 6);
  }

  /* Whether times stand where programs that were written for libvmaf see scores. */
  bool has_times_among_scores() const { return options.all_times && scores.has_times(); }

  /* The kinds of doubts that are sure of a frame, as far as they are known. */
  std::vector<const char*> doubts(int64_t frame) const {
    if (data) return sure_kinds(data->picture_doubts, frame);
    return {early_doubts.begin(), early_doubts.end()};
  }

  /* These with blanks between them, where programs that were written for libvmaf see scores; "" for those. */
  std::string doubts_among_scores(int64_t frame) const {
    std::string text;
    if (options.all_times)
      for (const char* kind : doubts(frame)) text += (text.empty() ? "" : " ") + std::string(kind);
    return text;
  }

  /* Calls visit(key, score) for each column of a frame; a missing score is nullopt. */
  template <class Visit>
  void for_each_score(int64_t frame, Visit visit) const {
    for (int column = 0; column < scores.columns(); column++) visit(scores.keys()[column], scores.get(frame, column));
  }
};

/* The pooled values of each column, made once for all pools. */
inline std::vector<PoolValues> pool_columns(const Report& report) {
  std::vector<PoolValues> columns;
  for (int column = 0; column < report.scores.columns(); column++)
    columns.push_back(pool_values(report.scores, column, report.options.n_subsample));
  return columns;
}

/* The key of ReportData's `run`. */
inline constexpr const char* kRunKey = "vmafx";

Status write_json(OutputFile& file, std::span<const Report> encodes);
Status write_ndjson_frame(const Report& report, int64_t frame);
Status write_ndjson_window(const Report& report, size_t number, const PooledFrames& window);
Status write_ndjson_summary(OutputFile& file, std::span<const Report> encodes);
Status write_xml(const Report& report, const ReportData& data);

}  // namespace vmafx

#endif
