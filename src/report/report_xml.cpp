/* The writer of xml. */
#include <algorithm>
#include <set>
#include <span>

#include "report/report_writers.h"

namespace vmafx {
namespace {

using Names = std::vector<std::string>;

/* A key as a name of XML: what may not be in one becomes `_`. Letters of other scripts do, too: not all parsers agree
 * on them. */
std::string xml_name(const std::string& key) {
  std::string name;
  for (const char c : key) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool inner = (c >= '0' && c <= '9') || c == '-' || c == '.';
    if ((c & 0xC0) == 0x80) continue;  // of a character that began before
    if (name.empty() && inner) name += '_';
    name += letter || inner ? c : '_';
  }
  return name.empty() ? "_" : name;
}

/* Names for the keys, in their order, of which no two are equal. Keys that are names keep them, as those of all metrics
 * do; `taken` are those that stand beside them. */
Names xml_names(const Names& keys, std::set<std::string> taken = {}) {
  Names names;
  for (const std::string& key : keys) {
    const std::string name = xml_name(key);
    names.push_back(name == key && taken.insert(name).second ? name : "");
  }
  for (size_t i = 0; i < keys.size(); i++)
    if (std::string& name = names[i]; name.empty())
      for (name = xml_name(keys[i]); !taken.insert(name).second;) name += '_';
  return names;
}

/* For the scores of frames and windows, beside their numbers and times. */
Names score_names(const Report& report) {
  return xml_names(report.scores.keys(), {"frameNum", "firstFrame", "lastFrame", "time", "doubts"});
}

/* `text` as UTF-8 without the two characters that XML may not hold. */
std::string valid_text(const std::string& text) {
  if (std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; })) return text;
  std::string valid = valid_utf8(text);
  for (const char* wrong : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (size_t at; (at = valid.find(wrong)) != valid.npos;) valid.replace(at, 3, "\xEF\xBF\xBD");
  return valid;
}

std::string xml_text(const std::string& text) {
  std::string escaped;
  for (const char c : valid_text(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

std::string xml_attribute(const std::string& name, const std::string& value) {
  return name + "=\"" + xml_text(value) + "\" ";
}

/* The number of a frame, its time, and what is sure of it. */
std::string xml_place(const Report& report, int64_t frame) {
  const std::string time = report.has_times_among_scores() ? report.time(frame) : "";
  const std::string doubts = report.doubts_among_scores(frame);
  return xml_attribute("frameNum", std::to_string(frame)) + (time.empty() ? "" : xml_attribute("time", time)) +
         (doubts.empty() ? "" : xml_attribute("doubts", doubts));
}

std::string xml_scores(const Report& report, const Names& names, int64_t frame) {
  std::string text;
  for (int column = 0; column < report.scores.columns(); column++)
    if (const auto score = report.scores.get(frame, column))
      text += xml_attribute(names[column], report.plain_number(*score));
  return text;
}

std::string xml_aggregates(const Report& report) {
  Names keys;
  for (const auto& [key, value] : report.scores.aggregates()) keys.push_back(key);
  const Names names = xml_names(keys);
  std::string text;
  for (size_t i = 0; i < names.size(); i++)
    text += xml_attribute(names[i], report.plain_number(report.scores.aggregates()[i].second));
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

/* A list of plain values is a text. */
std::string xml_value(const Json& json) {
  if (!json.is_array()) return json.text();
  std::string text;
  for (const Json& item : json.items()) text += (text.empty() ? "" : "; ") + item.text();
  return text;
}

/* A JSON object as an element: members that are plain values become attributes, objects elements. A list `doubts` is an
 * element with elements `doubt`; a plain value in it is the attribute `text`. */
std::string xml_element(const std::string& name, const Json& json, int depth) {
  const std::string indent(2 * depth, ' ');
  const Names names =
      json.is_array() ? Names(json.items().size(), name.substr(0, name.size() - 1)) : xml_names(json.names());
  std::string attributes, elements;
  for (size_t i = 0; i < names.size(); i++) {
    const Json& value = json.items()[i];
    if (value.is_object()) elements += xml_element(names[i], value, depth + 1);
    else if (json.is_array()) elements += xml_element(names[i], Json::object({{"text", value}}), depth + 1);
    else attributes += xml_attribute(names[i], xml_value(value));
  }
  std::string begin = indent + "<" + name + " " + attributes;
  if (elements.empty()) return begin + "/>\n";
  begin.pop_back();
  return begin + ">\n" + elements + indent + "</" + name + ">\n";
}

std::string xml_elements(const Json& object, int depth) {
  std::string elements;
  for (size_t i = 0; i < object.names().size(); i++)
    elements += xml_element(object.names()[i], object.items()[i], depth);
  return elements;
}

std::string xml_excluded(const Report& report, const Names& names, const std::vector<PoolValues>& columns) {
  std::string attributes;
  for (int column = 0; column < report.scores.columns(); column++)
    if (const int64_t count = columns[column].sums.not_finite)
      attributes += xml_attribute(names[column], std::to_string(count));
  return attributes.empty() ? "" : "  <excluded_scores " + attributes + "/>\n";
}

std::string xml_windows(const Report& report, const Names& names, const ReportData& data) {
  if (data.windows.empty()) return "";
  std::string text = "  <windows>\n";
  for (const auto& [frames, time, scores] : data.windows) {
    text += "    <window " + xml_attribute("firstFrame", std::to_string(frames.first)) +
            xml_attribute("lastFrame", std::to_string(frames.end - 1));
    if (time) text += xml_attribute("time", report.time(time));
    for (int column = 0; column < report.scores.columns(); column++)
      if (scores[column]) text += xml_attribute(names[column], report.plain_number(*scores[column]));
    text += "/>\n";
  }
  return text + "  </windows>\n";
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
  const Names names = score_names(report);
  VMAFX_TRY(report.file.write(xml_head(data) + "  <frames>\n"));
  VMAFX_TRY(report.for_each_row([&](int64_t frame) {
    return report.file.write("    <frame " + xml_place(report, frame) + xml_scores(report, names, frame) + "/>\n");
  }));
  const std::vector<PoolValues> columns = pool_columns(report);
  std::string tail = "  </frames>\n" + xml_pools(report, columns, "pooled_metrics", "metric", kPooledMetrics);
  tail += "  <aggregate_metrics " + xml_aggregates(report) + "/>\n";
  tail += xml_pools(report, columns, "pooled_statistics", "statistics", kPooledStatistics);
  tail += xml_excluded(report, names, columns) + xml_windows(report, names, data);
  if (data.run) tail += xml_element(kRunKey, *data.run, 1);
  tail += xml_elements(doubt_extras(data.pairing, data.picture_doubts), 1);
  return report.file.write(tail + "</VMAF>\n");
}

}  // namespace vmafx
