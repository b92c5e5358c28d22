#include "compat/libvmaf/log.h"

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <vector>

namespace compat {
namespace {

std::atomic<unsigned> most_level{VMAF_LOG_LEVEL_INFO};

constexpr const char* kNames[] = {"", "ERROR", "WARNING", "INFO", "DEBUG"};

void write(VmafLogLevel level, const char* text) {
  if (level <= most_level) std::fprintf(stderr, "libvmaf %s %s\n", kNames[level], text);
}

}  // namespace

void set_log_level(VmafLogLevel level) { most_level = std::min(level, VMAF_LOG_LEVEL_DEBUG); }

void log(VmafLogLevel level, const char* format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  std::vector<char> text(static_cast<size_t>(std::max(std::vsnprintf(nullptr, 0, format, args), 0)) + 1);
  std::vsnprintf(text.data(), text.size(), format, again);
  va_end(again);
  va_end(args);
  write(level, text.data());
}

void log_of_vmafx(void*, VmafxLogLevel level, const char* message) {
  switch (level) {
    case VMAFX_LOG_ERROR: return write(VMAF_LOG_LEVEL_ERROR, message);
    case VMAFX_LOG_WARNING: return write(VMAF_LOG_LEVEL_WARNING, message);
    case VMAFX_LOG_INFO: return write(VMAF_LOG_LEVEL_INFO, message);
    default: return write(VMAF_LOG_LEVEL_DEBUG, message);
  }
}

void errors_of_vmafx(void* cookie, VmafxLogLevel level, const char* message) {
  if (level == VMAFX_LOG_ERROR) log_of_vmafx(cookie, level, message);
}

}  // namespace compat
