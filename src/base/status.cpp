#include "base/status.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <new>

namespace vmafx {
namespace {

std::string format_list(const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int length = std::vsnprintf(nullptr, 0, format, args);
  std::string text(length > 0 ? length : 0, '\0');
  if (length > 0) std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

}  // namespace

Status error(int errno_value, const char* format, ...) {
  va_list args;
  va_start(args, format);
  Status status(errno_value, format_list(format, args));
  va_end(args);
  return status;
}

std::string format_text(const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = format_list(format, args);
  va_end(args);
  return text;
}

Status caught() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {ENOMEM, "out of memory"};  // short enough for a string without an allocation
  } catch (const std::exception& failure) {
    return guarded([&] { return Status(EIO, failure.what()); });
  }
}

}  // namespace vmafx
