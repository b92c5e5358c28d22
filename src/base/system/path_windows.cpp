#include "base/system/path.h"

#include <windows.h>

#include <algorithm>

#include "base/system/text_windows.h"

namespace vmafx::system {
namespace {

constexpr size_t kLongestPath = 32000, kLongestName = 255;  // in UTF-16

/* The path of the file that is open, without the prefix of long paths. */
std::string path_of(HANDLE file) {
  std::wstring path(32768, L'\0');
  path.resize(GetFinalPathNameByHandleW(file, path.data(), static_cast<DWORD>(path.size()), FILE_NAME_NORMALIZED));
  constexpr std::wstring_view kShare = L"\\\\?\\UNC\\", kLong = L"\\\\?\\";
  if (path.starts_with(kShare)) return narrow(L"\\\\" + path.substr(kShare.size()));
  return narrow(path.starts_with(kLong) ? path.substr(kLong.size()) : path);
}

}  // namespace

std::string_view separators() { return "/\\:"; }

bool fits_system(const std::string& path, size_t more) {
  const std::wstring text = wide(path);
  if (text.size() + more >= kLongestPath) return false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of(L"/\\", begin), text.size());
    if (end - begin > kLongestName) return false;
    begin = end + 1;
  }
  return true;
}

std::optional<int> named_descriptor(const std::string&) { return {}; }

bool names_descriptor(const std::string&) { return false; }

std::string follow_links(const std::string& path) {
  constexpr DWORD kShare = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const HANDLE file =
      CreateFileW(wide_path(path).c_str(), 0, kShare, nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (file == INVALID_HANDLE_VALUE) return path;
  const std::string real = path_of(file);
  CloseHandle(file);
  return real.empty() ? path : real;
}

/* A link to a file that does not exist is taken for that file. */
std::string end_of_links(std::string path) { return path; }

bool is_link(const std::string& path) {
  const DWORD attributes = GetFileAttributesW(wide_path(path).c_str());
  return attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_REPARSE_POINT;
}

}  // namespace vmafx::system
