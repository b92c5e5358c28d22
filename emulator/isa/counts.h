/* What ran of the code objects that a program has loaded, for tests of how much they cover. */
#ifndef VMAFX_EMULATOR_ISA_COUNTS_H
#define VMAFX_EMULATOR_ISA_COUNTS_H

#include <memory>
#include <string>
#include <vector>

#include "emulator/isa/code_object.h"

namespace vmafx::emulator::isa {

/* Decodes what has not been decoded. Appends lines to the file:
 *   kernel NAME LAUNCHES BLOCKS WAVES INSTRUCTIONS
 *   instruction MNEMONIC TIMES RUN     how many there are in the code, how many of them ran at least once */
void write_counts(const std::string& path, const std::vector<std::unique_ptr<CodeObject>>& objects);

}  // namespace vmafx::emulator::isa

#endif
