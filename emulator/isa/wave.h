/* The state of a wave: its registers, where it stands, and the loads that are on their way to it. */
#ifndef VMAFX_EMULATOR_ISA_WAVE_H
#define VMAFX_EMULATOR_ISA_WAVE_H

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "emulator/isa/architecture.h"
#include "emulator/isa/hazards.h"
#include "emulator/isa/instruction.h"

namespace vmafx::emulator::isa {

class Group;

inline constexpr unsigned kMostLanes = 64, kLanesAtOnce = 32;
inline constexpr unsigned kVectors = kPairResult + 2;  // registers; a pair's result may have two words

/* A row: a value for each lane. */
template <class T>
struct alignas(64) Row {
  T of[kMostLanes];
};

/* Counters that a load waits in, or a store. */
enum Counter : uint8_t { kVectorCounter = 1, kLocalCounter = 2, kScalarCounter = 4, kStoreCounter = 8 };

/* A counter's progress: how many accesses were issued, how many of them waits have seen done, and the last one that
 * wrote. */
struct Progress {
  uint64_t issued = 0, done = 0, last_write = 0;
  const Instruction* writer = nullptr;

  void wait(int most_left) {
    if (most_left >= 0 && issued > static_cast<uint64_t>(most_left))
      done = std::max(done, issued - static_cast<uint64_t>(most_left));
  }
  void note_write(const Instruction& i) {
    last_write = issued;
    writer = &i;
  }
  bool has_write_on_its_way() const { return last_write > done; }
};

/* Bytes that a lane has stored in device memory. */
struct StoredBytes {
  uintptr_t address;
  unsigned size;
  uint64_t number;  // the store's number in its counter
  const Instruction* by;
};

/* The values that a load has read, and their destination. */
struct Arrival {
  uint8_t counters = 0;
  bool is_scalar = false;
  uint16_t reg = 0;
  uint8_t words = 0;  // 0: a store, which counts, too
  uint64_t lanes = 0;
  Row<uint32_t> data[4];
  uint32_t scalars[16];
};

struct Wave {
  Row<uint32_t> vector[kVectors];
  alignas(64) uint32_t scalar[kScalars + 8];  // loads may name a few beyond
  Group* group = nullptr;
  const Architecture* architecture = nullptr;
  unsigned lanes = 0, number = 0;  // how many; in its block
  uint32_t next = 0;               // the number of an instruction
  const Instruction* at = nullptr;
  bool scc = false, stands = false, is_at_barrier = false;  // it stands when it has ended or waits for others
  std::array<uint64_t, kUnits> executed{};                  // instructions, by their unit
  uint64_t conflict_cycles = 0;                             // in shared memory
  std::vector<Arrival> arrivals;
  Recent recent;
  Progress local, device;  // accesses of the block's memory, of device memory as far as stores count with them
  std::vector<StoredBytes> stored_bytes;  // in device memory, since it last waited for all its stores

  uint64_t all_lanes() const { return lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1; }
  uint64_t pair(unsigned reg) const {
    uint64_t value;
    std::memcpy(&value, &scalar[reg], sizeof value);
    return value;
  }
  void set_pair(unsigned reg, uint64_t value) { std::memcpy(&scalar[reg], &value, sizeof value); }
  /* A mask of lanes: one scalar with 32 lanes, two with 64. */
  uint64_t mask(unsigned reg) const { return lanes == 64 ? pair(reg) : scalar[reg]; }
  uint64_t exec() const { return pair(kExec); }
  bool is_active(unsigned lane) const { return exec() >> lane & 1; }

  /* A load has read `words` for each active lane, from rows[0] on. */
  void arrive(uint8_t counters, unsigned reg, unsigned words, const Row<uint32_t>* rows);
  void arrive_scalars(unsigned reg, unsigned words, const uint32_t* values);
  /* Something without a result, which waits count. */
  void count(uint8_t counters) { arrive(counters, 0, 0, nullptr); }
  void wait(const WaitCounts& wait);
  /* The instruction writes shared memory, or device memory; to be called before it counts. */
  void write_local(const Instruction& i);
  void write_device(const Instruction& i, uint8_t counters);

 private:
  void deliver(const Arrival& arrival);
  void wait(Counter counter, int most_left);
};

/* Calls f(lane) for each lane; the compiler makes vectors of it. */
template <class F>
[[gnu::always_inline]] inline void each_lane(const Wave& wave, F f) {
  for (unsigned first = 0; first < wave.lanes; first += kLanesAtOnce)
    for (unsigned lane = first; lane < first + kLanesAtOnce; lane++) f(lane);
}

template <class F>
[[gnu::always_inline]] inline void each_active_lane(const Wave& wave, F f) {
  for (uint64_t rest = wave.exec() & wave.all_lanes(); rest; rest &= rest - 1)
    f(static_cast<unsigned>(std::countr_zero(rest)));
}

}  // namespace vmafx::emulator::isa

#endif
