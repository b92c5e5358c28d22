#include "emulator/isa/instructions/operands.h"

#include <algorithm>

#include "emulator/isa/group.h"

namespace vmafx::emulator::isa {

using Kind = Operand::Kind;

namespace {

void check_pair(const Wave& wave, const Operand& operand) {
  if (operand.reg & 1) fault(wave, "a pair of scalars that begins with an odd one");
}

int bits_of(Select select) { return select <= kByte3 ? 8 : select <= kWord1 ? 16 : 32; }

int shift_of(Select select) { return select <= kByte3 ? 8 * select : select == kWord1 ? 16 : 0; }

void fill(const Wave& wave, uint32_t value, Row<uint32_t>& row) {
  each_lane(wave, [&](unsigned l) { row.of[l] = value; });
}

/* A byte or half of each, with zeros or its sign above it. */
void select_part(const Wave& wave, const Operand& operand, const uint32_t* from, Row<uint32_t>& to) {
  const int left = 32 - bits_of(operand.select), shift = shift_of(operand.select);
  if (operand.sign_extend)
    each_lane(wave, [&](unsigned l) {
      to.of[l] = static_cast<uint32_t>(static_cast<int32_t>(from[l] >> shift << left) >> left);
    });
  else each_lane(wave, [&](unsigned l) { to.of[l] = from[l] >> shift << left >> left; });
}

unsigned result_register(const Wave& wave, const Instruction& i) {
  if (!i.result().is_vector()) fault(wave, "a result that is not a vector");
  return i.result().reg;
}

/* The byte or half that SDWA writes, zeros around it. */
void place_part(const Wave& wave, const Instruction& i, Row<uint32_t>& row) {
  if (i.result_select == kDword) return;
  if (!i.result_pads) fault(wave, "a result that keeps the rest of its register");
  const int bits = bits_of(i.result_select), shift = shift_of(i.result_select);
  each_lane(wave, [&](unsigned l) { row.of[l] = (row.of[l] & ((1u << bits) - 1)) << shift; });
}

}  // namespace

void fault(const Wave& wave, const std::string& what) {
  wave.group->fault(what);
  __builtin_unreachable();
}

/* -- Scalars ------------------------------------------------------------------------------------------------------- */

uint32_t read_scalar(const Wave& wave, const Operand& operand) {
  switch (operand.kind) {
    case Kind::kScalar: return operand.reg == kNull ? 0 : wave.scalar[operand.reg];
    case Kind::kConstant: return operand.value;
    case Kind::kScc: return wave.scc;
    default: fault(wave, "an operand that is not a scalar");
  }
}

uint64_t read_scalar_pair(const Wave& wave, const Operand& operand) {
  if (operand.is_constant()) return operand.wide;
  if (!operand.is_scalar()) fault(wave, "an operand that is not a pair of scalars");
  if (operand.reg == kNull) return 0;
  check_pair(wave, operand);
  return wave.pair(operand.reg);
}

void write_scalar(Wave& wave, const Operand& operand, uint32_t value) {
  if (!operand.is_scalar()) fault(wave, "a result that is not a scalar");
  if (operand.reg != kNull) wave.scalar[operand.reg] = value;
}

void write_scalar_pair(Wave& wave, const Operand& operand, uint64_t value) {
  if (!operand.is_scalar()) fault(wave, "a result that is not a pair of scalars");
  if (operand.reg == kNull) return;
  check_pair(wave, operand);
  wave.set_pair(operand.reg, value);
}

uint64_t read_mask(const Wave& wave, const Operand& operand) {
  return wave.lanes == 64 ? read_scalar_pair(wave, operand) : read_scalar(wave, operand);
}

void write_mask(Wave& wave, const Operand& operand, uint64_t mask) {
  if (wave.lanes == 64) write_scalar_pair(wave, operand, mask);
  else write_scalar(wave, operand, static_cast<uint32_t>(mask));
}

/* -- Sources ------------------------------------------------------------------------------------------------------- */

const uint32_t* fetch_32(const Wave& wave, const Operand& operand, bool is_float, Row<uint32_t>& buffer) {
  const uint32_t* row = buffer.of;
  if (operand.is_vector()) row = wave.vector[operand.reg].of;
  else fill(wave, read_scalar(wave, operand), buffer);
  if (operand.select != kDword || operand.sign_extend) {
    select_part(wave, operand, row, buffer);
    row = buffer.of;
  }
  if (!operand.absolute && !operand.negate) return row;
  if (!is_float) fault(wave, "the sign of an integer is changed");
  const uint32_t kept = operand.absolute ? 0x7fffffff : ~0u, flipped = operand.negate ? 0x80000000 : 0;
  each_lane(wave, [&](unsigned l) { buffer.of[l] = (row[l] & kept) ^ flipped; });
  return buffer.of;
}

void fetch_64(const Wave& wave, const Operand& operand, Wide kind, Row<uint64_t>& buffer) {
  if (operand.is_vector()) {
    const uint32_t *low = wave.vector[operand.reg].of, *high = wave.vector[operand.reg + 1].of;
    each_lane(wave, [&](unsigned l) { buffer.of[l] = uint64_t{high[l]} << 32 | low[l]; });
  } else {
    const uint64_t value = !operand.is_constant()  ? read_scalar_pair(wave, operand)
                           : kind == Wide::kFloat  ? operand.wide_float
                           : kind == Wide::kSigned ? operand.wide_signed
                                                   : operand.wide;
    each_lane(wave, [&](unsigned l) { buffer.of[l] = value; });
  }
  if (!operand.absolute && !operand.negate) return;
  if (kind != Wide::kFloat) fault(wave, "the sign of an integer is changed");
  const uint64_t sign = uint64_t{1} << 63, kept = operand.absolute ? ~sign : ~uint64_t{0},
                 flipped = operand.negate ? sign : 0;
  each_lane(wave, [&](unsigned l) { buffer.of[l] = (buffer.of[l] & kept) ^ flipped; });
}

void fetch_16(const Wave& wave, const Instruction& i, int operand, int source, Row<uint16_t>& buffer) {
  Row<uint32_t> words;
  const uint32_t* row = fetch_32(wave, i.operands[operand], false, words);
  const int shift = i.op_sel >> source & 1 ? 16 : 0;
  each_lane(wave, [&](unsigned l) { buffer.of[l] = static_cast<uint16_t>(row[l] >> shift); });
}

/* -- Results ------------------------------------------------------------------------------------------------------- */

void write_row(Wave& wave, unsigned reg, const uint32_t* row) {
  uint32_t* to = wave.vector[reg].of;
  const uint64_t active = wave.exec();
  if (active == wave.all_lanes()) {
    std::copy_n(row, wave.lanes, to);
    return;
  }
  for (unsigned l = 0; l < wave.lanes; l++) to[l] = active >> l & 1 ? row[l] : to[l];
}

void store_32(Wave& wave, const Instruction& i, Row<uint32_t>& row) {
  place_part(wave, i, row);
  write_row(wave, result_register(wave, i), row.of);
}

void store_64(Wave& wave, const Instruction& i, const Row<uint64_t>& row) {
  Row<uint32_t> low, high;
  each_lane(wave, [&](unsigned l) {
    low.of[l] = static_cast<uint32_t>(row.of[l]);
    high.of[l] = static_cast<uint32_t>(row.of[l] >> 32);
  });
  write_row(wave, result_register(wave, i), low.of);
  write_row(wave, result_register(wave, i) + 1, high.of);
}

void store_16(Wave& wave, const Instruction& i, const Row<uint16_t>& row) {
  Row<uint32_t> words;
  const uint32_t* old = wave.vector[result_register(wave, i)].of;
  if (i.result_select != kDword || (wave.architecture->clears_upper_half() && !(i.op_sel & 8)))
    each_lane(wave, [&](unsigned l) { words.of[l] = row.of[l]; });
  else if (i.op_sel & 8)
    each_lane(wave, [&](unsigned l) { words.of[l] = (old[l] & 0xffff) | uint32_t{row.of[l]} << 16; });
  else each_lane(wave, [&](unsigned l) { words.of[l] = (old[l] & 0xffff0000) | row.of[l]; });
  store_32(wave, i, words);
}

}  // namespace vmafx::emulator::isa
