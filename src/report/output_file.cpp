#include "report/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace vmafx {
namespace {

constexpr mode_t kMode = 0666;  // less the umask

/* A descriptor as a file for writing, which owns it; nullptr with errno set. */
std::FILE* file_of(int fd) {
  if (fd < 0) return nullptr;
  std::FILE* file = fdopen(fd, "w");
  if (!file) ::close(fd);
  return file;
}

/* Opens for writing without truncation; nullptr with errno set. */
std::FILE* open_for_writing(const std::string& path) {
  return file_of(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode));
}

/* Links into these lead to open descriptors, behind which a renamed file would not be seen. */
bool names_a_descriptor(const std::string& path) { return path.starts_with("/dev/") || path.starts_with("/proc/"); }

bool is_symlink(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

std::string follow_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

}  // namespace

StatusOr<std::unique_ptr<OutputFile>> OutputFile::open(const std::string& path, bool in_place) {
  std::unique_ptr<OutputFile> file(new OutputFile(path));
  if (path == "-") {
    VMAFX_TRY(file->open_standard_output());
    return file;
  }
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (path.empty()) return file->failure(ENOENT);
  if (exists && S_ISDIR(info.st_mode)) return file->failure(EISDIR);
  if (exists && access(path.c_str(), W_OK) != 0) return file->failure(errno);
  const bool dangling = !exists && is_symlink(path);
  if (!in_place && !dangling && !names_a_descriptor(path) && (!exists || S_ISREG(info.st_mode))) {
    file->target_ = exists ? follow_links(path) : path;
    file->present_ = file->target_ + ".part";
    file->file_ = open_for_writing(file->present_);
    file->created_ = true;
    const bool no_room_beside = errno == EACCES || errno == EPERM || errno == EROFS;
    if (!file->file_ && !(exists && no_room_beside)) return file->failure(errno);
  }
  if (!file->file_) VMAFX_TRY(file->open_in_place(exists));
  return file;
}

Status OutputFile::open_in_place(bool exists) {
  target_.clear();
  present_ = path_;
  created_ = !exists;
  file_ = open_for_writing(path_);
  return try_to_write();
}

/* Nothing is written to see whether it could be: /dev/full says no to that, too. */
Status OutputFile::try_to_write() { return file_ && ::write(fileno(file_), "", 0) == 0 ? Status() : failure(errno); }

Status OutputFile::reserve(int64_t bytes) {
  if (target_.empty() || bytes <= reserved_) return {};
  if (!reserved_) VMAFX_TRY(empty());
  if (fallocate(fileno(file_), FALLOC_FL_KEEP_SIZE, 0, bytes) == 0) reserved_ = bytes;
  else if (errno == ENOSPC || errno == EDQUOT) return failure(errno);
  return {};
}

/* What was reserved beyond the end of the file. */
Status OutputFile::give_back_room() {
  if (!reserved_) return {};
  const long size = std::ftell(file_);
  return size >= 0 && ftruncate(fileno(file_), size) == 0 ? Status() : failure(errno);
}

Status OutputFile::open_standard_output() {
  file_ = file_of(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  begun_ = true;  // what others wrote there stays
  return try_to_write();
}

OutputFile::~OutputFile() {
  if (!file_) return;
  std::fclose(file_);
  if (created_ && !begun_) unlink(present_.c_str());
}

Status OutputFile::empty() {
  struct stat info;
  const bool regular = fstat(fileno(file_), &info) == 0 && S_ISREG(info.st_mode);
  return regular && ftruncate(fileno(file_), 0) != 0 ? failure(errno) : Status();
}

/* Empties the file before what is written first. */
Status OutputFile::begin() { return std::exchange(begun_, true) || reserved_ ? Status() : empty(); }

Status OutputFile::write(std::string_view text) {
  VMAFX_TRY(begin());
  return std::fwrite(text.data(), 1, text.size(), file_) == text.size() ? Status() : failure(errno);
}

Status OutputFile::flush() { return std::fflush(file_) == 0 && !std::ferror(file_) ? Status() : failure(errno); }

Status OutputFile::commit() {
  VMAFX_TRY(begin());
  VMAFX_TRY(flush());
  VMAFX_TRY(give_back_room());
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  if (!closed) return failure(errno);
  if (!target_.empty() && std::rename(present_.c_str(), target_.c_str()) != 0) {
    const int cause = errno;
    return error(cause, "report '%s': %s; it is complete in '%s'", path_.c_str(),
                 std::generic_category().message(cause).c_str(), present_.c_str());
  }
  return {};
}

Status OutputFile::failure(int errno_value) const {
  const int cause = errno_value ? errno_value : EIO;
  return error(cause, "report '%s' (the path as received): %s", path_.c_str(),
               std::generic_category().message(cause).c_str());
}

}  // namespace vmafx
