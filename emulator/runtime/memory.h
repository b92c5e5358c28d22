/* Device memory: one range of addresses, out of reach but while kernels and copies run, with a shadow that
 * knows of each byte whether it is allocated, whether it was written, and by which launch. Addresses are not used twice
 * before the range is exhausted, so that a use after free is seen. */
#ifndef VMAFX_EMULATOR_RUNTIME_MEMORY_H
#define VMAFX_EMULATOR_RUNTIME_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "emulator/runtime/system/pages.h"

namespace vmafx::emulator {

/* The state of a byte: whether it may be written, and whether it may be read. The upper six bits are the tag of the
 * launch that wrote it last (0: a copy, or none). */
inline constexpr uint8_t kAllocated = 1, kWritten = 2, kTagShift = 2, kTags = 63;
inline constexpr uint8_t kReady = kAllocated | kWritten;

/* For the check of every load and store, hence without a lock. */
struct Reserve {
  uintptr_t begin = 0;
  size_t size = 0;
  uint8_t* states = nullptr;    // one for each byte
  uint64_t* writers = nullptr;  // one for each four bytes: the launch (upper half) and block (lower) that wrote last
};
extern Reserve reserve;

struct Allocation {
  size_t size;
  int number;  // counts from 1
  int device;
  bool imported;  // read only
  bool live;
};

class DeviceMemory {
 public:
  static DeviceMemory& get();

  uintptr_t allocate(size_t size, int device);  // 0: the device is full
  bool release(uintptr_t address);              // false: no such allocation
  size_t used(int device) const;

  /* Memory of another owner, made visible at an address. 0: it cannot be mapped. */
  uintptr_t map_file(int fd, size_t size, size_t offset);
  void unmap_file(uintptr_t address, size_t size);
  void add_import(uintptr_t address, size_t size, int device);

  /* Makes the memory accessible until close(). */
  void open();
  void close();

  /* The live allocation that [address, address + size) lies in, or nullptr. */
  const Allocation* find(uintptr_t address, size_t size) const;
  /* "4 bytes past the end of allocation #3 (1024 bytes)", for an address that is not host memory. */
  std::string describe(uintptr_t address) const;
  std::vector<std::string> leaks() const;

  /* The shadow of copies and fills: they write as the host does, outside any launch. */
  void mark_written(uintptr_t address, size_t size);
  void copy_states(uintptr_t to, uintptr_t from, size_t size);
  /* Forgets all launches so far: before their tags are used again. */
  void forget_tags();
  /* The first byte that was never written, or 0. */
  uintptr_t first_unwritten(uintptr_t address, size_t size) const;

 private:
  DeviceMemory();
  uintptr_t find_room(size_t pages_size);
  void let_reach(Reach reach);
  void add(uintptr_t address, const Allocation& allocation);
  void forget(uintptr_t address, Allocation& allocation);

  std::map<uintptr_t, Allocation> allocations_;  // live ones, and those that were freed last
  std::set<uintptr_t> live_;                     // the live ones' addresses: every call goes through them
  std::deque<uintptr_t> freed_;                  // the freed ones' addresses, the oldest first
  uintptr_t next_;
  int count_ = 0;
  bool is_open_ = false;
};

/* Page-locked host memory, which the device's copies may use late. */
class PinnedMemory {
 public:
  static PinnedMemory& get();

  void* allocate(size_t size);
  bool release(void* address);
  /* Whether `address` lies in such memory; then *rest is how many bytes follow in it. */
  bool contains(uintptr_t address, size_t* rest) const;
  std::string describe(uintptr_t address) const;
  std::vector<std::string> leaks() const;

 private:
  struct Block {
    size_t size;
    void* pages;
    size_t pages_size;
    int number;
  };
  std::map<uintptr_t, Block> blocks_;
  int count_ = 0;
};

}  // namespace vmafx::emulator

#endif
