#include "emulator/isa/wave.h"

#include <algorithm>

#include "emulator/isa/options.h"

namespace vmafx::emulator::isa {

void Wave::deliver(const Arrival& a) {
  for (unsigned word = 0; word < a.words; word++) {
    if (a.is_scalar) {
      if (a.reg != kNull) scalar[a.reg + word] = a.scalars[word];
      continue;
    }
    Row<uint32_t>& to = vector[a.reg + word];
    for (unsigned lane = 0; lane < lanes; lane++)
      if (a.lanes >> lane & 1) to.of[lane] = a.data[word].of[lane];
  }
}

void Wave::arrive(uint8_t counters, unsigned reg, unsigned words, const Row<uint32_t>* rows) {
  local.issued += (counters & kLocalCounter) != 0;
  device.issued += (counters & (architecture->counts_stores_with_loads() ? kVectorCounter : kStoreCounter)) != 0;
  counters &= static_cast<uint8_t>(~kStoreCounter);
  if (!counters) return;
  Arrival a;
  a.counters = counters;
  a.reg = static_cast<uint16_t>(reg);
  a.words = static_cast<uint8_t>(words);
  a.lanes = exec();
  std::copy_n(rows, words, a.data);
  if (options().loads == Loads::kAtOnce) deliver(a);
  else arrivals.push_back(a);
}

void Wave::arrive_scalars(unsigned reg, unsigned words, const uint32_t* values) {
  Arrival a;
  a.counters = kScalarCounter;
  a.is_scalar = true;
  a.reg = static_cast<uint16_t>(reg);
  a.words = static_cast<uint8_t>(words);
  std::copy_n(values, words, a.scalars);
  if (options().loads == Loads::kAtOnce) deliver(a);
  else arrivals.push_back(a);
}

/* Waits until `most_left` of a counter's arrivals are on their way. They come in order, except for scalars, whose waits
 * are all for none left. */
void Wave::wait(Counter counter, int most_left) {
  int count = static_cast<int>(
      std::count_if(arrivals.begin(), arrivals.end(), [&](const Arrival& a) { return a.counters & counter; }));
  for (Arrival& a : arrivals) {
    if (count <= most_left) break;
    if (!(a.counters & counter)) continue;
    count--;
    a.counters &= static_cast<uint8_t>(~counter);
    if (!a.counters) deliver(a);
  }
  std::erase_if(arrivals, [](const Arrival& a) { return !a.counters; });
}

void Wave::write_local(const Instruction& i) {
  count(kLocalCounter);
  local.note_write(i);
}

void Wave::write_device(const Instruction& i, uint8_t counters) {
  count(counters);
  device.note_write(i);
}

void Wave::wait(const WaitCounts& wait_counts) {
  local.wait(wait_counts.local);
  device.wait(architecture->counts_stores_with_loads() ? wait_counts.vector : wait_counts.store);
  if (!device.has_write_on_its_way()) stored_bytes.clear();
  if (arrivals.empty()) return;
  const int more = options().loads == Loads::kAfterTheWait;
  if (wait_counts.vector >= 0) wait(kVectorCounter, wait_counts.vector + more);
  if (wait_counts.local >= 0) wait(kLocalCounter, wait_counts.local + more);
  if (wait_counts.scalar == 0) wait(kScalarCounter, 0);
}

}  // namespace vmafx::emulator::isa
