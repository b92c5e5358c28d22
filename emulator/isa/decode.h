/* A line of llvm-objdump's text becomes an instruction. */
#ifndef VMAFX_EMULATOR_ISA_DECODE_H
#define VMAFX_EMULATOR_ISA_DECODE_H

#include <string>

#include "emulator/isa/instruction.h"

namespace vmafx::emulator::isa {

/* "": done. Else what in it is not known; then nothing may run it. */
std::string decode(const std::string& text, Instruction* instruction);

}  // namespace vmafx::emulator::isa

#endif
