/* A session: one stream of frame pairs from open to the pooled scores and the report. The C API in vmafx.h says what each
 * step promises; this is where the rooms of the engine are joined. */
#ifndef VMAFX_ENGINE_SESSION_H
#define VMAFX_ENGINE_SESSION_H

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "engine/dispatch.h"
#include "engine/pictures.h"
#include "engine/pipeline.h"
#include "engine/plan.h"
#include "engine/scorer.h"
#include "report/monitor.h"
#include "report/pooling.h"
#include "report/report.h"
#include "report/scores.h"
#include "vmafx/vmafx.h"

namespace vmafx {

extern const char* const kVersion;  // of this library, "0.1.0"

/* VmafxParams with the defaults filled in. */
struct SessionParams {
#define VMAFX_TEXT(option, field, value, help) std::string field = text_or(value, "");
#define VMAFX_INT(option, field, value, least, most, help) int field = value;
#define VMAFX_FLAG(option, field, value, help) bool field = value;
  VMAFX_OPTIONS(VMAFX_TEXT, VMAFX_INT, VMAFX_FLAG)
  VMAFX_OTHER_OPTIONS(VMAFX_TEXT, VMAFX_INT, VMAFX_FLAG)
#undef VMAFX_TEXT
#undef VMAFX_INT
#undef VMAFX_FLAG
  GivenContext given;

  SessionParams() = default;
  explicit SessionParams(const VmafxParams& params);

  /* EINVAL for a number that is out of range. */
  Status check() const;

 private:
  static std::string text_or(const char* text, const std::string& fallback) { return text ? text : fallback; }
};

struct NamedScore {
  const char* name;
  double score;
};

class Session {
 public:
  static StatusOr<std::unique_ptr<Session>> open(const SessionParams& params, Log::Sink sink);

  Status configure(const VmafxFormat& ref, const VmafxFormat& dist);
  Status submit(OwnedPicture ref, OwnedPicture dist);
  Status receive(bool wait, VmafxFrameResult* result, bool* ready);
  Status finish();
  void fail(Status status) noexcept;  // something threw: nothing more can be scored
  Status abandon();                   // writes a partial report if frames were scored and finish() did not succeed
  StatusOr<NamedScore> model_score(int i) const;
  StatusOr<NamedScore> feature_score(int i) const;

  Status set_pairing(const VmafxPairing& pairing);
  unsigned planes_read() const { return plan_.planes_read(); }
  unsigned imports() const { return (ref_reader_.is_importing() ? 1 : 0) | (dist_reader_.is_importing() ? 2 : 0); }
  bool finished() const { return finished_; }
  const ScoreFormat& score_format() const { return score_format_; }
  int model_count() const { return static_cast<int>(plan_.models().size()); }
  int feature_count() const { return static_cast<int>(feature_columns_.size()); }
  Log& log() { return log_; }

 private:
  Session(const SessionParams& params, Log::Sink sink) : params_(params), log_(std::move(sink)) {}

  void settle_color(const Color& ref, const Color& dist);
  Status start_pipeline();
  Status start_lane();
  Status start_import(PictureReader& reader, const InputFormat& format);
  StatusOr<std::unique_ptr<DeviceIntake>> open_intake(const InputFormat& format) const;
  Status set_up(InputFormat ref, InputFormat dist);
  Status check_device();
  Status keep(Status status);
  template <class MustWait>
  Status pump(MustWait must_wait);
  Status drain();  // scores everything that is in flight
  Status score(const FinishedFrame& finished);
  Status report_complete_frames();
  void receive_window(int64_t frame, VmafxFrameResult* result);
  std::vector<PooledFrames> windows() const;
  StatusOr<std::vector<ModelSpec>> models_asked_for();
  Status reserve_report();
  Status write_report(bool partial);
  void warn_of_gaps();  // scores that are not finite, which pooled ones leave out
  RunFacts run_facts() const;
  double frames_per_second() const;

  SessionParams params_;
  Log log_;
  Backend backend_;
  Plan plan_;
  Pool pool_;
  ScoreFormat score_format_;
  std::optional<ReportFile> report_;
  Monitor monitor_;
  VideoFormat format_;
  PictureReader ref_reader_, dist_reader_;
  std::optional<ScoreTable> table_;  // configured when present
  std::optional<Scorer> scorer_;
  Pipeline pipeline_;

  std::optional<Handover> handover_;  // told
  int64_t submitted_ = 0;
  int64_t received_ = 0;
  int64_t reported_ = 0;                            // NDJSON lines, and frames that need none
  std::vector<int> feature_columns_;                // main scores of the features that were asked for
  std::vector<VmafxScore> result_, window_scores_;  // what the last receive() handed out
  VmafxWindow window_{};
  std::optional<VmafxPairing> pairing_;
  std::chrono::steady_clock::time_point started_, ended_;
  Status failure_;  // the first one; it stays
  bool finished_ = false;
};

}  // namespace vmafx

#endif
