#include "engine/session.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "base/cpu.h"
#include "engine/color.h"

namespace vmafx {

#define VMAFX_VERSION_TEXT(major, minor, patch) #major "." #minor "." #patch
#define VMAFX_VERSION_OF(major, minor, patch) VMAFX_VERSION_TEXT(major, minor, patch)
const char* const kVersion = VMAFX_VERSION_OF(VMAFX_VERSION_MAJOR, VMAFX_VERSION_MINOR, VMAFX_VERSION_PATCH);

namespace {

/* Frame pairs in flight beyond the one that each worker has in hand: enough that no worker waits for the decoder's next frame. */
constexpr int kFramesAhead = 2;

/* How often room is taken for the report of what was submitted. */
constexpr int64_t kFramesPerReserve = 256;

Status check_range(const char* option, int value, int least, int most, const char* help) {
  if (value >= least && value <= most) return {};
  return error(EINVAL, most == INT_MAX ? "%s=%d; use %d or more (%s)" : "%s=%d; use %d (%s)", option, value, least,
               help);
}

}  // namespace

SessionParams::SessionParams(const VmafxParams& params) : given{params.device_platform, params.device_context} {
#define VMAFX_TEXT(option, field, value, help) field = text_or(params.field, field);
#define VMAFX_NUMBER(option, field, ...) field = params.field;
  VMAFX_OPTIONS(VMAFX_TEXT, VMAFX_NUMBER, VMAFX_NUMBER);
  VMAFX_OTHER_OPTIONS(VMAFX_TEXT, VMAFX_NUMBER, VMAFX_NUMBER);
#undef VMAFX_TEXT
#undef VMAFX_NUMBER
}

Status SessionParams::check() const {
#define VMAFX_INT(option, field, value, least, most, help) VMAFX_TRY(check_range(#option, field, least, most, help));
#define VMAFX_NONE(...)
  VMAFX_OPTIONS(VMAFX_NONE, VMAFX_INT, VMAFX_NONE);
  VMAFX_OTHER_OPTIONS(VMAFX_NONE, VMAFX_INT, VMAFX_NONE);
#undef VMAFX_INT
#undef VMAFX_NONE
  if (import_frames == "auto" || import_frames == "device" || import_frames == "host") return {};
  return error(EINVAL, "there is no import=%s; use auto, device or host", import_frames.c_str());
}

StatusOr<std::unique_ptr<Session>> Session::open(const SessionParams& params, Log::Sink sink) {
  VMAFX_TRY(params.check());
  VMAFX_TRY(select_cpu());

  std::unique_ptr<Session> session(new Session(params, std::move(sink)));
  VMAFX_ASSIGN(session->backend_, open_backend(params.backend, params.device, params.given,
                                               std::chrono::seconds(params.device_wait), session->log_));
  VMAFX_ASSIGN(auto models, session->models_asked_for());
  VMAFX_ASSIGN(const auto features, parse_features(params.feature));
  VMAFX_ASSIGN(session->plan_, Plan::make(std::move(models), features, session->backend_.preferred, session->log_));

  VMAFX_ASSIGN(session->score_format_, ScoreFormat::parse(params.score_fmt, false));
  session->pool_ = choose_pool(params.pool, session->log_);
  VMAFX_ASSIGN(session->report_,
               open_report({params.log_path, params.log_fmt, params.score_fmt, params.n_subsample, params.report_times},
                           session->log_));
  VMAFX_ASSIGN(session->monitor_,
               Monitor::open({params.window, params.warn_below, params.fail_below, params.openmetrics}));
  return session;
}

StatusOr<std::vector<ModelSpec>> Session::models_asked_for() {
  if (!params_.ignore_unknown) return parse_models(params_.model);
  std::vector<std::string> left_out;
  auto models = parse_known(params_.model, &left_out);
  for (const std::string& complaint : left_out) log_.warning(complaint + " (ignored)");
  return models;
}

Status Session::configure(const VmafxFormat& ref_given, const VmafxFormat& dist_given) {
  if (table_) return error(EINVAL, "the session is configured already; open another one for another format");
  VMAFX_TRY(failure_);
  VMAFX_ASSIGN(InputFormat ref, InputFormat::make(ref_given, "reference"));
  VMAFX_ASSIGN(InputFormat dist, InputFormat::make(dist_given, "distorted"));
  if (const auto differ = differences(ref, dist); !differ.empty()) return {EINVAL, differ.front()};
  return keep(set_up(std::move(ref), std::move(dist)));
}

/* Once: what fails half-way is not begun again. */
Status Session::set_up(InputFormat ref, InputFormat dist) {
  format_ = ref.scored;
  warn_of_colors(ref, dist, model_count() > 0, log_);
  settle_color(ref.scored.color, dist.scored.color);
  VMAFX_TRY(plan_.instantiate(format_, log_));
  ref.planes_read = dist.planes_read = plan_.planes_read();
  ref_reader_.start(ref, log_);
  dist_reader_.start(dist, log_);
  VMAFX_TRY(start_pipeline());
  VMAFX_TRY(start_import(ref_reader_, ref));
  VMAFX_TRY(start_import(dist_reader_, dist));
  table_.emplace(plan_.columns());
  scorer_.emplace(plan_, *table_, params_.n_subsample);
  result_.reserve(table_->keys().size());
  window_scores_.reserve(table_->keys().size());
  std::vector<MetricColumn> columns = plan_.main_columns();
  for (const auto& [column, is_model] : columns)
    if (!is_model) feature_columns_.push_back(column);
  return monitor_.start(*table_, std::move(columns), pool_, params_.n_subsample);
}

void Session::settle_color(const Color& ref, const Color& dist) {
  std::string differ;
  format_.color = common_color(ref, dist, &differ);
  const std::string assumed = assume_color(format_);
  if (!plan_.reads_color()) return;
  if (!differ.empty())
    log_.warning("the inputs differ in what they say of their colors (" + differ +
                 "); the distorted one is taken as the reference is");
  if (!assumed.empty()) log_.info("the inputs do not say what their colors are: " + assumed + " is assumed");
}

Status Session::start_pipeline() {
  const int threads = std::min(params_.n_threads ? params_.n_threads : usable_threads(), kMostThreads);
  std::vector<Extractor*> extractors;
  for (const PlannedExtractor& planned : plan_.extractors()) extractors.push_back(planned.extractor.get());
  VMAFX_TRY(pipeline_.start(std::move(extractors), threads, kFramesAhead));
  VMAFX_TRY(start_lane());
  log_beginning(run_facts(), log_);
  return {};
}

/* The GPU's part, if there is one. What does not fit its memory is like a device that does not open. */
Status Session::start_lane() {
  const bool wanted = std::ranges::any_of(
      plan_.extractors(), [](const PlannedExtractor& planned) { return planned.extractor->device_twin(); });
  if (!backend_.device || !wanted) return {};
  const bool surfaces = ref_reader_.in_gpu_memory() || dist_reader_.in_gpu_memory();
  const Status status = pipeline_.add_lane(*backend_.device, format_, surfaces, params_.verify);
  if (status.ok()) return {};
  return give_up_device(params_.backend, status, backend_, log_);
}

/* An input in a GPU's memory is read there, or downloaded for a reason that is told. */
Status Session::start_import(PictureReader& reader, const InputFormat& format) {
  if (!reader.in_gpu_memory()) return {};
  const bool may_download = params_.import_frames != "device";
  auto intake = open_intake(format);
  if (!intake.ok()) return reader.stop_importing(intake.status().message(), may_download);
  reader.import(std::move(intake.value()), may_download);
  return {};
}

StatusOr<std::unique_ptr<DeviceIntake>> Session::open_intake(const InputFormat& format) const {
  if (params_.import_frames == "host") return error(ENOTSUP, "import=host");
  for (size_t i = 0; i < plan_.extractors().size(); i++)
    if (!pipeline_.on_device(i)) return error(ENOTSUP, "%s runs on the CPU", plan_.extractors()[i].name().c_str());
  return DeviceIntake::create(format, *backend_.device, params_.given);
}

Status Session::submit(OwnedPicture ref_picture, OwnedPicture dist_picture) {
  VMAFX_TRY(failure_);
  if (!table_) return error(EINVAL, "frames were submitted before the format was configured");
  if (finished_) return error(EINVAL, "frames were submitted after the end of the stream");
  auto ref = ref_reader_.read(std::move(ref_picture));
  const bool has_time = dist_picture->has_time;
  const double time = dist_picture->time;
  const bool keyframe = dist_picture->keyframe;
  auto dist = dist_reader_.read(std::move(dist_picture));
  VMAFX_TRY(keep(ref.status()));
  VMAFX_TRY(keep(dist.status()));

  if (submitted_ == 0) started_ = std::chrono::steady_clock::now();
  VMAFX_TRY(pump([this] { return pipeline_.full(); }));
  VMAFX_TRY(keep(report_complete_frames()));
  const bool scored = scorer_->is_scored(submitted_);
  if (has_time && scored) table_->set_time(submitted_, time);
  if (monitor_.windows().any())
    VMAFX_TRY(keep(monitor_.windows().add(has_time ? std::optional(time) : std::nullopt, keyframe)));
  submitted_++;
  VMAFX_TRY(keep(pipeline_.add(scored, std::move(ref.value()), std::move(dist.value()))));
  return keep(reserve_report());
}

/* The first failure stays: later frames end in it. */
Status Session::keep(Status status) {
  if (failure_.ok()) failure_ = status;
  return status;
}

void Session::fail(Status status) noexcept {
  if (failure_.ok()) failure_ = std::move(status);
}

/* Scores the frames that are finished, in order; waits for the next one while `must_wait()`. */
template <class MustWait>
Status Session::pump(MustWait must_wait) {
  FinishedFrame finished;
  while (pipeline_.take(must_wait(), &finished)) VMAFX_TRY(keep(score(finished)));
  return {};
}

/* While frames are scored an error reaches whoever submits them; at the end there may be nobody to tell. */
Status Session::reserve_report() {
  const bool due = submitted_ % kFramesPerReserve == 0 || (submitted_ & (submitted_ - 1)) == 0;
  return report_ && due ? report_->reserve(*table_, submitted_) : Status();
}

/* A device that fails is told once; without `fallback` it ends the session. */
Status Session::check_device() {
  VMAFX_TRY(pipeline_.failure());
  if (handover_) return {};
  handover_ = pipeline_.handover();
  if (!handover_) return {};
  const std::string what = format_text("the GPU failed at frame %lld: %s", static_cast<long long>(handover_->frame),
                                       handover_->reason.message().c_str());
  if (!params_.fallback) return error(EIO, "%s (with fallback=1 the CPU would take over)", what.c_str());
  log_.warning(what + "; the CPU scores from there on");
  for (PictureReader* reader : {&ref_reader_, &dist_reader_})
    if (reader->is_importing()) VMAFX_TRY(reader->stop_importing("the CPU scores", true));
  return {};
}

Status Session::score(const FinishedFrame& finished) {
  VMAFX_TRY(check_device());
  VMAFX_TRY(scorer_->add(finished));
  if (params_.verify_fail && pipeline_.verification().largest_difference > 0)
    return error(EBADMSG, "verify_fail: the raw sums of frame %lld differ between GPU and CPU by %g of their value",
                 static_cast<long long>(finished.index), pipeline_.verification().largest_difference);
  return {};
}

/* NDJSON is written as frames and windows finish; the other formats wait for the end. */
Status Session::report_complete_frames() {
  for (;;) {
    while (const auto number = monitor_.next_window(reported_)) {
      const PooledFrames window = monitor_.window(*number);
      if (report_) VMAFX_TRY(report_->append_window(*table_, *number, window));
      monitor_.tell(window, log_);
    }
    if (reported_ == scorer_->complete()) return {};
    if (report_) VMAFX_TRY(report_->append_frame(*table_, reported_));
    reported_++;
  }
}

Status Session::receive(bool wait, VmafxFrameResult* result, bool* ready) {
  *ready = false;
  if (!table_) return {};
  const auto is_ready = [this] {
    return received_ < scorer_->complete() && (!monitor_.windows().any() || monitor_.windows().knows(received_));
  };
  if (!is_ready() && !finished_) {
    VMAFX_TRY(failure_);
    VMAFX_TRY(pump([&] { return wait && !is_ready(); }));
    VMAFX_TRY(keep(report_complete_frames()));
  }
  if (!is_ready()) return {};

  result_.clear();
  const auto& keys = table_->keys();
  if (scorer_->is_scored(received_))
    for (size_t column = 0; column < keys.size(); column++)
      if (const auto score = table_->get(received_, static_cast<int>(column)))
        result_.push_back({keys[column].c_str(), *score});
  *result = {.frame = received_, .n_scores = result_.size(), .scores = result_.data()};
  receive_window(received_++, result);
  *ready = true;
  return {};
}

void Session::receive_window(int64_t frame, VmafxFrameResult* result) {
  const auto number = monitor_.windows().ending_with(frame);
  if (!number) return;
  const PooledFrames pooled = monitor_.window(*number);
  window_scores_.clear();
  for (size_t column = 0; column < pooled.scores.size(); column++)
    if (const auto score = pooled.scores[column]) window_scores_.push_back({table_->keys()[column].c_str(), *score});
  window_ = {.number = static_cast<int64_t>(*number),
             .first_frame = pooled.frames.first,
             .last_frame = pooled.frames.end - 1,
             .has_time = pooled.time.has_value(),
             .time = pooled.time.value_or(0),
             .n_scores = window_scores_.size(),
             .scores = window_scores_.data()};
  result->window = &window_;
}

Status Session::drain() {
  VMAFX_TRY(pump([] { return true; }));
  VMAFX_TRY(keep(scorer_->flush()));
  monitor_.windows().end();
  ended_ = std::chrono::steady_clock::now();
  return {};
}

/* The scores stand from the end of drain() on, whatever becomes of the report. */
Status Session::finish() {
  VMAFX_TRY(failure_);
  if (finished_) return {};
  if (submitted_ == 0) return error(EINVAL, "no frames were scored: the inputs gave no frame pair");
  VMAFX_TRY(drain());
  finished_ = true;
  const Status reported = keep(write_report(pairing_ && pairing_->cut_short));
  warn_of_gaps();
  log_end(run_facts(), log_);
  if (params_.summary)
    for (const std::string& line : summary_lines(plan_.summary_columns(), *table_, params_.n_subsample))
      log_.info(line);
  const Status within_gates = keep(monitor_.end(submitted_, log_));
  VMAFX_TRY(reported);
  return within_gates;
}

void Session::warn_of_gaps() {
  int64_t count = 0;
  for (int column = 0; column < table_->columns(); column++)
    count += pool_values(*table_, column, params_.n_subsample).not_finite;
  if (count)
    log_.warning(
        format_text("%lld scores are not finite; what is pooled leaves them out", static_cast<long long>(count)));
}

Status Session::set_pairing(const VmafxPairing& pairing) {
  if (pairing.encode)
    return error(EINVAL, "there is no encode %d to set the pairing of, only encode 0", pairing.encode);
  pairing_ = pairing;
  return {};
}

Status Session::abandon() {
  if (finished_ || submitted_ == 0 || !report_) return {};
  if (failure_.ok()) (void)drain();
  return write_report(true);
}

Status Session::write_report(bool partial) {
  const Status lines = report_complete_frames();
  if (!report_) return lines;
  ReportFile report = std::move(*report_);
  report_.reset();
  VMAFX_TRY(lines);
  VMAFX_TRY(
      report.write(*table_, {kVersion, format_.w, format_.h, frames_per_second(), partial, windows(), run_facts()}));
  return report.commit();
}

std::vector<PooledFrames> Session::windows() const {
  std::vector<PooledFrames> windows;
  for (size_t i = 0; i < monitor_.windows().known(); i++) windows.push_back(monitor_.window(i));
  return windows;
}

RunFacts Session::run_facts() const {
  const auto counts = [this](const PictureReader& reader, hip::Side side) {
    FrameCounts counted = pipeline_.counts(side);
    counted.downloaded = reader.downloaded();
    return counted;
  };
  RunFacts run{.fallback = backend_.fallback,
               .threads = pipeline_.threads(),
               .n_subsample = params_.n_subsample,
               .ref = counts(ref_reader_, hip::Side::kRef),
               .dist = counts(dist_reader_, hip::Side::kDist),
               .in_gpu_memory = ref_reader_.in_gpu_memory() || dist_reader_.in_gpu_memory(),
               .handover = handover_,
               .verify = params_.verify,
               .verification = pipeline_.verification(),
               .pairing = pairing_};
  for (size_t i = 0; i < plan_.extractors().size(); i++)
    run.metrics.push_back({plan_.extractors()[i].name(), pipeline_.on_device(i)});
  if (backend_.device) run.device = device_name(*backend_.device);
  return run;
}

double Session::frames_per_second() const {
  const double seconds = std::chrono::duration<double>(ended_ - started_).count();
  return seconds > 0 ? static_cast<double>(submitted_) / seconds : 0;
}

StatusOr<NamedScore> Session::feature_score(int i) const {
  if (!finished_) VMAFX_TRY(failure_);
  if (!finished_) return error(EINVAL, "there is no score before the stream is finished");
  if (i < 0 || i >= feature_count()) return error(EINVAL, "there is no feature %d", i);
  const int column = feature_columns_[i];
  const auto score = pool_column(pool_, pool_values(*table_, column, params_.n_subsample));
  return NamedScore{table_->keys()[column].c_str(), score.value_or(std::nan(""))};
}

StatusOr<NamedScore> Session::model_score(int i) const {
  if (!finished_) VMAFX_TRY(failure_);
  if (!finished_) return error(EINVAL, "there is no score before the stream is finished");
  if (i < 0 || i >= model_count()) return error(EINVAL, "there is no model %d", i);
  const PlannedModel& planned = plan_.models()[i];
  const PoolValues pooled = pool_values(*table_, planned.first_column, params_.n_subsample);
  if (pooled.values.empty()) return error(EDOM, "model %s has no finite score", planned.model.name().c_str());
  return NamedScore{planned.model.name().c_str(), pool_scores(pool_, pooled.values)};
}

}  // namespace vmafx
