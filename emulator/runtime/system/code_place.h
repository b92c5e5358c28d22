/* Places of code of this process. */
#ifndef VMAFX_EMULATOR_RUNTIME_SYSTEM_CODE_PLACE_H
#define VMAFX_EMULATOR_RUNTIME_SYSTEM_CODE_PLACE_H

#include <cstddef>
#include <string>

namespace vmafx::emulator {

struct CodePlace {
  std::string library;  // the file's name without its folder; "": it is not known
  size_t offset = 0;    // bytes from where the library begins in memory
};
CodePlace find_code(const void* code);

}  // namespace vmafx::emulator

#endif
