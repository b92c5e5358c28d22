#include "config.h"

#include "engine/session.h"

#include <algorithm>
#include <cerrno>

#include "base/cpu.h"
#include "engine/colour.h"
#include "report/summary.h"
#include "kernels/registry.h"

namespace vmafx {

const char* const kVersion = PACKAGE_VERSION;

namespace {

/* Frame pairs in flight beyond the one that each worker has in hand: enough that no worker waits for the decoder's next frame. */
constexpr int kFramesAhead = 2;

/* How often room is taken for the report of what was submitted. */
constexpr int64_t kFramesPerReserve = 256;

Status same_samples(const VideoFormat& ref, const VideoFormat& dist) {
  if (ref.w != dist.w)
    return error(EINVAL, "input width must match. (reference %d, distorted %d)", ref.w, dist.w);
  if (ref.h != dist.h)
    return error(EINVAL, "input height must match. (reference %d, distorted %d)", ref.h, dist.h);
  if (ref.bpc != dist.bpc)
    return error(EINVAL, "input pix_fmt must match. (reference %d bits per sample, distorted %d)", ref.bpc, dist.bpc);
  if (ref.chroma != dist.chroma) return error(EINVAL, "input pix_fmt must match. (the chroma subsampling differs)");
  return {};
}

bool knows_import(const std::string& name) { return name == "auto" || name == "device" || name == "host"; }

/* "vif", "adm": the metric's name, or with options in the key "vif_egl_1". */
std::string instance_name(const PlannedExtractor& planned) {
  return planned.info->name + planned.options.key_suffix();
}

}  // namespace

StatusOr<std::unique_ptr<Session>> Session::open(const SessionParams& params, Log::Sink sink) {
  if (params.n_threads < 0) return error(EINVAL, "n_threads=%d; use 0 (as many as there are) or more", params.n_threads);
  if (params.n_subsample < 1) return error(EINVAL, "n_subsample=%d; use 1 or more", params.n_subsample);
  if (params.verify < 0) return error(EINVAL, "verify=%d; use 0 (never) or every how many frames", params.verify);
  if (!knows_import(params.import_frames))
    return error(EINVAL, "there is no import=%s; use auto, device or host", params.import_frames.c_str());
  VMAFX_TRY(select_cpu());

  std::unique_ptr<Session> session(new Session(params, std::move(sink)));
  VMAFX_ASSIGN(session->backend_, open_backend(params.backend, params.device, params.given, session->log_));
  VMAFX_ASSIGN(auto models, session->models_asked_for());
  VMAFX_ASSIGN(const auto features, parse_features(params.feature));
  VMAFX_ASSIGN(session->plan_, Plan::make(std::move(models), features, session->backend_.preferred, session->log_));

  const ParsedPool pool = parse_pool(params.pool);
  if (!pool.known)
    session->log_.warning("pool=" + params.pool + " is unknown, mean is used; known are mean, min, max, harmonic_mean, "
                          "median, stddev and percentiles such as p5");
  session->pool_ = pool.pool;
  VMAFX_TRY(session->open_report());
  return session;
}

StatusOr<std::vector<ModelSpec>> Session::models_asked_for() {
  if (!params_.ignore_unknown) return parse_models(params_.model);
  std::vector<std::string> left_out;
  auto models = parse_known(params_.model, &left_out);
  for (const std::string& complaint : left_out) log_.warning(complaint + " (ignored)");
  return models;
}

Status Session::open_report() {
  const ParsedReportFormat format = parse_report_format(params_.log_fmt, params_.log_path);
  if (!format.known)
    log_.warning("log_fmt=" + params_.log_fmt + " is unknown, xml is used; known are xml, json, csv, sub and ndjson");
  const bool json = format.format == ReportFormat::kJson || format.format == ReportFormat::kNdjson;
  VMAFX_ASSIGN(const ScoreFormat score_format, ScoreFormat::parse(params_.score_fmt, json));
  if (params_.log_path.empty()) {
    if (!params_.log_fmt.empty())
      log_.warning("log_fmt=" + params_.log_fmt + " is without effect: there is no report unless log_path=FILE names one");
    return {};
  }
  VMAFX_ASSIGN(report_, ReportFile::open({params_.log_path, format.format, score_format, params_.n_subsample,
                                          params_.report_times}));
  return {};
}

Status Session::configure(const VmafxFormat& ref, const VmafxFormat& dist) {
  if (table_) return error(EINVAL, "the session is configured already; open another one for another format");
  VMAFX_ASSIGN(const VideoFormat ref_format, scored_format(ref, "reference"));
  VMAFX_ASSIGN(const VideoFormat dist_format, scored_format(dist, "distorted"));
  VMAFX_TRY(same_samples(ref_format, dist_format));
  format_ = ref_format;
  settle_colour(ref_format.colour, dist_format.colour);
  VMAFX_TRY(plan_.instantiate(format_, log_));
  ref_reader_.start(ref, format_, plan_.planes_read(), "reference", log_);
  dist_reader_.start(dist, format_, plan_.planes_read(), "distorted", log_);
  VMAFX_TRY(start_pipeline());
  VMAFX_TRY(start_import(ref_reader_, ref));
  VMAFX_TRY(start_import(dist_reader_, dist));
  table_.emplace(plan_.columns());
  scorer_.emplace(plan_, *table_, params_.n_subsample);
  return {};
}

void Session::settle_colour(const Colour& ref, const Colour& dist) {
  std::string differ;
  format_.colour = common_colour(ref, dist, &differ);
  const std::string assumed = assume_colour(format_);
  if (!plan_.reads_colour()) return;
  if (!differ.empty())
    log_.warning("the inputs differ in what they say of their colours (" + differ +
                 "); the distorted one is taken as the reference is");
  if (!assumed.empty()) log_.info("the inputs do not say what their colours are: " + assumed + " is assumed");
}

Status Session::start_pipeline() {
  const int threads = std::min(params_.n_threads ? params_.n_threads : usable_threads(), kMostThreads);
  std::vector<Extractor*> extractors;
  for (const PlannedExtractor& planned : plan_.extractors()) extractors.push_back(planned.extractor.get());
  VMAFX_TRY(pipeline_.start(std::move(extractors), threads, kFramesAhead));
  VMAFX_TRY(start_lane());
  tell_where();
  return {};
}

/* The GPU's part, if there is one. What does not fit its memory is like a device that does not open. */
Status Session::start_lane() {
  const bool wanted = std::ranges::any_of(plan_.extractors(), [](const PlannedExtractor& planned) {
    return planned.extractor->device_twin();
  });
  if (!backend_.device || !wanted) return {};
  const bool surfaces = ref_reader_.in_gpu_memory() || dist_reader_.in_gpu_memory();
  const Status status = pipeline_.add_lane(*backend_.device, format_, surfaces, params_.verify);
  if (status.ok()) return {};
  return give_up_device(params_.backend, status, backend_, log_);
}

/* An input in a GPU's memory is read there, or downloaded for a reason that is told. */
Status Session::start_import(PictureReader& reader, const VmafxFormat& format) {
  if (!reader.in_gpu_memory()) return {};
  const bool may_download = params_.import_frames != "device";
  auto intake = open_intake(format);
  if (!intake.ok()) return reader.stop_importing(intake.status().message(), may_download);
  reader.import(std::move(intake.value()), may_download);
  return {};
}

StatusOr<std::unique_ptr<DeviceIntake>> Session::open_intake(const VmafxFormat& format) const {
  if (params_.import_frames == "host") return error(ENOTSUP, "import=host");
  for (size_t i = 0; i < plan_.extractors().size(); i++)
    if (!pipeline_.on_device(i))
      return error(ENOTSUP, "%s runs on the CPU", instance_name(plan_.extractors()[i]).c_str());
  return DeviceIntake::create(format, format_, plan_.planes_read(), *backend_.device, params_.given);
}

const char* Session::backend_of(size_t extractor) const { return pipeline_.on_device(extractor) ? "hip" : "cpu"; }

/* Which features run where: of interest to the user only where there was a choice. */
void Session::tell_where() {
  std::string where;
  for (size_t i = 0; i < plan_.extractors().size(); i++)
    where += (where.empty() ? "" : ", ") + instance_name(plan_.extractors()[i]) + " on " + backend_of(i);
  where += format_text("; CPU code %s, %d threads", cpu_level().c_str(), pipeline_.threads());
  if (backend_.device) log_.info(where + "; GPU " + device_name(*backend_.device));
  else log_.verbose(where);
}

Status Session::submit(const VmafxPicture& ref_picture, const VmafxPicture& dist_picture) {
  /* Both first, whatever happens: each is released exactly once by its holder. */
  auto ref = ref_reader_.read(ref_picture);
  auto dist = dist_reader_.read(dist_picture);
  if (!table_) return error(EINVAL, "frames were submitted before the format was configured");
  if (finished_) return error(EINVAL, "frames were submitted after the end of the stream");
  VMAFX_TRY(failure_);
  if (!ref.ok()) return failure_ = ref.status();
  if (!dist.ok()) return failure_ = dist.status();

  if (submitted_ == 0) started_ = std::chrono::steady_clock::now();
  FinishedFrame finished;
  while (pipeline_.take(pipeline_.full(), &finished)) VMAFX_TRY(score(finished));
  if (dist_picture.has_time && scorer_->is_scored(submitted_)) table_->set_time(submitted_, dist_picture.time);
  if (Status status = pipeline_.add(scorer_->is_scored(submitted_++), std::move(ref.value()), std::move(dist.value()));
      !status.ok())
    return failure_ = status;
  return failure_ = reserve_report();
}

/* While frames are scored an error reaches whoever submits them; at the end there may be nobody to tell. */
Status Session::reserve_report() {
  const bool due = submitted_ % kFramesPerReserve == 0 || (submitted_ & (submitted_ - 1)) == 0;
  return report_ && due ? report_->reserve(*table_, submitted_) : Status();
}

/* A device that fails is told once; without `fallback` it ends the session. */
Status Session::check_device() {
  VMAFX_TRY(pipeline_.failure());
  if (handover_ || !(handover_ = pipeline_.handover())) return {};
  const std::string what = format_text("the GPU failed at frame %lld: %s", static_cast<long long>(handover_->frame),
                                       handover_->reason.message().c_str());
  if (!params_.fallback) return error(EIO, "%s (with fallback=1 the CPU would take over)", what.c_str());
  log_.warning(what + "; the CPU scores from there on");
  for (PictureReader* reader : {&ref_reader_, &dist_reader_})
    if (reader->is_importing()) VMAFX_TRY(reader->stop_importing("the CPU scores", true));
  return {};
}

Status Session::score(const FinishedFrame& finished) {
  if (Status status = check_device(); !status.ok()) return failure_ = status;
  if (Status status = scorer_->add(finished); !status.ok()) return failure_ = status;
  return report_complete_frames();
}

/* NDJSON is written as frames finish; the other formats wait for the end. */
Status Session::report_complete_frames() {
  if (!report_ || report_->format() != ReportFormat::kNdjson) return {};
  for (; reported_ < scorer_->complete(); reported_++)
    if (Status status = report_->append_frame(*table_, reported_); !status.ok()) return failure_ = status;
  return {};
}

Status Session::receive(bool wait, VmafxFrameResult* result, bool* ready) {
  *ready = false;
  if (!table_) return {};
  FinishedFrame finished;
  while (received_ >= scorer_->complete() && pipeline_.take(wait, &finished)) VMAFX_TRY(score(finished));
  if (received_ >= scorer_->complete()) return {};

  result_.clear();
  const auto& keys = table_->keys();
  if (scorer_->is_scored(received_))
    for (size_t column = 0; column < keys.size(); column++)
      if (const auto score = table_->get(received_, static_cast<int>(column)))
        result_.push_back({keys[column].c_str(), *score});
  *result = {received_++, result_.size(), result_.data()};
  *ready = true;
  return {};
}

Status Session::drain() {
  FinishedFrame finished;
  while (pipeline_.take(true, &finished)) VMAFX_TRY(score(finished));
  if (Status status = scorer_->flush(); !status.ok()) return failure_ = status;
  ended_ = std::chrono::steady_clock::now();
  return report_complete_frames();
}

Status Session::finish() {
  if (finished_) return {};
  VMAFX_TRY(failure_);
  if (submitted_ == 0) return error(EINVAL, "no frames were scored: the inputs gave no frame pair");
  VMAFX_TRY(drain());
  if (Status status = write_report(pairing_ && pairing_->cut_short); !status.ok()) return failure_ = status;
  report_verification();
  report_frames();
  if (params_.summary) summarize();
  finished_ = true;
  return {};
}

void Session::report_verification() {
  const Verification& result = pipeline_.verification();
  if (!result.frames) return;
  const std::string what = format_text("verify=%d: the largest difference between GPU and CPU in %lld frames is %g",
                                       params_.verify, static_cast<long long>(result.frames), result.largest_difference);
  if (result.largest_difference > 0) log_.warning(what);
  else log_.info(what);
}

/* How the pictures of each input came to where the metrics run. */
nlohmann::ordered_json Session::frame_counts() const {
  const auto counts = [this](const PictureReader& reader, hip::Side side) -> nlohmann::ordered_json {
    const LaneCounts lane = pipeline_.counts(side);
    return {{"imported", lane.imported}, {"uploaded", lane.uploaded}, {"downloaded", reader.downloaded()}};
  };
  return {{"reference", counts(ref_reader_, hip::Side::kRef)}, {"distorted", counts(dist_reader_, hip::Side::kDist)}};
}

void Session::report_frames() {
  if (!ref_reader_.in_gpu_memory() && !dist_reader_.in_gpu_memory()) return;
  std::string text;
  const nlohmann::ordered_json frames = frame_counts();
  for (const auto& [role, counts] : frames.items())
    text += format_text("%s%s: %lld imported, %lld uploaded, %lld downloaded", text.empty() ? "" : "; ", role.c_str(),
                        counts["imported"].get<long long>(), counts["uploaded"].get<long long>(),
                        counts["downloaded"].get<long long>());
  log_.info("frames: " + text);
}

void Session::summarize() {
  for (const std::string& line : summary_lines(plan_, *table_, params_.n_subsample)) log_.info(line);
}

Status Session::abandon() {
  if (finished_ || submitted_ == 0 || !report_) return {};
  if (failure_.ok()) (void)drain();
  return write_report(true);
}

Status Session::write_report(bool partial) {
  if (!report_) return {};
  ReportFile report = std::move(*report_);
  report_.reset();
  VMAFX_TRY(report.write(*table_, report_data(partial)));
  VMAFX_TRY(report.commit());
  if (report.not_finite())
    log_.warning(format_text("%lld scores in the report are not finite", static_cast<long long>(report.not_finite())));
  return {};
}

ReportData Session::report_data(bool partial) const {
  return {kVersion, format_.w, format_.h, frames_per_second(), partial, report_extras()};
}

nlohmann::ordered_json Session::report_extras() const {
  nlohmann::ordered_json backends = nlohmann::ordered_json::object();
  for (size_t i = 0; i < plan_.extractors().size(); i++)
    backends[instance_name(plan_.extractors()[i])] = backend_of(i);
  nlohmann::ordered_json extras;
  extras["vmafx"] = {{"version", kVersion},
                     {"backend", backends},
                     {"device", backend_.device ? nlohmann::ordered_json(device_name(*backend_.device)) : nullptr},
                     {"cpu", cpu_level()},
                     {"threads", pipeline_.threads()},
                     {"frames", frame_counts()},
                     {"n_subsample", params_.n_subsample}};
  if (!backend_.fallback.empty()) extras["vmafx"]["fallback"] = backend_.fallback;
  if (handover_)
    extras["vmafx"]["handover"] = {{"frame", handover_->frame}, {"reason", handover_->reason.message()}};
  if (const Verification& result = pipeline_.verification(); result.frames)
    extras["vmafx"]["verification"] = {{"frames", result.frames}, {"largest_difference", result.largest_difference}};
  if (pairing_)
    extras["pairing"] = {{"paired", pairing_->paired},
                         {"unmatched_distorted", pairing_->unmatched_dist},
                         {"unmatched_reference", pairing_->unmatched_ref},
                         {"repeated_reference", pairing_->repeated_ref},
                         {"repeated_distorted", pairing_->repeated_dist},
                         {"max_time_difference", pairing_->max_time_difference}};
  return extras;
}

double Session::frames_per_second() const {
  const double seconds = std::chrono::duration<double>(ended_ - started_).count();
  return seconds > 0 ? static_cast<double>(submitted_) / seconds : 0;
}

StatusOr<ModelScore> Session::model_score(int i) const {
  if (!finished_) return error(EINVAL, "there is no score before the stream is finished");
  if (i < 0 || i >= model_count()) return error(EINVAL, "there is no model %d", i);
  const PlannedModel& planned = plan_.models()[i];
  const PoolValues pooled = pool_values(*table_, planned.first_column, params_.n_subsample);
  if (pooled.values.empty()) return error(EDOM, "model %s has no finite score", planned.model.name().c_str());
  return ModelScore{planned.model.name().c_str(), pool_scores(pool_, pooled.values)};
}

}  // namespace vmafx
