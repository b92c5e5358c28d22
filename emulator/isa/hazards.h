/* Hazards: an instruction that comes too soon after another one, where the hardware does not wait by itself. Compilers
 * put `s_nop`, other instructions or waits between. hazards.cpp has the table of them. */
#ifndef VMAFX_EMULATOR_ISA_HAZARDS_H
#define VMAFX_EMULATOR_ISA_HAZARDS_H

#include <array>
#include <bitset>
#include <cstdint>
#include <string>

#include "emulator/isa/architecture.h"
#include "emulator/isa/instruction.h"

namespace vmafx::emulator::isa {

/* Fills in the instruction's part in each hazard of the architecture. */
void find_hazards(const Architecture& architecture, Instruction& instruction);

/* gfx12: a vector instruction that has read a scalar keeps its old value within reach. A later write to it (or to the
 * other one of its pair) may not be seen before an s_wait_alu. */
class HeldScalars {
 public:
  /* False: the instruction reads such a scalar; which one is in *problem. */
  bool issue(const Instruction& i, std::string* problem);

 private:
  using Scalars = std::bitset<kScalars>;

  Scalars held_, from_scalar_,
      from_vector_;  // held_: were read; from_…: written since then by the scalar unit, by vector instructions
};

/* The last instructions of a wave that later ones may have to keep away from. */
class Recent {
 public:
  /* Begins a wave. With `checks_scalars` gfx12's held scalars are checked, too. */
  void begin(const Architecture& architecture, bool checks_scalars);

  /* An instruction is issued. False: too soon; problem() says after which one. */
  bool issue(const Instruction& i) {
    if (checks_scalars_ && !held_scalars_.issue(i, &problem_)) return false;
    const InstructionHazards& own = i.hazards;
    if (own.settles) count_ = 0;
    const bool good = !(own.later_rules & rules_) || is_late_enough(i);
    if (own.earlier_rules) add(i);
    now_ += own.wait_states;
    rules_ = (own.wait_states < kLongest ? rules_ << 16 * own.wait_states : 0) | own.earlier_rules;
    return good;
  }
  const std::string& problem() const { return problem_; }

 private:
  struct Issued {
    const Instruction* instruction;
    uint64_t end;  // the first wait state after it
  };

  bool is_late_enough(const Instruction& later);
  void add(const Instruction& earlier);

  static constexpr unsigned kLongest = 8;  // no rule asks for more wait states

  std::array<Issued, kLongest> ring_{};
  RulesByDistance rules_ = 0;  // rules that the last instructions are the earlier ones of
  unsigned next_ = 0, count_ = 0, most_ = 0;
  uint64_t now_ = 0;  // in wait states
  bool checks_scalars_ = false;
  HeldScalars held_scalars_;
  std::string problem_;
};

}  // namespace vmafx::emulator::isa

#endif
