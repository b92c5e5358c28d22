/* The log: lines to standard error, as libvmaf writes them, up to the level that the last vmaf_init() set. */
#ifndef COMPAT_LIBVMAF_LOG_H
#define COMPAT_LIBVMAF_LOG_H

#include <cerrno>
#include <new>

#include "compat/libvmaf/abi.h"
#include "vmafx/vmafx.h"

namespace compat {

void set_log_level(VmafLogLevel level);

[[gnu::format(printf, 2, 3)]] void log(VmafLogLevel level, const char* format, ...);

/* Logs an error and is EINVAL as libvmaf returns it. */
#define COMPAT_INVALID(...) (::compat::log(VMAF_LOG_LEVEL_ERROR, __VA_ARGS__), -EINVAL)

/* The callbacks that vmafx takes: all that it says; and only what went wrong. */
void log_of_vmafx(void* cookie, VmafxLogLevel level, const char* message);
void errors_of_vmafx(void* cookie, VmafxLogLevel level, const char* message);

/* Nothing is thrown into a program in C. */
template <class Body>
int guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (...) {
    return -EINVAL;
  }
}

}  // namespace compat

#endif
