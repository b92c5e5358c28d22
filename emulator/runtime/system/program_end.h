/* The end of a program that did wrong. */
#ifndef VMAFX_EMULATOR_RUNTIME_SYSTEM_PROGRAM_END_H
#define VMAFX_EMULATOR_RUNTIME_SYSTEM_PROGRAM_END_H

namespace vmafx::emulator {

/* Ends it at once, by SIGABRT where there are signals: nothing of what it does at its end is done. */
[[noreturn]] void end_program();

}  // namespace vmafx::emulator

#endif
