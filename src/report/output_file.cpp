#include "report/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/size_signal.h"

namespace vmafx {
namespace {

constexpr mode_t kMode = 0666;  // less the umask
constexpr int kMostNames = 1000;
/* O_NONBLOCK: a pipe that nobody reads fails instead of waiting for ever. */
constexpr int kFlags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kPause{20};

std::string text_of(int errno_value) { return std::generic_category().message(errno_value); }

/* Tries again while `attempt` fails with this errno and the time is not up. */
template <class Attempt>
int patiently(int errno_value, Attempt attempt) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const int result = attempt();
    if (result >= 0 || errno != errno_value || std::chrono::steady_clock::now() > end) return result;
    std::this_thread::sleep_for(kPause);
  }
}

/* Opens what is there, for writing and as it is. */
int open_there(const std::string& path, const struct stat& info) {
  const auto open = [&] { return ::open(path.c_str(), kFlags); };
  return S_ISFIFO(info.st_mode) ? patiently(ENXIO, open) : open();
}

/* Links into these lead to open descriptors, behind which a renamed file would not be seen. */
bool names_a_descriptor(const std::string& path) {
  return (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) || path.starts_with("/proc/");
}

constexpr std::string_view kPipe = "pipe:";

/* "-", "pipe:N" as FFmpeg's protocols have it; nullopt: a path of a file. */
StatusOr<std::optional<int>> descriptor_of(const std::string& path, const char* option) {
  if (path == "-") return std::optional(STDOUT_FILENO);
  if (!path.starts_with(kPipe)) return std::optional<int>();
  int fd = -1;
  const char* const end = path.data() + path.size();
  const auto [rest, failure] = std::from_chars(path.data() + kPipe.size(), end, fd);
  if (failure == std::errc() && rest == end && fd >= 0) return std::optional(fd);
  return error(
      EINVAL,
      "%s=%s: after pipe: there must be the number of an open descriptor, as in pipe:3; a file of that name is "
      "./%s",
      option, path.c_str(), path.c_str());
}

bool is_symlink(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

std::string follow_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

/* Makes a file that was not there: `path`.part, or another name in its folder where that is taken or too long. */
int make_beside(const std::string& path, mode_t mode, std::string* name) {
  std::string base = path + ".part";
  const std::string shorter = path.substr(0, path.rfind('/') + 1) + "vmafx.part";
  for (int i = 1; i <= kMostNames; i++) {
    *name = i == 1 ? base : base + "." + std::to_string(i);
    const int fd = ::open(name->c_str(), kFlags | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (fd >= 0) return fd;
    if (errno == ENAMETOOLONG && base != shorter) base = shorter, i = 0;
    else if (errno != EEXIST) return -1;
  }
  return -1;
}

/* Gives a new file the owner and the mode of the one that it is to replace. False: something of that one would be
 * lost. */
bool can_replace(int fd, const std::string& path, const struct stat& old) {
  struct stat made;
  const bool has_acl = getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
  if (old.st_nlink > 1 || has_acl || fstat(fd, &made) != 0) return false;
  const bool others = made.st_uid != old.st_uid || made.st_gid != old.st_gid;
  return (!others || fchown(fd, old.st_uid, old.st_gid) == 0) && fchmod(fd, old.st_mode & 0777) == 0;
}

/* Closes a descriptor. */
struct Descriptor {
  const int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/* Puts what is in one file into another, which stays the file it is; 0 or an errno value. */
int copy_into(const std::string& from, const std::string& to) {
  const Descriptor in{::open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  const Descriptor out{::open(to.c_str(), kFlags | O_NOFOLLOW)};
  struct stat info, other;
  if (in.fd < 0 || out.fd < 0 || fstat(in.fd, &info) != 0 || fstat(out.fd, &other) != 0) return errno;
  if (!S_ISREG(other.st_mode)) return EINVAL;
  if (patiently(EWOULDBLOCK, [&] { return flock(out.fd, LOCK_EX | LOCK_NB); }) != 0 && errno == EWOULDBLOCK)
    return EBUSY;
  if (ftruncate(out.fd, 0) != 0) return errno;
  for (off_t at = 0; at < info.st_size;)
    if (const ssize_t copied = sendfile(out.fd, in.fd, &at, static_cast<size_t>(info.st_size - at)); copied <= 0)
      return copied ? errno : EIO;
  return fsync(out.fd) == 0 || errno == EINVAL ? 0 : errno;
}

}  // namespace

StatusOr<std::unique_ptr<OutputFile>> OutputFile::open(const std::string& path, bool in_place, const Replaceable& may) {
  std::unique_ptr<OutputFile> file(new OutputFile(path, may));
  VMAFX_ASSIGN(const std::optional<int> descriptor, descriptor_of(path, may.option));
  if (descriptor) {
    VMAFX_TRY(file->open_descriptor(*descriptor));
    return file;
  }
  VMAFX_TRY(file->check_name());
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return file->failure(errno);  // ENAMETOOLONG, ENOTDIR, ELOOP, …
  const bool dangling = !exists && is_symlink(path);
  const struct stat* const there = exists ? &info : nullptr;
  VMAFX_TRY(check_replace(path, may));
  if (in_place || dangling || names_a_descriptor(path) || (exists && !S_ISREG(info.st_mode))) {
    VMAFX_TRY(file->open_in_place(there));
  } else {
    VMAFX_TRY(file->open_beside(there));
  }
  return file;
}

Status OutputFile::check_name() const {
  if (path_.empty()) return failure(ENOENT);
  const std::string name = path_.substr(path_.rfind('/') + 1);
  if (name.empty()) return error(EISDIR, "%s=%s: this names a folder; name a file in it", may_.option, path_.c_str());
  if (name.find_first_not_of(" \t\r\n\v\f") != name.npos) return {};
  return error(EINVAL, "%s='%s': the name consists of blanks; name a file", may_.option, path_.c_str());
}

/* `there`: the file that has the name now, or nullptr. */
Status OutputFile::open_beside(const struct stat* there) {
  if (there && Descriptor{open_there(path_, *there)}.fd < 0) return failure(errno);
  target_ = there ? follow_links(path_) : path_;
  const int fd = make_beside(target_, there ? S_IRUSR | S_IWUSR : kMode, &present_);
  const bool no_room_beside = errno == EACCES || errno == EPERM || errno == EROFS;
  if (fd < 0) return there && no_room_beside ? open_in_place(there) : failure(errno);
  created_ = true;
  copied_ = there && !can_replace(fd, target_, *there);
  return take(fd);
}

Status OutputFile::open_in_place(const struct stat* there) {
  target_.clear();
  present_ = path_;
  const int fd = there ? open_there(path_, *there) : ::open(path_.c_str(), kFlags | O_CREAT, kMode);
  if (fd < 0 && errno == ENXIO && there && S_ISFIFO(there->st_mode))
    return error(ENXIO, "%s '%s': nobody reads this pipe", noun(), path_.c_str());
  created_ = fd >= 0 && !there && !is_symlink(path_);
  if (Status status = take(fd); !file_) return status;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  struct stat info;
  if (fstat(fileno(file_), &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) != 0 &&
      errno == EWOULDBLOCK) {
    created_ = false;
    return error(EBUSY, "%s '%s': it is being written already, by another filter or program", noun(), path_.c_str());
  }
  return try_to_write();
}

/* Nothing is written to see whether it could be: /dev/full says no to that, too. */
Status OutputFile::try_to_write() { return file_ && ::write(fileno(file_), "", 0) == 0 ? Status() : failure(errno); }

/* Owns a descriptor that was just opened, or says why it was not. */
Status OutputFile::take(int fd) {
  file_ = fd < 0 ? nullptr : fdopen(fd, "w");
  if (file_) return {};
  const int cause = errno;
  if (fd >= 0) ::close(fd);
  return failure(cause);
}

Status OutputFile::reserve(int64_t bytes) {
  const SizeSignalHeld held;
  if (target_.empty() || bytes <= reserved_) return {};
  if (fallocate(fileno(file_), FALLOC_FL_KEEP_SIZE, 0, bytes) == 0) reserved_ = bytes;
  else if (errno == ENOSPC || errno == EDQUOT) return failure(errno);
  return {};
}

/* Gives back the space that was reserved beyond the end of the file. */
Status OutputFile::give_back_room() {
  if (!reserved_) return {};
  const long size = std::ftell(file_);
  return size >= 0 && ftruncate(fileno(file_), size) == 0 ? Status() : failure(errno);
}

Status OutputFile::open_descriptor(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return error(errno, "%s=%s: descriptor %d is not open", may_.option, path_.c_str(), fd);
  if ((flags & O_ACCMODE) == O_RDONLY || flags & O_PATH)
    return error(EBADF, "%s=%s: descriptor %d is not open for writing", may_.option, path_.c_str(), fd);
  struct stat info;
  const bool adds = flags & O_APPEND || fstat(fd, &info) != 0 || lseek(fd, 0, SEEK_CUR) >= info.st_size;
  if (!adds) VMAFX_TRY(check_replace_of(fd, path_, may_));
  VMAFX_TRY(take(fcntl(fd, F_DUPFD_CLOEXEC, 0)));
  begun_ = true;  // what others wrote there stays
  return try_to_write();
}

OutputFile::~OutputFile() {
  const SizeSignalHeld held;
  if (created_ && !is_worth_keeping()) unlink(present_.c_str());
  if (file_) std::fclose(file_);
}

/* Half a file beside the one that is meant helps nobody. Lines in place are the reader's as they come. */
bool OutputFile::is_worth_keeping() const { return target_.empty() ? begun_ : complete_; }

/* Empties the file before what is written first. */
Status OutputFile::begin() {
  if (std::exchange(begun_, true) || created_) return {};
  struct stat info;
  const bool regular = fstat(fileno(file_), &info) == 0 && S_ISREG(info.st_mode);
  return regular && ftruncate(fileno(file_), 0) != 0 ? break_off(errno) : Status();
}

Status OutputFile::write(std::string_view text) {
  const SizeSignalHeld held;
  if (broken_) return failure(broken_);
  VMAFX_TRY(begin());
  return std::fwrite(text.data(), 1, text.size(), file_) == text.size() ? Status() : break_off(errno);
}

Status OutputFile::flush() {
  const SizeSignalHeld held;
  if (broken_) return failure(broken_);
  return std::fflush(file_) == 0 && !std::ferror(file_) ? Status() : break_off(errno);
}

/* Stops all later writing, which would follow half a line, or come twice. */
Status OutputFile::break_off(int errno_value) {
  broken_ = errno_value ? errno_value : EIO;
  return failure(broken_);
}

Status OutputFile::commit() {
  const SizeSignalHeld held;
  VMAFX_TRY(begin());
  VMAFX_TRY(flush());
  VMAFX_TRY(give_back_room());
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  if (!closed) return failure(errno);
  complete_ = true;
  return target_.empty() ? Status() : give_name();
}

/* Renames the file, or copies what cannot be renamed, so that no scores are lost: a target with several names or
 * somebody else's, one that is a mount point, one in a folder that lets nobody replace it. */
Status OutputFile::give_name() {
  if (const Status status = check_replace(target_, may_); !status.ok())  // made by somebody since open()
    return error(status.code(), "%s; it is complete in '%s'", status.message().c_str(), present_.c_str());
  if (!copied_ && std::rename(present_.c_str(), target_.c_str()) == 0) return {};
  if (const int cause = copy_into(present_, target_))
    return error(cause, "%s '%s': %s; it is complete in '%s'", noun(), path_.c_str(), text_of(cause).c_str(),
                 present_.c_str());
  unlink(present_.c_str());
  return {};
}

Status OutputFile::failure(int errno_value) const {
  const int cause = errno_value ? errno_value : EIO;
  return error(cause, "%s '%s' (the path as received): %s%s", noun(), path_.c_str(), text_of(cause).c_str(),
               cause == EFBIG ? "; ulimit -f or the file system limits the size of files" : "");
}

}  // namespace vmafx
