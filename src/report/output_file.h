/* A file that takes its name when it is complete.
 *
 * Text goes to `<path>.part`, which commit() renames, so nobody ever reads half a file and an old file stays until
 * then. Some things are written in place instead: what is no regular file (/dev/stdout, a pipe), a file in a folder
 * where none can be made, and whatever the caller wants to be readable while it grows. "-" is standard output, to which
 * text is only ever added. */
#ifndef VMAFX_REPORT_OUTPUT_FILE_H
#define VMAFX_REPORT_OUTPUT_FILE_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace vmafx {

class OutputFile {
 public:
  /* Opens, changing nothing that is there. The sentence of a failure names the path as it was given. A device that takes nothing
   * fails here. */
  static StatusOr<std::unique_ptr<OutputFile>> open(const std::string& path, bool in_place);

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /* Without a write() nothing is left behind; otherwise an uncommitted file keeps its present name. */
  ~OutputFile();

  /* Takes room for a file of at least so many bytes, so that a full disk is noticed before write(); where the file system cannot do
   * that, or the file is written in place, nothing happens. */
  Status reserve(int64_t bytes);

  /* Appends; the first call in place empties the old file. Failures may show only at flush() or commit(). */
  Status write(std::string_view text);
  Status flush();

  /* Flushes, closes, renames. Nothing can be written afterwards. */
  Status commit();

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  Status open_in_place(bool exists);
  Status open_standard_output();
  Status try_to_write();
  Status empty();
  Status begin();
  Status give_back_room();
  Status failure(int errno_value) const;

  std::string path_;     // as given
  std::string target_;   // what `.part` is renamed to: path_ with symbolic links followed; "" when in place
  std::string present_;  // the file's name until commit()
  std::FILE* file_ = nullptr;
  bool created_ = false;  // by open()
  bool begun_ = false;    // something was written
  int64_t reserved_ = 0;  // bytes that reserve() has taken
};

}  // namespace vmafx

#endif
