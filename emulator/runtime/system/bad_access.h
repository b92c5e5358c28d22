/* Accesses of memory out of reach. */
#ifndef VMAFX_EMULATOR_RUNTIME_SYSTEM_BAD_ACCESS_H
#define VMAFX_EMULATOR_RUNTIME_SYSTEM_BAD_ACCESS_H

#include <cstdint>

namespace vmafx::emulator {

/* Has `judge` called for each address out of reach that a thread of this process touches, in that thread. When it
 * returns, all goes on as without it. */
void watch_bad_accesses(void (*judge)(uintptr_t address));

}  // namespace vmafx::emulator

#endif
