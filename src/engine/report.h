/* Reports: the score table as a file, in the formats of libvmaf (f85a853, output.c) and as NDJSON.
 *
 *   json    {version, fps, frames: [{frameNum, metrics}], pooled_metrics, aggregate_metrics} laid out as libvmaf does, then
 *           keys of our own: pooled_statistics (median, stddev, percentiles), excluded_scores, partial, and the extras
 *   xml     libvmaf's elements, then one element <vmafx> with the same additions
 *   csv     a row per frame; a missing score is an empty cell
 *   sub     MicroDVD subtitles
 *   ndjson  {frameNum, metrics} on a line of its own as each frame finishes; last line: all that json has besides frames
 *
 * A score that is not finite is null in json and ndjson, and "nan", "inf" or "-inf" in the others. Frames that subsampling
 * skips are in no format. Numbers are written with a decimal point whatever the process's locale.
 *
 * The report is written to `<path>.part` and renamed when complete, so a reader never sees half of one. Two things are
 * written in place: NDJSON, which is there to be read while it grows, and whatever is no regular file (/dev/stdout, a pipe) or lies
 * in a folder where no file can be made. */
#ifndef VMAFX_ENGINE_REPORT_H
#define VMAFX_ENGINE_REPORT_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "engine/scores.h"

namespace vmafx {

enum class ReportFormat { kXml, kJson, kCsv, kSub, kNdjson };

struct ParsedReportFormat {
  ReportFormat format = ReportFormat::kXml;
  bool known = true;  // false: the text was not understood and xml stands in for it, as in libvmaf
};

/* "xml", "json", "csv", "sub", "ndjson"; "" is xml. */
ParsedReportFormat parse_report_format(const std::string& text);

/* How a finite score is printed. */
class ScoreFormat {
 public:
  ScoreFormat() = default;  // libvmaf's: "%.6f", or "%.16f" when the fraction is neither 0 nor at least about 1e-6

  /* A printf format of one double, "%.17g": `%`, flags, width, precision (at most two digits each), one of aefgAEFG, and
   * nothing else. "" is the default. EINVAL otherwise, and when `json` and it can print what is no JSON number. */
  static StatusOr<ScoreFormat> parse(const std::string& text, bool json);

  std::string print(double score) const;

 private:
  std::string printf_format_;  // "": the default
};

struct ReportOptions {
  std::string path;
  ReportFormat format = ReportFormat::kXml;
  ScoreFormat score_format;
  int n_subsample = 1;
};

/* What a report says besides the scores. */
struct ReportData {
  std::string version;  // of this library
  int width = 0;        // luma samples
  int height = 0;
  double fps = 0;  // frames scored per second of wall-clock time
  bool partial = false;
  /* An object; its members become further top-level keys of json and the last line of ndjson, and elements and attributes
   * of <vmafx> in xml. csv and sub have no place for it. */
  nlohmann::ordered_json extras = nlohmann::ordered_json::object();
};

class ReportFile {
 public:
  /* Opens the file, so that a bad path fails at once; an existing report stays as it is until commit() (NDJSON and other
   * files written in place: until the first write). The sentence of a failure names the path as given. */
  static StatusOr<ReportFile> open(const ReportOptions& options);

  ReportFile(ReportFile&&) noexcept;
  ReportFile& operator=(ReportFile&&) noexcept;
  /* Closes; without a write nothing is left behind, otherwise what was written stays under its present name. */
  ~ReportFile();

  ReportFormat format() const { return options_.format; }

  /* NDJSON only: the line of one finished frame, flushed. Frames that subsampling skips write nothing. */
  Status append_frame(const ScoreTable& scores, int64_t frame);

  /* The whole report; with NDJSON its last line. Once. EIO, ENOSPC, …: not all of it could be written. */
  Status write(const ScoreTable& scores, const ReportData& data);

  /* Flushes, closes and gives the file its name. Call after write(). */
  Status commit();

  /* How many frame scores have been written as null or nan so far. */
  int64_t not_finite() const { return not_finite_; }

 private:
  explicit ReportFile(ReportOptions options) : options_(std::move(options)) {}
  Status open_file();
  Status begin();
  void close();

  ReportOptions options_;
  std::string opened_path_;  // `<path>.part`, or the path itself
  std::FILE* file_ = nullptr;
  bool created_ = false;  // the file was not there before
  bool begun_ = false;    // something was written
  int64_t not_finite_ = 0;
};

}  // namespace vmafx

#endif
