/* SessionReports: the report files of a session, one for each encode or one for all. */
#ifndef VMAFX_ENGINE_SESSION_REPORTS_H
#define VMAFX_ENGINE_SESSION_REPORTS_H

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "engine/encode.h"
#include "report/report.h"

namespace vmafx {

class SessionReports {
 public:
  using Encodes = std::span<const std::unique_ptr<Encode>>;

  /* Opens the files: see open_reports(). */
  static StatusOr<SessionReports> open(const ReportRequest& request, Log& log);

  bool any() const { return !files_.empty(); }

  /* Whether frames have lines that are written while later ones are scored. */
  bool are_written_early() const { return any() && files_.front().format() == ReportFormat::kNdjson; }

  /* Reserves space for the reports on the first `pairs` pairs of all encodes, now and then, while an error can still
   * reach the one who submits them. ENOSPC: there is none. */
  Status reserve(const ScoreTable& table, int64_t pairs);

  /* Writes the lines of complete frames and windows, if the reports are written line by line. */
  Status write_complete_frames(Encodes encodes);

  /* The facts about an encode besides its scores. `of_all`: the report has all encodes. */
  using Describe = std::function<ReportData(const Encode& encode, bool of_all)>;

  /* Writes all reports and closes them. An encode without frames gets none. The first error counts, and does not keep
   * the other reports from being written. */
  Status write(Encodes encodes, const Describe& describe);

 private:
  ReportFile* file_of(const Encode& encode);

  std::vector<ReportFile> files_;
};

}  // namespace vmafx

#endif
