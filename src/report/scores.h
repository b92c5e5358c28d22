/* ScoreTable: the scores of a stream, frame x column; of a stream without an end those of its last frames, and sums of
 * the others. */
#ifndef VMAFX_REPORT_SCORES_H
#define VMAFX_REPORT_SCORES_H

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/extractor.h"

namespace vmafx {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/* Sums that pool scores without keeping them, added in the order in which they came. */
struct ScoreSums {
  int64_t count = 0;             // of finite ones
  double sum = 0, inverses = 0;  // Σ s, Σ 1 / (s + 1)
  double least = std::numeric_limits<double>::infinity(), most = -least;
  int64_t not_finite = 0;   // left out of all these
  int64_t not_numbers = 0;  // those of them that are no infinities
  double infinity = 0;      // what all those that are not finite are; NaN: they differ, or are no numbers

  void add(double score);
};

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

  /* The time of a frame in the stream, in seconds, if that is known. */
  void set_time(int64_t frame, double seconds);
  std::optional<double> time(int64_t frame) const;
  bool has_times() const { return has_times_; }  // of some frame

  /* The first frame from this one on that may have scores, of every n_subsample-th one, counted from frame 0; frames()
   * or more if there is none. It saves a look at each frame of a long gap. */
  int64_t next_kept(int64_t frame, int n_subsample = 1) const;

  /* True when the frame has at least one score. */
  bool has_scores(int64_t frame) const;

  /* Frames before this one get no more scores, and theirs need not be kept: memory is given back, of 256 frames at a
   * time. Those it was of, all before kept_from(), are in forgotten() alone, every n_subsample-th one, counted from
   * frame 0; get(), time() and has_scores() know nothing of them. */
  void forget_before(int64_t frame, int n_subsample);
  int64_t kept_from() const { return kept_from_; }
  const ScoreSums& forgotten(int column) const { return forgotten_[static_cast<size_t>(column)]; }

  /* How the scores of a column are averaged; nullptr, which all begin with: by the arithmetic mean. */
  void set_mean(int column, MeanOfScores* mean) { means_[static_cast<size_t>(column)] = mean; }
  MeanOfScores* mean(int column) const { return means_[static_cast<size_t>(column)]; }

  /* One value for the whole stream ("apsnr_y"); kept in the order of their first setting. */
  void set_aggregate(const std::string& key, double value);
  const std::vector<std::pair<std::string, double>>& aggregates() const { return aggregates_; }

 private:
  struct Chunk {
    int64_t number;                 // of the chunk: its first frame is this many times kChunkFrames
    std::vector<double> scores;     // kChunkFrames x columns
    std::vector<uint64_t> present;  // the same, a bit each
    std::vector<double> times;      // kChunkFrames, NaN: not known; or none, if no time of them is known

    static int64_t number_of(const std::unique_ptr<Chunk>& chunk) { return chunk->number; }
  };
  static constexpr int kChunkFrames = 256;

  size_t offset(int64_t frame, int column) const;
  size_t place_of(int64_t number) const;
  Chunk& chunk_of(int64_t frame);
  const Chunk* find_chunk(int64_t frame) const;

  std::vector<std::string> keys_;
  std::vector<MeanOfScores*> means_;
  /* Ascending; none where a gap was jumped over, or what was there is forgotten. */
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<ScoreSums> forgotten_;  // of each column
  int64_t frames_ = 0, kept_from_ = 0;
  bool has_times_ = false;
  std::vector<std::pair<std::string, double>> aggregates_;
};

}  // namespace vmafx

#endif
