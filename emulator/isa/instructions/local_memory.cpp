/* The block's own memory (LDS), and shuffles, which go through its hardware. */
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "emulator/isa/group.h"
#include "emulator/isa/instructions/operands.h"
#include "emulator/isa/instructions/table.h"
#include "emulator/isa/options.h"

namespace vmafx::emulator::isa {
namespace {

uint32_t address_of(const Wave& wave, const Operand& operand, unsigned lane, int32_t offset) {
  return wave.vector[operand.reg].of[lane] + static_cast<uint32_t>(offset);
}

/* -- Conflicts of banks -------------------------------------------------------------------------------------------- */

/* The model of emulator/README.md ("Counts"): LDS has 32 banks of 4 bytes, each of which delivers a word in a cycle.
 * Taken as many lanes at once as 128 bytes are, by their order: the busiest bank decides how many cycles they take.
 * Lanes that name the same word share it, unless they add to it. */
enum class Sharing { kWords, kNone };

void count_conflicts(Wave& wave, const Instruction& i, int operand, int32_t offset, unsigned words,
                     Sharing sharing = Sharing::kWords) {
  constexpr unsigned kBanks = 32;
  if (!options().counts_conflicts) return;
  const unsigned at_once = kBanks / std::bit_ceil(words);
  const uint32_t* addresses = wave.vector[i.operands[operand].reg].of;
  for (unsigned first = 0; first < wave.lanes; first += at_once) {
    uint32_t taken[kBanks][kBanks];  // words of each bank
    unsigned cycles[kBanks] = {}, most = 1;
    for (unsigned lane = first; lane < first + at_once; lane++) {
      if (!wave.is_active(lane)) continue;
      for (unsigned n = 0; n < words; n++) {
        const uint32_t word = (addresses[lane] + static_cast<uint32_t>(offset)) / 4 + n, bank = word % kBanks;
        const auto end = taken[bank] + cycles[bank];
        if (sharing == Sharing::kWords && std::find(taken[bank], end, word) != end) continue;
        *end = word;
        most = std::max(most, ++cycles[bank]);
      }
    }
    wave.conflict_cycles += most - 1;
  }
}

/* T: what is loaded, at most a word, which it is extended to; a uint32_t is one of `words`. */
template <class T, unsigned words = 1>
void load_lanes(Wave& wave, const Instruction& i) {
  count_conflicts(wave, i, 1, i.offset, words);
  Row<uint32_t> rows[4];
  each_active_lane(wave, [&](unsigned lane) {
    const uint8_t* from = wave.group->load_local(address_of(wave, i.operands[1], lane, i.offset), words * sizeof(T));
    for (unsigned word = 0; word < words; word++) {
      T value;
      std::memcpy(&value, from + word * sizeof value, sizeof value);
      rows[word].of[lane] = static_cast<uint32_t>(value);
    }
  });
  wave.arrive(kLocalCounter, i.result().reg, words, rows);
}

void store_words(Wave& wave, const Operand& data, unsigned lane, uint32_t address, unsigned bytes, unsigned shift = 0) {
  uint32_t words[4];
  for (unsigned word = 0; word < (bytes + 3) / 4; word++) words[word] = wave.vector[data.reg + word].of[lane] >> shift;
  std::memcpy(wave.group->store_local(address, bytes), words, bytes);
}

template <unsigned bytes, unsigned shift = 0>
void store_lanes(Wave& wave, const Instruction& i) {
  wave.write_local(i);
  count_conflicts(wave, i, 0, i.offset, (bytes + 3) / 4);
  each_active_lane(wave, [&](unsigned lane) {
    store_words(wave, i.operands[1], lane, address_of(wave, i.operands[0], lane, i.offset), bytes, shift);
  });
}

/* Two places, whose offsets count values, or 64 of them. */
template <unsigned words, unsigned stride>
void load_two(Wave& wave, const Instruction& i) {
  constexpr unsigned kBytes = 4 * words;
  constexpr int kUnit = static_cast<int>(kBytes * stride);
  for (const int32_t offset : {i.offset0, i.offset1}) count_conflicts(wave, i, 1, offset * kUnit, words);
  Row<uint32_t> rows[4];
  each_active_lane(wave, [&](unsigned lane) {
    for (const int second : {0, 1}) {
      const int32_t offset = (second ? i.offset1 : i.offset0) * kUnit;
      const uint8_t* from = wave.group->load_local(address_of(wave, i.operands[1], lane, offset), kBytes);
      for (unsigned word = 0; word < words; word++)
        std::memcpy(&rows[static_cast<unsigned>(second) * words + word].of[lane], from + 4 * word, 4);
    }
  });
  wave.arrive(kLocalCounter, i.result().reg, 2 * words, rows);
}

template <unsigned words, unsigned stride>
void store_two(Wave& wave, const Instruction& i) {
  constexpr unsigned kBytes = 4 * words;
  constexpr int kUnit = static_cast<int>(kBytes * stride);
  wave.write_local(i);
  for (const int32_t offset : {i.offset0, i.offset1}) count_conflicts(wave, i, 0, offset * kUnit, words);
  each_active_lane(wave, [&](unsigned lane) {
    store_words(wave, i.operands[1], lane, address_of(wave, i.operands[0], lane, i.offset0 * kUnit), kBytes);
    store_words(wave, i.operands[2], lane, address_of(wave, i.operands[0], lane, i.offset1 * kUnit), kBytes);
  });
}

void add_atomically(Wave& wave, const Instruction& i) {
  wave.write_local(i);
  count_conflicts(wave, i, 0, i.offset, 1, Sharing::kNone);
  each_active_lane(wave, [&](unsigned lane) {
    *wave.group->atomic_local(address_of(wave, i.operands[0], lane, i.offset)) +=
        wave.vector[i.operands[1].reg].of[lane];
  });
}

/* Each lane takes the value of the one that it names, by four bytes each, which must be active. */
void permute(Wave& wave, const Instruction& i) {
  Row<uint32_t> result;
  each_active_lane(wave, [&](unsigned lane) {
    const uint32_t from = address_of(wave, i.operands[1], lane, i.offset) / 4 % wave.lanes;
    if (!wave.is_active(from))
      fault(wave, "shuffle: lane " + std::to_string(lane) + " reads the inactive lane " + std::to_string(from));
    result.of[lane] = wave.vector[i.operands[2].reg].of[from];
  });
  wave.arrive(kLocalCounter, i.result().reg, 1, &result);
}

void add_loads(Table& t, const std::string& name, const std::string& two, const std::string& two_far) {
  t.add(name + "u8", load_lanes<uint8_t>);
  t.add(name + "i8", load_lanes<int8_t>);
  t.add(name + "u16", load_lanes<uint16_t>);
  t.add(name + "i16", load_lanes<int16_t>);
  t.add(name + "b32", load_lanes<uint32_t>);
  t.add(name + "b64", load_lanes<uint32_t, 2>);
  t.add(name + "b96", load_lanes<uint32_t, 3>);
  t.add(name + "b128", load_lanes<uint32_t, 4>);
  t.add(two + "b32", load_two<1, 1>);
  t.add(two + "b64", load_two<2, 1>);
  t.add(two_far + "b32", load_two<1, 64>);
  t.add(two_far + "b64", load_two<2, 64>);
}

void add_stores(Table& t, const std::string& name, const std::string& two, const std::string& two_far) {
  t.add(name + "b8", store_lanes<1>);
  t.add(name + "b16", store_lanes<2>);
  t.add(name + "b16_d16_hi", store_lanes<2, 16>);
  t.add(name + "b32", store_lanes<4>);
  t.add(name + "b64", store_lanes<8>);
  t.add(name + "b96", store_lanes<12>);
  t.add(name + "b128", store_lanes<16>);
  t.add(two + "b32", store_two<1, 1>);
  t.add(two + "b64", store_two<2, 1>);
  t.add(two_far + "b32", store_two<1, 64>);
  t.add(two_far + "b64", store_two<2, 64>);
}

}  // namespace

void add_local_memory(Table& t) {
  add_loads(t, "ds_load_", "ds_load_2addr_", "ds_load_2addr_stride64_");
  add_loads(t, "ds_read_", "ds_read2_", "ds_read2st64_");
  add_stores(t, "ds_store_", "ds_store_2addr_", "ds_store_2addr_stride64_");
  add_stores(t, "ds_write_", "ds_write2_", "ds_write2st64_");
  t.add("ds_add_u32", add_atomically);
  t.add("ds_bpermute_b32", permute);
}

}  // namespace vmafx::emulator::isa
