/* The check of each load and store of device memory by a kernel. */
#ifndef VMAFX_EMULATOR_RUNTIME_DEVICE_ACCESS_H
#define VMAFX_EMULATOR_RUNTIME_DEVICE_ACCESS_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "emulator/runtime/memory.h"

namespace vmafx::emulator {

/* A block that runs. */
class Accessor {
 public:
  virtual ~Accessor() = default;
  virtual uint32_t block_number() const = 0;
  /* The accessor did wrong at `code`: says what and where, and ends the program or else the launch. */
  [[noreturn]] virtual void fault(std::string what, const void* code) = 0;
};

struct Access {
  Accessor& by;
  const char* kind;
  uintptr_t address;
  size_t size;
  const void* code = nullptr;

  [[noreturn]] void fault(const std::string& where) const;
  void check_alignment(size_t unit) const;
};

inline bool is_device_memory(uintptr_t address) { return address - reserve.begin < reserve.size; }

/* Marks later writes to device memory as those of this launch. */
void begin_launch_accesses(uint32_t launch);

/* An atomic addition of 8 bytes: the one access that blocks may share. */
void note_atomic_add(const Access& access);

/* The running launch. */
struct LaunchMarks {
  uint64_t id = 0;    // its number, in the upper half
  uint64_t tags = 0;  // its tag, eight times
};
extern LaunchMarks launch_marks;

/* -- For the two below --------------------------------------------------------------------------------------------- */

/* Another block of the same launch wrote there: blocks come in any order. */
void check_writers(const Access& access);
/* One of the bytes is not as it should be; says which. */
void check_bytes(const Access& access, uint8_t needed);
/* Writes the block's name on the words. A word that two blocks share keeps no name. */
void sign(const Access& access);

inline constexpr uint64_t kEach = 0x0101010101010101;  // times a byte: that byte eight times

template <class T>
T& states(uintptr_t address) {
  return *reinterpret_cast<T*>(reserve.states + (address - reserve.begin));
}

/* Whether a byte of `all` carries the running launch's tag. */
template <class T>
bool has_launch_tag(T all) {
  constexpr T kOnes = static_cast<T>(kEach), kTops = static_cast<T>(kEach << 7),
              kTagBits = static_cast<T>(kEach * 0xFC);
  const T other = (all ^ static_cast<T>(launch_marks.tags)) & kTagBits;  // 0 in each byte that does
  return (static_cast<T>(other - kOnes) & static_cast<T>(~other) & kTops) != 0;
}

/* -- Of as many bytes as T has, at a multiple of that in the range of device memory; what is wrong is a fault ------ */

template <class T>
void note_load(const Access& access) {
  const T all = __atomic_load_n(&states<T>(access.address), __ATOMIC_RELAXED);
  constexpr T kAllWritten = static_cast<T>(kEach * kWritten);
  if ((all & kAllWritten) != kAllWritten) check_bytes(access, kWritten);
  if (has_launch_tag(all)) check_writers(access);
}

template <class T>
void note_store(const Access& access) {
  T& all = states<T>(access.address);
  constexpr T kAllAllocated = static_cast<T>(kEach * kAllocated), kAllReady = static_cast<T>(kEach * kReady);
  const T before = __atomic_load_n(&all, __ATOMIC_RELAXED);
  if ((before & kAllAllocated) != kAllAllocated) check_bytes(access, kAllocated);
  if (has_launch_tag(before)) check_writers(access);
  __atomic_store_n(&all, static_cast<T>(kAllReady | launch_marks.tags), __ATOMIC_RELAXED);
  sign(access);
}

}  // namespace vmafx::emulator

#endif
