#include "hip/runtime.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

namespace vmafx::hip {
namespace {

std::vector<std::string> candidates() {
  const char* named = std::getenv("VMAFX_HIP_RUNTIME");
  if (named && *named) return {named};
  return {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
}

template <class Function>
bool find(void* library, const char* name, Function* function, std::string* missing) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (!*function) *missing = name;
  return *function;
}

}  // namespace

StatusOr<const Runtime*> Runtime::load() {
  static const StatusOr<Runtime> loaded = load_library();
  if (!loaded.ok()) return loaded.status();
  return &loaded.value();
}

StatusOr<Runtime> Runtime::load_library() {
  void* library = nullptr;
  std::string name, reasons;
  for (const std::string& candidate : candidates()) {
    /* Local: the runtime's own libLLVM must not meet the one of a video driver in the same process. */
    library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) {
      name = candidate;
      break;
    }
    reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
  }
  if (!library) return error(ENOENT, "no HIP runtime library: %s", reasons.c_str());

  Runtime runtime;
  runtime.library_ = name;
  Functions& f = runtime.functions_;
  std::string missing;
  const bool complete = find(library, "hipInit", &f.Init, &missing) &&
                        find(library, "hipRuntimeGetVersion", &f.RuntimeGetVersion, &missing) &&
                        find(library, "hipGetDeviceCount", &f.GetDeviceCount, &missing) &&
                        find(library, "hipDeviceGet", &f.DeviceGet, &missing) &&
                        find(library, "hipDeviceGetName", &f.DeviceGetName, &missing) &&
                        find(library, "hipDeviceGetPCIBusId", &f.DeviceGetPCIBusId, &missing) &&
                        find(library, "hipGetErrorString", &f.GetErrorString, &missing);
  if (!complete) return error(ENOSYS, "the HIP runtime %s has no function %s", name.c_str(), missing.c_str());
  return runtime;
}

Status Runtime::failure(int errno_value, const char* call, Error code) const {
  return error(errno_value, "%s failed: %s (%d)", call, functions_.GetErrorString(code), code);
}

}  // namespace vmafx::hip
