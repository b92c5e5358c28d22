#include "hip/runtime.h"

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>

#include "base/background.h"
#include "base/system/environment.h"

namespace vmafx::hip {
namespace {

/* The library that the environment variable names, or "". */
std::string named() {
  const char* name = environment("VMAFX_HIP_RUNTIME");
  return name ? name : "";
}

}  // namespace

bool Runtime::is_named() { return !named().empty(); }

std::vector<Libraries> Runtime::candidates() {
  if (is_named()) return {{{named()}}};
  return {{system::names_of_hip_runtime(), "HIP runtime library", Platform::kHip},
          {system::names_of_cuda_driver(), "CUDA driver library", Platform::kCuda}};
}

StatusOr<const Runtime*> Runtime::load(const Libraries& libraries) {
  /* Never destroyed: a call that does not come back may still be in one when the program ends. */
  static auto& mutex = *new std::mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<const Runtime>>;
  const std::lock_guard lock(mutex);
  std::string absent, reasons;
  for (const std::string& name : libraries.names) {
    if (const auto known = loaded.find(name); known != loaded.end()) return known->second.get();
    const system::LoadedLibrary library = system::load_library(name);
    if (library.handle) {
      wait_at_exit();
      VMAFX_ASSIGN(Runtime runtime, open(library.handle, name));
      return (loaded[name] = std::make_unique<const Runtime>(std::move(runtime))).get();
    }
    if (library.is_absent) absent += (absent.empty() ? "" : ", ") + name;
    else reasons += "; " + library.reason;
  }
  if (absent.empty())
    return error(system::kUnloadable, "the %s cannot be loaded: %s", libraries.kind, reasons.c_str() + 2);
  return error(reasons.empty() ? ENOENT : system::kUnloadable, "no %s: there is no %s%s", libraries.kind,
               absent.c_str(), reasons.c_str());
}

StatusOr<Runtime> Runtime::open(void* library, const std::string& name) {
  Runtime runtime;
  runtime.library_ = name;
  runtime.platform_ = system::find_symbol(library, "cuInit") ? Platform::kCuda : Platform::kHip;
  const auto fill = runtime.platform_ == Platform::kCuda ? fill_from_cuda : fill_from_hip;
  Symbols symbols(library);
  fill(symbols, &runtime.functions_);
  if (!symbols.missing().empty())
    return error(ENOSYS, "the runtime %s has no function %s", name.c_str(), symbols.missing().c_str());
  return runtime;
}

Status Runtime::failure(int errno_value, const char* call, Error code) const {
  const char* prefix = platform_ == Platform::kCuda ? "cu" : "hip";
  const char* text = functions_.GetErrorString(code);
  return error(errno_value, "%s%s failed: %s (%d)", prefix, call, text ? text : "unknown error", code);
}

}  // namespace vmafx::hip
