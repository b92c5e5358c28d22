#include "engine/encode.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "engine/look/words.h"
#include "report/summary.h"

namespace vmafx {
namespace {

/* A first pair later than this, in seconds, means that the input was seeked. */
constexpr double kLateBeginning = 2;

}  // namespace

Encode::Encode(EncodeLabel label, bool named, Log& log)
    : label_(std::move(label)), named_(named), log_([this, &log](VmafxLogLevel level, const char* message) {
        log.write(level, named_ ? label_.name + ": " + message : message);
      }) {}

StatusOr<std::unique_ptr<Encode>> Encode::open(EncodeLabel label, bool named, const MonitorRequest& monitor, Log& log) {
  std::unique_ptr<Encode> encode(new Encode(std::move(label), named, log));
  VMAFX_ASSIGN(encode->monitor_, Monitor::open(monitor));
  return encode;
}

Status Encode::start(const Plan& plan, const Range& range, const Pool& pool, int n_subsample, bool pooled_only) {
  if (range.is_given()) {
    progress_ = RangeProgress(range, plan.reach());
    borders_ = Borders(progress_.before(), progress_.after());
  }
  plan_ = &plan;
  pool_ = pool;
  n_subsample_ = n_subsample;
  pooled_only_ = pooled_only;
  table_.emplace(plan.columns());
  plan.set_means(*table_);
  for (int column = 0; pooled_only && column < table_->columns(); column++)
    if (table_->mean(column))
      return error(EINVAL, "pooled_only=1 keeps no scores of frames, and %s of a stream is made of all of them",
                   table_->keys()[static_cast<size_t>(column)].c_str());
  scorer_.emplace(plan, *table_, progress_, n_subsample);
  result_.reserve(table_->keys().size());
  window_scores_.reserve(table_->keys().size());
  std::vector<MetricColumn> columns = plan.main_columns();
  for (const auto& [column, is_model] : columns)
    if (!is_model) feature_columns_.push_back(column);
  return monitor_.start(*table_, std::move(columns), pool, n_subsample);
}

Status Encode::make_maps(const MapsRequest& request, std::span<const RegionArea> regions, const VideoFormat& format,
                         Workers& workers) {
  const std::optional<int> number = named_ ? std::optional(label_.number) : std::nullopt;
  VMAFX_ASSIGN(maps_, EncodeMaps::open(*plan_, format, request, number, workers));
  VMAFX_ASSIGN(regions_, EncodeRegions::make(*plan_, regions, format));
  if (request.any() || regions_.any())
    scorer_->tell_predictions([this](int64_t frame, size_t model, std::span<const double> features) {
      if (maps_) maps_->predicted(frame, model, features);
      regions_.predicted(frame, model, features, *table_);
    });
  return {};
}

StatusOr<Place> Encode::meet(const VmafxPicture& dist) {
  VMAFX_ASSIGN(const Place place, progress_.meet(time_of(dist)));
  if (progress_.met() == 1) warn_of_seek();
  return place;
}

/* Warns of an input that was seeked. Streams begin near 0, or with -copyts a little later (MPEG-TS: 1.5 s). */
void Encode::warn_of_seek() {
  const Range& range = progress_.range();
  const double first = progress_.counted_from().value_or(0);
  if (range.is_given() && !range.by_time() && first > kLateBeginning)
    log_.warning(format_text(
        "range=%s counts from the first frame pair that comes, which is at %.3f s. If an input was seeked to that, the "
        "numbers are not those of the stream: use times (range=12.5s-20s, with -copyts) instead",
        range.text().c_str(), first));
}

StatusOr<int64_t> Encode::add(const VmafxPicture& dist, const Borders::Held& ref, const Borders::Held& dist_held) {
  const std::optional<double> time = time_of(dist);
  const int64_t taken = progress_.taken(), number = progress_.take();
  VMAFX_TRY(borders_.add({number, time, ref, dist_held}, progress_.place_of(number)));
  if (!progress_.contains(number)) return taken;
  if (look_) look_->meet(number, *ref, *dist_held);
  if (time && scorer_->is_scored(number)) table_->set_time(number, *time);
  PoolWindows& windows = monitor_.windows();
  if (number == progress_.first()) windows.begin_at(number);
  if (windows.at_keyframes() && dist.keyframe && progress_.range().is_given()) keyframes_.push_back(number);
  if (windows.any()) VMAFX_TRY(windows.add(time, dist.keyframe));
  return taken;
}

Status Encode::score(const FinishedFrame& finished) {
  if (const int64_t number = number_of(finished.index); look_ && progress_.contains(number)) {
    VMAFX_TRY(look_->add(number, finished));
    for (const look::ToldFinding& found : look_->newly_sure()) log_.warning(early_sentence(found.words()));
  }
  if (const int64_t number = number_of(finished.index); is_scored(number)) {
    if (maps_) VMAFX_TRY(maps_->add(number, number - progress_.first(), finished));
    regions_.add(number, finished, *table_);
  }
  return scorer_->add(finished);
}

/* The first frame of the range that does not have all its scores. */
int64_t Encode::complete() const {
  return progress_.has_begun() ? std::clamp(scorer_->complete(), progress_.first(), progress_.end()) : 0;
}

/* Writes NDJSON as frames and windows finish; the other formats wait for the end. */
Status Encode::report_complete_frames(ReportFile* report, bool of_all) {
  const EncodeLabel* const label = of_all ? this->label() : nullptr;
  for (;;) {
    while (const auto number = monitor_.next_window(progress_.first() + reported_)) {
      const PooledFrames window = monitor_.window(*number);
      if (report) VMAFX_TRY(report->append_window(*table_, *number, window, label));
      monitor_.tell(window, log_);
    }
    const int64_t frame = progress_.first() + reported_;
    if (frame >= complete()) break;
    if (report) VMAFX_TRY(report->append_frame(*table_, frame, label, sure_of(frame)));
    reported_++;
  }
  forget_frames();
  return {};
}

/* Forgets what belongs to frames that were received and reported. A window's scores stay until the window was, too. */
void Encode::forget_frames() {
  const int64_t frame = std::min(received_, reported_);
  if (look_) look_->forget_before(progress_.first() + frame);
  if (!pooled_only_) return;
  table_->forget_before(monitor_.windows().begin_of(frame).value_or(frame), n_subsample_);
}

Status Encode::flush() {
  VMAFX_TRY(scorer_->flush());
  VMAFX_TRY(borders_.end());
  if (maps_) VMAFX_TRY(maps_->close());
  monitor_.windows().end();
  return look_ ? look_->finish() : Status();
}

bool Encode::is_ready() const {
  const int64_t frame = progress_.first() + received_;
  return frame < complete() && (!monitor_.windows().any() || monitor_.windows().knows(frame));
}

void Encode::receive(VmafxFrameResult* result) {
  result_.clear();
  const auto& keys = table_->keys();
  const int64_t frame = progress_.first() + received_++;
  if (scorer_->is_scored(frame))
    for (size_t column = 0; column < keys.size(); column++)
      if (const auto score = table_->get(frame, static_cast<int>(column)))
        result_.push_back({keys[column].c_str(), *score});
  sure_ = sure_of(frame);
  const std::span<const VmafxMap> maps = maps_ ? maps_->receive(frame) : std::span<const VmafxMap>();
  *result = {.frame = frame,
             .n_scores = result_.size(),
             .scores = result_.data(),
             .encode = label_.number,
             .n_sure = sure_.size(),
             .sure = sure_.data(),
             .n_maps = maps.size(),
             .maps = maps.data()};
  receive_window(frame, result);
}

/* The kinds of findings that the pairs before a frame leave no doubt about, each once. */
Encode::Names Encode::sure_of(int64_t frame) const {
  Names names;
  if (!look_) return names;
  for (const look::ToldFinding& found : look_->sure_before(frame))
    if (const char* const name = look::name_of(found.finding().kind); std::ranges::find(names, name) == names.end())
      names.push_back(name);
  return names;
}

void Encode::receive_window(int64_t frame, VmafxFrameResult* result) {
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

/* Counts scores that are not finite, which pooling leaves out. Equal pictures give infinities; a NaN means that a
 * metric broke, so the log names its key. */
void Encode::log_gaps() {
  int64_t count = 0;
  for (int column = 0; column < table_->columns(); column++) {
    const ScoreSums sums = pool_values(*table_, column, n_subsample_).sums;
    count += sums.not_finite;
    if (sums.not_numbers)
      log_.warning(
          format_text("%s is not a number (nan) in %lld of %lld frames; its pooled values are those of the others",
                      table_->keys()[static_cast<size_t>(column)].c_str(), static_cast<long long>(sums.not_numbers),
                      static_cast<long long>(sums.count + sums.not_finite)));
  }
  if (count)
    log_.warning(
        format_text("%lld scores are not finite; what is pooled leaves them out", static_cast<long long>(count)));
}

void Encode::log_doubts() {
  if (pairing_) log_pairing(*pairing_, log_);
  for (const std::string& sentence : doubt_sentences(picture_doubts())) log_.warning(sentence);
  for (const look::ToldFinding& note : findings())
    if (!note.is_doubt()) log_.verbose("The pictures show: " + note.words().text + ".");
}

std::span<const look::ToldFinding> Encode::findings() const {
  return look_ ? look_->findings() : std::span<const look::ToldFinding>();
}

std::vector<PictureDoubt> Encode::picture_doubts() const {
  std::vector<PictureDoubt> doubts;
  for (const look::ToldFinding& found : findings())
    if (found.is_doubt()) doubts.push_back(found.words());
  return doubts;
}

Status Encode::check_pictures() const {
  int count = 0;
  for (const look::ToldFinding& found : findings())
    if (found.is_doubt() && found.finding().certainty >= look::Certainty::kLikely) count++;
  if (!count) return {};
  return error(EILSEQ, "check=fail: the pictures raise %d doubt%s about the scores; warnings above say what helps",
               count, count == 1 ? "" : "s");
}

void Encode::log_summary() {
  for (const std::string& line : summary_lines(plan_->summary_columns(), *table_, n_subsample_)) log_.info(line);
}

std::optional<RangeFacts> Encode::range_facts(bool partial) const {
  const Range& range = progress_.range();
  if (!range.is_given()) return std::nullopt;
  return RangeFacts{.given = range.text(),
                    .by_time = range.by_time(),
                    .from = range.from(),
                    .to = range.to(),
                    .begins_stream = range.begins_stream(),
                    .ends_stream = range.ends_stream() && !partial,
                    .first = progress_.first(),
                    .frames = progress_.frames(),
                    .counted_from = progress_.counted_from(),
                    .before = progress_.before(),
                    .after = progress_.after(),
                    .pairs = borders_.pairs(),
                    .keyframes = keyframes_,
                    .sums = scorer_->sums(),
                    .look = look_ ? look_->range_facts() : Json()};
}

std::vector<PooledFrames> Encode::windows() const {
  std::vector<PooledFrames> windows;
  if (pooled_only_) return windows;
  for (size_t i = 0; i < monitor_.windows().known(); i++) windows.push_back(monitor_.window(i));
  return windows;
}

StatusOr<NamedScore> Encode::feature_score(int i) const {
  if (i < 0 || i >= feature_count()) return error(EINVAL, "there is no feature %d", i);
  const int column = feature_columns_[i];
  const auto score = pool_column(pool_, pool_values(*table_, column, n_subsample_));
  return NamedScore{table_->keys()[column].c_str(), score.value_or(std::nan(""))};
}

StatusOr<NamedScore> Encode::model_score(int i) const {
  if (i < 0 || i >= static_cast<int>(plan_->models().size())) return error(EINVAL, "there is no model %d", i);
  const PlannedModel& planned = plan_->models()[i];
  const PoolValues pooled = pool_values(*table_, planned.first_column, n_subsample_);
  if (!pooled.sums.count) return error(EDOM, "model %s has no finite score", planned.model.name().c_str());
  return NamedScore{planned.model.name().c_str(), pool_scores(pool_, pooled)};
}

}  // namespace vmafx
