/* Calls of the kernel for size_signal_posix.cpp, beyond what macOS has of POSIX. */
#ifndef VMAFX_BASE_SYSTEM_SIZE_SIGNAL_KERNEL_H
#define VMAFX_BASE_SYSTEM_SIZE_SIGNAL_KERNEL_H

#include <csignal>

namespace vmafx::system {

/* Takes a held signal of this set, if one is pending, without waiting for one. */
void take_pending(const sigset_t& signals);

}  // namespace vmafx::system

#endif
