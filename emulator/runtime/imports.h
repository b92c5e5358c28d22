/* Memory of others (a dma-buf; in tests a memfd), seen by kernels. */
#ifndef VMAFX_EMULATOR_RUNTIME_IMPORTS_H
#define VMAFX_EMULATOR_RUNTIME_IMPORTS_H

#include "emulator/runtime/calls.h"

namespace vmafx::emulator {

struct Import {
  uintptr_t address;
  size_t size;
  int device;
};

Handles<Import>& imports();

}  // namespace vmafx::emulator

#endif
