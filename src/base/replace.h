/* Whether an output may take the place of a file. Options that write may name a file by mistake that somebody needs, a
 * video for one:
 * without the user's word an output replaces only what its own kind has written before. */
#ifndef VMAFX_BASE_REPLACE_H
#define VMAFX_BASE_REPLACE_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace vmafx {

/* A regular file that is not empty. */
struct ExistingFile {
  std::string path;            // as it was named
  std::string_view beginning;  // its first bytes, kBeginning of them at most
  int64_t size;                // bytes
  bool has_other_names;        // hard links
};

inline constexpr size_t kBeginning = 65536;

/* The files that an output may replace. */
struct Replaceable {
  const char* option;  // the option that names the output, for messages: "log_path"
  const char* noun;    // the output's content, for messages: "report"
  const char* kind;    // the content that it may replace, for messages: "a report of vmafx or libvmaf"
  std::function<bool(const ExistingFile& file)> is_kind;
  bool overwrite;  // the user's word: replace any file
};

/* EEXIST, with a sentence that names option and path, if the file must stay: it has content of another kind. Empty
 * files, devices, pipes and names that no file has are fine. A file that cannot be read cannot be judged: EACCES, EIO,
 * …. */
Status check_replace(const std::string& path, const Replaceable& may);

/* Checks an open descriptor that `path` named, whose present content the output would overwrite. The descriptor is not
 * read. */
Status check_replace_of(int descriptor, const std::string& path, const Replaceable& may);

}  // namespace vmafx

#endif
