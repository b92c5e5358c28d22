#include "vapoursynth/context.h"

#include <cerrno>
#include <mutex>

namespace vapoursynth {
namespace {

struct FreeOptions {
  void operator()(VmafxOptions* options) const { vmafx_options_free(&options); }
};
using Options = std::unique_ptr<VmafxOptions, FreeOptions>;

void keep_error(void* message, VmafxLogLevel level, const char* text) {
  if (level == VMAFX_LOG_ERROR) *static_cast<std::string*>(message) = text;
}

int set_all(VmafxOptions* options, const Settings& settings) {
  for (const auto& [name, value] : settings.options)
    if (const int ret = vmafx_options_set(options, name.c_str(), value.c_str())) return ret;
  return 0;
}

/* Only a log tells why a context did not open, and it stays that of the context. So what fails is opened again, for its
 * words. */
std::string words_of_failure(VmafxOptions* options) {
  std::string message;
  vmafx_options_set_log(options, keep_error, &message);
  VmafxContext* context = nullptr;
  if (vmafx_open(&context, options) == 0) vmafx_close(&context);
  return message;
}

}  // namespace

Context open_context(const Settings& settings, std::string* message, int* failure) {
  int unused;
  int& ret = failure ? *failure : unused;
  ret = -ENOMEM;
  *message = "memory is exhausted";
  const Options options(vmafx_options_new());
  if (!options) return nullptr;
  vmafx_options_set_log(options.get(), settings.warn, settings.cookie);
  if ((ret = set_all(options.get(), settings))) {
    *message = vmafx_options_last_error(options.get());
    return nullptr;
  }
  VmafxContext* opened = nullptr;
  if ((ret = vmafx_open(&opened, options.get()))) {
    *message = words_of_failure(options.get());
    return nullptr;
  }
  Context context(opened);
  if ((ret = vmafx_configure(opened, &settings.ref, &settings.dist))) {
    *message = vmafx_last_error(opened);
    return nullptr;
  }
  message->clear();
  return context;
}

}  // namespace vapoursynth
