/* Descriptors of memory that other drivers share: DRM PRIME objects (dma-bufs) and opaque ones of Vulkan. Functions
 * return 0 or an errno value. */
#ifndef VMAFX_BASE_SYSTEM_FOREIGN_MEMORY_H
#define VMAFX_BASE_SYSTEM_FOREIGN_MEMORY_H

#include <chrono>
#include <cstdint>
#include <string>

namespace vmafx::system {

/* Why this system shares no memory between drivers by descriptors; nullptr: it does. */
const char* why_no_foreign_memory();

int duplicate_foreign(int descriptor, int* copy);
void close_foreign(int descriptor);

/* The object behind a descriptor, by numbers that other descriptors of it show, too. */
struct ForeignIdentity {
  uint64_t device = 0, number = 0;
  int64_t bytes = 0;  // 0: the kernel does not tell
};
int identify_foreign(int descriptor, ForeignIdentity* identity);

/* ETIMEDOUT at the deadline; EINVAL: the descriptor is not open. */
int wait_for_foreign(int descriptor, std::chrono::milliseconds deadline);

/* The last name in the link of a character device in the folder `numbers`, which is the PCI address of what it belongs
 * to; "" if that cannot be told. */
std::string bus_name_of_device(int descriptor, const std::string& numbers);

}  // namespace vmafx::system

#endif
