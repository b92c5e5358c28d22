#include "kernels/steps/gray_file.h"

#include <cerrno>
#include <cstring>

#include "base/replace.h"
#include "base/system/file.h"
#include "base/system/path.h"
#include "base/system/size_signal.h"

namespace vmafx {
namespace {

constexpr size_t kLongestName = 64;  // longest name of a file in the folder

Status folder_error(int cause, const std::string& folder) {
  return error(cause, "heatmaps_path=%s: the folder cannot be used: %s", folder.c_str(), std::strerror(cause));
}

/* The file that a name leads to has that name: it is not a link to a file called otherwise. */
bool is_called_so(const std::string& path) {
  const std::string real = system::follow_links(path);
  return system::name_of(real) == system::name_of(path) && (real != path || !system::is_link(path));
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

}  // namespace

Status GrayFile::check_folder(const std::string& folder) {
  if (folder.find_first_not_of(" \t\r\n\v\f") == folder.npos)
    return error(EINVAL, "heatmaps_path='%s': the name consists of blanks; name a folder", folder.c_str());
  if (!system::fits_system(folder, kLongestName)) return folder_error(ENAMETOOLONG, folder);
  system::FileFacts facts;
  std::string there = folder;
  for (;;) {
    const int cause = system::read_facts(there, &facts);
    if (!cause) break;
    const std::string above = system::parent_of(there);
    if (cause != ENOENT || there == "." || above == there) return folder_error(cause, folder);
    there = above;
  }
  if (facts.kind != system::FileKind::kFolder) return folder_error(ENOTDIR, folder);
  const int cause = system::check_folder(there);
  return cause ? folder_error(cause, folder) : Status();
}

StatusOr<std::unique_ptr<GrayFile>> GrayFile::create(WritePath path, const std::string& name, int w, int h) {
  const std::string folder(path);
  if (const int failed = system::make_folders(folder)) return folder_error(failed, folder);
  std::unique_ptr<GrayFile> file(new GrayFile);
  file->h_ = h;
  file->path_ = folder + "/" + name + format_text("_%dx%d", w, h) + std::string(kEnding);
  VMAFX_TRY(file->open(path, w));
  return file;
}

Status GrayFile::open(const WritePath& folder, int w) {
  VMAFX_TRY(check_replace(path_, replaceable_by_pictures(folder.overwrite, int64_t{2} * w * h_)));
  descriptor_ = system::open_file(path_, system::kWrite | system::kNew);
  created_ = descriptor_ >= 0;
  if (descriptor_ < 0 && errno == EEXIST) descriptor_ = system::open_file(path_, system::kWrite | system::kCreate);
  const int cause = descriptor_ < 0 ? errno : system::check_places(descriptor_);
  if (cause) return error(cause, "heatmaps_path: %s cannot be written: %s", path_.c_str(), std::strerror(cause));
  if (is_file() && system::try_lock(descriptor_, system::LockKind::kOne) == system::Lock::kBusy)
    return error(EBUSY,
                 "heatmaps_path: %s is being written already, by another feature or program; name another folder",
                 path_.c_str());
  return {};
}

bool GrayFile::is_file() const {
  system::FileFacts facts;
  return !system::read_facts(descriptor_, &facts) && facts.kind == system::FileKind::kFile;
}

GrayFile::~GrayFile() {
  if (created_ && !has_rows_) static_cast<void>(system::remove_file(path_));
  close().ok();
}

void GrayFile::put(int64_t frame, int y, std::span<const uint16_t> samples) {
  const SizeSignalHeld held;
  std::call_once(emptied_, [&] {
    has_rows_ = true;
    const int failed = is_file() ? system::resize(descriptor_, 0) : 0;
    if (failed) fail(failed);
  });
  const int64_t at = (frame * h_ + y) * static_cast<int64_t>(samples.size_bytes());
  if (const int failed = system::write_at(descriptor_, samples.data(), samples.size_bytes(), at)) fail(failed);
}

void GrayFile::fail(int errno_value) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = error(errno_value, "writing %s failed: %s", path_.c_str(), std::strerror(errno_value));
}

Status GrayFile::close() {
  if (const int failed = descriptor_ < 0 ? 0 : system::close_file(descriptor_)) fail(failed);
  descriptor_ = -1;
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace vmafx
