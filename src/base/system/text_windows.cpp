#include "base/system/text_windows.h"

#include <windows.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace vmafx::system {
namespace {

/* Folders take names of 248 characters at most without the prefix that lifts the limit. */
constexpr size_t kLongestPlain = 240;

constexpr DWORD kQuotaExceeded = 1295;  // ERROR_DISK_QUOTA_EXCEEDED, which mingw's headers lack

struct Pair {
  DWORD code;
  int value;
};
constexpr Pair kErrors[] = {{ERROR_FILE_NOT_FOUND, ENOENT},
                            {ERROR_PATH_NOT_FOUND, ENOENT},
                            {ERROR_INVALID_DRIVE, ENOENT},
                            {ERROR_BAD_NETPATH, ENOENT},
                            {ERROR_BAD_NET_NAME, ENOENT},
                            {ERROR_INVALID_NAME, ENOENT},
                            {ERROR_BAD_PATHNAME, ENOENT},
                            {ERROR_ACCESS_DENIED, EACCES},
                            {ERROR_SHARING_VIOLATION, EACCES},
                            {ERROR_LOCK_VIOLATION, EACCES},
                            {ERROR_DELETE_PENDING, EACCES},
                            {ERROR_WRITE_PROTECT, EROFS},
                            {ERROR_FILE_EXISTS, EEXIST},
                            {ERROR_ALREADY_EXISTS, EEXIST},
                            {ERROR_INVALID_HANDLE, EBADF},
                            {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
                            {ERROR_OUTOFMEMORY, ENOMEM},
                            {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
                            {ERROR_DISK_FULL, ENOSPC},
                            {ERROR_HANDLE_DISK_FULL, ENOSPC},
                            {kQuotaExceeded, ENOSPC},
                            {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
                            {ERROR_BUFFER_OVERFLOW, ENAMETOOLONG},
                            {ERROR_DIRECTORY, ENOTDIR},
                            {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
                            {ERROR_BROKEN_PIPE, EPIPE},
                            {ERROR_NO_DATA, EPIPE},
                            {ERROR_PIPE_BUSY, EBUSY},
                            {ERROR_PIPE_NOT_CONNECTED, ENXIO},
                            {ERROR_INVALID_PARAMETER, EINVAL},
                            {ERROR_NOT_SUPPORTED, ENOTSUP},
                            {ERROR_INVALID_FUNCTION, ENOTSUP},
                            {ERROR_CALL_NOT_IMPLEMENTED, ENOTSUP},
                            {ERROR_CANT_RESOLVE_FILENAME, ELOOP}};

}  // namespace

std::wstring wide(std::string_view utf8) {
  const int bytes = static_cast<int>(utf8.size());
  std::wstring text(static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, nullptr, 0)), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, text.data(), static_cast<int>(text.size()));
  return text;
}

std::string narrow(std::wstring_view utf16) {
  const int units = static_cast<int>(utf16.size());
  std::string text(
      static_cast<size_t>(WideCharToMultiByte(CP_UTF8, 0, utf16.data(), units, nullptr, 0, nullptr, nullptr)), '\0');
  WideCharToMultiByte(CP_UTF8, 0, utf16.data(), units, text.data(), static_cast<int>(text.size()), nullptr, nullptr);
  return text;
}

std::wstring wide_path(const std::string& path) {
  std::wstring text = wide(path);
  if (text.size() < kLongestPlain || text.starts_with(L"\\\\?\\")) return text;
  std::wstring whole(32768, L'\0');
  const DWORD length = GetFullPathNameW(text.c_str(), static_cast<DWORD>(whole.size()), whole.data(), nullptr);
  if (length == 0 || length >= whole.size()) return text;
  whole.resize(length);
  return whole.starts_with(L"\\\\") ? L"\\\\?\\UNC" + whole.substr(1) : L"\\\\?\\" + whole;
}

int errno_of(unsigned long code) {
  const auto* const found = std::ranges::find(kErrors, code, &Pair::code);
  return found == std::end(kErrors) ? EIO : found->value;
}

int last_errno() { return errno_of(GetLastError()); }

std::string error_text(unsigned long code) {
  wchar_t text[512];
  constexpr DWORD kFlags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
  const DWORD length = FormatMessageW(kFlags, nullptr, code, 0, text, std::size(text), nullptr);
  std::string sentence = narrow({text, length});
  while (!sentence.empty() && std::string_view(" .\r\n").find(sentence.back()) != std::string_view::npos)
    sentence.pop_back();
  return (sentence.empty() ? "error " : sentence + ", error ") + std::to_string(code);
}

}  // namespace vmafx::system
