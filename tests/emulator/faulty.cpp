/* The kernels of the emulator's own tests, for the host's compiler. */
#include "tests/emulator/faulty.hip"
