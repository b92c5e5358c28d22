#include "engine/encode.h"

#include <cerrno>
#include <cmath>
#include <utility>

#include "report/summary.h"

namespace vmafx {

Encode::Encode(EncodeLabel label, bool named, Log& log)
    : label_(std::move(label)), named_(named), log_([this, &log](VmafxLogLevel level, const char* message) {
        log.write(level, named_ ? label_.name + ": " + message : message);
      }) {}

StatusOr<std::unique_ptr<Encode>> Encode::open(EncodeLabel label, bool named, const MonitorRequest& monitor, Log& log) {
  std::unique_ptr<Encode> encode(new Encode(std::move(label), named, log));
  VMAFX_ASSIGN(encode->monitor_, Monitor::open(monitor));
  return encode;
}

Status Encode::start(Plan& plan, const Pool& pool, int n_subsample) {
  plan_ = &plan;
  pool_ = pool;
  n_subsample_ = n_subsample;
  table_.emplace(plan.columns());
  scorer_.emplace(plan, label_.number, *table_, n_subsample);
  result_.reserve(table_->keys().size());
  window_scores_.reserve(table_->keys().size());
  std::vector<MetricColumn> columns = plan.main_columns();
  for (const auto& [column, is_model] : columns)
    if (!is_model) feature_columns_.push_back(column);
  return monitor_.start(*table_, std::move(columns), pool, n_subsample);
}

StatusOr<int64_t> Encode::add(const VmafxPicture& dist) {
  const std::optional<double> time = dist.has_time ? std::optional(dist.time) : std::nullopt;
  if (time && scorer_->is_scored(submitted_)) table_->set_time(submitted_, *time);
  if (monitor_.windows().any()) VMAFX_TRY(monitor_.windows().add(time, dist.keyframe));
  return submitted_++;
}

/* NDJSON is written as frames and windows finish; the other formats wait for the end. */
Status Encode::report_complete_frames(ReportFile* report, bool of_all) {
  const EncodeLabel* const label = of_all ? this->label() : nullptr;
  for (;;) {
    while (const auto number = monitor_.next_window(reported_)) {
      const PooledFrames window = monitor_.window(*number);
      if (report) VMAFX_TRY(report->append_window(*table_, *number, window, label));
      monitor_.tell(window, log_);
    }
    if (reported_ == scorer_->complete()) return {};
    if (report) VMAFX_TRY(report->append_frame(*table_, reported_, label));
    reported_++;
  }
}

Status Encode::flush() {
  VMAFX_TRY(scorer_->flush());
  monitor_.windows().end();
  return {};
}

bool Encode::is_ready() const {
  return received_ < scorer_->complete() && (!monitor_.windows().any() || monitor_.windows().knows(received_));
}

void Encode::receive(VmafxFrameResult* result) {
  result_.clear();
  const auto& keys = table_->keys();
  if (scorer_->is_scored(received_))
    for (size_t column = 0; column < keys.size(); column++)
      if (const auto score = table_->get(received_, static_cast<int>(column)))
        result_.push_back({keys[column].c_str(), *score});
  *result = {.frame = received_, .n_scores = result_.size(), .scores = result_.data(), .encode = label_.number};
  receive_window(received_++, result);
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

/* Scores that are not finite are left out of what is pooled. */
void Encode::log_gaps() {
  int64_t count = 0;
  for (int column = 0; column < table_->columns(); column++)
    count += pool_values(*table_, column, n_subsample_).not_finite;
  if (count)
    log_.warning(
        format_text("%lld scores are not finite; what is pooled leaves them out", static_cast<long long>(count)));
}

void Encode::log_summary() {
  for (const std::string& line : summary_lines(plan_->summary_columns(), *table_, n_subsample_)) log_.info(line);
}

std::vector<PooledFrames> Encode::windows() const {
  std::vector<PooledFrames> windows;
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
  if (pooled.values.empty()) return error(EDOM, "model %s has no finite score", planned.model.name().c_str());
  return NamedScore{planned.model.name().c_str(), pool_scores(pool_, pooled.values)};
}

}  // namespace vmafx
