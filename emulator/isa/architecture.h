/* An instruction set, as far as the engine has to know it. */
#ifndef VMAFX_EMULATOR_ISA_ARCHITECTURE_H
#define VMAFX_EMULATOR_ISA_ARCHITECTURE_H

#include <string>

namespace vmafx::emulator::isa {

struct Architecture {
  const char* name;
  int generation;    // 9 to 12: the instruction sets that differ most
  unsigned machine;  // EF_AMDGPU_MACH in the flags of a code object
  unsigned generic;  // the same in those of its family's code; 0: there is none

  bool runs(unsigned object) const { return object == machine || (generic && object == generic); }
  bool has_name(const char* prefix) const { return std::string(name).starts_with(prefix); }

  bool is_gfx94x() const { return has_name("gfx94") || has_name("gfx95") || has_name("gfx9-4"); }

  /* gfx10 to gfx12 can have 64 lanes, too; the compiler chooses 32. */
  unsigned lanes() const { return generation == 9 ? 64 : 32; }
  /* gfx90a, gfx94x, gfx950: registers are given out by 8, those above an offset accumulate. */
  bool has_accumulators() const { return has_name("gfx90a") || is_gfx94x(); }
  /* The three numbers of a thread in v0, ten bits each; else in v0, v1 and v2. */
  bool packs_thread_id() const { return generation >= 11 || has_accumulators(); }
  /* A 16-bit result clears the upper half of its register. */
  bool clears_upper_half() const { return generation == 9; }
  /* Stores count with loads, in order. */
  bool counts_stores_with_loads() const { return generation == 9; }
  /* A block's number in ttmp7 and ttmp9 instead of scalars of its own. */
  bool has_block_id_in_traps() const { return generation == 12; }
  unsigned vector_registers(unsigned granulated, unsigned accumulator_offset) const;
};

/* nullptr: not one of those. */
const Architecture* find_architecture(const std::string& name);
const Architecture* find_architecture(unsigned machine);
/* "gfx906, gfx908, …". */
std::string list_architectures();

}  // namespace vmafx::emulator::isa

#endif
