#include "base/system/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/system/environment.h"
#include "base/system/file_kernel.h"

namespace vmafx::system {
namespace {

FileKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::kFile;
  if (S_ISDIR(mode)) return FileKind::kFolder;
  if (S_ISFIFO(mode)) return FileKind::kPipe;
  return S_ISCHR(mode) || S_ISBLK(mode) ? FileKind::kDevice : FileKind::kOther;
}

FileFacts facts_of(const struct stat& info) {
  return {kind_of(info.st_mode), info.st_size,         info.st_nlink > 1, static_cast<uint64_t>(info.st_dev),
          info.st_ino,           info.st_mode & 0777u, info.st_uid,       info.st_gid};
}

/* Whether nobody else can put something into this folder. */
bool is_ours(const std::string& folder) {
  struct stat info;
  return lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

int read_facts(const std::string& path, FileFacts* facts) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return errno;
  *facts = facts_of(info);
  return 0;
}

int read_facts(int descriptor, FileFacts* facts) {
  struct stat info;
  if (fstat(descriptor, &info) != 0) return errno;
  *facts = facts_of(info);
  return 0;
}

int open_file(const std::string& path, unsigned access, unsigned mode) {
  const int flags = (access & kWrite ? O_WRONLY : O_RDONLY) | (access & (kCreate | kNew) ? O_CREAT : 0) |
                    (access & kNew ? O_EXCL : 0) | (access & kNotThroughLink ? O_NOFOLLOW : 0);
  return open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, static_cast<mode_t>(mode));
}

int close_file(int descriptor) { return close(descriptor) == 0 ? 0 : errno; }

int reopen_file(int descriptor) { return open_file("/proc/self/fd/" + std::to_string(descriptor), kRead); }

int duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

void let_wait(int descriptor) { fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK); }

int read_way_of_writing(int descriptor, WayOfWriting* way) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return errno;
  struct stat info;
  way->is_allowed = (flags & O_ACCMODE) != O_RDONLY && !names_only(flags);
  way->adds = flags & O_APPEND || fstat(descriptor, &info) != 0 || lseek(descriptor, 0, SEEK_CUR) >= info.st_size;
  return 0;
}

int read_at(int descriptor, void* data, size_t bytes, int64_t at, size_t* got) {
  for (*got = 0; *got < bytes;) {
    const ssize_t more =
        pread(descriptor, static_cast<char*>(data) + *got, bytes - *got, at + static_cast<int64_t>(*got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return errno;
    if (more == 0) break;
    *got += static_cast<size_t>(more);
  }
  return 0;
}

int write_at(int descriptor, const void* data, size_t bytes, int64_t at) {
  for (const char* from = static_cast<const char*>(data); bytes > 0;) {
    const ssize_t written = pwrite(descriptor, from, bytes, at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    from += written;
    at += written;
    bytes -= static_cast<size_t>(written);
  }
  return 0;
}

int check_places(int descriptor) { return lseek(descriptor, 0, SEEK_CUR) < 0 ? errno : 0; }

/* /dev/full says no to this, too. */
int try_writing(int descriptor) { return write(descriptor, "", 0) == 0 ? 0 : errno; }

int resize(int descriptor, int64_t bytes) { return ftruncate(descriptor, bytes) == 0 ? 0 : errno; }

int reserve(int descriptor, int64_t bytes) {
  if (allocate(descriptor, bytes)) return 0;
  return errno == ENOSPC || errno == EDQUOT ? errno : ENOTSUP;
}

int append_content(int from, int to, int64_t bytes) {
  for (int64_t at = 0; at < bytes;) {
    const int64_t copied = copy_some(from, to, at, bytes - at);
    if (copied <= 0) return copied ? errno : EIO;
    at += copied;
  }
  return 0;
}

int sync_file(int descriptor) { return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno; }

int replace_file(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

int remove_file(const std::string& path) { return unlink(path.c_str()) == 0 ? 0 : errno; }

bool take_over(int descriptor, const std::string& path, const FileFacts& old) {
  struct stat made;
  if (old.has_other_names || has_access_list(path) || fstat(descriptor, &made) != 0) return false;
  const bool others = made.st_uid != old.user || made.st_gid != old.group;
  return (!others || fchown(descriptor, old.user, old.group) == 0) && fchmod(descriptor, old.mode) == 0;
}

int make_folder(const std::string& path, unsigned mode) {
  return mkdir(path.c_str(), static_cast<mode_t>(mode)) == 0 ? 0 : errno;
}

int make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (const int cause = make_folder(path.substr(0, end), 0770); cause && cause != EEXIST) return cause;
    if (end == std::string::npos) return 0;
  }
}

int check_folder(const std::string& path) { return access(path.c_str(), W_OK | X_OK) == 0 ? 0 : errno; }

std::string users_folder() {
  const char* run_time = environment("XDG_RUNTIME_DIR");
  const std::string folder =
      run_time && *run_time == '/' ? std::string(run_time) + "/vmafx" : "/tmp/vmafx-" + std::to_string(geteuid());
  static_cast<void>(make_folder(folder, 0700));  // may be there
  return is_ours(folder) ? folder : "";
}

std::string cache_folder() {
  if (const char* cache = environment("XDG_CACHE_HOME"); cache && *cache == '/') return cache;
  const char* home = environment("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache" : "";
}

Lock try_lock(int descriptor, LockKind kind) {
  if (flock(descriptor, (kind == LockKind::kOne ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return Lock::kTaken;
  return errno == EWOULDBLOCK ? Lock::kBusy : Lock::kFailed;
}

}  // namespace vmafx::system
