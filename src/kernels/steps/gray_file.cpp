#include "kernels/steps/gray_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace vmafx {
namespace {

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

StatusOr<std::unique_ptr<GrayFile>> GrayFile::create(WritePath path, const std::string& name, int w, int h) {
  const std::string folder(path);
  if (const int failed = make_folders(folder))
    return error(failed, "heatmaps_path=%s: the folder cannot be made: %s", folder.c_str(), std::strerror(failed));
  std::unique_ptr<GrayFile> file(new GrayFile);
  file->h_ = h;
  file->path_ = folder + "/" + name + format_text("_%dx%d_16b.gray", w, h);
  file->descriptor_ = open(file->path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file->descriptor_ < 0)
    return error(errno, "heatmaps_path: %s cannot be written: %s", file->path_.c_str(), std::strerror(errno));
  return file;
}

GrayFile::~GrayFile() { close().ok(); }

void GrayFile::put(int64_t frame, int y, std::span<const uint16_t> samples) {
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
