/* Instructions by which lanes learn of others, and pairs of instructions. */
#include <bit>

#include "emulator/isa/instructions/operands.h"
#include "emulator/isa/instructions/table.h"

namespace vmafx::emulator::isa {
namespace {

/* How many bits of a mask belong to lanes below this one: of lanes 0 to 31, or of those above. */
template <unsigned first>
void count_below(Wave& wave, const Instruction& i) {
  Row<uint32_t> buffers[2], result;
  const uint32_t *mask = fetch<uint32_t>(wave, i, 1, 0, buffers[0]), *more = fetch<uint32_t>(wave, i, 2, 1, buffers[1]);
  for (unsigned l = 0; l < wave.lanes; l++) {
    const uint64_t below = (uint64_t{1} << l) - 1;
    result.of[l] = static_cast<uint32_t>(std::popcount(mask[l] & static_cast<uint32_t>(below >> first))) + more[l];
  }
  store_32(wave, i, result);
}

/* Reads the first active lane; lane 0 if none is active. */
void read_first_lane(Wave& wave, const Instruction& i) {
  const unsigned lane = wave.exec() ? static_cast<unsigned>(std::countr_zero(wave.exec())) : 0;
  const Operand& from = i.operands[1];
  write_scalar(wave, i.operands[0], from.is_vector() ? wave.vector[from.reg].of[lane] : read_scalar(wave, from));
}

unsigned named_lane(const Wave& wave, const Instruction& i) {
  return read_scalar(wave, i.operands[2]) & (wave.lanes - 1);
}

void read_lane(Wave& wave, const Instruction& i) {
  write_scalar(wave, i.operands[0], wave.vector[i.operands[1].reg].of[named_lane(wave, i)]);
}

void write_lane(Wave& wave, const Instruction& i) {
  wave.vector[i.result().reg].of[named_lane(wave, i)] = read_scalar(wave, i.operands[1]);
}

/* v_dual_…: both read before either writes. */
void run_pair(Wave& wave, const Instruction& i) {
  i.pair->first.run(wave, i.pair->first);  // to a register of its own
  i.pair->second.run(wave, i.pair->second);
  write_row(wave, i.result().reg, wave.vector[kPairResult].of);
}

}  // namespace

void add_across_lanes(Table& t) {
  t.add("v_mbcnt_lo_u32_b32", count_below<0>);
  t.add("v_mbcnt_hi_u32_b32", count_below<32>);
  t.add("v_readfirstlane_b32", read_first_lane);
  t.add("v_readlane_b32", read_lane);
  t.add("v_writelane_b32", write_lane);
  t.add("a pair", run_pair);
}

}  // namespace vmafx::emulator::isa
