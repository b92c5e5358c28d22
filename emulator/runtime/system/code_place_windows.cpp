#include "emulator/runtime/system/code_place.h"

#include <windows.h>

#include <cstdint>
#include <iterator>

namespace vmafx::emulator {

CodePlace find_code(const void* code) {
  constexpr DWORD kFlags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  HMODULE library = nullptr;
  if (!GetModuleHandleExA(kFlags, static_cast<LPCSTR>(code), &library)) return {};
  char path[1024];
  const std::string name(path, GetModuleFileNameA(library, path, std::size(path)));
  return {name.substr(name.find_last_of("/\\") + 1),
          static_cast<size_t>(reinterpret_cast<uintptr_t>(code) - reinterpret_cast<uintptr_t>(library))};
}

}  // namespace vmafx::emulator
