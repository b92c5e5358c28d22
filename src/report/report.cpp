#include "report/report.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "report/outputs.h"
#include "report/report_writers.h"

namespace vmafx {
namespace {

/* Quoted when it has to be, as in RFC 4180. */
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + "\"";
}

std::optional<ReportFormat> format_called(const std::string& text) {
  constexpr std::pair<std::string_view, ReportFormat> kFormats[] = {{"xml", ReportFormat::kXml},
                                                                    {"json", ReportFormat::kJson},
                                                                    {"csv", ReportFormat::kCsv},
                                                                    {"sub", ReportFormat::kSub},
                                                                    {"ndjson", ReportFormat::kNdjson}};
  for (const auto& [name, format] : kFormats)
    if (text == name) return format;
  return std::nullopt;
}

bool has_sure_doubts(const Report& report) {
  const auto is_sure = [](const PictureDoubt& doubt) { return doubt.certainty == "sure"; };
  return report.options.all_times && std::ranges::any_of(report.data->picture_doubts, is_sure);
}

Status write_csv(OutputFile& file, std::span<const Report> encodes) {
  const Report& first = encodes.front();
  const bool times = std::ranges::any_of(encodes, &Report::has_times_among_scores);
  const bool doubts = std::ranges::any_of(encodes, has_sure_doubts);
  std::string header = std::string(first.label ? "Encode,Name," : "") + (times ? "Frame,Time," : "Frame,");
  if (doubts) header += "Doubts,";
  for (const std::string& key : first.scores.keys()) header += csv_cell(key) + ",";
  VMAFX_TRY(file.write(header + "\n"));
  for (const Report& report : encodes) {
    const EncodeLabel* label = report.label;
    const std::string encode = label ? std::to_string(label->number) + "," + csv_cell(label->name) + "," : "";
    VMAFX_TRY(report.for_each_row([&](int64_t frame) {
      std::string row = encode + std::to_string(frame) + "," + (times ? report.time(frame) + "," : "");
      if (doubts) row += report.doubts_among_scores(frame) + ",";
      report.for_each_score(frame, [&](const std::string&, std::optional<double> score) {
        row += (score ? report.plain_number(*score) : "") + ",";
      });
      return file.write(row + "\n");
    }));
  }
  return {};
}

/* A frame is a line, whatever its scores are called. */
std::string without_line_breaks(std::string key) {
  std::ranges::replace_if(key, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return key;
}

Status write_sub(const Report& report) {
  return report.for_each_row([&](int64_t frame) {
    const std::string number = std::to_string(frame);
    std::string line = "{" + number + "}{" + std::to_string(frame + 1) + "}frame: " + number + "|";
    report.for_each_score(frame, [&](const std::string& key, std::optional<double> score) {
      if (score) line += without_line_breaks(key) + ": " + report.plain_number(*score) + "|";
    });
    return report.file.write(line + "\n");
  });
}

}  // namespace

ParsedReportFormat parse_report_format(const std::string& text, const std::string& path) {
  if (text.empty()) {
    const size_t dot = path.rfind('.');
    const auto by_ending = dot == path.npos ? std::nullopt : format_called(path.substr(dot + 1));
    return {by_ending.value_or(ReportFormat::kXml), true};
  }
  const auto format = format_called(text);
  return {format.value_or(ReportFormat::kXml), format.has_value()};
}

StatusOr<ReportFile> ReportFile::open(const ReportOptions& options) {
  VMAFX_ASSIGN(auto file, OutputFile::open(options.path, options.format == ReportFormat::kNdjson,
                                           replaceable_by_report(options.overwrite)));
  return ReportFile(options, std::move(file));
}

std::vector<std::string> report_paths(const std::string& path, int encodes) {
  if (path.empty()) return {};
  const size_t place = encodes > 1 ? path.find("%d") : path.npos;
  if (place == path.npos) return {path};
  std::vector<std::string> paths;
  for (int encode = 0; encode < encodes; encode++)
    paths.push_back(std::string(path).replace(place, 2, std::to_string(encode)));
  return paths;
}

StatusOr<std::vector<ReportFile>> open_reports(const ReportRequest& request, Log& log) {
  const ParsedReportFormat format = parse_report_format(request.format, request.path);
  if (!format.known)
    log.warning("log_fmt=" + request.format + " is unknown, xml is used; known are xml, json, csv, sub and ndjson");
  const bool json = format.format == ReportFormat::kJson || format.format == ReportFormat::kNdjson;
  const bool exact = request.exact && json;
  if (exact && !request.score_format.empty())
    log.warning("score_fmt=" + request.score_format +
                " is without effect in the report of a range, which has 17 digits");
  VMAFX_ASSIGN(ScoreFormat score_format, ScoreFormat::parse(request.score_format, json));
  if (exact) score_format = ScoreFormat::exact();
  std::vector<ReportFile> reports;
  if (request.path.empty()) {
    if (!request.format.empty())
      log.warning("log_fmt=" + request.format +
                  " is without effect: there is no report unless log_path=FILE names one");
    return reports;
  }
  if (request.pooled_only && format.format != ReportFormat::kNdjson)
    return error(
        EINVAL,
        "pooled_only=1 keeps no scores of frames for the end, when this report is written; use log_fmt=ndjson, "
        "which has a line of each as it finishes");
  const std::vector<std::string> paths = report_paths(request.path, request.encodes);
  const bool one_for_all = request.encodes > 1 && paths.size() == 1;
  if (one_for_all && (format.format == ReportFormat::kXml || format.format == ReportFormat::kSub))
    return error(EINVAL,
                 "log_fmt=%s has no place for several encodes; use json, ndjson or csv, or write %%d in log_path, "
                 "which gives each encode a report with its number there",
                 format.format == ReportFormat::kXml ? "xml" : "sub");
  for (const std::string& path : paths) {
    VMAFX_ASSIGN(ReportFile report,
                 ReportFile::open({path, format.format, score_format, request.n_subsample, request.all_times, exact,
                                   request.pooled_only, request.overwrite}));
    reports.push_back(std::move(report));
  }
  return reports;
}

Status ReportFile::reserve(const ScoreTable& scores, int64_t frames) {
  const bool names_in_rows = options_.format != ReportFormat::kCsv;
  int64_t row = 0;
  for (const std::string& key : scores.keys()) row += 2 + (names_in_rows ? static_cast<int64_t>(key.size()) : 0);
  return file_->reserve(row * (frames / options_.n_subsample));
}

Status ReportFile::append_frame(const ScoreTable& scores, int64_t frame, const EncodeLabel* label,
                                std::span<const char* const> doubts) {
  const Report report{options_, scores, *file_, label, nullptr, doubts};
  if (options_.format != ReportFormat::kNdjson || !report.has_row(frame)) return {};
  VMAFX_TRY(write_ndjson_frame(report, frame));
  return file_->flush();
}

Status ReportFile::append_window(const ScoreTable& scores, size_t number, const PooledFrames& window,
                                 const EncodeLabel* label) {
  if (options_.format != ReportFormat::kNdjson) return {};
  VMAFX_TRY(write_ndjson_window(Report{options_, scores, *file_, label}, number, window));
  return file_->flush();
}

Status ReportFile::write(std::span<const EncodeReport> encodes) {
  std::vector<Report> reports;
  for (const EncodeReport& encode : encodes)
    reports.push_back(Report{options_, encode.scores, *file_, encode.label, &encode.data});
  switch (options_.format) {
    case ReportFormat::kXml: return write_xml(reports.front(), *reports.front().data);
    case ReportFormat::kJson: return write_json(*file_, reports);
    case ReportFormat::kCsv: return write_csv(*file_, reports);
    case ReportFormat::kSub: return write_sub(reports.front());
    case ReportFormat::kNdjson: return write_ndjson_summary(*file_, reports);
  }
  return {};
}

}  // namespace vmafx
