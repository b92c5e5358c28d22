/* Loaded modules. */
#ifndef VMAFX_EMULATOR_RUNTIME_MODULES_H
#define VMAFX_EMULATOR_RUNTIME_MODULES_H

#include <vector>

#include "emulator/runtime/calls.h"
#include "emulator/runtime/engine.h"

namespace vmafx::emulator {

struct Module {
  int device;
  const Code* code;
  std::vector<void*> functions;  // handles, which end with it
};

Handles<Module>& modules();

}  // namespace vmafx::emulator

#endif
