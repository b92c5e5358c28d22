/* The writer of xml. */
#include <span>

#include "report/report_writers.h"

namespace vmafx {
namespace {

using Json = nlohmann::ordered_json;

/* A key as a name of XML; names that are fine already, as all metrics' are, stay as they are. */
std::string xml_name(const std::string& key) {
  std::string name;
  for (const char c : key) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
    const bool inner = (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (name.empty() && inner) name += '_';
    name += letter || inner ? c : '_';
  }
  return name.empty() ? "_" : name;
}

std::string xml_attribute(const std::string& key, const std::string& value) {
  std::string text = xml_name(key) + "=\"";
  for (const char c : value) {
    switch (c) {
      case '&': text += "&amp;"; break;
      case '<': text += "&lt;"; break;
      case '>': text += "&gt;"; break;
      case '"': text += "&quot;"; break;
      default: text += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return text + "\" ";
}

/* The number of a frame, and its time. */
std::string xml_place(const Report& report, int64_t frame) {
  const std::string time = report.has_times_among_scores() ? report.time(frame) : "";
  return xml_attribute("frameNum", std::to_string(frame)) + (time.empty() ? "" : xml_attribute("time", time));
}

std::string xml_scores(const Report& report, int64_t frame) {
  std::string text;
  report.for_each_score(frame, [&](const std::string& key, std::optional<double> score) {
    if (score) text += xml_attribute(key, report.plain_number(*score));
  });
  return text;
}

std::string xml_pools(const Report& report, const std::vector<PoolValues>& columns, const std::string& name,
                      const std::string& item, std::span<const NamedPool> pools) {
  std::string text = "  <" + name + ">\n";
  for (int column = 0; column < report.scores.columns(); column++) {
    text += "    <" + item + " " + xml_attribute("name", report.scores.keys()[column]);
    for (const NamedPool& pool : pools)
      if (const auto pooled = pool_column(pool.pool, columns[column]))
        text += xml_attribute(pool.name, report.plain_number(*pooled));
    text += "/>\n";
  }
  return text + "  </" + name + ">\n";
}

/* A JSON object as an element: members that are plain values become attributes, objects elements. */
std::string xml_element(const std::string& key, const Json& json, int depth) {
  const std::string indent(2 * depth, ' '), name = xml_name(key);
  const auto plain = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string attributes, elements;
  for (const auto& [inner, value] : json.items()) {
    if (value.is_structured()) elements += xml_element(inner, value, depth + 1);
    else attributes += xml_attribute(inner, plain(value));
  }
  std::string begin = indent + "<" + name + " " + attributes;
  if (elements.empty()) return begin + "/>\n";
  begin.pop_back();
  return begin + ">\n" + elements + indent + "</" + name + ">\n";
}

std::string xml_excluded(const Report& report, const std::vector<PoolValues>& columns) {
  std::string attributes;
  for (int column = 0; column < report.scores.columns(); column++)
    if (columns[column].not_finite)
      attributes += xml_attribute(report.scores.keys()[column], std::to_string(columns[column].not_finite));
  return attributes.empty() ? "" : "  <excluded_scores " + attributes + "/>\n";
}

std::string xml_head(const ReportData& data) {
  std::string root = xml_attribute("version", data.version);
  if (data.partial) root += xml_attribute("partial", "true");
  root.pop_back();
  return "<VMAF " + root + ">\n  <params " + xml_attribute("qualityWidth", std::to_string(data.width)) +
         xml_attribute("qualityHeight", std::to_string(data.height)) + "/>\n  <fyi " +
         xml_attribute("fps", std::isfinite(data.fps) ? fixed_text(data.fps, 2) : "nan") + "/>\n";
}

}  // namespace

Status write_xml(const Report& report, const ReportData& data) {
  VMAFX_TRY(report.file.write(xml_head(data) + "  <frames>\n"));
  VMAFX_TRY(report.for_each_row([&](int64_t frame) {
    return report.file.write("    <frame " + xml_place(report, frame) + xml_scores(report, frame) + "/>\n");
  }));
  const std::vector<PoolValues> columns = pool_columns(report);
  std::string tail = "  </frames>\n" + xml_pools(report, columns, "pooled_metrics", "metric", kPooledMetrics);
  tail += "  <aggregate_metrics ";
  for (const auto& [key, value] : report.scores.aggregates()) tail += xml_attribute(key, report.plain_number(value));
  tail += "/>\n" + xml_pools(report, columns, "pooled_statistics", "statistics", kPooledStatistics);
  tail += xml_excluded(report, columns);
  const Json extras = extras_of(data);
  for (const auto& [key, value] : extras.items()) tail += xml_element(key, value, 1);
  return report.file.write(tail + "</VMAF>\n");
}

}  // namespace vmafx
