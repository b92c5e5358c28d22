#include <dlfcn.h>

#include <cstring>

#include "emulator/runtime/system/code_place.h"

namespace vmafx::emulator {

CodePlace find_code(const void* code) {
  Dl_info info;
  if (!dladdr(code, &info)) return {};
  const char* slash = std::strrchr(info.dli_fname, '/');
  return {slash ? slash + 1 : info.dli_fname,
          static_cast<size_t>(static_cast<const char*>(code) - static_cast<const char*>(info.dli_fbase))};
}

}  // namespace vmafx::emulator
