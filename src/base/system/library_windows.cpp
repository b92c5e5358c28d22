#include "base/system/library.h"

#include <windows.h>

#include "base/system/text_windows.h"

namespace vmafx::system {
namespace {

/* A folder of the user's choice is searched only if the name says so: not the one that the process is in, and not
 * those of PATH. */
constexpr DWORD kSearch = LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
constexpr DWORD kSearchBeside = LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;

bool is_plain(const std::string& name) { return name.find_first_of("/\\:") == name.npos; }

/* Whether the library itself is missing; else one that it needs is. */
bool says_absent(DWORD code, const std::string& name) {
  if (code != ERROR_MOD_NOT_FOUND && code != ERROR_FILE_NOT_FOUND && code != ERROR_PATH_NOT_FOUND) return false;
  const std::wstring path = wide_path(name);
  if (!is_plain(name)) return GetFileAttributesW(path.c_str()) == INVALID_FILE_ATTRIBUTES;
  return SearchPathW(nullptr, path.c_str(), nullptr, 0, nullptr, nullptr) == 0;
}

std::wstring whole_path(const std::string& name) {
  std::wstring whole(32768, L'\0');
  whole.resize(GetFullPathNameW(wide(name).c_str(), static_cast<DWORD>(whole.size()), whole.data(), nullptr));
  return whole;
}

}  // namespace

/* AMD's driver brings the runtime into Windows' own folder, with the version in its name. */
std::vector<std::string> names_of_hip_runtime() { return {"amdhip64_7.dll", "amdhip64_6.dll"}; }

std::vector<std::string> names_of_cuda_driver() { return {"nvcuda.dll"}; }

LoadedLibrary load_library(const std::string& name) {
  const bool plain = is_plain(name);
  const std::wstring path = plain ? wide(name) : whole_path(name);
  if (const HMODULE library = LoadLibraryExW(path.c_str(), nullptr, plain ? kSearch : kSearchBeside))
    return {static_cast<void*>(library)};
  const DWORD code = GetLastError();
  return {nullptr, says_absent(code, name), name + ": " + error_text(code)};
}

void* find_symbol(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

void keep_loaded(const void* code) {
  HMODULE library = nullptr;
  constexpr DWORD kFlags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
  static_cast<void>(GetModuleHandleExW(kFlags, static_cast<LPCWSTR>(code), &library));
}

}  // namespace vmafx::system
