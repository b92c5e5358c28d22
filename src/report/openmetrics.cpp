#include "report/openmetrics.h"

#include <cmath>

#include "base/json.h"
#include "report/output_file.h"
#include "report/outputs.h"
#include "report/score_format.h"

namespace vmafx {
namespace {

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

std::string samples(const char* name, const EncodeMetrics& encode, const PooledFrames& pooled, bool is_window) {
  std::string text;
  for (const auto& [column, is_model] : encode.columns) {
    if (!pooled.scores[column]) continue;
    text += format_text("%s{", name) + label("encode", encode.encode) + "," +
            label(is_model ? "model" : "feature", encode.keys[column]);
    if (is_window && pooled.time) text += "," + label("window_start", fixed_text(*pooled.time, 6));
    text += "} " + number(*pooled.scores[column]) + "\n";
  }
  return text;
}

/* The scores of all encodes that have them. */
std::string scores(const char* name, const char* help, const std::vector<EncodeMetrics>& encodes,
                   std::optional<PooledFrames> EncodeMetrics::* which, bool are_windows) {
  std::string text;
  for (const EncodeMetrics& encode : encodes)
    if (const auto& pooled = encode.*which) text += samples(name, encode, *pooled, are_windows);
  return text.empty() ? "" : family(name, help) + text;
}

}  // namespace

Status MetricsFile::try_to_write() const {
  return OutputFile::open(path, false, replaceable_by_metrics(overwrite)).status();
}

Status MetricsFile::write() const {
  std::string text = family("vmafx_frames", "Frame pairs of the stream so far.");
  for (const EncodeMetrics& encode : encodes)
    text += "vmafx_frames{" + label("encode", encode.encode) + "} " + std::to_string(encode.frames) + "\n";
  text += scores("vmafx_window_score", "Pooled score of the window that ended last.", encodes, &EncodeMetrics::window,
                 true);
  text += scores("vmafx_score", "Pooled score of the whole stream.", encodes, &EncodeMetrics::stream, false);
  VMAFX_ASSIGN(const auto file, OutputFile::open(path, false, replaceable_by_metrics(overwrite)));
  VMAFX_TRY(file->write(text + "# EOF\n"));
  return file->commit();
}

}  // namespace vmafx
