#include "base/system/foreign_memory.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#if __has_include(<sys/sysmacros.h>)
#include <sys/sysmacros.h>
#endif

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace vmafx::system {

const char* why_no_foreign_memory() { return nullptr; }

int duplicate_foreign(int descriptor, int* copy) {
  *copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return *copy < 0 ? errno : 0;
}

void close_foreign(int descriptor) { close(descriptor); }

int identify_foreign(int descriptor, ForeignIdentity* identity) {
  struct stat file;
  if (fstat(descriptor, &file)) return errno;
  *identity = {static_cast<uint64_t>(file.st_dev), file.st_ino, file.st_size};
  return 0;
}

int wait_for_foreign(int descriptor, std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd file{descriptor, POLLIN, 0};
    const int ready = poll(&file, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready > 0) return file.revents & POLLIN ? 0 : EINVAL;
    if (ready == 0) return ETIMEDOUT;
    if (errno != EINTR) return errno;
  }
}

std::string bus_name_of_device(int descriptor, const std::string& numbers) {
  struct stat file;
  if (fstat(descriptor, &file) || !S_ISCHR(file.st_mode)) return "";
  char target[PATH_MAX] = "";
  const std::string link =
      numbers + "/" + std::to_string(major(file.st_rdev)) + ":" + std::to_string(minor(file.st_rdev)) + "/device";
  if (readlink(link.c_str(), target, sizeof target - 1) < 0) return "";
  const char* slash = std::strrchr(target, '/');
  return slash ? slash + 1 : target;
}

}  // namespace vmafx::system
