/* An encode of a session: what becomes of its raw sums. It has its own frame numbers, scores, windows and gates; which reports it stands
 * in is the session's to know. */
#ifndef VMAFX_ENGINE_ENCODE_H
#define VMAFX_ENGINE_ENCODE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "engine/plan.h"
#include "engine/range/borders.h"
#include "engine/range/progress.h"
#include "engine/range/range.h"
#include "engine/scorer.h"
#include "report/monitor.h"
#include "report/pooling.h"
#include "report/report.h"
#include "report/scores.h"
#include "vmafx/vmafx.h"

namespace vmafx {

struct NamedScore {
  const char* name;
  double score;
};

class Encode {
 public:
  /* `named`: there are others, so that log lines and reports name it. `log` must outlive the encode. */
  static StatusOr<std::unique_ptr<Encode>> open(EncodeLabel label, bool named, const MonitorRequest& monitor, Log& log);
  Encode(const Encode&) = delete;
  Encode& operator=(const Encode&) = delete;

  /* Once the plan has its extractors; it must outlive the encode. pooled_only: scores of frames are forgotten once they were received and
   * reported. EINVAL: the extractors have scores that there are not of a range, or that need those of all frames. */
  Status start(Plan& plan, const Range& range, const Pool& pool, int n_subsample, bool pooled_only);

  int number() const { return label_.number; }
  const std::string& name() const { return label_.name; }
  const EncodeLabel* label() const { return named_ ? &label_ : nullptr; }
  const ScoreTable& table() const { return *table_; }
  const RangeProgress& progress() const { return progress_; }
  bool has_complete_frames() const { return complete() > progress_.first(); }
  int64_t submitted() const { return progress_.taken(); }  // pairs that are scored or context
  const std::optional<Pairing>& pairing() const { return pairing_; }
  void set_pairing(Pairing pairing) { pairing_ = std::move(pairing); }
  void log_doubts();  // of the pairing
  bool is_scored(int64_t frame) const { return scorer_->is_scored(frame); }
  /* Of a pair by its place among those that were submitted. */
  int64_t number_of(int64_t place) const { return progress_.first_taken() + place; }

  /* A pair with this distorted picture comes; see RangeProgress::meet() for that and the next one. */
  StatusOr<Place> meet(const VmafxPicture& dist);
  void drop() { progress_.drop(); }

  /* The next of these pairs is to be scored or is context; its place among those that were. EINVAL: windows need a time, and it has none. */
  StatusOr<int64_t> add(const VmafxPicture& dist, const Borders::Held& ref, const Borders::Held& dist_held);

  /* Its sums, in frame order. */
  Status score(const FinishedFrame& finished) { return scorer_->add(finished); }

  /* Lines of the frames and windows that are complete, to a report that is written line by line, its own or one of all; nullptr: none. */
  Status report_complete_frames(ReportFile* report, bool of_all);

  /* No more pairs come: all are complete afterwards. */
  Status flush();

  bool is_ready() const;                          // for receive()
  int64_t received() const { return received_; }  // frames of the range
  void receive(VmafxFrameResult* result);

  /* What there is to say at the end: gaps and summary to the log; ERANGE: scores are lower than they may be. */
  void log_gaps();
  void log_summary();
  Status check_gates() { return monitor_.end(progress_.frames(), log_); }

  /* What a merge needs; nullopt: there is no range. */
  std::optional<RangeFacts> range_facts(bool partial) const;

  std::vector<PooledFrames> windows() const;  // none where scores are forgotten
  int feature_count() const { return static_cast<int>(feature_columns_.size()); }
  StatusOr<NamedScore> model_score(int i) const;
  StatusOr<NamedScore> feature_score(int i) const;

 private:
  Encode(EncodeLabel label, bool named, Log& log);
  void warn_of_seek();
  int64_t complete() const;
  void receive_window(int64_t frame, VmafxFrameResult* result);
  void forget_frames();

  const EncodeLabel label_;
  const bool named_;
  Log log_;  // says whose line it is
  Plan* plan_ = nullptr;
  Pool pool_;
  int n_subsample_ = 1;
  bool pooled_only_ = false;
  RangeProgress progress_;
  Borders borders_;
  std::vector<int64_t> keyframes_;  // of the range, if a merge needs them
  Monitor monitor_;
  std::optional<ScoreTable> table_;
  std::optional<Scorer> scorer_;
  std::vector<int> feature_columns_;  // main scores of the features that were asked for

  /* Frames of the range; reported: that have NDJSON lines or need none. */
  int64_t received_ = 0, reported_ = 0;
  std::vector<VmafxScore> result_, window_scores_;  // what the last receive() handed out
  VmafxPoolWindow window_{};
  std::optional<Pairing> pairing_;
};

}  // namespace vmafx

#endif
