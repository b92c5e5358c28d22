/* The kernels that the library carries, and how a launch of one is checked and run. */
#ifndef VMAFX_EMULATOR_LAUNCH_H
#define VMAFX_EMULATOR_LAUNCH_H

#include <string>

#include "emulator/block.h"

namespace vmafx::emulator {

inline constexpr unsigned kMaxBlockX = 1024, kMaxBlockY = 1024, kMaxBlockZ = 64;
inline constexpr unsigned kMaxGridX = 0x7fffffff, kMaxGridY = 65535, kMaxGridZ = 65535;

/* nullptr: there is none of that name. */
const gpu::host::Kernel* find_kernel(const std::string& name);

/* What is wrong with a launch before it begins: limits, and pointer arguments that are no device memory. "": nothing.
 */
std::string check_launch(const Launch& launch, unsigned shared_bytes);

/* Runs all blocks, several at a time. Device memory must be open. False: a kernel did wrong, as was reported. */
bool run_launch(Launch& launch);

}  // namespace vmafx::emulator

#endif
