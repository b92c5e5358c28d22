/* Monitor: what is told of a stream's pooled scores to those who watch it: windows, gates, the file for Prometheus. */
#ifndef VMAFX_REPORT_MONITOR_H
#define VMAFX_REPORT_MONITOR_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "report/gates.h"
#include "report/openmetrics.h"
#include "report/pool_windows.h"
#include "report/pooling.h"
#include "report/scores.h"

namespace vmafx {

/* Options as texts, "" where they are not given. */
struct MonitorRequest {
  std::string window, warn_below, fail_below;
  std::shared_ptr<MetricsFile> file{};  // for Prometheus, of all encodes; null: there is none
  size_t encode = 0;                    // which of those it is of
};

/* The file of so many encodes, or null without a path. EACCES, ENOENT, …: it cannot be written; EEXIST: what is there
 * is another kind of
 * file, and `overwrite` does not allow to replace it. */
StatusOr<std::shared_ptr<MetricsFile>> open_metrics_file(const std::string& path, bool overwrite,
                                                         std::span<const std::string> encodes);

class Monitor {
 public:
  /* EINVAL for a text that is none of its option's. */
  static StatusOr<Monitor> open(const MonitorRequest& request);

  /* Once the columns of `table` are known, of which `columns` are told. The table must outlive the monitor. EINVAL: a
   * gate is for a score that there is not. */
  Status start(const ScoreTable& table, std::vector<MetricColumn> columns, const Pool& pool, int n_subsample);

  PoolWindows& windows() { return windows_; }
  const PoolWindows& windows() const { return windows_; }

  /* Window `i`, whose end must be known and whose frames must have their scores. */
  PooledFrames window(size_t i) const;

  /* The first window that was not returned yet and ends before frame `complete`. */
  std::optional<size_t> next_window(int64_t complete);

  /* Warns where scores of the window are too low, and writes the file; a failure of that is told once, and returned by
   * end(). */
  void tell(const PooledFrames& window, Log& log);

  /* Ends the stream, which had so many frames, and tells its scores. ERANGE: scores are lower than fail_below. */
  Status end(int64_t frames, Log& log);

 private:
  void write_file(bool at_end, Log& log);

  PoolWindows windows_;
  Gates warn_below_, fail_below_;
  std::shared_ptr<MetricsFile> file_;
  size_t encode_ = 0;
  const ScoreTable* table_ = nullptr;
  Pool pool_;
  int n_subsample_ = 1;
  size_t returned_ = 0;  // windows
  Status file_failure_;
};

}  // namespace vmafx

#endif
