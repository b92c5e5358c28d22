#include "emulator/runtime/system/program_end.h"

#include <windows.h>

namespace vmafx::emulator {

/* abort() would have DLLs run what they have for the end, with the status 3 as well. */
void end_program() {
  TerminateProcess(GetCurrentProcess(), 3);
  __builtin_unreachable();
}

}  // namespace vmafx::emulator
