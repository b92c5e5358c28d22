/* Reports: the score table as a file, in the formats of libvmaf (f85a853, output.c) and as NDJSON.
 *
 *   - json: {version, fps, frames: [{frameNum, metrics}], pooled_metrics, aggregate_metrics} laid out as libvmaf does,
 *     then keys of our own: pooled_statistics (median, stddev, percentiles), excluded_scores (how many were not finite,
 *     where any were), infinite_scores (of which keys these are all positive infinity, where JSON has null), windows
 *     (where there are any: pooled, the first and the last frame, the time of the first), partial (when true), vmafx
 *     (how the scores were computed, and what they are), pairing, doubts and warnings (pairing.h); in frames `time` in
 *     seconds, where it is known, and `doubts`, the kinds of those that are sure of the pair, where there are any
 *   - xml: libvmaf's elements, then an element for each of these keys; partial is an attribute of the root, and `time`,
 *     unless ReportOptions say otherwise, one of each frame; likewise `doubts`, with blanks between kinds
 *   - csv: a row per frame; a missing score is an empty cell. The second column is `Time`, under the same conditions,
 *     then comes `Doubts` if any pair has some
 *   - sub: MicroDVD subtitles
 *   - ndjson: {frameNum, time, metrics, doubts} on a line of its own as each frame finishes, {window, firstFrame,
 *     lastFrame, time, pooled} as each window does; last line: all else that json has
 *
 * The encodes of a session have a report each, or one together, which only json, ndjson and csv can be. Then json has
 * `encodes`, a list of objects with `encode` (from 0), `name`, and what json has of one but for version, fps and
 * `vmafx`; lines of ndjson begin with `encode` and `name`, and the last one has `encodes`; rows of csv begin with
 * Encode and Name.
 *
 * Of a range of a stream, json and the last line of ndjson have `range` (range_facts.h), and scores and times have 17
 * digits there.
 *
 * A score that is not finite is null in json and ndjson (not of a range), and "nan", "inf" or "-inf" in the others.
 * Frames that subsampling skips are in no format. Numbers are written with a decimal point whatever the process's
 * locale.
 *
 * The report appears under its name when it is complete (see output_file.h). NDJSON is written in place, to be read
 * while it grows. It is complete when its last line has `pooled_metrics`. */
#ifndef VMAFX_REPORT_REPORT_H
#define VMAFX_REPORT_REPORT_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "report/output_file.h"
#include "report/pairing.h"
#include "report/picture_doubts.h"
#include "report/pool_windows.h"
#include "report/range_facts.h"
#include "report/score_format.h"
#include "report/scores.h"
#include "vmafx/vmafx.h"

namespace vmafx {

enum class ReportFormat { kXml, kJson, kCsv, kSub, kNdjson };

struct ParsedReportFormat {
  ReportFormat format = ReportFormat::kXml;
  bool known = true;  // false: the text was not understood and xml stands in for it, as in libvmaf
};

/* "xml", "json", "csv", "sub", "ndjson"; "" is the one that `path` ends with, as in "report.json", else xml. */
ParsedReportFormat parse_report_format(const std::string& text, const std::string& path);

/* The number and the name of an encode, in a report of several. */
struct EncodeLabel {
  int number = 0;
  std::string name;
};

struct ReportOptions {
  std::string path;
  ReportFormat format = ReportFormat::kXml;
  ScoreFormat score_format;
  int n_subsample = 1;
  bool all_times = true;  // false: xml and csv have neither times nor doubts of frames
  bool exact = false;     // json and ndjson only: times with all their digits, "inf", "-inf" and "nan" in place of null
  bool pooled_only = false;  // of ndjson: the last line has only what is pooled without the scores of all frames
  bool overwrite = false;    // any file may be replaced, not reports alone
};

/* Everything but the scores that a report says. */
struct ReportData {
  std::string version;  // of this library
  int width = 0;        // luma samples
  int height = 0;
  double fps = 0;  // frames scored per second of wall-clock time
  bool partial = false;
  std::vector<PooledFrames> windows{};
  /* Further keys of json and of the last line of ndjson. In xml an object is an element, its plain values attributes.
   * csv and sub have no place for them. */
  std::optional<Json> run{};          // how the scores were computed, and what they are: one object for all encodes
  std::optional<RangeFacts> range{};  // json and ndjson only
  std::optional<Pairing> pairing{};
  std::vector<PictureDoubt> picture_doubts{};
};

/* The report of one encode. */
struct EncodeReport {
  const ScoreTable& scores;
  const EncodeLabel* label;  // nullptr: the report is of one encode
  ReportData data;
};

/* Options of a report as texts, "" where they are not given. */
struct ReportRequest {
  std::string path, format, score_format;
  int n_subsample = 1;
  bool all_times = true;
  int encodes = 1;
  bool exact = false;  // of a range: scores in json and ndjson have all their digits, whatever score_format says
  /* Scores of frames are forgotten before the end. EINVAL for all formats but ndjson, written line by line. */
  bool pooled_only = false;
  bool overwrite = false;  // any file may be replaced, not reports alone
};

class ReportFile {
 public:
  /* Opens the file, so that a bad path fails at once; an existing report stays as it is until commit() (in place: until
   * the first write). The sentence of a failure names the path as given. EEXIST: what is there is not a report. */
  static StatusOr<ReportFile> open(const ReportOptions& options);

  ReportFormat format() const { return options_.format; }

  /* Takes room for the report on that many frames, so that a full disk is an error while they are scored; never for
   * more than it will be. ENOSPC: there is none. */
  Status reserve(const ScoreTable& scores, int64_t frames);

  /* NDJSON only: the line of one finished frame, flushed. Frames that subsampling skips write nothing. `doubts`: what
   * is sure of the pair so far. `label`: as EncodeReport's. */
  Status append_frame(const ScoreTable& scores, int64_t frame, const EncodeLabel* label = nullptr,
                      std::span<const char* const> doubts = {});

  /* NDJSON only: the line of a window whose frames have their lines. */
  Status append_window(const ScoreTable& scores, size_t number, const PooledFrames& window,
                       const EncodeLabel* label = nullptr);

  /* The whole report, of all its encodes; with NDJSON its last line. Once. EIO, ENOSPC, …: not all of it could be
   * written. */
  Status write(std::span<const EncodeReport> encodes);

  /* Flushes, closes and gives the file its name. Once, after write(). Without it a destroyed ReportFile leaves what was
   * written under its present name, and nothing at all if there was no write. */
  Status commit() { return file_->commit(); }

 private:
  ReportFile(ReportOptions options, std::unique_ptr<OutputFile> file)
      : options_(std::move(options)), file_(std::move(file)) {}

  ReportOptions options_;
  std::unique_ptr<OutputFile> file_;
};

/* The paths of the reports of so many encodes: `path`, or one for each where it has `%d`; none for "". */
std::vector<std::string> report_paths(const std::string& path, int encodes);

/* Opens the reports of a session: none without a path; one for each encode where the path has `%d`, which their
 * numbers replace; else one for all. EINVAL for a score format that is none, also without a path, and for a format that
 * has no place for several encodes. */
StatusOr<std::vector<ReportFile>> open_reports(const ReportRequest& request, Log& log);

}  // namespace vmafx

#endif
