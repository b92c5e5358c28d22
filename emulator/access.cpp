#include "emulator/access.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "emulator/block.h"
#include "emulator/memory.h"
#include "emulator/report.h"

namespace vmafx::emulator {
namespace {

constexpr uint64_t kEach = 0x0101010101010101;       // times a byte: that byte eight times
constexpr uint32_t kMixed = ~0u, kAtomic = ~0u - 1;  // instead of a block's number: several blocks; atomic_add()
uint64_t launch_id = 0;                              // of the running launch, in the upper half
uint64_t launch_tags = 0;                            // its tag, eight times

/* -- Tables: what the compiler registers of a kernel's source ------------------------------------------------------ */

/* struct __asan_global of GCC's and LLVM's instrumentation. */
struct Global {
  uintptr_t begin, size, size_with_redzone;
  const char* name;
  const char* module;
  uintptr_t has_initializer;
  void* location;
  uintptr_t odr_indicator;
};

std::vector<Global>& globals() {
  static std::vector<Global>& all = *new std::vector<Global>;  // by address
  return all;
}

const Global* last_global_before(uintptr_t address) {
  const auto found = std::upper_bound(globals().begin(), globals().end(), address,
                                      [](uintptr_t a, const Global& g) { return a < g.begin; });
  return found == globals().begin() ? nullptr : &found[-1];
}

bool is_in_table(uintptr_t address, size_t size) {
  static thread_local const Global* recent [[gnu::tls_model("initial-exec")]] = nullptr;
  if (!recent || address - recent->begin >= recent->size) recent = last_global_before(address);
  return recent && address - recent->begin < recent->size && size <= recent->size - (address - recent->begin);
}

/* -- Faults -------------------------------------------------------------------------------------------------------- */

struct Access {
  const char* kind;
  uintptr_t address;
  size_t size;
  const void* code;

  [[noreturn]] void fault(const std::string& where) const {
    Worker* running = worker;
    worker = nullptr;  // what follows is no access of the kernel
    running->fault(text("%zu-byte %s at 0x%zx: %s", size, kind, static_cast<size_t>(address), where.c_str()), code);
  }
};

std::string describe_host(uintptr_t address) {
  const Global* table = last_global_before(address);
  if (!table || address - table->begin >= table->size_with_redzone)
    return DeviceMemory::get().describe(address) + ", which a kernel cannot reach";
  if (address - table->begin < table->size) return text("at byte %zu of table %s", address - table->begin, table->name);
  return text("%zu bytes past the end of table %s (%zu bytes)", address - table->begin - table->size, table->name,
              table->size);
}

[[noreturn, gnu::noinline]] void elsewhere_fault(const Access& access) {
  const bool is_shared = worker->shared().contains(access.address);
  access.fault(is_shared ? worker->shared().problem() : describe_host(access.address));
}

uint64_t own_stamp() { return launch_id | worker->block_number(); }

/* -- Device memory ------------------------------------------------------------------------------------------------- */

template <class T>
T& states(uintptr_t offset) {
  return *reinterpret_cast<T*>(reserve.states + offset);
}

/* Whether a byte of `all` carries the running launch's tag. */
template <class T>
bool has_launch_tag(T all) {
  constexpr T kOnes = static_cast<T>(kEach), kTops = static_cast<T>(kEach << 7),
              kTagBits = static_cast<T>(kEach * 0xFC);
  const T other = (all ^ static_cast<T>(launch_tags)) & kTagBits;  // 0 in each byte that does
  return (static_cast<T>(other - kOnes) & static_cast<T>(~other) & kTops) != 0;
}

/* Another block of the same launch wrote there: blocks come in any order. */
[[gnu::noinline]] void check_writers(const Access& access) {
  const uintptr_t first = (access.address - reserve.begin) / 4,
                  last = (access.address - reserve.begin + access.size - 1) / 4;
  for (uintptr_t word = first; word <= last; word++) {
    const uint64_t writer = __atomic_load_n(&reserve.writers[word], __ATOMIC_RELAXED);
    const uint32_t block = static_cast<uint32_t>(writer);
    if (writer - block != launch_id || block == worker->block_number() || block == kMixed) continue;
    const std::string who = block == kAtomic ? "an atomic_add()" : text("block %u", block);
    access.fault(text("race: %s of the same launch wrote there, ", who.c_str()) +
                 DeviceMemory::get().describe(access.address));
  }
}

/* One of the bytes is not as it should be; says which. */
[[gnu::noinline]] void check_bytes(const Access& access, uint8_t needed) {
  for (size_t i = 0; i < access.size; i++) {
    const uint8_t state = reserve.states[access.address - reserve.begin + i];
    if ((state & needed) == needed) continue;
    const char* what = needed == kWritten && (state & kAllocated) ? "never written, " : "";
    access.fault(what + DeviceMemory::get().describe(access.address + i));
  }
}

template <class T>
void load_device(const Access& access) {
  const T all = __atomic_load_n(&states<T>(access.address - reserve.begin), __ATOMIC_RELAXED);
  constexpr T kAllWritten = static_cast<T>(kEach * kWritten);
  if ((all & kAllWritten) != kAllWritten) check_bytes(access, kWritten);
  if (has_launch_tag(all)) check_writers(access);
}

/* Writes the block's name on the words. A word that two blocks share keeps no name. */
void sign(uintptr_t offset, size_t size) {
  const uint64_t stamp = own_stamp();
  for (uintptr_t word = offset / 4; word <= (offset + size - 1) / 4; word++) {
    uint64_t* writer = &reserve.writers[word];
    const uint64_t before = size < 4 ? __atomic_exchange_n(writer, stamp, __ATOMIC_RELAXED) : *writer;
    if (size >= 4) __atomic_store_n(writer, stamp, __ATOMIC_RELAXED);
    else if (before != stamp && before >> 32 == launch_id >> 32)
      __atomic_store_n(writer, launch_id | kMixed, __ATOMIC_RELAXED);
  }
}

template <class T>
void store_device(const Access& access) {
  T& all = states<T>(access.address - reserve.begin);
  constexpr T kAllAllocated = static_cast<T>(kEach * kAllocated), kAllReady = static_cast<T>(kEach * kReady);
  const T before = __atomic_load_n(&all, __ATOMIC_RELAXED);
  if ((before & kAllAllocated) != kAllAllocated) check_bytes(access, kAllocated);
  if (has_launch_tag(before)) check_writers(access);
  __atomic_store_n(&all, static_cast<T>(kAllReady | launch_tags), __ATOMIC_RELAXED);
  sign(access.address - reserve.begin, sizeof(T));
}

/* -- All memory ---------------------------------------------------------------------------------------------------- */

void check_alignment(const Access& access) {
  const size_t unit = access.size < 8 ? access.size : 8;
  if (access.address % unit) access.fault(text("not a multiple of %zu", unit));
}

/* Not in device memory: shared memory, the thread's own stack, a table; or wrong. `size` is constant in each caller. */
[[gnu::always_inline]] inline void load_elsewhere(uintptr_t address, size_t size, const void* code) {
  Worker* const own = worker;
  if (!own) return;
  if (own->shared().contains(address)) {
    if (own->shared().load(address, size, own->rank())) return;
  } else if (own->is_on_stack(address) || is_in_table(address, size)) {
    return;
  }
  elsewhere_fault({"load", address, size, code});
}

[[gnu::always_inline]] inline void store_elsewhere(uintptr_t address, size_t size, const void* code) {
  Worker* const own = worker;
  if (!own) return;
  if (own->shared().contains(address)) {
    if (own->shared().store(address, size, own->rank())) return;
  } else if (own->is_on_stack(address)) {
    return;
  }
  elsewhere_fault({"store", address, size, code});
}

template <class T>
void load(uintptr_t address, const void* code) {
  if (address - reserve.begin >= reserve.size) return load_elsewhere(address, sizeof(T), code);
  const Access access{"load", address, sizeof(T), code};
  check_alignment(access);
  load_device<T>(access);
}

template <class T>
void store(uintptr_t address, const void* code) {
  if (address - reserve.begin >= reserve.size) return store_elsewhere(address, sizeof(T), code);
  const Access access{"store", address, sizeof(T), code};
  check_alignment(access);
  store_device<T>(access);
}

}  // namespace

/* An old tag would pass for the running launch's where another byte of the same word is written by it. */
void begin_launch_accesses(uint32_t launch) {
  if (launch % kTags == 0) DeviceMemory::get().forget_tags();
  launch_id = uint64_t{launch} << 32;
  launch_tags = kEach * ((1 + launch % kTags) << kTagShift);
}

}  // namespace vmafx::emulator

/* -- What the compiler calls --------------------------------------------------------------------------------------- */

namespace {
namespace em = vmafx::emulator;
using Address = uintptr_t;
}  // namespace

#define HOOK extern "C" [[gnu::used]] void
#define CODE __builtin_return_address(0)

HOOK __asan_load1_noabort(Address a) { em::load<uint8_t>(a, CODE); }
HOOK __asan_load2_noabort(Address a) { em::load<uint16_t>(a, CODE); }
HOOK __asan_load4_noabort(Address a) { em::load<uint32_t>(a, CODE); }
HOOK __asan_load8_noabort(Address a) { em::load<uint64_t>(a, CODE); }
HOOK __asan_load16_noabort(Address a) {
  em::load<uint64_t>(a, CODE);
  em::load<uint64_t>(a + 8, CODE);
}
HOOK __asan_loadN_noabort(Address a, size_t size) {
  for (size_t i = 0; i < size; i++) em::load<uint8_t>(a + i, CODE);
}
HOOK __asan_store1_noabort(Address a) { em::store<uint8_t>(a, CODE); }
HOOK __asan_store2_noabort(Address a) { em::store<uint16_t>(a, CODE); }
HOOK __asan_store4_noabort(Address a) { em::store<uint32_t>(a, CODE); }
HOOK __asan_store8_noabort(Address a) { em::store<uint64_t>(a, CODE); }
HOOK __asan_store16_noabort(Address a) {
  em::store<uint64_t>(a, CODE);
  em::store<uint64_t>(a + 8, CODE);
}
HOOK __asan_storeN_noabort(Address a, size_t size) {
  for (size_t i = 0; i < size; i++) em::store<uint8_t>(a + i, CODE);
}
HOOK __asan_handle_no_return() {}
HOOK __asan_before_dynamic_init(const char*) {}
HOOK __asan_after_dynamic_init() {}

HOOK __asan_register_globals(em::Global* first, size_t n) {
  auto& all = em::globals();
  all.insert(all.end(), first, first + n);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
}
HOOK __asan_unregister_globals(em::Global*, size_t) {}

/* -- atomic_add: the one access that blocks may share -------------------------------------------------------------- */

namespace vmafx::gpu {

void atomic_add(uint64_t* address, uint64_t value) {
  const emulator::Access access{"atomic_add", reinterpret_cast<uintptr_t>(address), sizeof *address,
                                __builtin_return_address(0)};
  const uintptr_t offset = access.address - emulator::reserve.begin;
  if (offset >= emulator::reserve.size) access.fault(emulator::describe_host(access.address));
  emulator::check_alignment(access);
  emulator::check_bytes(access, emulator::kWritten);
  emulator::check_bytes(access, emulator::kAllocated);
  const uint64_t stamp = emulator::launch_id | emulator::kAtomic;
  for (const uintptr_t word : {offset / 4, offset / 4 + 1}) {
    const uint64_t writer = __atomic_exchange_n(&emulator::reserve.writers[word], stamp, __ATOMIC_RELAXED);
    if (writer >> 32 == stamp >> 32 && writer != stamp) access.fault("race: a store of the same launch wrote there");
  }
  __atomic_store_n(&emulator::states<uint64_t>(offset), emulator::kEach * emulator::kReady | emulator::launch_tags,
                   __ATOMIC_RELAXED);
  __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

/* Like a load and a store by one more thread, which races with the others, but not with itself. */
void add_shared(uint32_t* address, uint32_t value) {
  const emulator::Access access{"add_shared", reinterpret_cast<uintptr_t>(address), sizeof *address,
                                __builtin_return_address(0)};
  emulator::SharedMemory& shared = emulator::worker->shared();
  if (!shared.contains(access.address)) access.fault("not in shared memory");
  emulator::check_alignment(access);
  constexpr unsigned thread = emulator::SharedMemory::kAtomicThread;
  if (!shared.load(access.address, access.size, thread) || !shared.store(access.address, access.size, thread))
    emulator::elsewhere_fault(access);
  *address += value;
}

}  // namespace vmafx::gpu
