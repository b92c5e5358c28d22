#include "hip/runtime.h"

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>

#include "base/background.h"
#include "base/environment.h"

namespace vmafx::hip {
namespace {

/* The loader's words when the library itself is missing; else a library that it needs may be, and that is worth
 * telling. */
bool is_absent(const std::string& reason, const std::string& name) {
  return reason.rfind(name + ": cannot open shared object file: No such file", 0) == 0;
}

/* The library that the environment variable names, or "". */
std::string named() {
  const char* name = environment("VMAFX_HIP_RUNTIME");
  return name ? name : "";
}

}  // namespace

bool Runtime::is_named() { return !named().empty(); }

std::vector<Libraries> Runtime::candidates() {
  if (is_named()) return {{{named()}}};
  /* The name without a version belongs to developer packages, and a call's shape may change from one version to the
   * next. */
  return {{{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so.7",
            "/opt/rocm/lib/libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so.5"},
           "HIP runtime library",
           Platform::kHip},
          {{"libcuda.so.1"}, "CUDA driver library", Platform::kCuda}};
}

StatusOr<const Runtime*> Runtime::load(const Libraries& libraries) {
  /* Never destroyed: a call that does not come back may still be in one when the program ends. */
  static auto& mutex = *new std::mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<const Runtime>>;
  const std::lock_guard lock(mutex);
  std::string absent, reasons;
  for (const std::string& name : libraries.names) {
    if (const auto known = loaded.find(name); known != loaded.end()) return known->second.get();
    /* Local: the runtime's own libLLVM must not meet the one of a video driver in the same process. */
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      wait_at_exit();
      VMAFX_ASSIGN(Runtime runtime, open(library, name));
      return (loaded[name] = std::make_unique<const Runtime>(std::move(runtime))).get();
    }
    const std::string reason = dlerror();
    if (is_absent(reason, name)) absent += (absent.empty() ? "" : ", ") + name;
    else reasons += "; " + reason;
  }
  if (absent.empty()) return error(ELIBACC, "the %s cannot be loaded: %s", libraries.kind, reasons.c_str() + 2);
  return error(reasons.empty() ? ENOENT : ELIBACC, "no %s: there is no %s%s", libraries.kind, absent.c_str(),
               reasons.c_str());
}

StatusOr<Runtime> Runtime::open(void* library, const std::string& name) {
  Runtime runtime;
  runtime.library_ = name;
  runtime.platform_ = dlsym(library, "cuInit") ? Platform::kCuda : Platform::kHip;
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
