#include "emulator/runtime/device_access.h"

#include "emulator/runtime/report.h"

namespace vmafx::emulator {
namespace {

constexpr uint32_t kMixed = ~0u, kAtomic = ~0u - 1;  // instead of a block's number: several blocks; an atomic addition

uint64_t* writer_of(uintptr_t address) { return &reserve.writers[(address - reserve.begin) / 4]; }

}  // namespace

LaunchMarks launch_marks;

void Access::fault(const std::string& where) const {
  by.fault(text("%zu-byte %s at 0x%zx: %s", size, kind, static_cast<size_t>(address), where.c_str()), code);
  __builtin_unreachable();
}

void Access::check_alignment(size_t unit) const {
  if (address % unit) fault(text("not a multiple of %zu", unit));
}

/* An old tag would pass for the running launch's where another byte of the same word is written by it. */
void begin_launch_accesses(uint32_t launch) {
  if (launch % kTags == 0) DeviceMemory::get().forget_tags();
  launch_marks = {uint64_t{launch} << 32, kEach * ((1 + launch % kTags) << kTagShift)};
}

void check_writers(const Access& access) {
  const uint64_t* const last = writer_of(access.address + access.size - 1);
  for (const uint64_t* word = writer_of(access.address); word <= last; word++) {
    const uint64_t writer = __atomic_load_n(word, __ATOMIC_RELAXED);
    const uint32_t block = static_cast<uint32_t>(writer);
    if (writer - block != launch_marks.id || block == access.by.block_number() || block == kMixed) continue;
    const std::string who = block == kAtomic ? "an atomic addition" : text("block %u", block);
    access.fault(text("race: %s of the same launch wrote there, ", who.c_str()) +
                 DeviceMemory::get().describe(access.address));
  }
}

void check_bytes(const Access& access, uint8_t needed) {
  for (size_t i = 0; i < access.size; i++) {
    const uint8_t state = states<uint8_t>(access.address + i);
    if ((state & needed) == needed) continue;
    const char* what = needed == kWritten && (state & kAllocated) ? "never written, " : "";
    access.fault(what + DeviceMemory::get().describe(access.address + i));
  }
}

void sign(const Access& access) {
  const uint64_t stamp = launch_marks.id | access.by.block_number();
  uint64_t* const last = writer_of(access.address + access.size - 1);
  for (uint64_t* writer = writer_of(access.address); writer <= last; writer++) {
    const uint64_t before = access.size < 4 ? __atomic_exchange_n(writer, stamp, __ATOMIC_RELAXED) : *writer;
    if (access.size >= 4) __atomic_store_n(writer, stamp, __ATOMIC_RELAXED);
    else if (before != stamp && before >> 32 == launch_marks.id >> 32)
      __atomic_store_n(writer, launch_marks.id | kMixed, __ATOMIC_RELAXED);
  }
}

void note_atomic_add(const Access& access) {
  access.check_alignment(8);
  check_bytes(access, kWritten);
  check_bytes(access, kAllocated);
  const uint64_t stamp = launch_marks.id | kAtomic;
  for (uint64_t* word : {writer_of(access.address), writer_of(access.address + 4)}) {
    const uint64_t writer = __atomic_exchange_n(word, stamp, __ATOMIC_RELAXED);
    if (writer >> 32 == stamp >> 32 && writer != stamp) access.fault("race: a store of the same launch wrote there");
  }
  __atomic_store_n(&states<uint64_t>(access.address), kEach * kReady | launch_marks.tags, __ATOMIC_RELAXED);
}

}  // namespace vmafx::emulator
