/* Files by their descriptors, which stand for memory and semaphores of others (runtime/imports.h). Descriptors stay
 * their owner's. Windows has none that HIP's runtime takes: there is nothing in any of them. */
#ifndef VMAFX_EMULATOR_RUNTIME_SYSTEM_DESCRIPTORS_H
#define VMAFX_EMULATOR_RUNTIME_SYSTEM_DESCRIPTORS_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace vmafx::emulator {

/* Whether a file holds so many bytes of memory; says where in the file it begins. */
bool find_memory(int descriptor, size_t size, size_t* offset);

/* The first word of a file, as it changes; nullptr: it cannot be seen. */
std::shared_ptr<const std::atomic<uint64_t>> watch_first_word(int descriptor);

}  // namespace vmafx::emulator

#endif
