#include "base/system/file.h"

#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <algorithm>
#include <cerrno>

#include "base/system/environment.h"
#include "base/system/path.h"
#include "base/system/text_windows.h"

namespace vmafx::system {
namespace {

/* Others may read, write, rename and delete what is open here, as on POSIX systems. */
constexpr DWORD kShare = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr DWORD kMostAtOnce = 1 << 26;  // bytes

HANDLE handle_of(int descriptor) { return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor)); }

int result(BOOL is_done) { return is_done ? 0 : last_errno(); }

/* An errno value for those that are told by errno. */
int fail(int cause) {
  errno = cause;
  return -1;
}

OVERLAPPED place(int64_t at) {
  OVERLAPPED where{};
  where.Offset = static_cast<DWORD>(at);
  where.OffsetHigh = static_cast<DWORD>(at >> 32);
  return where;
}

int read_disk_facts(HANDLE file, FileFacts* facts) {
  BY_HANDLE_FILE_INFORMATION info;
  if (!GetFileInformationByHandle(file, &info)) return last_errno();
  facts->kind = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? FileKind::kFolder : FileKind::kFile;
  facts->bytes = static_cast<int64_t>(info.nFileSizeHigh) << 32 | info.nFileSizeLow;
  facts->has_other_names = info.nNumberOfLinks > 1;
  facts->device = info.dwVolumeSerialNumber;
  facts->number = static_cast<uint64_t>(info.nFileIndexHigh) << 32 | info.nFileIndexLow;
  return 0;
}

int read_facts_of(HANDLE file, FileFacts* facts) {
  if (file == INVALID_HANDLE_VALUE) return EBADF;
  *facts = {};
  switch (GetFileType(file)) {
    case FILE_TYPE_DISK: return read_disk_facts(file, facts);
    case FILE_TYPE_PIPE: facts->kind = FileKind::kPipe; return 0;
    case FILE_TYPE_CHAR: facts->kind = FileKind::kDevice; return 0;
    default: return GetLastError() == NO_ERROR ? 0 : last_errno();
  }
}

/* Names of files above a folder that is a file are not found: POSIX tells the two apart. */
int cause_for(const std::string& path) {
  const DWORD code = GetLastError();
  if (!fits_system(path, 0)) return ENAMETOOLONG;
  return errno_of(code);
}

/* Windows denies access to a folder that is opened as a file. */
int cause_of_opening(const std::string& path) {
  const int cause = cause_for(path);
  const DWORD attributes = GetFileAttributesW(wide_path(path).c_str());
  const bool is_folder = attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY;
  return cause == EACCES && is_folder ? EISDIR : cause;
}

HANDLE open_for_facts(const std::string& path) {
  return CreateFileW(wide_path(path).c_str(), FILE_READ_ATTRIBUTES, kShare, nullptr, OPEN_EXISTING,
                     FILE_FLAG_BACKUP_SEMANTICS, nullptr);
}

DWORD creation(unsigned access) {
  if (access & kNew) return CREATE_NEW;
  return access & kCreate ? OPEN_ALWAYS : OPEN_EXISTING;
}

}  // namespace

int read_facts(const std::string& path, FileFacts* facts) {
  const HANDLE file = open_for_facts(path);
  if (file == INVALID_HANDLE_VALUE) return cause_for(path);
  const int cause = read_facts_of(file, facts);
  CloseHandle(file);
  return cause;
}

int read_facts(int descriptor, FileFacts* facts) { return read_facts_of(handle_of(descriptor), facts); }

int open_file(const std::string& path, unsigned access, unsigned) {
  if (access & kNotThroughLink && is_link(path)) return fail(ELOOP);
  const HANDLE file = CreateFileW(wide_path(path).c_str(), access & kWrite ? GENERIC_WRITE : GENERIC_READ, kShare,
                                  nullptr, creation(access), FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) return fail(cause_of_opening(path));
  const int descriptor = _open_osfhandle(reinterpret_cast<intptr_t>(file),
                                         _O_BINARY | _O_NOINHERIT | (access & kWrite ? _O_WRONLY : _O_RDONLY));
  if (descriptor < 0) CloseHandle(file);
  return descriptor;
}

int close_file(int descriptor) { return _close(descriptor) == 0 ? 0 : errno; }

int reopen_file(int descriptor) {
  const HANDLE file = ReOpenFile(handle_of(descriptor), GENERIC_READ, kShare, 0);
  if (file == INVALID_HANDLE_VALUE) return fail(last_errno());
  const int opened = _open_osfhandle(reinterpret_cast<intptr_t>(file), _O_BINARY | _O_NOINHERIT | _O_RDONLY);
  if (opened < 0) CloseHandle(file);
  return opened;
}

int duplicate(int descriptor) {
  const int copy = _dup(descriptor);
  if (copy >= 0) _setmode(copy, _O_BINARY);
  return copy;
}

void let_wait(int) {}

int read_way_of_writing(int descriptor, WayOfWriting* way) {
  const HANDLE file = handle_of(descriptor);
  if (file == INVALID_HANDLE_VALUE) return EBADF;
  FileFacts facts;
  if (const int cause = read_facts_of(file, &facts)) return cause;
  LARGE_INTEGER at{};
  const bool has_place = facts.kind == FileKind::kFile && SetFilePointerEx(file, {}, &at, FILE_CURRENT) != 0;
  way->is_allowed = try_writing(descriptor) == 0;
  way->adds = !has_place || at.QuadPart >= facts.bytes;
  return 0;
}

int read_at(int descriptor, void* data, size_t bytes, int64_t at, size_t* got) {
  for (*got = 0; *got < bytes;) {
    OVERLAPPED where = place(at + static_cast<int64_t>(*got));
    DWORD more = 0;
    const auto wanted = static_cast<DWORD>(std::min<size_t>(bytes - *got, kMostAtOnce));
    if (!ReadFile(handle_of(descriptor), static_cast<char*>(data) + *got, wanted, &more, &where))
      return GetLastError() == ERROR_HANDLE_EOF ? 0 : last_errno();
    if (more == 0) break;
    *got += more;
  }
  return 0;
}

int write_at(int descriptor, const void* data, size_t bytes, int64_t at) {
  for (const char* from = static_cast<const char*>(data); bytes > 0;) {
    OVERLAPPED where = place(at);
    DWORD written = 0;
    if (!WriteFile(handle_of(descriptor), from, static_cast<DWORD>(std::min<size_t>(bytes, kMostAtOnce)), &written,
                   &where))
      return last_errno();
    if (written == 0) return EIO;
    from += written;
    at += written;
    bytes -= written;
  }
  return 0;
}

int check_places(int descriptor) {
  FileFacts facts;
  if (const int cause = read_facts(descriptor, &facts)) return cause;
  return facts.kind == FileKind::kPipe ? ESPIPE : 0;
}

int try_writing(int descriptor) {
  DWORD written = 0;
  return result(WriteFile(handle_of(descriptor), "", 0, &written, nullptr));
}

int resize(int descriptor, int64_t bytes) {
  FILE_END_OF_FILE_INFO end{};
  end.EndOfFile.QuadPart = bytes;
  return result(SetFileInformationByHandle(handle_of(descriptor), FileEndOfFileInfo, &end, sizeof end));
}

int reserve(int descriptor, int64_t bytes) {
  FILE_ALLOCATION_INFO room{};
  room.AllocationSize.QuadPart = bytes;
  if (SetFileInformationByHandle(handle_of(descriptor), FileAllocationInfo, &room, sizeof room)) return 0;
  return last_errno() == ENOSPC ? ENOSPC : ENOTSUP;
}

int append_content(int from, int to, int64_t bytes) {
  std::string block(size_t{1} << 20, '\0');
  for (int64_t at = 0; at < bytes;) {
    size_t got = 0;
    const size_t wanted = std::min(block.size(), static_cast<size_t>(bytes - at));
    if (const int cause = read_at(from, block.data(), wanted, at, &got)) return cause;
    if (got == 0) return EIO;
    if (const int cause = write_at(to, block.data(), got, at)) return cause;
    at += static_cast<int64_t>(got);
  }
  return 0;
}

int sync_file(int descriptor) { return result(FlushFileBuffers(handle_of(descriptor))); }

int replace_file(const std::string& from, const std::string& to) {
  return result(MoveFileExW(wide_path(from).c_str(), wide_path(to).c_str(), MOVEFILE_REPLACE_EXISTING));
}

int remove_file(const std::string& path) { return result(DeleteFileW(wide_path(path).c_str())); }

/* A new file has the rights that its folder gives; the owner is the same user. */
bool take_over(int, const std::string&, const FileFacts& old) { return !old.has_other_names; }

int make_folder(const std::string& path, unsigned) {
  return result(CreateDirectoryW(wide_path(path).c_str(), nullptr));
}

/* A drive or a share, which is no folder to make, is there already. */
int make_folders(const std::string& path) {
  for (size_t end = path.find_first_of("/\\", 1);; end = path.find_first_of("/\\", end + 1)) {
    const std::string part = path.substr(0, end);
    FileFacts facts;
    const bool is_there = read_facts(part, &facts) == 0 || part.ends_with(':');
    if (const int cause = is_there ? 0 : make_folder(part, 0); cause && cause != EEXIST) return cause;
    if (end == std::string::npos) return 0;
  }
}

/* The attribute for read-only says nothing about the files in a folder: making one decides. */
int check_folder(const std::string&) { return 0; }

std::string users_folder() {
  const char* data = environment("LOCALAPPDATA");
  if (!data || !*data) return "";
  const std::string folder = std::string(data) + "\\vmafx";
  const int cause = make_folder(folder, 0);
  return cause && cause != EEXIST ? "" : folder;
}

std::string cache_folder() {
  const char* data = environment("LOCALAPPDATA");
  return data ? data : "";
}

/* Locks keep others from what they lock, also from reading: it is a byte that no file has. */
Lock try_lock(int descriptor, LockKind kind) {
  OVERLAPPED where = place(INT64_MAX - 1);
  const DWORD flags = LOCKFILE_FAIL_IMMEDIATELY | (kind == LockKind::kOne ? LOCKFILE_EXCLUSIVE_LOCK : 0);
  if (LockFileEx(handle_of(descriptor), flags, 0, 1, 0, &where)) return Lock::kTaken;
  const DWORD code = GetLastError();
  return code == ERROR_LOCK_VIOLATION || code == ERROR_IO_PENDING ? Lock::kBusy : Lock::kFailed;
}

}  // namespace vmafx::system
