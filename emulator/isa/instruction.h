/* An instruction as it is decoded: what runs it, and its operands. */
#ifndef VMAFX_EMULATOR_ISA_INSTRUCTION_H
#define VMAFX_EMULATOR_ISA_INSTRUCTION_H

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace vmafx::emulator::isa {

struct Wave;
struct Instruction;
using Handler = void (*)(Wave&, const Instruction&);

/* Numbers of scalar registers. */
enum : uint16_t { kVcc = 106, kTrap = 108, kM0 = 124, kNull = 125, kExec = 126, kScalars = 128 };
/* The vector register that the first half of a pair of instructions writes. */
inline constexpr uint16_t kPairResult = 256;

/* The part of a register that an SDWA operand is: a byte 0 to 3, a half, all of it. */
enum Select : uint8_t { kByte0, kByte1, kByte2, kByte3, kWord0, kWord1, kDword };

struct Operand {
  enum class Kind : uint8_t { kNone, kVector, kScalar, kConstant, kOff, kScc };

  Kind kind = Kind::kNone;
  uint16_t reg = 0;
  uint8_t words = 1;  // as many as the text names: 2 for v[4:5]
  bool negate = false, absolute = false, sign_extend = false;
  Select select = kDword;

  /* A constant; literals of 32 bits stand for others in 64 bits: zeros above, signed, or the upper half of a double. */
  uint32_t value = 0;
  uint64_t wide = 0, wide_signed = 0, wide_float = 0;
  bool is_literal = false;

  bool is_vector() const { return kind == Kind::kVector; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_constant() const { return kind == Kind::kConstant; }
};

/* How many loads (or stores) may stay on their way; -1: the wait does not ask. */
struct WaitCounts {
  int vector = -1, local = -1, scalar = -1, store = -1;
};

/* The unit that executes an instruction: control are branches, waits, barriers and hints. */
enum class Unit : uint8_t { kVector, kScalar, kVectorMemory, kScalarMemory, kLocalMemory, kControl };
inline constexpr unsigned kUnits = 6;

/* Registers that follow each other, in one numbering: scalars as they are, vectors from kScalars on. */
struct Registers {
  uint16_t first = 0, count = 0;

  bool overlap(const Registers& other) const {
    return first < other.first + other.count && other.first < first + count;
  }
};

/* 16 bits for each number of wait states between two instructions, from 0 on: the rules that matter there. */
__extension__ using RulesByDistance = unsigned __int128;

/* The part of an instruction in hazards: those that it is the earlier or the later one of, and with which registers. */
struct InstructionHazards {
  struct Side {
    uint8_t rule;
    Registers registers;
  };
  uint8_t wait_states = 1;     // as many as it counts for other instructions
  bool settles = false;        // after it, nothing before it matters
  uint16_t earlier_rules = 0;  // a bit for each rule that has a side in `earlier`
  RulesByDistance later_rules = 0;
  std::vector<Side> earlier, later;
  std::bitset<kScalars> scalars_read, scalars_written;  // on gfx12
};

struct Instruction {
  Handler run = nullptr;
  Unit unit = Unit::kControl;
  InstructionHazards hazards;
  std::array<Operand, 6> operands;
  uint8_t count = 0;  // operands in use
  bool clamp = false;
  uint8_t output_modifier = 0;  // 1: times 2, 2: times 4, 3: half
  Select result_select = kDword;
  bool result_pads = true;                                    // with zeros, of SDWA
  uint8_t op_sel = 0, op_sel_hi = 7, neg_lo = 0, neg_hi = 0;  // a bit for each operand
  uint8_t truth_table = 0;                                    // bitop3
  int32_t offset = 0, offset0 = 0, offset1 = 0;
  WaitCounts wait;
  int32_t target = -1;  // a branch's: the number of an instruction; until all are decoded, words from the next one
  uint64_t next_address = 0;                                        // in the loaded image
  std::shared_ptr<const std::pair<Instruction, Instruction>> pair;  // for v_dual_…
  uint64_t address = 0;                                             // in the code object
  std::string mnemonic, text;
  mutable bool has_run = false;

  const Operand& result() const { return operands[0]; }
  bool is_branch() const { return mnemonic.starts_with("s_branch") || mnemonic.starts_with("s_cbranch"); }
};

}  // namespace vmafx::emulator::isa

#endif
