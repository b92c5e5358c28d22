/* Scores as a text file in the OpenMetrics format, for the textfile collector of Prometheus' node exporter
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/). */
#ifndef VMAFX_REPORT_OPENMETRICS_H
#define VMAFX_REPORT_OPENMETRICS_H

#include <optional>
#include <span>
#include <string>

#include "base/status.h"
#include "report/windows.h"

namespace vmafx {

/* A score that the file tells: of a model, or the main one of a feature. */
struct MetricColumn {
  int column;
  bool is_model;
};

struct MetricsFile {
  std::string path;
  std::vector<MetricColumn> columns;

  /* That it can be written, and changes nothing. */
  Status try_to_write() const;

  /* Replaces the file in one step by what is known: the window that ended last, if there are any, and at the end the whole stream.
   * `keys` are those of the score table, `frames` the pairs so far. */
  Status write(std::span<const std::string> keys, const std::optional<PooledFrames>& window,
               const std::optional<PooledFrames>& stream, int64_t frames) const;
};

}  // namespace vmafx

#endif
