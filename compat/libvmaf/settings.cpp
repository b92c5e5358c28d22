#include "compat/libvmaf/settings.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "compat/libvmaf/log.h"

namespace compat {
namespace {

/* nullptr, too, in a program that has rights which its caller has not. */
const char* variable(const char* name) {
#ifdef HAVE_SECURE_GETENV
  const char* const value = secure_getenv(name);
#else
  const char* const value = getuid() == geteuid() && getgid() == getegid() ? std::getenv(name) : nullptr;
#endif
  return value && *value ? value : nullptr;
}

int read_count(const char* name, std::optional<int>* count) {
  const char* const text = variable(name);
  if (!text) return 0;
  int value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, problem] = std::from_chars(text, end, value);
  if (problem != std::errc() || stop != end || value < 0)
    return COMPAT_INVALID("%s=%s: a number from 0 to %d is needed", name, text, INT_MAX);
  *count = value;
  return 0;
}

}  // namespace

int Settings::read(Settings* settings) {
  if (const char* const backend = variable("VMAFX_BACKEND")) settings->backend = backend;
  const std::string backend = settings->backend.value_or("auto");
  if (backend != "auto" && backend != "cpu" && backend != "hip")
    return COMPAT_INVALID("VMAFX_BACKEND=%s: auto, cpu or hip is needed", backend.c_str());
  if (const char* const device = variable("VMAFX_DEVICE")) settings->device = device;
  if (const char* const format = variable("VMAFX_SCORE_FMT")) settings->score_format = format;
  const char* const overwrite = variable("VMAFX_OVERWRITE");
  if (overwrite && std::strcmp(overwrite, "0") != 0 && std::strcmp(overwrite, "1") != 0)
    return COMPAT_INVALID("VMAFX_OVERWRITE=%s: 0 or 1 is needed", overwrite);
  settings->overwrite = overwrite && *overwrite == '1';
  std::optional<int> verify;
  if (const int ret = read_count("VMAFX_VERIFY", &verify)) return ret;
  settings->verify = verify.value_or(0);
  return read_count("VMAFX_N_THREADS", &settings->threads);
}

}  // namespace compat
