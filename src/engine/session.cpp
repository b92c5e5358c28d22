#include "engine/session.h"

#include <algorithm>
#include <cerrno>

#include "base/cpu.h"
#include "engine/color.h"
#include "kernels/steps/gray_file.h"

namespace vmafx {

namespace {

constexpr auto has_no_picture = [](const auto& submission) {
  return std::ranges::none_of(submission.dist, [](const auto& picture) { return picture.has_value(); });
};

/* Frame pairs in flight beyond those that workers score: enough that no worker waits for the decoder's next frame. */
constexpr int kFramesAhead = 2;

/* The `number`th name in `names`, or "main0". */
std::string encode_name(const std::string& names, int number) {
  size_t at = 0;
  for (int i = 0; i < number && at != names.npos; i++)
    if (at = names.find('|', at); at != names.npos) at++;
  const std::string name = at == names.npos ? "" : names.substr(at, names.find('|', at) - at);
  return name.empty() ? "main" + std::to_string(number) : name;
}

StatusOr<std::vector<std::string>> parse_encode_names(const std::string& text, int encodes) {
  std::vector<std::string> names;
  for (int i = 0; i < encodes; i++) {
    names.push_back(encode_name(text, i));
    if (std::ranges::count(names, names.back()) > 1)
      return error(EINVAL, "two encodes are called '%s'; encode_names=A|B|… names each of them", names.back().c_str());
  }
  const auto count = std::ranges::count(text, '|') + 1;
  if (!text.empty() && count > encodes)
    return error(EINVAL, "encode_names has %d names for %d encodes", static_cast<int>(count), encodes);
  return names;
}

SessionGpu::Request gpu_request(const SessionOptions& params) {
  const std::chrono::seconds place_wait(params.backend == "hip" ? params.device_wait : 0);
  return {params.backend, {params.device, params.given, place_wait}, params.encodes, params.verify};
}

}  // namespace

Session::Session(const SessionOptions& params, Log::Sink sink)
    : params_(params), log_(std::move(sink)), gpu_(gpu_request(params_), log_) {}

/* -- Opening ------------------------------------------------------------------------------------------------------- */

/* Parses all texts, models included, before it opens any output, and opens the outputs before the GPU: a wrong word
 * must not wait for a GPU, which may be busy. */
StatusOr<std::unique_ptr<Session>> Session::open(const SessionOptions& params, Log::Sink sink) {
  VMAFX_TRY(params.validate());
  VMAFX_TRY(select_cpu());

  std::unique_ptr<Session> session(new Session(params, std::move(sink)));
  VMAFX_ASSIGN(const auto features, parse_features(params.feature));
  VMAFX_ASSIGN(const auto models, session->parse_models_asked_for());
  VMAFX_ASSIGN(session->range_, Range::parse(params.range));
  VMAFX_TRY(session->check_subsample());
  VMAFX_ASSIGN(session->score_format_, ScoreFormat::parse(params.score_fmt, false));
  session->pool_ = choose_pool(params.pool, session->log_);
  VMAFX_TRY(session->check_pooled_only());
  const Rivals rivals = params.ignore_unknown ? Rivals::kFirstIsReported : Rivals::kRefused;
  VMAFX_ASSIGN(session->plan_, Plan::make(models, features, session->log_, rivals));
  VMAFX_ASSIGN(session->color_target_, session->choose_color_target());
  if (params.overwrite) session->plan_.allow_overwrite();
  if (session->range_.is_given()) session->plan_.write_below(session->folder_of_range());
  if (params.makes_maps()) VMAFX_TRY(session->plan_.make_maps());
  VMAFX_TRY(session->start_regions());
  if (params.looks()) session->plan_.look_at_pictures();
  VMAFX_TRY(session->open_outputs(models, features));
  VMAFX_TRY(session->gpu_.open(session->plan_.names_kernels()));
  VMAFX_TRY(session->plan_.place(session->gpu_.preferred()));
  return session;
}

StatusOr<std::vector<ModelSpec>> Session::parse_models_asked_for() {
  if (!params_.ignore_unknown) return parse_models(params_.model);
  std::vector<std::string> left_out;
  auto models = parse_known(params_.model, &left_out);
  for (const std::string& complaint : left_out) log_.warning(complaint + " (ignored)");
  return models;
}

/* Reads masks before anything is opened. */
Status Session::start_regions() {
  VMAFX_ASSIGN(regions_, parse_regions(params_.roi));
  if (regions_.empty()) return {};
  std::vector<std::string> names;
  bool active = false;
  for (const Region& region : regions_) {
    names.push_back(region.name);
    active |= region.kind == Region::Kind::kActive;
    masks_.emplace_back();
    if (region.kind != Region::Kind::kMask) continue;
    VMAFX_ASSIGN(Mask mask, read_mask(region.path));
    masks_.back() = std::make_shared<const Mask>(std::move(mask));
  }
  return plan_.score_regions(std::move(names), active, log_);
}

StatusOr<std::vector<RegionArea>> Session::lay_out_regions() const {
  std::vector<RegionArea> areas;
  for (size_t i = 0; i < regions_.size(); i++) {
    VMAFX_ASSIGN(RegionArea area, RegionArea::make(regions_[i], masks_[i], format_));
    areas.push_back(std::move(area));
  }
  return areas;
}

/* The color space of the option `convert`, or of the models. One session has one. */
StatusOr<std::optional<ColorTarget>> Session::choose_color_target() const {
  std::optional<ColorTarget> target;
  for (const PlannedModel& planned : plan_.models()) {
    const Model& model = planned.model;
    if (model.color_target() && !params_.convert.empty())
      return error(EINVAL, "the model %s has pictures converted to a color space of its own; leave convert=%s out",
                   model.name().c_str(), params_.convert.c_str());
    if (model.color_target() != plan_.models().front().model.color_target())
      return error(
          EINVAL,
          "the models %s and %s are of pictures in different color spaces, and a session has one; give each its own "
          "session (its own filter of FFmpeg, after split)",
          plan_.models().front().model.name().c_str(), model.name().c_str());
    target = model.color_target();
  }
  if (target && !params_.feature.empty())
    return error(EINVAL,
                 "the model %s has pictures converted to a color space of its own, in which feature=%s would be "
                 "computed, too; score it in a session of its own",
                 plan_.models().front().model.name().c_str(), params_.feature.c_str());
  if (params_.convert.empty()) return target;
  VMAFX_ASSIGN(target, parse_color_target(params_.convert));
  return target;
}

/* n_subsample counts from the stream's first pair, which a range by time does not know. */
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

Status Session::open_outputs(const std::vector<ModelSpec>& models, const std::vector<FeatureSpec>& features) {
  std::vector<NamedFile> folders = written_folders(models, features);
  if (!params_.maps.empty()) folders.push_back({kBlockMaps.option, maps_folder(), std::string(kBlockMaps.ending)});
  for (const NamedFile& folder : folders) VMAFX_TRY(GrayFile::check_folder(folder.option.c_str(), folder.path));
  VMAFX_TRY(check_distinct(named_outputs(folders), named_inputs(models)));
  VMAFX_ASSIGN(reports_, SessionReports::open({params_.log_path, params_.log_fmt, params_.score_fmt,
                                               params_.n_subsample, params_.report_times, params_.encodes,
                                               range_.is_given(), params_.pooled_only, params_.overwrite},
                                              log_));
  return open_encodes();
}

/* The folder below that of maps in which a range has its own, so that ranges do not replace each other's. */
std::string Session::folder_of_range() const { return "range_" + range_.text(); }

/* "": there are no files of maps. */
std::string Session::maps_folder() const {
  return params_.maps.empty() || !range_.is_given() ? params_.maps : params_.maps + "/" + folder_of_range();
}

/* Adds the session's own files to the folders of maps. */
std::vector<NamedFile> Session::named_outputs(std::vector<NamedFile> folders) const {
  std::vector<NamedFile> outputs = std::move(folders);
  for (const std::string& path : report_paths(params_.log_path, params_.encodes)) outputs.push_back({"log_path", path});
  if (!params_.openmetrics.empty()) outputs.push_back({"openmetrics", params_.openmetrics});
  return outputs;
}

std::vector<NamedFile> Session::named_inputs(const std::vector<ModelSpec>& models) const {
  std::vector<NamedFile> inputs;
  for (const ModelSpec& model : models)
    if (!model.path.empty()) inputs.push_back({"model=path", model.path});
  for (const Region& region : regions_)
    if (!region.path.empty()) inputs.push_back({"roi", region.path});
  return inputs;
}

Status Session::open_encodes() {
  const bool named = params_.encodes > 1;
  VMAFX_ASSIGN(const std::vector<std::string> names, parse_encode_names(params_.encode_names, params_.encodes));
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

/* -- Configuring --------------------------------------------------------------------------------------------------- */

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
    if (const auto differ = differences(ref, format); !color_target_ && !differ.empty())
      return {EINVAL, differ.front()};
    dist.push_back(std::move(format));
  }
  reference_ = std::move(reference);
  return keep(set_up(std::move(ref), std::move(dist)));
}

/* Runs once; a session whose set-up failed stays failed. */
Status Session::set_up(InputFormat ref, std::vector<InputFormat> dist) {
  InputFormat ref_given = ref;
  std::vector<InputFormat> dist_given = dist;
  VMAFX_TRY(start_recoloring(ref, dist));
  format_ = ref.scored;
  const bool knows_sdr_only = model_count() > 0 && (!color_target_ || !params_.convert.empty());
  for (const InputFormat& format : dist) warn_of_colors(ref, format, knows_sdr_only, log_);
  settle_color(format_, dist, plan_.any(kColor), log_);
  settle_fps(dist);
  VMAFX_ASSIGN(region_areas_, lay_out_regions());
  VMAFX_TRY(plan_.instantiate(format_, log_, params_.encodes));
  recoloring_.want(plan_.planes_read());
  ref.planes_read = plan_.planes_read();
  for (InputFormat& format : dist) format.planes_read = plan_.planes_read();
  ref_given.planes_read = planes_read_of(0, ref_given);
  for (size_t i = 0; i < dist.size(); i++) dist_given[i].planes_read = planes_read_of(i + 1, dist_given[i]);
  VMAFX_TRY(start_readers(ref_given, dist_given));
  VMAFX_TRY(start_pipeline());
  if (reference_ && !recoloring_.converts(0)) pipeline_.keep_sums(kept_sums());
  VMAFX_TRY(start_import(ref_reader_, ref_given));
  for (size_t i = 0; i < dist.size(); i++) VMAFX_TRY(start_import(dist_readers_[i], dist_given[i]));
  for (const auto& encode : encodes_)
    VMAFX_TRY(encode->start(plan_, range_, pool_, params_.n_subsample, params_.pooled_only));
  VMAFX_TRY(start_maps());
  VMAFX_TRY(start_look(ref, dist));
  configured_ = true;
  return {};
}

/* A GPU brings frames faster than one thread makes their maps. */
Status Session::start_maps() {
  constexpr int kMostBesideGpu = 4;
  if (params_.makes_maps()) {
    pipeline_.lend_sums();
    VMAFX_TRY(map_workers_.start(gpu_.may_run() ? std::min(kMostBesideGpu, processors_) : 1));
  }
  const std::string folder = maps_folder();
  const MapsRequest request = {{folder, params_.overwrite}, params_.result_maps};
  for (const auto& encode : encodes_) VMAFX_TRY(encode->make_maps(request, region_areas_, format_, map_workers_));
  return {};
}

/* Has all inputs taken to the color target, if there is one: the formats become those that are scored. */
Status Session::start_recoloring(InputFormat& ref, std::vector<InputFormat>& dist) {
  if (!color_target_) return {};
  std::vector<InputFormat> inputs = {ref}, scored;
  inputs.insert(inputs.end(), dist.begin(), dist.end());
  VMAFX_TRY(recoloring_.start(*color_target_, inputs, worker_threads(), scored));
  ref = scored.front();
  dist.assign(scored.begin() + 1, scored.end());
  log_.info("pictures are scored in " + color_target_->name + ": " + recoloring_.text() +
            (recoloring_.maps_tones() ? "; HDR's tones are mapped to SDR by BT.2390's EETF" : ""));
  return {};
}

/* All planes of an input that is converted: each of them changes what the others become. */
unsigned Session::planes_read_of(size_t input, const InputFormat& format) const {
  return recoloring_.converts(input) ? (1u << format.scored.planes()) - 1 : plan_.planes_read();
}

Status Session::start_readers(InputFormat ref, std::span<const InputFormat> dist) {
  if (reference_) VMAFX_TRY(reference_->check_planes(ref.planes_read));
  else ref_reader_.start(ref, log_);
  dist_readers_.resize(dist.size());
  for (size_t i = 0; i < dist.size(); i++) dist_readers_[i].start(dist[i], log_);
  return {};
}

/* Takes the frame rate from the reference, else from the first encode that has one. */
void Session::settle_fps(const std::vector<InputFormat>& dist) {
  for (const InputFormat& format : dist)
    if (!format_.fps) format_.fps = format.scored.fps;
  if (plan_.any(kFps) && !format_.fps)
    log_.info(
        "the inputs do not say their frame rate: below 32 is assumed where the option fps of the feature is not set");
}

int Session::worker_threads() const {
  return std::min(params_.n_threads ? params_.n_threads : usable_threads(), kMostThreads);
}

Status Session::start_pipeline() {
  std::vector<const Extractor*> extractors;
  for (const PlannedExtraction& extraction : plan_.extractions()) extractors.push_back(&plan_.maker(extraction));
  VMAFX_TRY(pipeline_.start(std::move(extractors), worker_threads(), kFramesAhead, params_.encodes));
  return start_gpu();
}

/* The fewest spare pictures of any input in GPU memory; nullopt if there is no such input. */
std::optional<uint64_t> Session::spare_pictures() const {
  std::optional<uint64_t> fewest;
  const auto count = [&](const PictureReader& reader) {
    if (reader.in_gpu_memory()) fewest = std::min(fewest.value_or(UINT64_MAX), reader.spare_pictures());
  };
  count(ref_reader_);
  std::ranges::for_each(dist_readers_, count);
  return fewest;
}

/* Reads an input in a GPU's memory there, or downloads it and says why. */
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
  for (const PlannedExtractor& planned : plan_.extractors()) {
    if (planned.looks) continue;
    if (!pipeline_.on_device(planned.extraction)) return error(ENOTSUP, "%s runs on the CPU", planned.name().c_str());
    if (const int earlier = planned.extractor->reads().converted)
      return error(ENOTSUP, "%s reads %d earlier frames, more than a decoder has memory for", planned.name().c_str(),
                   earlier);
  }
  return DeviceIntake::create(format, *gpu_.device(), params_.given);
}

/* Has the pictures of all encodes looked at, if the plan makes their signatures. */
Status Session::start_look(const InputFormat& ref, std::span<const InputFormat> dist) {
  const std::optional<size_t> look = plan_.look();
  if (!look) return {};
  VMAFX_TRY(look_thread_.start());
  for (const auto& encode : encodes_)
    encode->look_at_pictures(look_thread_, *look, format_, ref, dist[static_cast<size_t>(encode->number())]);
  const bool goes_on = params_.pooled_only || reports_.are_written_early();
  if (params_.reports_findings() && (params_.early_doubts || goes_on))
    for (const auto& encode : encodes_) encode->tell_early();
  return {};
}

/* The reference's kept sums, for metrics that read nothing else. */
std::vector<std::shared_ptr<KeptSums>> Session::kept_sums() const {
  std::vector<std::shared_ptr<KeptSums>> kept;
  for (const PlannedExtraction& extraction : plan_.extractions()) {
    const Extractor& extractor = plan_.maker(extraction);
    const uint32_t flags = plan_.extractors()[extraction.of.front()].info->flags;
    const bool alone = !extractor.reads().dist && !(flags & (kColor | kFps));
    kept.push_back(alone ? reference_->sums_of(plan_.key(extraction), extractor.sums_bytes()) : nullptr);
  }
  return kept;
}

/* -- Scoring ------------------------------------------------------------------------------------------------------- */

Status Session::submit(OwnedPicture ref, DistPictures dist) {
  VMAFX_TRY(check_open(false));
  return offer({std::move(ref), std::move(dist)});
}

Status Session::submit_against(int64_t frame, DistPictures dist) {
  VMAFX_TRY(check_open(true));
  VMAFX_ASSIGN(auto ref, reference_->frame(frame));
  return offer({std::move(ref), std::move(dist)});
}

/* `against`: the pictures belong to a kept reference. */
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
  const StreamClock::Call call(clock_);
  auto begins = meet(submission.dist);
  VMAFX_TRY(keep(begins.status()));
  if (has_no_picture(submission)) return {};
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

/* Returns whether one of the pictures is to be scored, or is context. Drops pictures of encodes whose range is
 * complete. */
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

/* Drops the oldest waiting pictures that are not context. */
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
  std::erase_if(waiting_, has_no_picture);
}

bool Session::range_done() const {
  return std::ranges::all_of(encodes_, [](const auto& encode) { return encode->progress().is_done(); });
}

Status Session::queue(Submission submission) {
  DistPictures dist_pictures = std::move(submission.dist);
  std::vector<VmafxPicture> facts(dist_pictures.size());  // the times and key frames
  for (size_t i = 0; i < facts.size(); i++)
    if (dist_pictures[i]) facts[i] = **dist_pictures[i];
  OwnedPicture* const comes = std::get_if<OwnedPicture>(&submission.ref);
  auto ref = comes ? ref_reader_.read(std::move(*comes)) : std::get<Pipeline::Held>(submission.ref);
  auto frames = read(std::move(dist_pictures));
  VMAFX_TRY(keep(ref.status()));
  VMAFX_TRY(keep(frames.status()));
  if (recoloring_.converts(0)) ref = recoloring_.recolored(0, std::move(ref.value()), gpu_.may_run());

  if (submitted_ == 0) {
    started_ = std::chrono::steady_clock::now();
    clock_.restart();
  }
  VMAFX_TRY(keep(look_at_gpu()));
  if (pipeline_.cpu_could_help()) gpu_.share(stream_state(), pipeline_);
  VMAFX_TRY(pump(true, [this] { return pipeline_.full(); }));
  VMAFX_TRY(keep(reports_.write_complete_frames(encodes_)));
  for (Pipeline::EncodeFrame& frame : frames.value()) {
    Encode& encode = *encodes_[static_cast<size_t>(frame.encode)];
    auto index = encode.add(facts[static_cast<size_t>(frame.encode)], ref.value(), frame.dist);
    VMAFX_TRY(keep(index.status()));
    frame.index = index.value();
    frame.number = encode.number_of(frame.index);
    frame.place = frame.number - encode.progress().first();
    frame.scored = encode.is_scored(frame.number);
  }
  submitted_ += static_cast<int64_t>(frames.value().size());
  VMAFX_TRY(keep(pipeline_.add(std::move(ref.value()), frames.value())));
  clock_.submitted();
  return keep(reports_.reserve(encodes_.front()->table(), submitted_));
}

StatusOr<std::vector<Pipeline::EncodeFrame>> Session::read(DistPictures pictures) {
  std::vector<Pipeline::EncodeFrame> frames;
  for (size_t i = 0; i < pictures.size(); i++) {
    if (!pictures[i]) continue;
    VMAFX_ASSIGN(auto held, dist_readers_[i].read(std::move(*pictures[i])));
    held = recoloring_.recolored(i + 1, std::move(held), gpu_.may_run());
    frames.push_back({.encode = static_cast<int>(i), .dist = std::move(held)});
  }
  return frames;
}

/* Keeps the first failure: later calls return it. */
Status Session::keep(Status status) {
  if (failure_.ok()) failure_ = status;
  return status;
}

void Session::fail(Status status) noexcept {
  if (failure_.ok()) failure_ = std::move(status);
}

/* Scores finished frames, in order; waits for the next one, or with `for_room` for room in the pipeline, while
 * `must_wait()`. */
template <class MustWait>
Status Session::pump(bool for_room, MustWait must_wait) {
  constexpr std::chrono::milliseconds kLook{2}, kCheck{500};
  FinishedFrame finished;
  for (;;) {
    if (pipeline_.take(false, &finished)) {
      VMAFX_TRY(keep(score(finished)));
    } else {
      if (pipeline_.empty() || !must_wait()) return {};
      VMAFX_TRY(keep(look_at_gpu()));
      pipeline_.wait(for_room, gpu_.comes_later() ? kLook : kCheck);
    }
  }
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

/* The encode that is furthest behind among those that have a result; nullptr: none has. */
Encode* Session::ready_encode() const {
  Encode* found = nullptr;
  for (const auto& encode : encodes_)
    if (encode->is_ready() && (!found || encode->received() < found->received())) found = encode.get();
  return found;
}

Status Session::receive(bool wait, VmafxFrameResult* result, bool* ready) {
  const StreamClock::Call call(clock_);
  *ready = false;
  if (!configured_) return {};
  if (!ready_encode() && !finished_) {
    VMAFX_TRY(failure_);
    VMAFX_TRY(pump(false, [&] { return wait && !ready_encode(); }));
    VMAFX_TRY(keep(reports_.write_complete_frames(encodes_)));
  }
  Encode* const encode = ready_encode();
  if (!encode || (!wait && !finished_ && encode->waits_for_maps())) return {};
  encode->receive(result);
  *ready = true;
  return {};
}

/* Scores everything that is in flight. */
Status Session::empty_pipeline() {
  return pump(false, [] { return true; });
}

/* Ends the stream: all scores are complete afterwards. */
Status Session::drain() {
  ends_ = true;
  VMAFX_TRY(empty_pipeline());
  for (const auto& encode : encodes_) VMAFX_TRY(keep(encode->flush()));
  ended_ = std::chrono::steady_clock::now();
  gpu_.end_stream(stream_state());
  if (const int64_t beside = pipeline_.beside_gpu())
    log_.verbose(format_text("the CPU scored %lld pairs beside the GPU", static_cast<long long>(beside)));
  return {};
}

/* Scores are there from the end of drain() on, even if the reports fail. */
Status Session::finish() {
  VMAFX_TRY(failure_);
  if (finished_) return {};
  for (const auto& encode : encodes_)
    if (encode->progress().met()) VMAFX_TRY(keep(encode->progress().check_end()));
  if (submitted_ == 0) return error(EINVAL, "no frames were scored: the inputs gave no frame pair");
  const StreamClock::Call call(clock_);
  VMAFX_TRY(drain());
  finished_ = true;
  const Status reported = keep(write_reports(false));
  for (const auto& encode : encodes_) encode->log_gaps();
  for (const auto& encode : encodes_)
    if (encode->submitted()) encode->log_doubts();
  log_end(run_facts(), log_);
  const Status ended = keep(end_encodes());
  VMAFX_TRY(reported);
  return ended;
}

/* Ends all encodes. One failing encode does not hide the others' errors; the first error is the session's. */
Status Session::end_encodes() {
  Status first;
  for (const auto& encode : encodes_) {
    if (params_.summary) encode->log_summary();
    Status status = encode->submitted() ? encode->check_gates()
                                        : error(EINVAL, "no frames were scored: the input gave no frame pair");
    if (status.ok() && params_.check == "fail") status = encode->check_pictures();
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

StatusOr<VmafxFinding> Session::finding(int encode, int i) const {
  VMAFX_ASSIGN(const Encode* found, scored_encode(encode));
  const auto findings = found->findings();
  if (i < 0 || static_cast<size_t>(i) >= findings.size()) return error(EINVAL, "there is no finding %d", i);
  return findings[static_cast<size_t>(i)].lend();
}

Status Session::set_pairing(const VmafxPairing& pairing) {
  if (pairing.encode < 0 || pairing.encode >= params_.encodes)
    return error(EINVAL, "there is no encode %d to set the pairing of, only encodes 0 to %d", pairing.encode,
                 params_.encodes - 1);
  VMAFX_ASSIGN(Pairing read, read_pairing(pairing));
  encodes_[static_cast<size_t>(pairing.encode)]->set_pairing(std::move(read));
  return {};
}

Status Session::abandon() {
  if (finished_ || submitted_ == 0 || !reports_.any()) return {};
  if (failure_.ok()) (void)drain();
  const auto has_scores = [](const auto& encode) { return encode->has_complete_frames(); };
  return std::ranges::any_of(encodes_, has_scores) ? write_reports(true) : Status();
}

unsigned Session::imports() const {
  unsigned imports = ref_reader_.is_importing() ? 1 : 0;
  for (size_t i = 0; i < dist_readers_.size(); i++)
    if (dist_readers_[i].is_importing()) imports |= 2u << i;
  return imports;
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

const char* Session::model_sha256(int i, const char** name) const {
  if (i < 0 || i >= model_count()) return nullptr;
  const Model& model = plan_.models()[static_cast<size_t>(i)].model;
  if (name) *name = model.name().c_str();
  return model.sha256().c_str();
}

StatusOr<NamedScore> Session::model_score(int encode, int i) const {
  VMAFX_ASSIGN(const Encode* found, scored_encode(encode));
  return found->model_score(i);
}

}  // namespace vmafx
