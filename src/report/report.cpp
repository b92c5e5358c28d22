#include "report/report.h"

#include <string_view>
#include <utility>

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

Status write_csv(const Report& report) {
  const bool times = report.has_times_among_scores();
  std::string header = times ? "Frame,Time," : "Frame,";
  for (const std::string& key : report.scores.keys()) header += csv_cell(key) + ",";
  VMAFX_TRY(report.file.write(header + "\n"));
  return report.for_each_row([&](int64_t frame) {
    std::string row = std::to_string(frame) + "," + (times ? report.time(frame) + "," : "");
    report.for_each_score(frame, [&](const std::string&, std::optional<double> score) {
      row += (score ? report.plain_number(*score) : "") + ",";
    });
    return report.file.write(row + "\n");
  });
}

Status write_sub(const Report& report) {
  return report.for_each_row([&](int64_t frame) {
    const std::string number = std::to_string(frame);
    std::string line = "{" + number + "}{" + std::to_string(frame + 1) + "}frame: " + number + "|";
    report.for_each_score(frame, [&](const std::string& key, std::optional<double> score) {
      if (score) line += key + ": " + report.plain_number(*score) + "|";
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
  VMAFX_ASSIGN(auto file, OutputFile::open(options.path, options.format == ReportFormat::kNdjson));
  return ReportFile(options, std::move(file));
}

StatusOr<std::optional<ReportFile>> open_report(const ReportRequest& request, Log& log) {
  const ParsedReportFormat format = parse_report_format(request.format, request.path);
  if (!format.known)
    log.warning("log_fmt=" + request.format + " is unknown, xml is used; known are xml, json, csv, sub and ndjson");
  const bool json = format.format == ReportFormat::kJson || format.format == ReportFormat::kNdjson;
  VMAFX_ASSIGN(const ScoreFormat score_format, ScoreFormat::parse(request.score_format, json));
  if (request.path.empty()) {
    if (!request.format.empty())
      log.warning("log_fmt=" + request.format +
                  " is without effect: there is no report unless log_path=FILE names one");
    return std::optional<ReportFile>();
  }
  VMAFX_ASSIGN(ReportFile report,
               ReportFile::open({request.path, format.format, score_format, request.n_subsample, request.all_times}));
  return std::optional<ReportFile>(std::move(report));
}

Status ReportFile::reserve(const ScoreTable& scores, int64_t frames) {
  const bool names_in_rows = options_.format != ReportFormat::kCsv;
  int64_t row = 0;
  for (const std::string& key : scores.keys()) row += 2 + (names_in_rows ? static_cast<int64_t>(key.size()) : 0);
  return file_->reserve(row * (frames / options_.n_subsample));
}

Status ReportFile::append_frame(const ScoreTable& scores, int64_t frame) {
  const Report report{options_, scores, *file_};
  if (options_.format != ReportFormat::kNdjson || !report.has_row(frame)) return {};
  VMAFX_TRY(write_ndjson_frame(report, frame));
  return file_->flush();
}

Status ReportFile::append_window(const ScoreTable& scores, size_t number, const PooledFrames& window) {
  if (options_.format != ReportFormat::kNdjson) return {};
  VMAFX_TRY(write_ndjson_window(Report{options_, scores, *file_}, number, window));
  return file_->flush();
}

Status ReportFile::write(const ScoreTable& scores, const ReportData& data) {
  const Report report{options_, scores, *file_};
  switch (options_.format) {
    case ReportFormat::kXml: return write_xml(report, data);
    case ReportFormat::kJson: return write_json(report, data);
    case ReportFormat::kCsv: return write_csv(report);
    case ReportFormat::kSub: return write_sub(report);
    case ReportFormat::kNdjson: return write_ndjson_summary(report, data);
  }
  return {};
}

}  // namespace vmafx
