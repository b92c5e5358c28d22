/* A file that takes its name when it is complete.
 *
 * Text goes to a new file beside it, `<path>.part` (or another name where that is taken or too long), which commit()
 * renames, so nobody ever reads half a file and an old file stays until then. The new file takes owner and mode of the
 * old one. Where it could not take its place without a loss (an old file with other names or an access list, one whose
 * owner it cannot be given) or cannot be renamed (to a mount point), commit() copies it into the old one.
 *
 * Some things are written in place from the beginning: what is no regular file (a device, a pipe), a file in a
 * folder where none can be made, and whatever the caller wants to be readable while it grows. A file is written so by
 * one at a time. "-" and /dev/stdout are standard output, "pipe:3" and /dev/fd/3 that open descriptor, to
 * which text is only ever added.
 *
 * A file of another kind is not replaced (replace.h). Writing beyond the limit of `ulimit -f` is an error (EFBIG). */
#ifndef VMAFX_REPORT_OUTPUT_FILE_H
#define VMAFX_REPORT_OUTPUT_FILE_H

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/replace.h"
#include "base/status.h"
#include "base/system/file.h"

namespace vmafx {

class OutputFile {
 public:
  /* Opens, changing nothing that is there. The sentence of a failure names the path as it was given. What cannot be
   * written fails here, also a name that is too long, a device that takes nothing, a descriptor that is not open for
   * writing (EBADF), and a file in place that is being written already (EBUSY). A pipe has 5 s to find a reader
   * (ENXIO). EEXIST: what is there is not `may`'s kind. */
  static StatusOr<std::unique_ptr<OutputFile>> open(const std::string& path, bool in_place, const Replaceable& may);

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /* Removes a file that was not committed, unless it is complete and could only not be renamed, or was written in
   * place. */
  ~OutputFile();

  /* Takes room for a file of at least so many bytes, so that a full disk is noticed before write(); where the file
   * system cannot do that, or the file is written in place, nothing happens. */
  Status reserve(int64_t bytes);

  /* Appends; the first call in place empties the old file. Failures may show only at flush() or commit(). After one,
   * nothing more is written, and all calls fail as it did. */
  Status write(std::string_view text);
  Status flush();

  /* Flushes, closes, renames. Nothing can be written afterwards. */
  Status commit();

 private:
  OutputFile(std::string path, const Replaceable& may) : path_(std::move(path)), may_(may) {}
  Status check_name() const;
  Status open_beside(const system::FileFacts* there);
  Status open_in_place(const system::FileFacts* there);
  Status open_descriptor(int fd);
  Status take(int fd);
  bool is_file() const;
  Status try_to_write();
  Status begin();
  bool is_worth_keeping() const;
  Status give_back_room();
  Status give_name();
  Status break_off(int errno_value);
  Status failure(int errno_value) const;
  const char* noun() const { return may_.noun; }

  std::string path_;  // as given
  Replaceable may_;
  std::string target_;   // what it is to be: path_ with symbolic links followed; "" when in place
  std::string present_;  // the file's name until commit()
  std::FILE* file_ = nullptr;
  bool created_ = false;  // by open()
  bool copied_ = false;   // by commit(), into the old file
  bool begun_ = false;    // something was written
  bool complete_ = false;
  int broken_ = 0;        // errno of the first failure to write
  int64_t reserved_ = 0;  // bytes that reserve() has taken
};

}  // namespace vmafx

#endif
