#include "emulator/runtime/report.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "emulator/runtime/settings.h"
#include "emulator/runtime/system/program_end.h"

namespace vmafx::emulator {
namespace {

std::string format_list(const char* format, va_list list) {
  char buffer[1024];
  std::vsnprintf(buffer, sizeof buffer, format, list);
  return buffer;
}

/* Past stdio: the program may die in the middle of a line of its own. */
void print(const std::string& what) {
  const std::string line = "vmafx HIP emulator: " + what + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) end_program();
}

}  // namespace

std::string text(const char* format, ...) {
  va_list list;
  va_start(list, format);
  const std::string result = format_list(format, list);
  va_end(list);
  return result;
}

void die(const char* format, ...) {
  va_list list;
  va_start(list, format);
  print(format_list(format, list));
  va_end(list);
  end_program();
}

int complain(int code, const std::string& what) {
  static std::mutex& mutex = *new std::mutex;  // if several faults come at once, the first is told
  const std::lock_guard lock(mutex);
  print(what);
  if (!settings().report) end_program();
  return code;
}

}  // namespace vmafx::emulator
