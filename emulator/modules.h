/* Modules: the one "code object" that this library takes stands for all the kernels in it. */
#ifndef VMAFX_EMULATOR_MODULES_H
#define VMAFX_EMULATOR_MODULES_H

#include <vector>

#include "emulator/calls.h"

namespace vmafx::emulator {

struct Module {
  int device;
  std::vector<void*> functions;  // handles, which end with it
};

Handles<Module>& modules();

}  // namespace vmafx::emulator

#endif
