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

  /* Once the plan has its extractors; it must outlive the encode. */
  Status start(Plan& plan, const Pool& pool, int n_subsample);

  int number() const { return label_.number; }
  const std::string& name() const { return label_.name; }
  const EncodeLabel* label() const { return named_ ? &label_ : nullptr; }
  const ScoreTable& table() const { return *table_; }
  int64_t submitted() const { return submitted_; }
  const std::optional<VmafxPairing>& pairing() const { return pairing_; }
  void set_pairing(const VmafxPairing& pairing) { pairing_ = pairing; }
  bool is_scored(int64_t frame) const { return scorer_->is_scored(frame); }

  /* A pair with this distorted picture comes; its number. EINVAL: windows need a time, and it has none. */
  StatusOr<int64_t> add(const VmafxPicture& dist);

  /* Its sums, in frame order. */
  Status score(const FinishedFrame& finished) { return scorer_->add(finished); }

  /* Lines of the frames and windows that are complete, to a report that is written line by line, its own or one of all; nullptr: none. */
  Status report_complete_frames(ReportFile* report, bool of_all);

  /* No more pairs come: all are complete afterwards. */
  Status flush();

  bool is_ready() const;  // for receive()
  int64_t received() const { return received_; }
  void receive(VmafxFrameResult* result);

  /* What there is to say at the end: gaps and summary to the log; ERANGE: scores are lower than they may be. */
  void log_gaps();
  void log_summary();
  Status check_gates() { return monitor_.end(submitted_, log_); }

  std::vector<PooledFrames> windows() const;
  int feature_count() const { return static_cast<int>(feature_columns_.size()); }
  StatusOr<NamedScore> model_score(int i) const;
  StatusOr<NamedScore> feature_score(int i) const;

 private:
  Encode(EncodeLabel label, bool named, Log& log);
  void receive_window(int64_t frame, VmafxFrameResult* result);

  const EncodeLabel label_;
  const bool named_;
  Log log_;  // says whose line it is
  Plan* plan_ = nullptr;
  Pool pool_;
  int n_subsample_ = 1;
  Monitor monitor_;
  std::optional<ScoreTable> table_;
  std::optional<Scorer> scorer_;
  std::vector<int> feature_columns_;  // main scores of the features that were asked for

  int64_t submitted_ = 0, received_ = 0;
  int64_t reported_ = 0;                            // NDJSON lines, and frames that need none
  std::vector<VmafxScore> result_, window_scores_;  // what the last receive() handed out
  VmafxWindow window_{};
  std::optional<VmafxPairing> pairing_;
};

}  // namespace vmafx

#endif
