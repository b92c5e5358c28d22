#include "report/output_file.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/system/path.h"
#include "base/system/size_signal.h"

namespace vmafx {
namespace {

constexpr int kMostNames = 1000;
constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kPause{20};

std::string text_of(int errno_value) { return std::generic_category().message(errno_value); }

/* Tries again while `again` says so and the time is not up; the last result. */
template <class Attempt, class Again>
auto patiently(Attempt attempt, Again again) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const auto result = attempt();
    if (!again(result) || std::chrono::steady_clock::now() > end) return result;
    std::this_thread::sleep_for(kPause);
  }
}

/* Opens what is there, for writing and as it is. */
int open_there(const std::string& path, const system::FileFacts& there) {
  const auto open = [&] { return system::open_file(path, system::kWrite); };
  const auto lacks_reader = [](int fd) { return fd < 0 && errno == ENXIO; };
  return there.kind == system::FileKind::kPipe ? patiently(open, lacks_reader) : open();
}

constexpr std::string_view kPipe = "pipe:";

/* "-", "pipe:N" as FFmpeg's protocols have it, /dev/stdout; nullopt: a path of a file. */
StatusOr<std::optional<int>> descriptor_of(const std::string& path, const char* option) {
  if (path == "-") return std::optional(system::kStandardOutput);
  if (!path.starts_with(kPipe)) return system::named_descriptor(path);
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

/* Makes a file that was not there: `path`.part, or another name in its folder where that is taken or too long. */
int make_beside(const std::string& path, unsigned mode, std::string* name) {
  std::string base = path + ".part";
  const std::string shorter = path.substr(0, system::name_begins(path)) + "vmafx.part";
  for (int i = 1; i <= kMostNames; i++) {
    *name = i == 1 ? base : base + "." + std::to_string(i);
    const int fd = system::open_file(*name, system::kWrite | system::kNew | system::kNotThroughLink, mode);
    if (fd >= 0) return fd;
    if (errno == ENAMETOOLONG && base != shorter) base = shorter, i = 0;
    else if (errno != EEXIST) return -1;
  }
  return -1;
}

/* Puts what is in one file into another, which stays the file it is; 0 or an errno value. */
int copy_into(const std::string& from, const std::string& to) {
  const system::Descriptor in{system::open_file(from, system::kNotThroughLink)};
  if (in.fd < 0) return errno;
  const system::Descriptor out{system::open_file(to, system::kWrite | system::kNotThroughLink)};
  if (out.fd < 0) return errno;
  system::FileFacts facts, other;
  if (const int cause = system::read_facts(in.fd, &facts)) return cause;
  if (const int cause = system::read_facts(out.fd, &other)) return cause;
  if (other.kind != system::FileKind::kFile) return EINVAL;
  const auto lock = [&] { return system::try_lock(out.fd, system::LockKind::kOne); };
  const auto is_busy = [](system::Lock got) { return got == system::Lock::kBusy; };
  if (is_busy(patiently(lock, is_busy))) return EBUSY;
  if (const int cause = system::resize(out.fd, 0)) return cause;
  if (const int cause = system::append_content(in.fd, out.fd, facts.bytes)) return cause;
  return system::sync_file(out.fd);
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
  system::FileFacts facts;
  const int cause = system::read_facts(path, &facts);
  const bool exists = cause == 0;
  if (!exists && cause != ENOENT) return file->failure(cause);  // ENAMETOOLONG, ENOTDIR, ELOOP, …
  const bool dangling = !exists && system::is_link(path);
  const system::FileFacts* const there = exists ? &facts : nullptr;
  VMAFX_TRY(check_replace(path, may));
  if (in_place || dangling || system::names_descriptor(path) || (exists && facts.kind != system::FileKind::kFile)) {
    VMAFX_TRY(file->open_in_place(there));
  } else {
    VMAFX_TRY(file->open_beside(there));
  }
  return file;
}

Status OutputFile::check_name() const {
  if (path_.empty()) return failure(ENOENT);
  const std::string name = system::name_of(path_);
  if (name.empty()) return error(EISDIR, "%s=%s: this names a folder; name a file in it", may_.option, path_.c_str());
  if (name.find_first_not_of(" \t\r\n\v\f") != name.npos) return {};
  return error(EINVAL, "%s='%s': the name consists of blanks; name a file", may_.option, path_.c_str());
}

/* `there`: the file that has the name now, or nullptr. */
Status OutputFile::open_beside(const system::FileFacts* there) {
  if (there && system::Descriptor{open_there(path_, *there)}.fd < 0) return failure(errno);
  target_ = there ? system::follow_links(path_) : path_;
  const int fd = make_beside(target_, there ? system::kOwnersMode : system::kUsualMode, &present_);
  const bool no_room_beside = errno == EACCES || errno == EPERM || errno == EROFS;
  if (fd < 0) return there && no_room_beside ? open_in_place(there) : failure(errno);
  created_ = true;
  copied_ = there && !system::take_over(fd, target_, *there);
  return take(fd);
}

Status OutputFile::open_in_place(const system::FileFacts* there) {
  target_.clear();
  present_ = path_;
  const int fd = there ? open_there(path_, *there) : system::open_file(path_, system::kWrite | system::kCreate);
  if (fd < 0 && errno == ENXIO && there && there->kind == system::FileKind::kPipe)
    return error(ENXIO, "%s '%s': nobody reads this pipe", noun(), path_.c_str());
  created_ = fd >= 0 && !there && !system::is_link(path_);
  if (Status status = take(fd); !file_) return status;
  system::let_wait(fd);
  if (is_file() && system::try_lock(fd, system::LockKind::kOne) == system::Lock::kBusy) {
    created_ = false;
    return error(EBUSY, "%s '%s': it is being written already, by another filter or program", noun(), path_.c_str());
  }
  return try_to_write();
}

bool OutputFile::is_file() const {
  system::FileFacts facts;
  return !system::read_facts(fileno(file_), &facts) && facts.kind == system::FileKind::kFile;
}

/* Nothing is written to see whether it could be. */
Status OutputFile::try_to_write() {
  const int cause = file_ ? system::try_writing(fileno(file_)) : errno;
  return file_ && !cause ? Status() : failure(cause);
}

/* Owns a descriptor that was just opened, or says why it was not. */
Status OutputFile::take(int fd) {
  file_ = fd < 0 ? nullptr : fdopen(fd, "w");
  if (file_) return {};
  const int cause = errno;
  if (fd >= 0) static_cast<void>(system::close_file(fd));
  return failure(cause);
}

Status OutputFile::reserve(int64_t bytes) {
  const SizeSignalHeld held;
  if (target_.empty() || bytes <= reserved_) return {};
  const int cause = system::reserve(fileno(file_), bytes);
  if (cause && cause != ENOTSUP) return failure(cause);
  if (!cause) reserved_ = bytes;
  return {};
}

/* Gives back the space that was reserved beyond the end of the file. */
Status OutputFile::give_back_room() {
  if (!reserved_) return {};
  const long size = std::ftell(file_);
  const int cause = size < 0 ? errno : system::resize(fileno(file_), size);
  return cause ? failure(cause) : Status();
}

Status OutputFile::open_descriptor(int fd) {
  system::WayOfWriting way;
  if (const int cause = system::read_way_of_writing(fd, &way))
    return error(cause, "%s=%s: descriptor %d is not open", may_.option, path_.c_str(), fd);
  if (!way.is_allowed)
    return error(EBADF, "%s=%s: descriptor %d is not open for writing", may_.option, path_.c_str(), fd);
  if (!way.adds) VMAFX_TRY(check_replace_of(fd, path_, may_));
  VMAFX_TRY(take(system::duplicate(fd)));
  begun_ = true;  // what others wrote there stays
  return try_to_write();
}

OutputFile::~OutputFile() {
  const SizeSignalHeld held;
  if (created_ && !is_worth_keeping()) static_cast<void>(system::remove_file(present_));
  if (file_) std::fclose(file_);
}

/* Half a file beside the one that is meant helps nobody. Lines in place are the reader's as they come. */
bool OutputFile::is_worth_keeping() const { return target_.empty() ? begun_ : complete_; }

/* Empties the file before what is written first. */
Status OutputFile::begin() {
  if (std::exchange(begun_, true) || created_) return {};
  const int cause = is_file() ? system::resize(fileno(file_), 0) : 0;
  return cause ? break_off(cause) : Status();
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
  if (!copied_ && system::replace_file(present_, target_) == 0) return {};
  if (const int cause = copy_into(present_, target_))
    return error(cause, "%s '%s': %s; it is complete in '%s'", noun(), path_.c_str(), text_of(cause).c_str(),
                 present_.c_str());
  static_cast<void>(system::remove_file(present_));
  return {};
}

Status OutputFile::failure(int errno_value) const {
  const int cause = errno_value ? errno_value : EIO;
  return error(cause, "%s '%s' (the path as received): %s%s", noun(), path_.c_str(), text_of(cause).c_str(),
               cause == EFBIG ? "; ulimit -f or the file system limits the size of files" : "");
}

}  // namespace vmafx
