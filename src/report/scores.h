/* ScoreTable: every score of a stream, frame x column. */
#ifndef VMAFX_REPORT_SCORES_H
#define VMAFX_REPORT_SCORES_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/extractor.h"

namespace vmafx {

/* Columns are fixed, rows grow with the stream. One writer at a time; readers must not run beside it. */
class ScoreTable {
 public:
  /* `keys` are the report keys of the columns, in report order. */
  explicit ScoreTable(std::vector<std::string> keys);

  const std::vector<std::string>& keys() const { return keys_; }
  int columns() const { return static_cast<int>(keys_.size()); }

  /* One past the highest frame that has a score. */
  int64_t frames() const { return frames_; }

  /* 0 <= frame, 0 <= column < columns(). A second score for the same place replaces the first. */
  void put(int64_t frame, int column, double score);

  /* nullopt when nothing was put there; any frame and column may be asked for. */
  std::optional<double> get(int64_t frame, int column) const;

  /* Where in the stream a frame stands, in seconds, if that is known. */
  void set_time(int64_t frame, double seconds);
  std::optional<double> time(int64_t frame) const;
  bool has_times() const { return !times_.empty(); }  // of some frame

  /* True when the frame has at least one score. */
  bool has_scores(int64_t frame) const;

  /* How the scores of a column are averaged; nullptr, which all begin with: by the arithmetic mean. */
  void set_mean(int column, MeanOfScores* mean) { means_[static_cast<size_t>(column)] = mean; }
  MeanOfScores* mean(int column) const { return means_[static_cast<size_t>(column)]; }

  /* One value for the whole stream ("apsnr_y"); kept in the order of their first setting. */
  void set_aggregate(const std::string& key, double value);
  const std::vector<std::pair<std::string, double>>& aggregates() const { return aggregates_; }

 private:
  struct Chunk {
    std::vector<double> scores;     // kChunkFrames x columns
    std::vector<uint64_t> present;  // the same, a bit each
  };
  static constexpr int kChunkFrames = 256;

  size_t offset(int64_t frame, int column) const;

  std::vector<std::string> keys_;
  std::vector<MeanOfScores*> means_;
  std::vector<std::unique_ptr<Chunk>> chunks_;  // nullptr where a gap was jumped over
  int64_t frames_ = 0;
  std::vector<double> times_;  // NaN: not known
  std::vector<std::pair<std::string, double>> aggregates_;
};

}  // namespace vmafx

#endif
