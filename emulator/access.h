/* The check of each load and store of a kernel. The kernels are compiled with -fsanitize=kernel-address, which puts a
 * call before every access; access.cpp defines what is called. */
#ifndef VMAFX_EMULATOR_ACCESS_H
#define VMAFX_EMULATOR_ACCESS_H

#include <cstdint>

namespace vmafx::emulator {

/* What the next launch writes in device memory is marked as its own. */
void begin_launch_accesses(uint32_t launch);

}  // namespace vmafx::emulator

#endif
