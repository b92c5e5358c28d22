#include "base/system/library.h"

#include <dlfcn.h>

namespace vmafx::system {
namespace {

/* The loader's words when the library itself is missing; else a library that it needs may be, and that is worth
 * telling. */
bool says_absent(const std::string& reason, const std::string& name) {
  return reason.rfind(name + ": cannot open shared object file: No such file", 0) == 0;
}

}  // namespace

/* The name without a version belongs to developer packages, and a call's shape may change from one version to the
 * next. */
std::vector<std::string> names_of_hip_runtime() {
  return {"libamdhip64.so.7",
          "libamdhip64.so.6",
          "libamdhip64.so.5",
          "/opt/rocm/lib/libamdhip64.so.7",
          "/opt/rocm/lib/libamdhip64.so.6",
          "/opt/rocm/lib/libamdhip64.so.5"};
}

std::vector<std::string> names_of_cuda_driver() { return {"libcuda.so.1"}; }

/* Local: the runtime's own libLLVM must not meet the one of a video driver in the same process. */
LoadedLibrary load_library(const std::string& name) {
  if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return {library};
  const std::string reason = dlerror();
  return {nullptr, says_absent(reason, name), reason};
}

void* find_symbol(void* library, const char* name) { return dlsym(library, name); }

void keep_loaded(const void* code) {
  Dl_info here{};
  if (dladdr(code, &here) && here.dli_fname)
    static_cast<void>(dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace vmafx::system
