/* Names of files, in UTF-8: which of their characters part folders, and how long they may be. */
#ifndef VMAFX_BASE_SYSTEM_PATH_H
#define VMAFX_BASE_SYSTEM_PATH_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace vmafx::system {

/* The characters that part the names of a path: "/"; on Windows also "\" and the colon behind a drive's letter. */
std::string_view separators();

/* The place at which the last name of a path begins, its size if it ends in a separator. */
inline size_t name_begins(std::string_view path) {
  const size_t separator = path.find_last_of(separators());
  return separator == path.npos ? 0 : separator + 1;
}

inline std::string name_of(const std::string& path) { return path.substr(name_begins(path)); }

/* The folder of a file, with its separator; ".": the folder that the process is in. */
inline std::string folder_of(const std::string& path) {
  const size_t begin = name_begins(path);
  return begin ? path.substr(0, begin) : ".";
}

/* The folder that holds a folder, as folder_of() writes it. */
inline std::string parent_of(const std::string& folder) {
  const size_t last = folder.find_last_not_of(separators());
  return last == folder.npos ? "." : folder_of(folder.substr(0, last + 1));
}

/* False: a path with `more` further bytes is longer than the system takes, or one of its names is. */
bool fits_system(const std::string& path, size_t more);

/* The open descriptor that a path stands for by its name alone, whatever is in /dev: /dev/stdout, /dev/stderr,
 * /dev/fd/3, /proc/self/fd/3. nullopt: any other path. */
std::optional<int> named_descriptor(const std::string& path);

/* Links into these folders lead to open descriptors, behind which a renamed file would not be seen. */
bool names_descriptor(const std::string& path);

/* The path with symbolic links followed; as it is if no file is there. */
std::string follow_links(const std::string& path);

/* The path at the end of the links that lead to a file, which need not exist. */
std::string end_of_links(std::string path);

bool is_link(const std::string& path);

}  // namespace vmafx::system

#endif
