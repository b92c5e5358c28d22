/* An encode of a session, from its raw sums on. It has its own frame numbers, scores, windows and gates; the session
 * knows which report it is part of. */
#ifndef VMAFX_ENGINE_ENCODE_H
#define VMAFX_ENGINE_ENCODE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "engine/encode_look.h"
#include "engine/encode_maps.h"
#include "engine/encode_regions.h"
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
  /* `named`: the session has other encodes, so log lines and reports name this one. `log` must outlive the encode. */
  static StatusOr<std::unique_ptr<Encode>> open(EncodeLabel label, bool named, const MonitorRequest& monitor, Log& log);
  Encode(const Encode&) = delete;
  Encode& operator=(const Encode&) = delete;

  /* Begins to score. The plan must have its extractors, and outlive the encode. pooled_only: scores of frames are
   * forgotten once they were received and reported. EINVAL: a score of the plan needs the whole stream and there is a
   * range, or needs the scores of all frames and pooled_only forgets them. */
  Status start(const Plan& plan, const Range& range, const Pool& pool, int n_subsample, bool pooled_only);

  /* Has frames have maps, and regions of them scores: in the order of the names that the plan was given. The areas must
   * outlive the encode. After start(), before the first pair. */
  Status make_maps(const MapsRequest& request, std::span<const RegionArea> regions, const VideoFormat& format,
                   Workers& workers);

  /* Has its pictures looked at, beside the scores. Before the first pair. */
  void look_at_pictures(LookThread& thread, size_t extractor, const VideoFormat& format, const InputFormat& ref,
                        const InputFormat& dist) {
    look_.emplace(thread, extractor, format, ref, dist);
  }

  /* Has the look, if there is one, tell of what it is sure while pairs come: in the log, with results, and in reports
   * that are written line by line. */
  void tell_early() {
    if (look_) look_->tell_early();
  }

  int number() const { return label_.number; }
  const std::string& name() const { return label_.name; }
  const EncodeLabel* label() const { return named_ ? &label_ : nullptr; }
  const ScoreTable& table() const { return *table_; }
  const RangeProgress& progress() const { return progress_; }
  bool has_complete_frames() const { return complete() > progress_.first(); }
  int64_t submitted() const { return progress_.taken(); }  // pairs that are scored, or context
  const std::optional<Pairing>& pairing() const { return pairing_; }
  void set_pairing(Pairing pairing) { pairing_ = std::move(pairing); }
  void log_doubts();  // of the pairing, and those that the pictures raise
  bool is_scored(int64_t frame) const { return scorer_->is_scored(frame); }
  /* The number of a pair, by its place among those that were submitted. */
  int64_t number_of(int64_t place) const { return progress_.first_taken() + place; }

  /* Meets the next pair, with this distorted picture: see RangeProgress::meet(). */
  StatusOr<Place> meet(const VmafxPicture& dist);

  /* Drops the first pair that was met and not taken. */
  void drop() { progress_.drop(); }

  /* Takes the next of the pairs that were met, to score it or as context. Returns its place among those that were
   * taken. EINVAL: windows need a time, and it has none. */
  StatusOr<int64_t> add(const VmafxPicture& dist, const Borders::Held& ref, const Borders::Held& dist_held);

  /* Takes the sums of the next pair, in frame order. */
  Status score(const FinishedFrame& finished);

  /* Writes the lines of complete frames and windows to a report that is written line by line. `of_all`: the report has
   * all encodes. nullptr: there is none. */
  Status report_complete_frames(ReportFile* report, bool of_all);

  /* Ends the stream: all frames are complete afterwards. */
  Status flush();

  bool is_ready() const;                          // receive() has a frame
  int64_t received() const { return received_; }  // frames of the range
  void receive(VmafxFrameResult* result);

  /* Whether receive() has to wait for the frame's maps. */
  bool waits_for_maps() const { return maps_ && maps_->is_coming(progress_.first() + received_); }

  /* The end of the stream: counts of scores that are not finite, the summary, and ERANGE if scores are too low. */
  void log_gaps();
  void log_summary();
  Status check_gates() { return monitor_.end(progress_.frames(), log_); }

  /* The findings about its pictures, after flush(), and those among them that leave doubts about scores. */
  std::span<const look::ToldFinding> findings() const;
  std::vector<PictureDoubt> picture_doubts() const;

  /* EILSEQ: a doubt is at least likely. */
  Status check_pictures() const;

  /* The facts that a merge needs; nullopt: there is no range. */
  std::optional<RangeFacts> range_facts(bool partial) const;

  std::vector<PooledFrames> windows() const;  // none if scores are forgotten
  int feature_count() const { return static_cast<int>(feature_columns_.size()); }
  StatusOr<NamedScore> model_score(int i) const;
  StatusOr<NamedScore> feature_score(int i) const;

 private:
  using Names = std::vector<const char*>;

  Encode(EncodeLabel label, bool named, Log& log);
  void warn_of_seek();
  int64_t complete() const;
  void receive_window(int64_t frame, VmafxFrameResult* result);
  Names sure_of(int64_t frame) const;
  void forget_frames();

  const EncodeLabel label_;
  const bool named_;
  Log log_;  // prefixes lines with the encode's name
  const Plan* plan_ = nullptr;
  Pool pool_;
  int n_subsample_ = 1;
  bool pooled_only_ = false;
  RangeProgress progress_;
  Borders borders_;
  std::vector<int64_t> keyframes_;  // in the range, if a merge needs them
  Monitor monitor_;
  std::optional<ScoreTable> table_;
  std::optional<Scorer> scorer_;
  std::vector<int> feature_columns_;  // main scores of the features that were asked for

  /* Frames of the range that were received, and that have NDJSON lines or need none. */
  int64_t received_ = 0, reported_ = 0;
  std::vector<VmafxScore> result_, window_scores_;  // lent by the last receive()
  Names sure_;                                      // likewise
  VmafxPoolWindow window_{};
  std::optional<Pairing> pairing_;
  std::optional<EncodeLook> look_;    // nullopt: nobody looks
  std::unique_ptr<EncodeMaps> maps_;  // null: nobody asks for maps
  EncodeRegions regions_;
};

}  // namespace vmafx

#endif
