#include "engine/session_reports.h"

#include <utility>

namespace vmafx {
namespace {

/* The pairs after which space is reserved again. */
constexpr int64_t kPairsPerReserve = 256;

Status write_file(ReportFile file, SessionReports::Encodes encodes, const SessionReports::Describe& describe) {
  std::vector<EncodeReport> reports;
  const bool of_all = encodes.size() > 1;
  for (const auto& encode : encodes)
    reports.push_back({encode->table(), of_all ? encode->label() : nullptr, describe(*encode, of_all)});
  VMAFX_TRY(file.write(reports));
  return file.commit();
}

}  // namespace

StatusOr<SessionReports> SessionReports::open(const ReportRequest& request, Log& log) {
  SessionReports reports;
  VMAFX_ASSIGN(reports.files_, open_reports(request, log));
  return reports;
}

Status SessionReports::reserve(const ScoreTable& table, int64_t pairs) {
  const bool due = pairs % kPairsPerReserve == 0 || (pairs & (pairs - 1)) == 0;
  for (ReportFile& file : files_)
    if (due) VMAFX_TRY(file.reserve(table, pairs / static_cast<int64_t>(files_.size())));
  return {};
}

ReportFile* SessionReports::file_of(const Encode& encode) {
  if (files_.empty()) return nullptr;
  return &files_[files_.size() == 1 ? 0 : static_cast<size_t>(encode.number())];
}

Status SessionReports::write_complete_frames(Encodes encodes) {
  for (const auto& encode : encodes) VMAFX_TRY(encode->report_complete_frames(file_of(*encode), files_.size() == 1));
  return {};
}

Status SessionReports::write(Encodes encodes, const Describe& describe) {
  const Status lines = write_complete_frames(encodes);
  std::vector<ReportFile> files = std::exchange(files_, {});
  if (!lines.ok()) return lines;
  if (files.size() == 1) return write_file(std::move(files[0]), encodes, describe);
  Status first;
  for (size_t i = 0; i < files.size(); i++) {
    if (encodes[i]->submitted() == 0) continue;
    const Status status = write_file(std::move(files[i]), encodes.subspan(i, 1), describe);
    if (first.ok()) first = status;
  }
  return first;
}

}  // namespace vmafx
