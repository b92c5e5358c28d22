/* Loads and stores of device memory, by lanes and by waves. */
#include <cstring>

#include "emulator/isa/group.h"
#include "emulator/isa/instructions/operands.h"
#include "emulator/isa/instructions/table.h"

namespace vmafx::emulator::isa {
namespace {

/* "global_": the last operand is a pair of scalars, to which a lane's 32 bits are added, or "off". "flat_": 64 bits of
 * a lane, which could be an address of shared memory, too, and are counted with both; here none is. */
enum class Space { kGlobal, kFlat };

template <Space space>
uint64_t address_of(const Wave& wave, const Instruction& i, int operand, unsigned lane) {
  const Operand &from = i.operands[operand], &base = i.operands[i.count - 1];
  const uint64_t offset = static_cast<uint64_t>(static_cast<int64_t>(i.offset)), low = wave.vector[from.reg].of[lane];
  if (space == Space::kGlobal && base.is_scalar()) return wave.pair(base.reg) + low + offset;
  return (uint64_t{wave.vector[from.reg + 1].of[lane]} << 32 | low) + offset;
}

constexpr uint8_t counters(Space space) {
  return space == Space::kFlat ? kVectorCounter | kLocalCounter : kVectorCounter;
}
uint8_t store_counters(const Wave& wave, Space space) {
  if (wave.architecture->counts_stores_with_loads()) return counters(space);
  return space == Space::kFlat ? kStoreCounter | kLocalCounter : kStoreCounter;
}

constexpr unsigned words_of(unsigned bytes) { return (bytes + 3) / 4; }

/* Loads a value; one of less than a word is extended by zeros or by the sign of T. */
template <class T>
void load(const uint8_t* from, unsigned lane, Row<uint32_t>* to) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::is_integral_v<T>) to[0].of[lane] = static_cast<uint32_t>(value);
  else
    for (unsigned word = 0; word < words_of(sizeof(T)); word++) to[word].of[lane] = value.word[word];
}

template <unsigned n>
struct Words {
  uint32_t word[n];
};

template <Space space, class T>
void load_lanes(Wave& wave, const Instruction& i) {
  Row<uint32_t> rows[4];
  each_active_lane(wave, [&](unsigned lane) {
    load<T>(wave.group->load(address_of<space>(wave, i, 1, lane), sizeof(T)), lane, rows);
  });
  wave.arrive(counters(space), i.result().reg, words_of(sizeof(T)), rows);
}

/* Operands: address, data, base. `shift`: of the data. */
template <Space space, unsigned bytes, unsigned shift = 0>
void store_lanes(Wave& wave, const Instruction& i) {
  wave.write_device(i, store_counters(wave, space));
  const unsigned data = i.operands[1].reg;
  each_active_lane(wave, [&](unsigned lane) {
    uint32_t words[4];
    for (unsigned word = 0; word < words_of(bytes); word++) words[word] = wave.vector[data + word].of[lane] >> shift;
    std::memcpy(wave.group->store(address_of<space>(wave, i, 0, lane), bytes), words, bytes);
  });
}

void add_atomically(Wave& wave, const Instruction& i) {
  if (i.count != 3) fault(wave, "an atomic addition that returns something");
  wave.count(store_counters(wave, Space::kGlobal));
  const unsigned data = i.operands[1].reg;
  each_active_lane(wave, [&](unsigned lane) {
    uint64_t* to = wave.group->atomic(address_of<Space::kGlobal>(wave, i, 0, lane));
    const uint64_t value = uint64_t{wave.vector[data + 1].of[lane]} << 32 | wave.vector[data].of[lane];
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
  });
}

/* -- One load for the wave ----------------------------------------------------------------------------------------- */

uint64_t scalar_address(const Wave& wave, const Instruction& i) {
  uint64_t address = read_scalar_pair(wave, i.operands[1]) + static_cast<uint64_t>(static_cast<int64_t>(i.offset));
  if (i.count > 2) {
    const Operand& more = i.operands[2];
    address += more.is_constant() ? static_cast<uint64_t>(static_cast<int32_t>(more.value)) : read_scalar(wave, more);
  }
  return address;
}

template <unsigned words>
void load_scalars(Wave& wave, const Instruction& i) {
  const uint64_t address = scalar_address(wave, i);
  if (i.operands[0].words != words) fault(wave, "a load of another size than its result");
  if (address % 4) fault(wave, "a scalar load from an address that is not a multiple of 4");
  uint32_t values[words];
  for (unsigned word = 0; word < words; word++) std::memcpy(&values[word], wave.group->load(address + 4 * word, 4), 4);
  wave.arrive_scalars(i.operands[0].reg, words, values);
}

template <class T>
void load_small_scalar(Wave& wave, const Instruction& i) {
  T value;
  std::memcpy(&value, wave.group->load(scalar_address(wave, i), sizeof value), sizeof value);
  const auto word = static_cast<uint32_t>(value);
  wave.arrive_scalars(i.operands[0].reg, 1, &word);
}

/* -- The table ----------------------------------------------------------------------------------------------------- */

template <Space space>
void add_space(Table& t, const std::string& name) {
  const std::string load = name + "_load_", store = name + "_store_";
  t.add({load + "u8", load + "ubyte"}, load_lanes<space, uint8_t>);
  t.add({load + "i8", load + "sbyte"}, load_lanes<space, int8_t>);
  t.add({load + "u16", load + "ushort"}, load_lanes<space, uint16_t>);
  t.add({load + "i16", load + "sshort"}, load_lanes<space, int16_t>);
  t.add({load + "b32", load + "dword"}, load_lanes<space, uint32_t>);
  t.add({load + "b64", load + "dwordx2"}, load_lanes<space, Words<2>>);
  t.add({load + "b96", load + "dwordx3"}, load_lanes<space, Words<3>>);
  t.add({load + "b128", load + "dwordx4"}, load_lanes<space, Words<4>>);
  t.add({store + "b8", store + "byte"}, store_lanes<space, 1>);
  t.add({store + "b16", store + "short"}, store_lanes<space, 2>);
  t.add({store + "d16_hi_b8", store + "byte_d16_hi"}, store_lanes<space, 1, 16>);
  t.add({store + "d16_hi_b16", store + "short_d16_hi"}, store_lanes<space, 2, 16>);
  t.add({store + "b32", store + "dword"}, store_lanes<space, 4>);
  t.add({store + "b64", store + "dwordx2"}, store_lanes<space, 8>);
  t.add({store + "b96", store + "dwordx3"}, store_lanes<space, 12>);
  t.add({store + "b128", store + "dwordx4"}, store_lanes<space, 16>);
}

}  // namespace

void add_device_memory(Table& t) {
  add_space<Space::kGlobal>(t, "global");
  add_space<Space::kFlat>(t, "flat");
  t.add({"global_atomic_add_u64", "global_atomic_add_x2"}, add_atomically);
  t.add({"s_load_b32", "s_load_dword"}, load_scalars<1>);
  t.add({"s_load_b64", "s_load_dwordx2"}, load_scalars<2>);
  t.add({"s_load_b96", "s_load_dwordx3"}, load_scalars<3>);
  t.add({"s_load_b128", "s_load_dwordx4"}, load_scalars<4>);
  t.add({"s_load_b256", "s_load_dwordx8"}, load_scalars<8>);
  t.add({"s_load_b512", "s_load_dwordx16"}, load_scalars<16>);
  t.add("s_load_u8", load_small_scalar<uint8_t>);
  t.add("s_load_i8", load_small_scalar<int8_t>);
  t.add("s_load_u16", load_small_scalar<uint16_t>);
  t.add("s_load_i16", load_small_scalar<int16_t>);
}

}  // namespace vmafx::emulator::isa
