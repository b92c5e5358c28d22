/* The writers of json and ndjson. */
#include <span>
#include <utility>

#include "report/report_writers.h"

namespace vmafx {
namespace {

/* Builds JSON text from values that are text already, numbers in a format of choice. */
class JsonText {
 public:
  /* pretty: a line for each value, indented by two; otherwise all on one line. */
  explicit JsonText(bool pretty) : pretty_(pretty) {}

  void open(char bracket) { begin_item(), begin_list(bracket); }
  void open(const std::string& key, char bracket) { begin_item(key), begin_list(bracket); }
  void close(char bracket) {
    depth_--;
    if (pretty_) new_line();
    text_ += bracket;
    empty_ = false;
  }
  void value(const std::string& key, const std::string& text) { begin_item(key), text_ += text; }
  void value(const std::string& key, const Json& json) { begin_item(key), write(json); }

  /* The text since the last call. */
  std::string take() { return std::exchange(text_, ""); }

 private:
  void write(const Json& json) {
    if (!json.is_object() && !json.is_array()) {
      text_ += json.is_string() ? json_string(json.text()) : json.text();
      return;
    }
    begin_list(json.is_object() ? '{' : '[');
    for (size_t i = 0; i < json.items().size(); i++) {
      if (json.is_object()) begin_item(json.names()[i]);
      else begin_item();
      write(json.items()[i]);
    }
    close(json.is_object() ? '}' : ']');
  }
  void begin_item() {
    if (!empty_) text_ += pretty_ ? "," : ", ";
    if (pretty_ && depth_) new_line();
    empty_ = false;
  }
  void begin_item(const std::string& key) { begin_item(), text_ += json_string(key) + ": "; }
  void begin_list(char bracket) {
    text_ += bracket;
    depth_++;
    empty_ = true;
  }
  void new_line() { text_ += '\n', text_.append(2 * depth_, ' '); }

  bool pretty_;
  bool empty_ = true;  // nothing yet in the innermost list
  int depth_ = 0;
  std::string text_;
};

/* The encode of an object, if there are several. */
void json_label(const Report& report, JsonText& json) {
  if (!report.label) return;
  json.value("encode", std::to_string(report.label->number));
  json.value("name", json_string(report.label->name));
}

Json texts_json(std::span<const char* const> texts) {
  Json list = Json::array();
  for (const char* text : texts) list.add(std::string(text));
  return list;
}

/* `labeled`: the frame stands alone. */
void json_frame(const Report& report, int64_t frame, bool labeled, JsonText& json) {
  json.open('{');
  if (labeled) json_label(report, json);
  json.value("frameNum", std::to_string(frame));
  if (const std::string time = report.time(frame); !time.empty()) json.value("time", time);
  json.open("metrics", '{');
  report.for_each_score(frame, [&](const std::string& key, std::optional<double> score) {
    if (score) json.value(key, report.json_number(*score));
  });
  json.close('}');
  if (const auto doubts = report.doubts(frame); !doubts.empty()) json.value("doubts", texts_json(doubts));
  json.close('}');
}

void json_pools(const Report& report, const std::vector<PoolValues>& columns, const char* name,
                std::span<const NamedPool> pools, JsonText& json) {
  json.open(name, '{');
  for (int column = 0; column < report.scores.columns(); column++) {
    json.open(report.scores.keys()[column], '{');
    for (const NamedPool& pool : pools)
      if (const auto pooled = pool_column(pool.pool, columns[column]))
        json.value(pool.name, report.json_number(*pooled));
    json.close('}');
  }
  json.close('}');
}

void json_excluded(const Report& report, const std::vector<PoolValues>& columns, JsonText& json) {
  Json excluded = Json::object();
  for (int column = 0; column < report.scores.columns(); column++)
    if (const int64_t count = columns[column].sums.not_finite) excluded.add(report.scores.keys()[column], count);
  if (!excluded.names().empty()) json.value("excluded_scores", excluded);
  Json infinite = Json::array();
  for (int column = 0; column < report.scores.columns(); column++)
    if (columns[column].sums.infinity > 0 && columns[column].sums.not_finite)
      infinite.add(report.scores.keys()[column]);
  if (!infinite.items().empty()) json.value("infinite_scores", infinite);
}

/* The members of a window's object. */
void json_window(const Report& report, const PooledFrames& window, JsonText& json) {
  json.value("firstFrame", std::to_string(window.frames.first));
  json.value("lastFrame", std::to_string(window.frames.end - 1));
  if (window.time) json.value("time", report.time(window.time));
  json.open("pooled", '{');
  for (int column = 0; column < report.scores.columns(); column++)
    if (const auto score = window.scores[column]) json.value(report.scores.keys()[column], report.json_number(*score));
  json.close('}');
}

void json_windows(const Report& report, JsonText& json) {
  if (report.data->windows.empty()) return;
  json.open("windows", '[');
  for (const PooledFrames& window : report.data->windows) {
    json.open('{');
    json_window(report, window, json);
    json.close('}');
  }
  json.close(']');
}

void json_head(const ReportData& data, JsonText& json) {
  json.value("version", json_string(data.version));
  json.value("fps", std::isfinite(data.fps) ? fixed_text(data.fps, 2) : "null");
}

/* All that comes after the frames, but for what all encodes have in common. */
void json_tail(const Report& report, JsonText& json) {
  const std::vector<PoolValues> columns = pool_columns(report);
  json_pools(report, columns, "pooled_metrics", kPooledMetrics, json);
  json.open("aggregate_metrics", '{');
  for (const auto& [key, value] : report.scores.aggregates()) json.value(key, report.json_number(value));
  json.close('}');
  if (!report.options.pooled_only) json_pools(report, columns, "pooled_statistics", kPooledStatistics, json);
  json_excluded(report, columns, json);
  json_windows(report, json);
  if (report.data->range) json.value("range", range_json(*report.data->range));
  if (report.data->partial) json.value("partial", std::string("true"));
}

void json_run(const Report& report, JsonText& json) {
  if (report.data->run) json.value(kRunKey, *report.data->run);
}

void json_doubts(const Report& report, JsonText& json) {
  const Json extras = doubt_extras(report.data->pairing, report.data->picture_doubts);
  for (size_t i = 0; i < extras.names().size(); i++) json.value(extras.names()[i], extras.items()[i]);
}

/* With one encode all stands in the report's own object, with several in the objects of a list. */
template <class WriteFrames>
Status json_report(OutputFile& file, std::span<const Report> encodes, JsonText& json, WriteFrames write_frames) {
  const bool several = encodes.front().label;
  json.open('{');
  json_head(*encodes.front().data, json);
  if (several) json.open("encodes", '[');
  for (const Report& report : encodes) {
    if (several) json.open('{');
    json_label(report, json);
    VMAFX_TRY(write_frames(report));
    json_tail(report, json);
    if (!several) json_run(report, json);
    json_doubts(report, json);
    if (several) json.close('}');
  }
  if (several) {
    json.close(']');
    json_run(encodes.front(), json);
  }
  json.close('}');
  return file.write(json.take() + "\n");
}

}  // namespace

Status write_json(OutputFile& file, std::span<const Report> encodes) {
  JsonText json(true);
  return json_report(file, encodes, json, [&](const Report& report) -> Status {
    json.open("frames", '[');
    VMAFX_TRY(report.for_each_row([&](int64_t frame) {
      json_frame(report, frame, false, json);
      return file.write(json.take());
    }));
    json.close(']');
    return {};
  });
}

Status write_ndjson_frame(const Report& report, int64_t frame) {
  JsonText json(false);
  json_frame(report, frame, true, json);
  return report.file.write(json.take() + "\n");
}

Status write_ndjson_window(const Report& report, size_t number, const PooledFrames& window) {
  JsonText json(false);
  json.open('{');
  json_label(report, json);
  json.value("window", std::to_string(number));
  json_window(report, window, json);
  json.close('}');
  return report.file.write(json.take() + "\n");
}

Status write_ndjson_summary(OutputFile& file, std::span<const Report> encodes) {
  JsonText json(false);
  return json_report(file, encodes, json, [](const Report&) { return Status(); });
}

}  // namespace vmafx
