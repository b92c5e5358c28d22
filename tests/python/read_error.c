/* Preloaded, it has reads of the file FAIL_FILE (a part of its name) fail with the error FAIL_ERRNO from the byte
 * FAIL_AT on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t read(int descriptor, void *bytes, size_t count) {
  static ssize_t (*system_read)(int, void *, size_t);
  const char *wanted = getenv("FAIL_FILE"), *at = getenv("FAIL_AT"), *number = getenv("FAIL_ERRNO");
  char link[64], path[4096];
  if (!system_read) system_read = (ssize_t (*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  const ssize_t length = wanted && at ? readlink(link, path, sizeof(path) - 1) : -1;
  if (length > 0) {
    path[length] = 0;
    if (strstr(path, wanted) && lseek(descriptor, 0, SEEK_CUR) >= atol(at)) {
      errno = number ? atoi(number) : EIO;
      return -1;
    }
  }
  return system_read(descriptor, bytes, count);
}
