#include <cstdlib>

#include "emulator/runtime/system/program_end.h"

namespace vmafx::emulator {

void end_program() { std::abort(); }

}  // namespace vmafx::emulator
