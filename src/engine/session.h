/* Session: the pictures of a reference and of its encodes, from open to the pooled scores and the reports. The C API in
 * vmafx.h says what each step promises; the session joins the parts of the engine. */
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

#include "base/cpu.h"
#include "base/log.h"
#include "base/status.h"
#include "engine/encode.h"
#include "engine/frames/pictures.h"
#include "engine/frames/pipeline.h"
#include "engine/frames/recoloring.h"
#include "engine/kept_reference.h"
#include "engine/look_thread.h"
#include "engine/plan.h"
#include "engine/region/region_area.h"
#include "engine/run_facts.h"
#include "engine/session_gpu.h"
#include "engine/session_options.h"
#include "engine/session_reports.h"
#include "engine/stream_clock.h"
#include "report/outputs.h"
#include "report/pooling.h"
#include "report/report.h"
#include "vmafx/vmafx.h"

namespace vmafx {

class Session {
 public:
  static StatusOr<std::unique_ptr<Session>> open(const SessionOptions& params, Log::Sink sink);

  /* `dist`: one format for all encodes, or one for each. */
  Status configure(const VmafxFormat& ref, std::span<const VmafxFormat> dist);
  Status configure_against(std::shared_ptr<const KeptReference> reference, std::span<const VmafxFormat> dist);

  /* A picture of each encode; nullopt: the encode has none for this picture of the reference. */
  using DistPictures = std::vector<std::optional<OwnedPicture>>;
  Status submit(OwnedPicture ref, DistPictures dist);
  Status submit_against(int64_t frame, DistPictures dist);
  Status receive(bool wait, VmafxFrameResult* result, bool* ready);
  Status finish();

  /* Ends the session after an exception: nothing more can be scored. */
  void fail(Status status) noexcept;

  /* Writes partial reports if frames were scored and finish() did not succeed. */
  Status abandon();

  StatusOr<NamedScore> model_score(int encode, int i) const;
  StatusOr<NamedScore> feature_score(int encode, int i) const;
  StatusOr<VmafxFinding> finding(int encode, int i) const;

  Status set_pairing(const VmafxPairing& pairing);
  unsigned planes_read() const { return plan_.planes_read(); }
  std::optional<Reach> pairs_around() const {  // nullopt before configure()
    return configured_ ? std::optional(plan_.reach()) : std::nullopt;
  }
  unsigned imports() const;
  bool finished() const { return finished_; }
  bool range_done() const;
  StatusOr<Place> place(int64_t pair, std::optional<double> time) const { return range_.place(pair, time); }
  const ScoreFormat& score_format() const { return score_format_; }
  int encodes() const { return params_.encodes; }
  const char* encode_called(int number) const {  // nullptr: it does not exist
    return number >= 0 && number < params_.encodes ? encodes_[static_cast<size_t>(number)]->name().c_str() : nullptr;
  }
  std::span<const std::pair<std::string, double>> aggregates() const;  // empty before finished()
  int model_count() const { return static_cast<int>(plan_.models().size()); }
  const char* model_sha256(int i, const char** name) const;  // nullptr: there is no model i
  int feature_count() const { return encodes_.front()->feature_count(); }
  Log& log() { return log_; }

 private:
  /* A picture of the reference, submitted or kept, and those of its encodes. */
  struct Submission {
    std::variant<OwnedPicture, Pipeline::Held> ref;
    DistPictures dist;
  };

  Session(const SessionOptions& params, Log::Sink sink);

  /* -- Opening -------------------------------------------------------------------------------------------------------
   */

  StatusOr<std::vector<ModelSpec>> parse_models_asked_for();
  Status start_regions();
  StatusOr<std::vector<RegionArea>> lay_out_regions() const;
  Status check_subsample() const;
  Status check_pooled_only() const;
  Status open_outputs(const std::vector<ModelSpec>& models, const std::vector<FeatureSpec>& features);
  std::string folder_of_range() const;
  std::string maps_folder() const;
  std::vector<NamedFile> named_outputs(std::vector<NamedFile> folders) const;
  std::vector<NamedFile> named_inputs(const std::vector<ModelSpec>& models) const;
  Status open_encodes();

  /* -- Configuring ---------------------------------------------------------------------------------------------------
   */

  Status check_unconfigured() const;
  StatusOr<std::optional<ColorTarget>> choose_color_target() const;
  Status match(InputFormat ref, std::span<const VmafxFormat> dist, std::shared_ptr<const KeptReference> reference);
  Status set_up(InputFormat ref, std::vector<InputFormat> dist);
  Status start_recoloring(InputFormat& ref, std::vector<InputFormat>& dist);
  void settle_fps(const std::vector<InputFormat>& dist);
  Status start_readers(InputFormat ref, std::span<const InputFormat> dist);
  unsigned planes_read_of(size_t input, const InputFormat& format) const;
  int worker_threads() const;
  Status start_pipeline();
  std::optional<uint64_t> spare_pictures() const;
  Status start_import(PictureReader& reader, const InputFormat& format);
  StatusOr<std::unique_ptr<DeviceIntake>> open_intake(const InputFormat& format) const;
  Status start_maps();
  Status start_look(const InputFormat& ref, std::span<const InputFormat> dist);
  std::vector<std::shared_ptr<KeptSums>> kept_sums() const;

  /* -- Scoring -------------------------------------------------------------------------------------------------------
   */

  Status check_open(bool against) const;
  Status offer(Submission submission);
  StatusOr<bool> meet(DistPictures& dist);
  void drop_early();
  Status queue(Submission submission);
  StatusOr<std::vector<Pipeline::EncodeFrame>> read(DistPictures pictures);
  Status keep(Status status);
  template <class MustWait>
  Status pump(bool for_room, MustWait must_wait);
  Status empty_pipeline();
  Status score(const FinishedFrame& finished);
  Encode* ready_encode() const;
  Status drain();
  Status end_encodes();
  StatusOr<const Encode*> scored_encode(int number) const;

  /* -- The GPU (session_takeover.cpp) --------------------------------------------------------------------------------
   */

  Status start_gpu();
  std::optional<int64_t> expected_pairs() const;
  StreamState stream_state() const;
  Status look_at_gpu();
  Status check_device();
  std::optional<int64_t> takeover(const Encode* encode) const;

  /* -- Reporting (session_facts.cpp) ---------------------------------------------------------------------------------
   */

  Status write_reports(bool partial);
  ReportData report_data(const Encode& encode, bool of_all, bool partial) const;
  RunFacts run_facts(const Encode* encode = nullptr) const;
  std::optional<RangeFacts> range_facts(const Encode& encode, bool partial) const;
  std::optional<Json> conversion_facts() const;
  Json score_options() const;  // the options that change scores, as they were given
  double frames_per_second() const;

  SessionOptions params_;
  Log log_;
  SessionGpu gpu_;
  Plan plan_;
  std::vector<Region> regions_;
  std::vector<std::shared_ptr<const Mask>> masks_;  // of each region; null: it has none
  std::vector<RegionArea> region_areas_;            // after configure()
  std::optional<ColorTarget> color_target_;         // nullopt: pictures are scored as they are
  Recoloring recoloring_;                           // the reference is input 0, encode i is input i + 1
  Range range_;
  Pool pool_;
  ScoreFormat score_format_;
  SessionReports reports_;
  std::vector<std::unique_ptr<Encode>> encodes_;
  LookThread look_thread_;  // joined before the encodes go, whose pictures it looks at
  Workers map_workers_;     // likewise; they make the maps
  VideoFormat format_;
  std::shared_ptr<const KeptReference> reference_;  // null: pictures of the reference are submitted
  PictureReader ref_reader_;                        // reads submitted pictures
  std::vector<PictureReader> dist_readers_;
  bool configured_ = false;
  std::vector<int64_t> takeover_;  // the first frame of each encode that a GPU scored which came later
  Pipeline pipeline_;

  std::optional<Handover> handover_;  // the GPU's failure, once the log has told it
  std::deque<Submission> waiting_;    // pairs before the range; the last ones are its context
  int64_t submitted_ = 0;             // pairs of all encodes that are scored or context
  std::chrono::steady_clock::time_point started_, ended_;
  Status failure_;  // the first failure; the session stays failed
  bool finished_ = false;
  bool ends_ = false;  // no picture comes any more
  const int processors_ = usable_threads();
  StreamClock clock_;             // of all pairs, or of those since a GPU took over
  int64_t submitted_to_cpu_ = 0;  // pictures of the reference before that
};

}  // namespace vmafx

#endif
