/* The shared memory of one block, with a shadow that finds races: accesses of two threads to one byte, one of them a
 * store, with no block_sync() between them. */
#ifndef VMAFX_EMULATOR_RUNTIME_SHARED_H
#define VMAFX_EMULATOR_RUNTIME_SHARED_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vmafx::emulator {

class SharedMemory {
 public:
  /* `who` is told apart by number in accesses: "thread", or "wave" where the lanes of one go in step. */
  SharedMemory(size_t size, const char* who);

  void begin_block();
  void begin_interval();  // after a barrier

  /* The array behind `key`, made at the block's first call. nullptr: it no longer fits. */
  void* array(const void* key, const char* name, size_t size);

  bool contains(uintptr_t address) const { return address - begin_ < size_; }

  /* Take note of an access by the block's thread `thread`. False: problem() says what is wrong with it. */
  bool load(uintptr_t address, size_t size, unsigned thread) {
    const size_t offset = address - begin_;
    const uint32_t now = stamp(thread), first = first_interval_ << kThreadBits;
    bool good = offset + size <= size_;
    for (size_t i = offset; good && i < offset + size; i++) {
      Byte& byte = bytes_[i];
      good = byte.writer >= first && !is_by_other(byte.writer, now);
      byte.reader = is_by_other(byte.reader, now) ? now | kManyThreads : now;
    }
    return good || explain_load(offset, size, now);
  }
  bool store(uintptr_t address, size_t size, unsigned thread) {
    const size_t offset = address - begin_;
    const uint32_t now = stamp(thread);
    bool good = find(offset, size) != nullptr;
    for (size_t i = offset; good && i < offset + size; i++) {
      Byte& byte = bytes_[i];
      good = !is_by_other(byte.writer, now) && !is_by_other(byte.reader, now);
      if (good) byte.writer = now;
    }
    return good || explain_store(offset, size, now);
  }
  /* Like a load and a store by one more thread, which races with the others, but not with itself. */
  bool atomic(uintptr_t address, size_t size) {
    return load(address, size, kAtomicThread) && store(address, size, kAtomicThread);
  }
  const std::string& problem() const { return problem_; }

 private:
  struct Array {
    const void* key;
    const char* name;
    uint32_t begin, size;
  };
  /* The threads that touched a byte last: interval << 11 | thread. */
  struct Byte {
    uint32_t writer, reader;
  };
  static constexpr unsigned kThreadBits = 11, kManyThreads = (1 << kThreadBits) - 1;
  static constexpr unsigned kAtomicThread = 2046;  // stands for all atomic accesses; blocks are smaller

  bool explain_load(size_t offset, size_t size, uint32_t now);
  bool explain_store(size_t offset, size_t size, uint32_t now);
  const Array* find(size_t offset, size_t size) const;
  std::string place(size_t offset) const;
  std::string name(uint32_t last) const;  // the thread that touched a byte last
  uint32_t stamp(unsigned thread) const { return interval_ << kThreadBits | thread; }
  /* Whether another thread was there in the interval of `now`. */
  static bool is_by_other(uint32_t last, uint32_t now) {
    return (last ^ now) - 1 < kManyThreads;  // equal but for the thread
  }

  const size_t size_;
  const char* const who_;
  std::string problem_;
  uintptr_t begin_;
  std::vector<Byte> bytes_;
  std::vector<Array> arrays_;
  uint32_t used_ = 0;
  uint32_t interval_ = 1, first_interval_ = 1;  // between barriers; of this block
};

}  // namespace vmafx::emulator

#endif
