#include "engine/session.h"

#include <algorithm>
#include <cerrno>

#include "base/cpu.h"
#include "base/hash.h"
#include "engine/color.h"
#include "engine/version.h"
#include "kernels/registry.h"
#include "kernels/steps/gray_file.h"

namespace vmafx {

namespace {

/* Frame pairs in flight beyond those that the workers have in hand: enough that no worker waits for the decoder's next frame. */
constexpr int kFramesAhead = 2;

/* How often room is taken for the report of what was submitted. */
constexpr int64_t kFramesPerReserve = 256;

constexpr const char* kChromaNames[] = {"4:0:0", "4:2:0", "4:2:2", "4:4:4"};  // in the order of Chroma

bool name_kernels(const std::vector<FeatureSpec>& features) {
  return std::ranges::any_of(features,
                             [](const FeatureSpec& spec) { return find_extractor(spec.extractor).device_only; });
}

}  // namespace

StatusOr<std::unique_ptr<Session>> Session::open(const SessionOptions& params, Log::Sink sink) {
  VMAFX_TRY(params.check());
  VMAFX_TRY(select_cpu());

  std::unique_ptr<Session> session(new Session(params, std::move(sink)));
  VMAFX_ASSIGN(const auto features, parse_features(params.feature));
  VMAFX_ASSIGN(auto models, session->models_asked_for());
  VMAFX_ASSIGN(session->range_, Range::parse(params.range));
  VMAFX_TRY(session->check_subsample());
  VMAFX_ASSIGN(session->score_format_, ScoreFormat::parse(params.score_fmt, false));
  session->pool_ = choose_pool(params.pool, session->log_);
  VMAFX_TRY(session->check_pooled_only());
  VMAFX_TRY(session->open_outputs(models, features));
  VMAFX_ASSIGN(session->backend_,
               open_backend(params.backend, session->device_choice(), name_kernels(features), session->log_));
  const Rivals rivals = params.ignore_unknown ? Rivals::kFirstIsReported : Rivals::kRefused;
  VMAFX_ASSIGN(session->plan_,
               Plan::make(std::move(models), features, session->backend_.preferred, session->log_, rivals));
  if (params.overwrite) session->plan_.allow_overwrite();
  return session;
}

/* Opens the files that are written. This comes before the GPU is opened, so that a wrong path is told at once. */
Status Session::open_outputs(const std::vector<ModelSpec>& models, const std::vector<FeatureSpec>& features) {
  const std::vector<NamedFile> folders = written_folders(models, features);
  for (const NamedFile& folder : folders) VMAFX_TRY(GrayFile::check_folder(folder.path));
  VMAFX_TRY(check_distinct(named_outputs(folders), named_inputs(models)));
  VMAFX_ASSIGN(reports_, open_reports({params_.log_path, params_.log_fmt, params_.score_fmt, params_.n_subsample,
                                       params_.report_times, params_.encodes, range_.is_given(), params_.pooled_only,
                                       params_.overwrite},
                                      log_));
  return open_encodes();
}

std::vector<NamedFile> Session::named_outputs(std::vector<NamedFile> outputs) const {
  for (const std::string& path : report_paths(params_.log_path, params_.encodes)) outputs.push_back({"log_path", path});
  if (!params_.openmetrics.empty()) outputs.push_back({"openmetrics", params_.openmetrics});
  return outputs;
}

std::vector<NamedFile> Session::named_inputs(const std::vector<ModelSpec>& models) const {
  std::vector<NamedFile> inputs;
  for (const ModelSpec& model : models)
    if (!model.path.empty()) inputs.push_back({"model=path", model.path});
  return inputs;
}

/* Which pairs it leaves out depends on the number of the stream's first one. */
Status Session::check_subsample() const {
  if (params_.n_subsample == 1 || !range_.is_given()) return {};
  if (!params_.window.empty())
    return error(EINVAL,
                 "the windows of a range cannot be merged if n_subsample=%d leaves frames out; use n_subsample=1",
                 params_.n_subsample);
  if (!range_.by_time() || range_.begins_stream()) return {};
  return error(EINVAL,
               "range=%s does not tell the numbers of frames, which n_subsample=%d needs; use a range of numbers",
               range_.text().c_str(), params_.n_subsample);
}

Status Session::check_pooled_only() const {
  if (!params_.pooled_only) return {};
  if (needs_values(pool_))
    return error(EINVAL,
                 "pooled_only=1 keeps no scores of frames, which pool=%s needs; use mean, min, max or harmonic_mean",
                 params_.pool.c_str());
  if (range_.is_given())
    return error(EINVAL, "pooled_only=1 keeps no scores of frames, which are needed to merge range=%s",
                 range_.text().c_str());
  return {};
}

DeviceChoice Session::device_choice() const {
  return {params_.device, params_.given, std::chrono::seconds(params_.backend == "hip" ? params_.device_wait : 0)};
}

/* What `encode_names` calls it, or "main0". */
std::string Session::encode_name(int number) const {
  size_t at = 0;
  const std::string& names = params_.encode_names;
  for (int i = 0; i < number && at != names.npos; i++)
    if (at = names.find('|', at); at != names.npos) at++;
  const std::string name = at == names.npos ? "" : names.substr(at, names.find('|', at) - at);
  return name.empty() ? "main" + std::to_string(number) : name;
}

Status Session::open_encodes() {
  const bool named = params_.encodes > 1;
  std::vector<std::string> names;
  for (int i = 0; i < params_.encodes; i++) {
    names.push_back(encode_name(i));
    if (std::ranges::count(names, names.back()) > 1)
      return error(EINVAL, "two encodes are called '%s'; encode_names=A|B|… names each of them", names.back().c_str());
  }
  const auto count = std::ranges::count(params_.encode_names, '|') + 1;
  if (!params_.encode_names.empty() && count > params_.encodes)
    return error(EINVAL, "names in encode_names: %d; encodes: %d", static_cast<int>(count), params_.encodes);
  const std::vector<std::string> labels = named ? names : std::vector<std::string>{"0"};
  VMAFX_ASSIGN(const auto metrics, open_metrics_file(params_.openmetrics, params_.overwrite, labels));
  for (int i = 0; i < params_.encodes; i++) {
    const MonitorRequest monitor = {params_.window, params_.warn_below, params_.fail_below, metrics,
                                    static_cast<size_t>(i)};
    VMAFX_ASSIGN(auto encode, Encode::open({i, names[static_cast<size_t>(i)]}, named, monitor, log_));
    encodes_.push_back(std::move(encode));
  }
  return {};
}

StatusOr<std::vector<ModelSpec>> Session::models_asked_for() {
  if (!params_.ignore_unknown) return parse_models(params_.model);
  std::vector<std::string> left_out;
  auto models = parse_known(params_.model, &left_out);
  for (const std::string& complaint : left_out) log_.warning(complaint + " (ignored)");
  return models;
}

Status Session::configure(const VmafxFormat& ref_given, std::span<const VmafxFormat> dist_given) {
  VMAFX_TRY(check_unconfigured());
  VMAFX_ASSIGN(InputFormat ref, InputFormat::make(ref_given, "reference"));
  return match(std::move(ref), dist_given, nullptr);
}

Status Session::configure_against(std::shared_ptr<const KeptReference> reference,
                                  std::span<const VmafxFormat> dist_given) {
  VMAFX_TRY(check_unconfigured());
  return match(reference->format(), dist_given, reference);
}

Status Session::check_unconfigured() const {
  if (configured_) return error(EINVAL, "the session is configured already; open another one for another format");
  return failure_;
}

Status Session::match(InputFormat ref, std::span<const VmafxFormat> dist_given,
                      std::shared_ptr<const KeptReference> reference) {
  std::vector<InputFormat> dist;
  for (const auto& encode : encodes_) {
    const VmafxFormat& given = dist_given[dist_given.size() == 1 ? 0 : static_cast<size_t>(encode->number())];
    VMAFX_ASSIGN(InputFormat format, InputFormat::make(given, "distorted"));
    if (encode->label() && !given.name) format.name = encode->name();
    if (const auto differ = differences(ref, format); !differ.empty()) return {EINVAL, differ.front()};
    dist.push_back(std::move(format));
  }
  reference_ = std::move(reference);
  return keep(set_up(std::move(ref), std::move(dist)));
}

/* Once: what fails half-way is not begun again. */
Status Session::set_up(InputFormat ref, std::vector<InputFormat> dist) {
  format_ = ref.scored;
  for (const InputFormat& format : dist) warn_of_colors(ref, format, model_count() > 0, log_);
  settle_color(ref.scored.color, dist);
  settle_fps(dist);
  VMAFX_TRY(plan_.instantiate(format_, log_, params_.encodes));
  if (reference_) {
    VMAFX_TRY(reference_->check_planes(plan_.planes_read()));
  } else {
    ref.planes_read = plan_.planes_read();
    ref_reader_.start(ref, log_);
  }
  dist_readers_.resize(dist.size());
  for (size_t i = 0; i < dist.size(); i++) {
    dist[i].planes_read = plan_.planes_read();
    dist_readers_[i].start(dist[i], log_);
  }
  VMAFX_TRY(start_pipeline());
  if (reference_) pipeline_.keep_sums(kept_sums());
  VMAFX_TRY(start_import(ref_reader_, ref));
  for (size_t i = 0; i < dist.size(); i++) VMAFX_TRY(start_import(dist_readers_[i], dist[i]));
  for (const auto& encode : encodes_)
    VMAFX_TRY(encode->start(plan_, range_, pool_, params_.n_subsample, params_.pooled_only));
  configured_ = true;
  return {};
}

/* All encodes are scored as of the same colors: the reference's, or where it does not say them those of the first that does. */
void Session::settle_color(const Color& ref, const std::vector<InputFormat>& dist) {
  Color common = ref;
  for (const InputFormat& format : dist) {
    std::string differ;
    common = common_color(common, format.scored.color, &differ);
    if (plan_.any(kColor) && !differ.empty())
      log_.warning("the inputs differ in what they say of their colors (" + differ +
                   "); the distorted one is taken as the reference is");
  }
  format_.color = common;
  const std::string assumed = assume_color(format_);
  if (plan_.any(kColor) && !assumed.empty())
    log_.info("the inputs do not say what their colors are: " + assumed + " is assumed");
}

/* Likewise. */
void Session::settle_fps(const std::vector<InputFormat>& dist) {
  for (const InputFormat& format : dist)
    if (!format_.fps) format_.fps = format.scored.fps;
  if (plan_.any(kFps) && !format_.fps)
    log_.info(
        "the inputs do not say their frame rate: below 32 is assumed where the option fps of the feature is not set");
}

Status Session::start_pipeline() {
  const int threads = std::min(params_.n_threads ? params_.n_threads : usable_threads(), kMostThreads);
  std::vector<Extractor*> extractors;
  for (const PlannedExtractor& planned : plan_.extractors()) extractors.push_back(planned.extractor.get());
  VMAFX_TRY(pipeline_.start(std::move(extractors), threads, kFramesAhead, params_.encodes));
  VMAFX_TRY(start_device_queue());
  if (takeover_.empty()) log_beginning(run_facts(), log_);
  return {};
}

/* Of the inputs in a GPU's memory the fewest; nullopt: there are none. */
std::optional<uint64_t> Session::spare_pictures() const {
  std::optional<uint64_t> fewest;
  const auto count = [&](const PictureReader& reader) {
    if (reader.in_gpu_memory()) fewest = std::min(fewest.value_or(UINT64_MAX), reader.spare_pictures());
  };
  count(ref_reader_);
  std::ranges::for_each(dist_readers_, count);
  return fewest;
}

/* The GPU's part, if there is one. What does not fit its memory is like a device that does not open. */
Status Session::start_device_queue() {
  if (backend_.comes_later) return start_opening();
  const bool wanted = std::ranges::any_of(
      plan_.extractors(), [](const PlannedExtractor& planned) { return planned.extractor->device_twin(); });
  if (!backend_.device || !wanted) return {};
  const Status status = pipeline_.add_device_queue(*backend_.device, format_, spare_pictures(), params_.verify);
  if (status.ok()) return {};
  return give_up_device(params_.backend, status, backend_, log_);
}

/* Of a GPU that comes later. Frames in its memory are for it, so that it must be there before the first one. */
Status Session::start_opening() {
  VMAFX_ASSIGN(DeviceExtractors made, plan_.make_device_extractors(format_));
  if (std::ranges::none_of(made.of_plan, [](const auto& extractor) { return extractor != nullptr; })) return {};
  kept_by_cpu_ = std::move(made.kept);
  DeviceQueueRequest queue{std::move(made.of_plan), format_, spare_pictures(), params_.encodes};
  auto opening = DeviceOpening::start(
      {.device = device_choice(), .queue = std::move(queue), .beside_stream = !has_surfaces()}, log_);
  if (!opening.ok()) return give_up_device(params_.backend, opening.status(), backend_, log_);
  opening_ = std::move(opening.value());
  pipeline_.expect_device_queue(true);
  if (!has_surfaces()) return {};
  (void)opening_->wait();
  return look_at_opening();
}

/* The GPU takes over once it is there; that it does not come is told once that is known. */
Status Session::look_at_opening() {
  if (!opening_) return {};
  std::optional<Status> outcome = opening_->outcome();
  if (!outcome) return {};
  if (outcome->ok()) outcome = take_over();
  opening_.reset();
  pipeline_.expect_device_queue(false);
  VMAFX_TRY(failure_);
  return outcome->ok() ? Status() : give_up_device(params_.backend, *outcome, backend_, log_);
}

/* From the next frame on. Fails for the GPU's sake, or with failure_ for the sake of frames that were in flight. */
Status Session::take_over() {
  VMAFX_ASSIGN(OpenedGpu gpu, opening_->take());
  VMAFX_TRY(pump([] { return true; }));
  std::vector<Extractor*> extractors;
  for (const auto& extractor : gpu.extractors) extractors.push_back(extractor.get());
  VMAFX_TRY(pipeline_.add_device_queue(std::move(gpu.queue), std::move(extractors), params_.verify));
  device_extractors_ = std::move(gpu.extractors);
  backend_ = {.listening = std::move(gpu.listening), .device = std::move(gpu.device), .preferred = Placement::kDevice};
  for (const auto& encode : encodes_) takeover_.push_back(encode->number_of(encode->submitted()));
  for (const std::string& line : kept_by_cpu_) log_.info(line);
  log_beginning(run_facts(), log_);
  return {};
}

void Session::end_opening() {
  if (!opening_) return;
  opening_->wait_for_search();
  const std::optional<Status> outcome = opening_->outcome();
  opening_.reset();
  if (outcome && !outcome->ok()) return (void)give_up_device(params_.backend, *outcome, backend_, log_);
  backend_.fallback = "the stream ended before the GPU was open";
  log_.verbose("backend=auto ran on the CPU: " + backend_.fallback);
}

/* The reference's, of metrics that read nothing else. */
std::vector<std::shared_ptr<KeptSums>> Session::kept_sums() const {
  std::vector<std::shared_ptr<KeptSums>> kept;
  for (const PlannedExtractor& planned : plan_.extractors()) {
    const Extractor& extractor = *planned.extractor;
    const bool alone = !extractor.reads().dist && !(planned.info->flags & (kColor | kFps));
    kept.push_back(alone ? reference_->sums_of(planned.key(), extractor.sums_bytes()) : nullptr);
  }
  return kept;
}

/* An input in a GPU's memory is read there, or downloaded for a reason that is told. */
Status Session::start_import(PictureReader& reader, const InputFormat& format) {
  if (!reader.in_gpu_memory()) return {};
  const bool may_download = params_.import != "device";
  auto intake = open_intake(format);
  if (!intake.ok()) return reader.stop_importing(intake.status().message(), may_download);
  reader.import(std::move(intake.value()), may_download);
  return {};
}

StatusOr<std::unique_ptr<DeviceIntake>> Session::open_intake(const InputFormat& format) const {
  if (params_.import == "host") return error(ENOTSUP, "import=host");
  for (size_t i = 0; i < plan_.extractors().size(); i++) {
    const PlannedExtractor& planned = plan_.extractors()[i];
    if (!pipeline_.on_device(i)) return error(ENOTSUP, "%s runs on the CPU", planned.name().c_str());
    if (const int earlier = planned.extractor->reads().converted)
      return error(ENOTSUP, "%s reads %d earlier frames, more than a decoder has memory for", planned.name().c_str(),
                   earlier);
  }
  return DeviceIntake::create(format, *backend_.device, params_.given);
}

Status Session::submit(OwnedPicture ref, DistPictures dist) {
  VMAFX_TRY(check_open(false));
  return offer({std::move(ref), std::move(dist)});
}

Status Session::submit_against(int64_t frame, DistPictures dist) {
  VMAFX_TRY(check_open(true));
  VMAFX_ASSIGN(auto ref, reference_->frame(frame));
  return offer({std::move(ref), std::move(dist)});
}

/* `against`: a reference that stays. */
Status Session::check_open(bool against) const {
  VMAFX_TRY(failure_);
  if (!configured_) return error(EINVAL, "frames were submitted before the format was configured");
  if (finished_) return error(EINVAL, "frames were submitted after the end of the stream");
  if (against && !reference_) return error(EINVAL, "the session was not configured against a reference that stays");
  if (!against && reference_)
    return error(EINVAL, "the session was configured against a reference that stays, so no picture of it is submitted");
  return {};
}

/* Pairs before the range wait, untouched, until one of its own comes. */
Status Session::offer(Submission submission) {
  auto begins = meet(submission.dist);
  VMAFX_TRY(keep(begins.status()));
  if (std::ranges::none_of(submission.dist, &std::optional<OwnedPicture>::has_value)) return {};
  waiting_.push_back(std::move(submission));
  if (!begins.value()) {
    drop_early();
    return {};
  }
  while (!waiting_.empty()) {
    Submission next = std::move(waiting_.front());
    waiting_.pop_front();
    VMAFX_TRY(queue(std::move(next)));
  }
  return {};
}

/* Whether one of them is to be scored or context. Of an encode whose range has its context, pictures go. */
StatusOr<bool> Session::meet(DistPictures& dist) {
  bool begins = false;
  for (size_t i = 0; i < dist.size(); i++) {
    if (!dist[i]) continue;
    const bool was_done = encodes_[i]->progress().is_done();
    VMAFX_ASSIGN(const Place place, encodes_[i]->meet(**dist[i]));
    if (was_done) dist[i].reset();
    else begins |= place != Place::kBefore || encodes_[i]->submitted() > 0;
  }
  return begins;
}

void Session::drop_early() {
  for (const auto& encode : encodes_) {
    const size_t i = static_cast<size_t>(encode->number());
    while (encode->progress().waiting() > encode->progress().before()) {
      std::ranges::find_if(waiting_, [=](const Submission& early) { return early.dist[i].has_value(); })
          ->dist[i]
          .reset();
      encode->drop();
    }
  }
  std::erase_if(waiting_, [](const Submission& early) {
    return std::ranges::none_of(early.dist, &std::optional<OwnedPicture>::has_value);
  });
}

bool Session::range_done() const {
  return std::ranges::all_of(encodes_, [](const auto& encode) { return encode->progress().is_done(); });
}

Status Session::queue(Submission submission) {
  DistPictures dist_pictures = std::move(submission.dist);
  std::vector<VmafxPicture> facts(dist_pictures.size());  // times and key frames
  for (size_t i = 0; i < facts.size(); i++)
    if (dist_pictures[i]) facts[i] = **dist_pictures[i];
  OwnedPicture* const comes = std::get_if<OwnedPicture>(&submission.ref);
  auto ref = comes ? ref_reader_.read(std::move(*comes)) : std::get<Pipeline::Held>(submission.ref);
  auto frames = read(std::move(dist_pictures));
  VMAFX_TRY(keep(ref.status()));
  VMAFX_TRY(keep(frames.status()));

  if (submitted_ == 0) started_ = std::chrono::steady_clock::now();
  if (opening_) opening_->stream_began();
  VMAFX_TRY(keep(look_at_opening()));
  VMAFX_TRY(pump([this] { return pipeline_.full(); }));
  VMAFX_TRY(keep(report_complete_frames()));
  for (Pipeline::EncodeFrame& frame : frames.value()) {
    Encode& encode = *encodes_[static_cast<size_t>(frame.encode)];
    auto index = encode.add(facts[static_cast<size_t>(frame.encode)], ref.value(), frame.dist);
    VMAFX_TRY(keep(index.status()));
    frame.index = index.value();
    frame.scored = encode.is_scored(encode.number_of(frame.index));
  }
  submitted_ += static_cast<int64_t>(frames.value().size());
  VMAFX_TRY(keep(pipeline_.add(std::move(ref.value()), frames.value())));
  return keep(reserve_reports());
}

StatusOr<std::vector<Pipeline::EncodeFrame>> Session::read(DistPictures pictures) {
  std::vector<Pipeline::EncodeFrame> frames;
  for (size_t i = 0; i < pictures.size(); i++) {
    if (!pictures[i]) continue;
    VMAFX_ASSIGN(auto held, dist_readers_[i].read(std::move(*pictures[i])));
    frames.push_back({.encode = static_cast<int>(i), .dist = std::move(held)});
  }
  return frames;
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
Status Session::reserve_reports() {
  const bool due = submitted_ % kFramesPerReserve == 0 || (submitted_ & (submitted_ - 1)) == 0;
  for (ReportFile& report : reports_)
    if (due) VMAFX_TRY(report.reserve(encodes_.front()->table(), submitted_ / static_cast<int64_t>(reports_.size())));
  return {};
}

/* A device that fails is told once; without `fallback` it ends the session. */
Status Session::check_device() {
  VMAFX_TRY(pipeline_.failure());
  if (handover_) return {};
  handover_ = pipeline_.handover();
  if (!handover_) return {};
  handover_->frame = encodes_[static_cast<size_t>(handover_->encode)]->number_of(handover_->frame);
  const std::string what = format_text("the GPU failed at frame %lld: %s", static_cast<long long>(handover_->frame),
                                       handover_->reason.message().c_str());
  if (!params_.fallback) return error(EIO, "%s (with fallback=1 the CPU would take over)", what.c_str());
  log_.warning(what + "; the CPU scores from there on");
  if (ref_reader_.is_importing()) VMAFX_TRY(ref_reader_.stop_importing("the CPU scores", true));
  for (PictureReader& reader : dist_readers_)
    if (reader.is_importing()) VMAFX_TRY(reader.stop_importing("the CPU scores", true));
  return {};
}

Status Session::score(const FinishedFrame& finished) {
  VMAFX_TRY(check_device());
  VMAFX_TRY(encodes_[static_cast<size_t>(finished.encode)]->score(finished));
  if (params_.verify_fail && pipeline_.verification().largest_difference > 0)
    return error(EBADMSG, "verify_fail: the raw sums of frame %lld differ between GPU and CPU by %g of their value",
                 static_cast<long long>(encodes_[static_cast<size_t>(finished.encode)]->number_of(finished.index)),
                 pipeline_.verification().largest_difference);
  return {};
}

Status Session::report_complete_frames() {
  for (const auto& encode : encodes_)
    VMAFX_TRY(encode->report_complete_frames(report_of(*encode), reports_.size() == 1));
  return {};
}

ReportFile* Session::report_of(const Encode& encode) {
  if (reports_.empty()) return nullptr;
  return &reports_[reports_.size() == 1 ? 0 : static_cast<size_t>(encode.number())];
}

/* Of those that have a result, the one that is furthest behind; nullptr: none has. */
Encode* Session::ready_encode() const {
  Encode* found = nullptr;
  for (const auto& encode : encodes_)
    if (encode->is_ready() && (!found || encode->received() < found->received())) found = encode.get();
  return found;
}

Status Session::receive(bool wait, VmafxFrameResult* result, bool* ready) {
  *ready = false;
  if (!configured_) return {};
  if (!ready_encode() && !finished_) {
    VMAFX_TRY(failure_);
    VMAFX_TRY(pump([&] { return wait && !ready_encode(); }));
    VMAFX_TRY(keep(report_complete_frames()));
  }
  Encode* const encode = ready_encode();
  if (!encode) return {};
  encode->receive(result);
  *ready = true;
  return {};
}

Status Session::drain() {
  VMAFX_TRY(pump([] { return true; }));
  for (const auto& encode : encodes_) VMAFX_TRY(keep(encode->flush()));
  ended_ = std::chrono::steady_clock::now();
  end_opening();
  return {};
}

/* The scores stand from the end of drain() on, whatever becomes of the reports. */
Status Session::finish() {
  VMAFX_TRY(failure_);
  if (finished_) return {};
  for (const auto& encode : encodes_)
    if (encode->progress().met()) VMAFX_TRY(keep(encode->progress().check_end()));
  if (submitted_ == 0) return error(EINVAL, "no frames were scored: the inputs gave no frame pair");
  VMAFX_TRY(drain());
  finished_ = true;
  const Status reported = keep(write_reports(false));
  for (const auto& encode : encodes_) encode->log_gaps();
  log_end(run_facts(), log_);
  const Status ended = keep(end_encodes());
  VMAFX_TRY(reported);
  return ended;
}

/* What is wrong with one encode does not keep the others from being told; the first is the session's failure. */
Status Session::end_encodes() {
  Status first;
  for (const auto& encode : encodes_) {
    if (params_.summary) encode->log_summary();
    Status status = encode->submitted() ? encode->check_gates()
                                        : error(EINVAL, "no frames were scored: the input gave no frame pair");
    if (status.ok()) continue;
    if (encode->label()) status = error(status.code(), "%s: %s", encode->name().c_str(), status.message().c_str());
    if (first.ok()) first = std::move(status);
    else log_.error(status.message());
  }
  return first;
}

std::span<const std::pair<std::string, double>> Session::aggregates() const {
  if (!finished_) return {};
  return encodes_.front()->table().aggregates();
}

Status Session::set_pairing(const VmafxPairing& pairing) {
  if (pairing.encode < 0 || pairing.encode >= params_.encodes)
    return error(EINVAL, "there is no encode %d to set the pairing of, only encodes 0 to %d", pairing.encode,
                 params_.encodes - 1);
  encodes_[static_cast<size_t>(pairing.encode)]->set_pairing(pairing);
  return {};
}

Status Session::abandon() {
  if (finished_ || submitted_ == 0 || reports_.empty()) return {};
  if (failure_.ok()) (void)drain();
  const auto has_scores = [](const auto& encode) { return encode->has_complete_frames(); };
  return std::ranges::any_of(encodes_, has_scores) ? write_reports(true) : Status();
}

Status Session::write_reports(bool partial) {
  const Status lines = report_complete_frames();
  std::vector<ReportFile> reports = std::move(reports_);
  reports_.clear();
  if (!lines.ok()) return lines;
  const std::span all(encodes_);
  if (reports.size() == 1) return write_report(std::move(reports[0]), all, partial);
  Status first;
  for (size_t i = 0; i < reports.size(); i++) {
    if (encodes_[i]->submitted() == 0) continue;  // an encode without frames leaves no report
    const Status status = write_report(std::move(reports[i]), all.subspan(i, 1), partial);
    if (first.ok()) first = status;
  }
  return first;
}

Status Session::write_report(ReportFile report, std::span<const std::unique_ptr<Encode>> encodes, bool partial) {
  std::vector<EncodeReport> told;
  const bool several = encodes.size() > 1;
  for (const auto& encode : encodes) {
    const bool cut = partial || (encode->pairing() && encode->pairing()->cut_short);
    told.push_back({encode->table(),
                    several ? encode->label() : nullptr,
                    {library_version(), format_.w, format_.h, frames_per_second(), cut, encode->windows(),
                     run_facts(encode.get(), several), range_facts(*encode, cut)}});
  }
  VMAFX_TRY(report.write(told));
  return report.commit();
}

std::optional<RangeFacts> Session::range_facts(const Encode& encode, bool partial) const {
  auto facts = encode.range_facts(partial);
  if (!facts) return facts;
  const Color& color = format_.color;
  facts->format = Json::object({{"width", format_.w},
                                {"height", format_.h},
                                {"bits", format_.bpc},
                                {"chroma", std::string(kChromaNames[static_cast<size_t>(format_.chroma)])},
                                {"matrix", color.matrix},
                                {"transfer", color.transfer},
                                {"primaries", color.primaries},
                                {"full_range", color.range == Color::Range::kFull},
                                {"chroma_location", static_cast<int>(color.chroma_location)}});
  Json hashes = Json::array();
  for (const PlannedModel& planned : plan_.models())
    if (const auto hash = planned.model.file_hash()) hashes.add(Hash::text(*hash));
  if (plan_.any(kFps)) facts->format.add("fps", format_.fps);
  facts->options = Json::object({{"model", params_.model},
                                 {"model_files", std::move(hashes)},
                                 {"feature", params_.feature},
                                 {"ignore_unknown", params_.ignore_unknown},
                                 {"n_subsample", params_.n_subsample},
                                 {"pool", params_.pool},
                                 {"window", params_.window}});
  return facts;
}

unsigned Session::imports() const {
  unsigned imports = ref_reader_.is_importing() ? 1 : 0;
  for (size_t i = 0; i < dist_readers_.size(); i++)
    if (dist_readers_[i].is_importing()) imports |= 2u << i;
  return imports;
}

/* Where the CPU had frames before. Without an encode: of the one that is furthest. */
std::optional<int64_t> Session::takeover(const Encode* encode) const {
  if (takeover_.empty()) return std::nullopt;
  const int64_t frame = encode ? takeover_[static_cast<size_t>(encode->number())] : std::ranges::max(takeover_);
  return frame > 0 ? std::optional(frame) : std::nullopt;
}

/* Of an encode, or with the pairing of one, if any, of all of them. */
RunFacts Session::run_facts(const Encode* encode, bool of_all) const {
  FrameCounts ref = pipeline_.counts(hip::Side::kRef), dist = pipeline_.counts(hip::Side::kDist);
  ref.downloaded = ref_reader_.downloaded();
  for (const PictureReader& reader : dist_readers_) dist.downloaded += reader.downloaded();
  RunFacts run{.fallback = backend_.fallback,
               .threads = pipeline_.threads(),
               .n_subsample = params_.n_subsample,
               .ref = ref,
               .dist = dist,
               .in_gpu_memory = has_surfaces() || (reference_ && reference_->device_budget()),
               .takeover = takeover(of_all ? nullptr : encode),
               .handover = handover_,
               .verify = params_.verify,
               .verification = pipeline_.verification(),
               .pairing = encode ? encode->pairing() : std::nullopt};
  const bool ended_before = !of_all && run.takeover == encode->number_of(encode->submitted());
  if (ended_before) run.takeover.reset();
  for (const PlannedModel& planned : plan_.models()) run.models.push_back({planned.model.name(), planned.version});
  for (size_t i = 0; i < plan_.extractors().size(); i++)
    run.metrics.push_back({plan_.extractors()[i].name(), !ended_before && pipeline_.on_device(i)});
  if (backend_.device) run.device = device_name(*backend_.device);
  return run;
}

double Session::frames_per_second() const {
  const double seconds = std::chrono::duration<double>(ended_ - started_).count();
  return seconds > 0 ? static_cast<double>(submitted_) / seconds : 0;
}

StatusOr<const Encode*> Session::scored_encode(int number) const {
  if (!finished_) VMAFX_TRY(failure_);
  if (!finished_) return error(EINVAL, "there is no score before the stream is finished");
  if (number < 0 || number >= params_.encodes) return error(EINVAL, "there is no encode %d", number);
  return encodes_[static_cast<size_t>(number)].get();
}

StatusOr<NamedScore> Session::feature_score(int encode, int i) const {
  VMAFX_ASSIGN(const Encode* found, scored_encode(encode));
  return found->feature_score(i);
}

StatusOr<NamedScore> Session::model_score(int encode, int i) const {
  VMAFX_ASSIGN(const Encode* found, scored_encode(encode));
  return found->model_score(i);
}

}  // namespace vmafx
