/* Scores as a text file in the OpenMetrics format, for the textfile collector of Prometheus' node exporter
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/). */
#ifndef VMAFX_REPORT_OPENMETRICS_H
#define VMAFX_REPORT_OPENMETRICS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "report/pool_windows.h"

namespace vmafx {

/* A score that the file tells: of a model, or the main one of a feature. */
struct MetricColumn {
  int column;
  bool is_model;
};

/* An encode, as the file describes it. */
struct EncodeMetrics {
  std::string encode = "0";         // its label
  std::vector<std::string> keys{};  // of the score table
  std::vector<MetricColumn> columns{};
  int64_t frames = 0;  // pairs so far
  /* The window that ended last, if there are any, and at the end the whole stream. */
  std::optional<PooledFrames> window{}, stream{};
};

struct MetricsFile {
  std::string path;
  bool overwrite = false;  // any file may be replaced, not those of this kind alone
  std::vector<EncodeMetrics> encodes{};

  /* That it can be written, and changes nothing. */
  Status try_to_write() const;

  /* Replaces the file in one step by what is known. */
  Status write() const;
};

}  // namespace vmafx

#endif
