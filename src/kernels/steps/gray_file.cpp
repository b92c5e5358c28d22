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

Status folder_error(const char* option, int cause, const std::string& folder) {
  return error(cause, "%s=%s: the folder cannot be used: %s", option, folder.c_str(), std::strerror(cause));
}

/* The file that a name leads to has that name: it is not a link to a file called otherwise. */
bool is_called_so(const std::string& path) {
  const std::string real = system::follow_links(path);
  return system::name_of(real) == system::name_of(path) && (real != path || !system::is_link(path));
}

/* Samples alone do not tell what they are: the name and the size must be those of pictures that were written here
 * before. */
Replaceable replaceable_by_pictures(const GrayKind& kind, bool overwrite, int64_t picture_bytes) {
  return {kind.option, kind.noun, kind.may_replace,
          [picture_bytes](const ExistingFile& file) {
            return file.size % picture_bytes == 0 && !file.has_other_names && is_called_so(file.path);
          },
          overwrite};
}

}  // namespace

Status GrayFile::check_folder(const char* option, const std::string& folder) {
  if (folder.find_first_not_of(" \t\r\n\v\f") == folder.npos)
    return error(EINVAL, "%s='%s': the name consists of blanks; name a folder", option, folder.c_str());
  if (!system::fits_system(folder, kLongestName)) return folder_error(option, ENAMETOOLONG, folder);
  system::FileFacts facts;
  std::string there = folder;
  for (;;) {
    const int cause = system::read_facts(there, &facts);
    if (!cause) break;
    const std::string above = system::parent_of(there);
    if (cause != ENOENT || there == "." || above == there) return folder_error(option, cause, folder);
    there = above;
  }
  if (facts.kind != system::FileKind::kFolder) return folder_error(option, ENOTDIR, folder);
  const int cause = system::check_folder(there);
  return cause ? folder_error(option, cause, folder) : Status();
}

StatusOr<std::unique_ptr<GrayFile>> GrayFile::create(const GrayKind& kind, WritePath path, const std::string& name,
                                                     int w, int h) {
  const std::string folder(path);
  if (const int failed = system::make_folders(folder)) return folder_error(kind.option, failed, folder);
  std::unique_ptr<GrayFile> file(new GrayFile(kind));
  file->h_ = h;
  file->path_ = folder + "/" + name + format_text("_%dx%d", w, h) + std::string(kind.ending);
  VMAFX_TRY(file->open(path, w));
  return file;
}

Status GrayFile::open(const WritePath& folder, int w) {
  VMAFX_TRY(check_replace(path_, replaceable_by_pictures(kind_, folder.overwrite, kind_.sample_bytes * w * h_)));
  descriptor_ = system::open_file(path_, system::kWrite | system::kNew);
  created_ = descriptor_ >= 0;
  if (descriptor_ < 0 && errno == EEXIST) descriptor_ = system::open_file(path_, system::kWrite | system::kCreate);
  const int cause = descriptor_ < 0 ? errno : system::check_places(descriptor_);
  if (cause) return error(cause, "%s: %s cannot be written: %s", kind_.option, path_.c_str(), std::strerror(cause));
  if (is_file() && system::try_lock(descriptor_, system::LockKind::kOne) == system::Lock::kBusy)
    return error(EBUSY, "%s: %s is being written already, by another feature or program; name another folder",
                 kind_.option, path_.c_str());
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

void GrayFile::put_bytes(int64_t frame, int y, std::span<const std::byte> samples) {
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
