/* A session: the pictures of a reference and of its encodes, from open to the pooled scores and the reports. The C API in vmafx.h says
 * what each step promises; this is where the rooms of the engine are joined. */
#ifndef VMAFX_ENGINE_SESSION_H
#define VMAFX_ENGINE_SESSION_H

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "engine/device/device_opening.h"
#include "engine/device/dispatch.h"
#include "engine/encode.h"
#include "engine/kept_reference.h"
#include "engine/pictures.h"
#include "engine/pipeline.h"
#include "engine/plan.h"
#include "engine/session_options.h"
#include "report/outputs.h"
#include "report/pooling.h"
#include "report/report.h"
#include "vmafx/vmafx.h"

namespace vmafx {

class Session {
 public:
  static StatusOr<std::unique_ptr<Session>> open(const SessionOptions& params, Log::Sink sink);

  /* One format for all encodes, or one for each. */
  Status configure(const VmafxFormat& ref, std::span<const VmafxFormat> dist);
  Status configure_against(std::shared_ptr<const KeptReference> reference, std::span<const VmafxFormat> dist);
  /* A picture of an encode; none: no picture of it belongs to this one of the reference. */
  using DistPictures = std::vector<std::optional<OwnedPicture>>;
  Status submit(OwnedPicture ref, DistPictures dist);
  Status submit_against(int64_t frame, DistPictures dist);
  Status receive(bool wait, VmafxFrameResult* result, bool* ready);
  Status finish();
  void fail(Status status) noexcept;  // something threw: nothing more can be scored
  Status abandon();                   // writes partial reports if frames were scored and finish() did not succeed
  StatusOr<NamedScore> model_score(int encode, int i) const;
  StatusOr<NamedScore> feature_score(int encode, int i) const;

  Status set_pairing(const VmafxPairing& pairing);
  unsigned planes_read() const { return plan_.planes_read(); }
  unsigned imports() const;
  bool finished() const { return finished_; }
  bool range_done() const;
  StatusOr<Place> place(int64_t pair, std::optional<double> time) const { return range_.place(pair, time); }
  const ScoreFormat& score_format() const { return score_format_; }
  int encodes() const { return params_.encodes; }
  const char* encode_called(int number) const {  // nullptr: there is no such encode
    return number >= 0 && number < params_.encodes ? encodes_[static_cast<size_t>(number)]->name().c_str() : nullptr;
  }
  std::span<const std::pair<std::string, double>> aggregates() const;  // none before finished()
  int model_count() const { return static_cast<int>(plan_.models().size()); }
  int feature_count() const { return encodes_.front()->feature_count(); }
  Log& log() { return log_; }

 private:
  /* A picture of the reference, or one that stays, and those of its encodes. */
  struct Submission {
    std::variant<OwnedPicture, Pipeline::Held> ref;
    DistPictures dist;
  };

  Session(const SessionOptions& params, Log::Sink sink) : params_(params), log_(std::move(sink)) {}

  std::string encode_name(int number) const;
  Status open_outputs(const std::vector<ModelSpec>& models, const std::vector<FeatureSpec>& features);
  std::vector<NamedFile> named_outputs(std::vector<NamedFile> outputs) const;  // these, and files
  std::vector<NamedFile> named_inputs(const std::vector<ModelSpec>& models) const;
  Status open_encodes();
  void settle_color(const Color& ref, const std::vector<InputFormat>& dist);
  void settle_fps(const std::vector<InputFormat>& dist);
  Status check_subsample() const;
  Status check_pooled_only() const;
  Status start_pipeline();
  DeviceChoice device_choice() const;
  std::optional<uint64_t> spare_pictures() const;
  bool has_surfaces() const { return spare_pictures().has_value(); }
  Status start_device_queue();
  Status start_opening();
  Status look_at_opening();
  Status take_over();
  void end_opening();
  Status start_import(PictureReader& reader, const InputFormat& format);
  std::vector<std::shared_ptr<KeptSums>> kept_sums() const;
  StatusOr<std::unique_ptr<DeviceIntake>> open_intake(const InputFormat& format) const;
  Status check_unconfigured() const;
  Status match(InputFormat ref, std::span<const VmafxFormat> dist, std::shared_ptr<const KeptReference> reference);
  Status set_up(InputFormat ref, std::vector<InputFormat> dist);
  Status check_open(bool against) const;
  Status offer(Submission submission);
  StatusOr<bool> meet(DistPictures& dist);
  void drop_early();
  Status queue(Submission submission);
  Status check_device();
  Status keep(Status status);
  template <class MustWait>
  Status pump(MustWait must_wait);
  Status drain();  // scores everything that is in flight
  Status score(const FinishedFrame& finished);
  StatusOr<std::vector<Pipeline::EncodeFrame>> read(DistPictures pictures);
  Status report_complete_frames();
  Encode* ready_encode() const;
  ReportFile* report_of(const Encode& encode);
  StatusOr<const Encode*> scored_encode(int number) const;
  StatusOr<std::vector<ModelSpec>> models_asked_for();
  Status reserve_reports();
  Status write_reports(bool partial);
  Status write_report(ReportFile report, std::span<const std::unique_ptr<Encode>> encodes, bool partial);
  Status end_encodes();
  std::optional<RangeFacts> range_facts(const Encode& encode, bool partial) const;
  RunFacts run_facts(const Encode* encode = nullptr, bool of_all = true) const;
  std::optional<int64_t> takeover(const Encode* encode) const;
  double frames_per_second() const;

  SessionOptions params_;
  Log log_;
  Backend backend_;
  Plan plan_;
  Range range_;
  Pool pool_;
  ScoreFormat score_format_;
  std::vector<ReportFile> reports_;  // of each encode, or one of all
  std::vector<std::unique_ptr<Encode>> encodes_;
  VideoFormat format_;
  std::shared_ptr<const KeptReference> reference_;  // that stays; null: pictures of it come one by one
  PictureReader ref_reader_;                        // of these
  std::vector<PictureReader> dist_readers_;
  bool configured_ = false;
  std::unique_ptr<DeviceOpening> opening_;                     // of a GPU that comes later
  std::vector<std::string> kept_by_cpu_;                       // why, of metrics that have kernels
  std::vector<std::unique_ptr<Extractor>> device_extractors_;  // of the GPU that has come
  std::vector<int64_t> takeover_;                              // the first frame that is its, of each encode
  Pipeline pipeline_;

  std::optional<Handover> handover_;  // told
  std::deque<Submission> waiting_;    // before the range; the last ones are its context
  int64_t submitted_ = 0;             // pairs of all encodes that are scored or context
  std::chrono::steady_clock::time_point started_, ended_;
  Status failure_;  // the first one; it stays
  bool finished_ = false;
};

}  // namespace vmafx

#endif
