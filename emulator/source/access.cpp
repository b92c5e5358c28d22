/* The check of each load and store of a kernel's source. The kernels are compiled with -fsanitize=kernel-address, which
 * puts a call before every access; what is called is defined here. */
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "emulator/runtime/device_access.h"
#include "emulator/runtime/report.h"
#include "emulator/source/block.h"

namespace vmafx::emulator {
namespace {

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

Access access_of(const char* kind, uintptr_t address, size_t size, const void* code) {
  return {*worker, kind, address, size, code};
}

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

/* -- All memory ---------------------------------------------------------------------------------------------------- */

/* Not in device memory: shared memory, the thread's own stack, a table; or wrong. `size` is constant in each caller. */
[[gnu::always_inline]] inline void load_elsewhere(uintptr_t address, size_t size, const void* code) {
  Worker* const own = worker;
  if (!own) return;
  if (own->shared().contains(address)) {
    if (own->shared().load(address, size, own->rank())) return;
  } else if (own->is_on_stack(address) || is_in_table(address, size)) {
    return;
  }
  elsewhere_fault(access_of("load", address, size, code));
}

[[gnu::always_inline]] inline void store_elsewhere(uintptr_t address, size_t size, const void* code) {
  Worker* const own = worker;
  if (!own) return;
  if (own->shared().contains(address)) {
    if (own->shared().store(address, size, own->rank())) return;
  } else if (own->is_on_stack(address)) {
    return;
  }
  elsewhere_fault(access_of("store", address, size, code));
}

template <class T>
void load(uintptr_t address, const void* code) {
  if (!is_device_memory(address)) return load_elsewhere(address, sizeof(T), code);
  const Access access = access_of("load", address, sizeof(T), code);
  access.check_alignment(sizeof(T));
  note_load<T>(access);
}

template <class T>
void store(uintptr_t address, const void* code) {
  if (!is_device_memory(address)) return store_elsewhere(address, sizeof(T), code);
  const Access access = access_of("store", address, sizeof(T), code);
  access.check_alignment(sizeof(T));
  note_store<T>(access);
}

/* Byte by byte, at any alignment. */
void load_each(const void* begin, size_t size, const void* code) {
  for (size_t i = 0; i < size; i++) load<uint8_t>(reinterpret_cast<uintptr_t>(begin) + i, code);
}

void store_each(const void* begin, size_t size, const void* code) {
  for (size_t i = 0; i < size; i++) store<uint8_t>(reinterpret_cast<uintptr_t>(begin) + i, code);
}

}  // namespace

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
HOOK __asan_loadN_noabort(Address a, size_t size) { em::load_each(reinterpret_cast<const void*>(a), size, CODE); }
HOOK __asan_store1_noabort(Address a) { em::store<uint8_t>(a, CODE); }
HOOK __asan_store2_noabort(Address a) { em::store<uint16_t>(a, CODE); }
HOOK __asan_store4_noabort(Address a) { em::store<uint32_t>(a, CODE); }
HOOK __asan_store8_noabort(Address a) { em::store<uint64_t>(a, CODE); }
HOOK __asan_store16_noabort(Address a) {
  em::store<uint64_t>(a, CODE);
  em::store<uint64_t>(a + 8, CODE);
}
HOOK __asan_storeN_noabort(Address a, size_t size) { em::store_each(reinterpret_cast<void*>(a), size, CODE); }

/* clang makes one call of a copy or a fill, also of loops. */
extern "C" [[gnu::used]] void* __asan_memcpy(void* to, const void* from, size_t size) {
  em::load_each(from, size, CODE);
  em::store_each(to, size, CODE);
  return std::memcpy(to, from, size);
}
extern "C" [[gnu::used]] void* __asan_memmove(void* to, const void* from, size_t size) {
  em::load_each(from, size, CODE);
  em::store_each(to, size, CODE);
  return std::memmove(to, from, size);
}
extern "C" [[gnu::used]] void* __asan_memset(void* to, int value, size_t size) {
  em::store_each(to, size, CODE);
  return std::memset(to, value, size);
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

/* -- Atomic additions ---------------------------------------------------------------------------------------------- */

namespace vmafx::gpu {

void atomic_add(uint64_t* address, uint64_t value) {
  const emulator::Access access = emulator::access_of("atomic_add", reinterpret_cast<uintptr_t>(address),
                                                      sizeof *address, __builtin_return_address(0));
  if (!emulator::is_device_memory(access.address)) access.fault(emulator::describe_host(access.address));
  emulator::note_atomic_add(access);
  __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

void add_shared(uint32_t* address, uint32_t value) {
  const emulator::Access access = emulator::access_of("add_shared", reinterpret_cast<uintptr_t>(address),
                                                      sizeof *address, __builtin_return_address(0));
  emulator::SharedMemory& shared = emulator::worker->shared();
  if (!shared.contains(access.address)) access.fault("not in shared memory");
  access.check_alignment(sizeof *address);
  if (!shared.atomic(access.address, access.size)) emulator::elsewhere_fault(access);
  *address += value;
}

}  // namespace vmafx::gpu
