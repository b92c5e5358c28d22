#include "base/replace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace vmafx {
namespace {

/* O_NONBLOCK: a pipe does not wait for a writer. */
constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

constexpr const char* kAdvice = "name another file, or set overwrite=1 to replace it";

Status unreadable(int cause, const std::string& path, const Replaceable& may) {
  return error(cause, "%s=%s: the file that is there cannot be read, so it stays (%s): %s", may.option, path.c_str(),
               std::generic_category().message(cause).c_str(), kAdvice);
}

struct Descriptor {
  const int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/* 0 or an errno value. */
int read_beginning(int fd, std::string* text) {
  text->resize(kBeginning);
  size_t got = 0;
  while (got < text->size()) {
    const ssize_t more = pread(fd, text->data() + got, text->size() - got, static_cast<off_t>(got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return errno;
    if (more == 0) break;
    got += static_cast<size_t>(more);
  }
  text->resize(got);
  return 0;
}

Status judge(int fd, const struct stat& info, const std::string& path, const Replaceable& may) {
  std::string beginning;
  if (const int cause = read_beginning(fd, &beginning)) return unreadable(cause, path, may);
  if (beginning.empty() || may.is_kind({path, beginning, info.st_size, info.st_nlink > 1})) return {};
  return error(EEXIST, "%s=%s: this file exists and is not %s, so it stays: %s", may.option, path.c_str(), may.kind,
               kAdvice);
}

bool has_content(const struct stat& info) { return S_ISREG(info.st_mode) && info.st_size > 0; }

}  // namespace

Status check_replace(const std::string& path, const Replaceable& may) {
  struct stat info;
  if (may.overwrite) return {};
  if (stat(path.c_str(), &info) != 0) return errno == ENOENT ? Status() : unreadable(errno, path, may);
  if (!has_content(info)) return {};
  const Descriptor file{::open(path.c_str(), kFlags)};
  if (file.fd < 0 || fstat(file.fd, &info) != 0) return unreadable(errno, path, may);
  return has_content(info) ? judge(file.fd, info, path, may) : Status();
}

Status check_replace_of(int descriptor, const std::string& path, const Replaceable& may) {
  struct stat info;
  if (may.overwrite) return {};
  if (fstat(descriptor, &info) != 0) return unreadable(errno, path, may);
  if (!has_content(info)) return {};
  const Descriptor file{::open(format_text("/proc/self/fd/%d", descriptor).c_str(), kFlags)};
  if (file.fd < 0) return unreadable(errno, path, may);
  return judge(file.fd, info, path, may);
}

}  // namespace vmafx
