/* The options of a context as fields of a struct, so that a wrong name does not compile. */
#ifndef VMAFX_TESTS_SUPPORT_PARAMS_H
#define VMAFX_TESTS_SUPPORT_PARAMS_H

#include <cerrno>
#include <memory>

#include "vmafx/vmafx.h"

namespace vmafx::test {

struct Params {
  /* A text that is null has its default. */
#define VMAFX_TEXT(name, ...) const char* name = nullptr;
#define VMAFX_NUMBER(name, value, ...) int name = value;
  VMAFX_OPTIONS(VMAFX_TEXT, VMAFX_NUMBER, VMAFX_NUMBER)
#undef VMAFX_TEXT
#undef VMAFX_NUMBER
  VmafxPlatform device_platform = VMAFX_PLATFORM_NONE;
  void* device_context = nullptr;
  VmafxLogCallback log = nullptr;
  void* log_cookie = nullptr;
};

struct FreeOptions {
  void operator()(VmafxOptions* options) const { vmafx_options_free(&options); }
};
using OptionsOwner = std::unique_ptr<VmafxOptions, FreeOptions>;

/* Opens a context by the C API. Fails as the first call that does. */
inline int open_context(VmafxContext** ctx, const Params& params) {
  *ctx = nullptr;
  const OptionsOwner options(vmafx_options_new());
  if (!options) return -ENOMEM;
  vmafx_options_set_log(options.get(), params.log, params.log_cookie);
  vmafx_options_set_device_context(options.get(), params.device_platform, params.device_context);
  int ret = 0;
#define VMAFX_TEXT(name, ...) \
  if (!ret && params.name) ret = vmafx_options_set(options.get(), #name, params.name);
#define VMAFX_NUMBER(name, ...) \
  if (!ret) ret = vmafx_options_set_int(options.get(), #name, params.name);
  VMAFX_OPTIONS(VMAFX_TEXT, VMAFX_NUMBER, VMAFX_NUMBER)
#undef VMAFX_TEXT
#undef VMAFX_NUMBER
  return ret ? ret : vmafx_open(ctx, options.get());
}

}  // namespace vmafx::test

#endif
