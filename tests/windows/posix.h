/* Functions of POSIX that unit tests call, for Windows: what it lacks fails with ENOSYS, and so does the case that asks
 * for it. */
#ifndef VMAFX_TESTS_WINDOWS_POSIX_H
#define VMAFX_TESTS_WINDOWS_POSIX_H

#include <direct.h>
#include <errno.h>
#include <io.h>
#include <stdlib.h>

static inline int setenv(const char* name, const char* value, int replaces) {
  return !replaces && getenv(name) ? 0 : _putenv_s(name, value);
}

static inline int unsetenv(const char* name) { return _putenv_s(name, ""); }

static inline char* mkdtemp(char* pattern) { return _mktemp(pattern) && _mkdir(pattern) == 0 ? pattern : NULL; }

static inline int mkfifo(const char*, int) {
  errno = ENOSYS;
  return -1;
}

static inline int symlink(const char*, const char*) {
  errno = ENOSYS;
  return -1;
}

#endif
