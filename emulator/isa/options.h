/* The environment variables of this engine; emulator/README.md says what each does. */
#ifndef VMAFX_EMULATOR_ISA_OPTIONS_H
#define VMAFX_EMULATOR_ISA_OPTIONS_H

#include <cstdint>
#include <string>

namespace vmafx::emulator::isa {

/* When what a load brings is in its registers. */
enum class Loads {
  kAtOnce,
  kAtTheWait,     // the last one that covers it
  kAfterTheWait,  // one load too late: a control, with which kernels must go wrong
};

struct Options {
  std::string architecture;
  uint64_t quantum = 0;  // a wave is interrupted after 1 to so many instructions; 0: never
  bool perturbs = false;
  Loads loads = Loads::kAtOnce;
  bool checks_scalars = false;
  std::string counts_file;
  bool counts_conflicts = false;
};

/* Read at the first use. A value that makes no sense ends the program. */
const Options& options();

}  // namespace vmafx::emulator::isa

#endif
