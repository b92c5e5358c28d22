/* How the emulator says what went wrong: one line on stderr, then the program ends. With VMAFX_HIP_EMULATOR_REPORT=1
 * the program goes on with an error code as a real runtime would give. */
#ifndef VMAFX_EMULATOR_RUNTIME_REPORT_H
#define VMAFX_EMULATOR_RUNTIME_REPORT_H

#include <string>

namespace vmafx::emulator {

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

/* The emulator itself cannot go on. */
[[noreturn, gnu::format(printf, 1, 2)]] void die(const char* format, ...);

/* The program did what it must not. Comes back, with `code`, only when asked to report. */
int complain(int code, const std::string& what);

}  // namespace vmafx::emulator

#endif
