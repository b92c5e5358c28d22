/* Counts of the executed parts of the code objects that a program has loaded, for tests of how much they cover. */
#ifndef VMAFX_EMULATOR_ISA_COUNTS_H
#define VMAFX_EMULATOR_ISA_COUNTS_H

#include <memory>
#include <string>
#include <vector>

#include "emulator/isa/code_object.h"

namespace vmafx::emulator::isa {

/* Decodes what has not been decoded. Appends lines to the file:
 *   kernel NAME LAUNCHES BLOCKS WAVES INSTRUCTIONS VECTOR SCALAR MEMORY LDS CONTROL CONFLICTS
 * where the last six are the instructions of each kind, one for a wave, and the cycles that conflicts of LDS banks take
 * (with CONFLICTS).
 *   instruction MNEMONIC TIMES RUN     how many there are in the code, how many of them ran at least once */
void write_counts(const std::string& path, const std::vector<std::unique_ptr<CodeObject>>& objects);

}  // namespace vmafx::emulator::isa

#endif
