/* Functions of POSIX that unit tests call, for Windows: what it lacks fails with ENOSYS, and so does the case that asks
 * for it. */
#ifndef VMAFX_TESTS_WINDOWS_POSIX_H
#define VMAFX_TESTS_WINDOWS_POSIX_H

#define _USE_MATH_DEFINES  // M_PI

#include <direct.h>
#include <errno.h>
#include <io.h>
#include <stdlib.h>
#include <sys/types.h>

static inline int setenv(const char* name, const char* value, int replaces) {
  return !replaces && getenv(name) ? 0 : _putenv_s(name, value);
}

static inline int unsetenv(const char* name) { return _putenv_s(name, ""); }

static inline char* mkdtemp(char* pattern) { return _mktemp(pattern) && _mkdir(pattern) == 0 ? pattern : NULL; }

static inline int missing_here(void) {
  errno = ENOSYS;
  return -1;
}

static inline pid_t fork(void) { return missing_here(); }
static inline pid_t waitpid(pid_t, int*, int) { return missing_here(); }
static inline unsigned alarm(unsigned) { return 0; }  // the test command limits the time of programs
static inline unsigned geteuid(void) { return 0; }    // files have no owner to keep others from reading

static inline int mkfifo(const char*, int) { return missing_here(); }
static inline int symlink(const char*, const char*) { return missing_here(); }

#endif
