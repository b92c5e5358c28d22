/* Memory of others (a dma-buf, Vulkan's; in tests a memfd), seen by kernels, and semaphores of others (in tests a memfd
 * with the value). */
#ifndef VMAFX_EMULATOR_RUNTIME_IMPORTS_H
#define VMAFX_EMULATOR_RUNTIME_IMPORTS_H

#include <atomic>
#include <cstdint>
#include <memory>

#include "emulator/runtime/calls.h"

namespace vmafx::emulator {

struct Import {
  uintptr_t address;
  size_t size;
  int device;
};

struct Semaphore {
  std::shared_ptr<const std::atomic<uint64_t>> value;  // mapped as long as work waits for it
};

Handles<Import>& imports();
Handles<Semaphore>& semaphores();

}  // namespace vmafx::emulator

#endif
