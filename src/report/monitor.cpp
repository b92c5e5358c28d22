#include "report/monitor.h"

#include <cerrno>
#include <utility>

#include "report/score_format.h"

namespace vmafx {

StatusOr<Monitor> Monitor::open(const MonitorRequest& request) {
  Monitor monitor;
  VMAFX_ASSIGN(const PoolWindowRule rule, parse_window(request.window));
  monitor.windows_ = PoolWindows(rule);
  VMAFX_ASSIGN(monitor.warn_below_, Gates::parse("warn_below", request.warn_below));
  VMAFX_ASSIGN(monitor.fail_below_, Gates::parse("fail_below", request.fail_below));
  monitor.file_ = request.file;
  monitor.encode_ = request.encode;
  return monitor;
}

StatusOr<std::shared_ptr<MetricsFile>> open_metrics_file(const std::string& path, bool overwrite,
                                                         std::span<const std::string> encodes) {
  if (path.empty()) return std::shared_ptr<MetricsFile>();
  const auto file = std::make_shared<MetricsFile>(MetricsFile{path, overwrite});
  for (const std::string& encode : encodes) file->encodes.push_back({.encode = encode});
  VMAFX_TRY(file->try_to_write());
  return file;
}

Status Monitor::start(const ScoreTable& table, std::vector<MetricColumn> columns, const Pool& pool, int n_subsample) {
  table_ = &table;
  pool_ = pool;
  n_subsample_ = n_subsample;
  std::vector<int> models;
  for (const auto& [column, is_model] : columns)
    if (is_model) models.push_back(column);
  VMAFX_TRY(warn_below_.resolve(table.keys(), models));
  VMAFX_TRY(fail_below_.resolve(table.keys(), models));
  if (!file_) return {};
  file_->encodes[encode_].keys = table.keys();
  file_->encodes[encode_].columns = std::move(columns);
  return {};
}

PooledFrames Monitor::window(size_t i) const {
  PooledFrames pooled = pool_frames(*table_, windows_.frames(i), pool_, n_subsample_);
  pooled.time = windows_.time(i);
  return pooled;
}

std::optional<size_t> Monitor::next_window(int64_t complete) {
  if (returned_ == windows_.known() || windows_.frames(returned_).end > complete) return std::nullopt;
  return returned_++;
}

void Monitor::tell(const PooledFrames& window, Log& log) {
  const auto [first, end] = window.frames;
  const std::string when = window.time ? " (" + fixed_text(*window.time, 3) + " s)" : "";
  if (const std::string low = warn_below_.complaint(window); !low.empty())
    log.warning(format_text("warn_below: from frame %lld%s to frame %lld, %s", static_cast<long long>(first),
                            when.c_str(), static_cast<long long>(end - 1), low.c_str()));
  if (!file_) return;
  file_->encodes[encode_].window = window;
  file_->encodes[encode_].frames = end - windows_.frames(0).first;
  write_file(false, log);
}

Status Monitor::end(int64_t frames, Log& log) {
  if (!file_ && !warn_below_.any() && !fail_below_.any()) return {};
  const PooledFrames stream = pool_frames(*table_, {}, pool_, n_subsample_);
  if (const std::string low = warn_below_.complaint(stream); !low.empty() && !windows_.any())
    log.warning("warn_below: " + low);
  if (file_) {
    file_->encodes[encode_].stream = stream;
    file_->encodes[encode_].frames = frames;
    write_file(true, log);
  }
  if (const std::string low = fail_below_.complaint(stream); !low.empty())
    return error(ERANGE, "fail_below: %s", low.c_str());
  return file_failure_;
}

void Monitor::write_file(bool at_end, Log& log) {
  const Status status = file_->write();
  if (!status.ok() && file_failure_.ok()) log.warning("openmetrics: " + status.message());
  if (file_failure_.ok() || at_end) file_failure_ = status;
}

}  // namespace vmafx
