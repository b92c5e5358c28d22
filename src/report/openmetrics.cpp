#include "report/openmetrics.h"

#include <cmath>

#include "base/json.h"
#include "report/output_file.h"
#include "report/score_format.h"

namespace vmafx {
namespace {

/* The one encode of a session. */
constexpr const char* kEncode = "0";

std::string label(const char* name, const std::string& value) {
  std::string text = std::string(name) + "=\"";
  for (const char c : valid_utf8(value)) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text + "\"";
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  return std::isinf(value) ? (value > 0 ? "+Inf" : "-Inf") : fixed_text(value, 6);
}

std::string family(const char* name, const char* help) {
  return format_text("# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

std::string samples(const char* name, std::span<const MetricColumn> columns, std::span<const std::string> keys,
                    const PooledFrames& pooled, bool is_window) {
  std::string text;
  for (const auto& [column, is_model] : columns) {
    if (!pooled.scores[column]) continue;
    text +=
        format_text("%s{", name) + label("encode", kEncode) + "," + label(is_model ? "model" : "feature", keys[column]);
    if (is_window && pooled.time) text += "," + label("window_start", fixed_text(*pooled.time, 6));
    text += "} " + number(*pooled.scores[column]) + "\n";
  }
  return text;
}

}  // namespace

Status MetricsFile::try_to_write() const { return OutputFile::open(path, false).status(); }

Status MetricsFile::write(std::span<const std::string> keys, const std::optional<PooledFrames>& window,
                          const std::optional<PooledFrames>& stream, int64_t frames) const {
  std::string text = family("vmafx_frames", "Frame pairs of the stream so far.") + "vmafx_frames{" +
                     label("encode", kEncode) + "} " + std::to_string(frames) + "\n";
  if (window)
    text += family("vmafx_window_score", "Pooled score of the window that ended last.") +
            samples("vmafx_window_score", columns, keys, *window, true);
  if (stream)
    text += family("vmafx_score", "Pooled score of the whole stream.") +
            samples("vmafx_score", columns, keys, *stream, false);
  VMAFX_ASSIGN(const auto file, OutputFile::open(path, false));
  VMAFX_TRY(file->write(text + "# EOF\n"));
  return file->commit();
}

}  // namespace vmafx
