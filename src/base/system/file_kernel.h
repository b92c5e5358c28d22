/* Calls of the kernel beyond POSIX, for file_posix.cpp: Linux and macOS have other calls for it. */
#ifndef VMAFX_BASE_SYSTEM_FILE_KERNEL_H
#define VMAFX_BASE_SYSTEM_FILE_KERNEL_H

#include <cstdint>
#include <string>

namespace vmafx::system {

/* Whether a file was opened with these flags of fcntl() to be named alone, neither read nor written. */
bool names_only(int flags);

/* Takes space on the disk for a file, whose size stays. Sets errno if it fails. */
bool allocate(int descriptor, int64_t bytes);

/* Writes up to `bytes` bytes of a file, from this place on, to where the other file is, and returns how many; 0 at the
 * end of the file, -1 with errno after an error. */
int64_t copy_some(int from, int to, int64_t at, int64_t bytes);

/* Whether a list says, beside the permissions, who may use the file. */
bool has_access_list(const std::string& path);

}  // namespace vmafx::system

#endif
