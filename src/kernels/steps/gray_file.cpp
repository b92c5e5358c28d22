#include "kernels/steps/gray_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/replace.h"
#include "base/size_signal.h"

namespace vmafx {
namespace {

constexpr size_t kLongestName = 64;  // longest name of a file in the folder

Status folder_error(int cause, const std::string& folder) {
  return error(cause, "heatmaps_path=%s: the folder cannot be used: %s", folder.c_str(), std::strerror(cause));
}

bool has_long_component(const std::string& path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    if (end - begin > NAME_MAX) return true;
    begin = end + 1;
  }
  return false;
}

std::string parent_of(const std::string& path) {
  const size_t last = path.find_last_not_of('/');
  const size_t slash = last == path.npos ? path.npos : path.rfind('/', last);
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}

/* The file that a name leads to has that name: it is not a link to a file called otherwise. */
bool is_called_so(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
  const std::string found = real ? real.get() : "";
  return found.substr(found.rfind('/') + 1) == path.substr(path.rfind('/') + 1);
}

/* Samples alone do not tell what they are: the name and the size must be those of pictures that were written here
 * before. */
Replaceable replaceable_by_pictures(bool overwrite, int64_t picture_bytes) {
  return {"heatmaps_path", "heat maps", "a file of heat maps of this size",
          [picture_bytes](const ExistingFile& file) {
            return file.size % picture_bytes == 0 && !file.has_other_names && is_called_so(file.path);
          },
          overwrite};
}

/* 0 or the errno of the part that cannot be made. */
int make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (mkdir(path.substr(0, end).c_str(), 0770) != 0 && errno != EEXIST) return errno;
    if (end == std::string::npos) return 0;
  }
}

int write_all(int descriptor, const void* data, size_t bytes, off_t at) {
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

}  // namespace

Status GrayFile::check_folder(const std::string& folder) {
  if (folder.find_first_not_of(" \t\r\n\v\f") == folder.npos)
    return error(EINVAL, "heatmaps_path='%s': the name consists of blanks; name a folder", folder.c_str());
  if (folder.size() + kLongestName >= PATH_MAX || has_long_component(folder)) return folder_error(ENAMETOOLONG, folder);
  struct stat info;
  std::string there = folder;
  while (stat(there.c_str(), &info) != 0) {
    if (errno != ENOENT || there == "." || there == "/") return folder_error(errno, folder);
    there = parent_of(there);
  }
  if (!S_ISDIR(info.st_mode)) return folder_error(ENOTDIR, folder);
  return access(there.c_str(), W_OK | X_OK) == 0 ? Status() : folder_error(errno, folder);
}

StatusOr<std::unique_ptr<GrayFile>> GrayFile::create(WritePath path, const std::string& name, int w, int h) {
  const std::string folder(path);
  if (const int failed = make_folders(folder)) return folder_error(failed, folder);
  std::unique_ptr<GrayFile> file(new GrayFile);
  file->h_ = h;
  file->path_ = folder + "/" + name + format_text("_%dx%d", w, h) + std::string(kEnding);
  VMAFX_TRY(file->open(path, w));
  return file;
}

/* O_NONBLOCK: a pipe that nobody reads fails instead of waiting for ever. */
Status GrayFile::open(const WritePath& folder, int w) {
  VMAFX_TRY(check_replace(path_, replaceable_by_pictures(folder.overwrite, int64_t{2} * w * h_)));
  constexpr int kFlags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  descriptor_ = ::open(path_.c_str(), kFlags | O_EXCL, 0666);
  created_ = descriptor_ >= 0;
  if (descriptor_ < 0 && errno == EEXIST) descriptor_ = ::open(path_.c_str(), kFlags, 0666);
  if (descriptor_ < 0 || lseek(descriptor_, 0, SEEK_CUR) < 0)
    return error(errno, "heatmaps_path: %s cannot be written: %s", path_.c_str(), std::strerror(errno));
  struct stat info;
  const bool is_file = fstat(descriptor_, &info) == 0 && S_ISREG(info.st_mode);
  if (is_file && flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return error(EBUSY,
                 "heatmaps_path: %s is being written already, by another feature or program; name another folder",
                 path_.c_str());
  return {};
}

GrayFile::~GrayFile() {
  if (created_ && !has_rows_) unlink(path_.c_str());
  close().ok();
}

void GrayFile::put(int64_t frame, int y, std::span<const uint16_t> samples) {
  const SizeSignalHeld held;
  std::call_once(emptied_, [&] {
    has_rows_ = true;
    struct stat info;
    const bool is_file = fstat(descriptor_, &info) == 0 && S_ISREG(info.st_mode);
    if (is_file && ftruncate(descriptor_, 0) != 0) fail(errno);
  });
  const off_t at = (frame * h_ + y) * static_cast<off_t>(samples.size_bytes());
  if (const int failed = write_all(descriptor_, samples.data(), samples.size_bytes(), at)) fail(failed);
}

void GrayFile::fail(int errno_value) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = error(errno_value, "writing %s failed: %s", path_.c_str(), std::strerror(errno_value));
}

Status GrayFile::close() {
  if (descriptor_ >= 0 && ::close(descriptor_) != 0) fail(errno);
  descriptor_ = -1;
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace vmafx
