/* Checks of a session's outputs before any of them is opened: what each may replace, judged by content, and that they
 * are distinct. A report replaces a report in any format, a file for Prometheus replaces such a file. */
#ifndef VMAFX_REPORT_OUTPUTS_H
#define VMAFX_REPORT_OUTPUTS_H

#include <span>
#include <string>
#include <string_view>

#include "base/replace.h"
#include "base/status.h"

namespace vmafx {

/* A report of vmafx or libvmaf by its first bytes: JSON, NDJSON, XML, CSV or MicroDVD subtitles. */
bool is_report(std::string_view beginning);

/* A file of openmetrics.h by its first bytes. */
bool is_metrics_file(std::string_view beginning);

Replaceable replaceable_by_report(bool overwrite);
Replaceable replaceable_by_metrics(bool overwrite);

/* A file, by the option that names it. */
struct NamedFile {
  std::string option;  // "log_path"
  std::string path;    // of a file, "-" and "pipe:3" as output_file.h has them
  /* Not "": `path` is a folder, and all files in it whose names end so are meant. */
  std::string ending{};
};

/* EINVAL if two outputs are one file or pipe, also by links, or an output is an input; devices can be shared. Outputs
 * need not be there. */
Status check_distinct(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

}  // namespace vmafx

#endif
