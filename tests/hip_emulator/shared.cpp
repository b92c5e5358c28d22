#include "tests/hip_emulator/shared.h"

#include <algorithm>
#include <cstdlib>

#include "tests/hip_emulator/report.h"

namespace vmafx::emulator {
namespace {

std::string who(uint32_t last, unsigned many) { return last == many ? "several threads" : text("thread %u", last); }

}  // namespace

SharedMemory::SharedMemory() : begin_(reinterpret_cast<uintptr_t>(std::aligned_alloc(256, kSize))), bytes_(kSize) {}

void SharedMemory::begin_block() {
  arrays_.clear();
  used_ = 0;
  begin_interval();
  first_interval_ = interval_;
}

void SharedMemory::begin_interval() {
  if (++interval_ >> (32 - kThreadBits)) {  // numbers are used up; what was written in this block stays so
    for (Byte& byte : bytes_) byte = {byte.writer >> kThreadBits >= first_interval_ ? 1u << kThreadBits : 0u, 0};
    interval_ = 2;
    first_interval_ = 1;
  }
}

void* SharedMemory::array(const void* key, const char* name, size_t size) {
  for (const Array& array : arrays_)
    if (array.key == key) return reinterpret_cast<void*>(begin_ + array.begin);
  if (size > kSize - used_) return nullptr;
  arrays_.push_back({key, name, used_, static_cast<uint32_t>(size)});
  used_ = std::min<uint32_t>(kSize, (used_ + size + 31) / 16 * 16);  // at least 16 bytes that belong to no array
  return reinterpret_cast<void*>(begin_ + arrays_.back().begin);
}

const SharedMemory::Array* SharedMemory::find(uint32_t offset, size_t size) const {
  for (const Array& array : arrays_)
    if (offset - array.begin < array.size && size <= array.size - (offset - array.begin)) return &array;
  return nullptr;
}

std::string SharedMemory::place(uint32_t offset) const {
  const Array* array = find(offset, 1);
  return array ? text("byte %u of shared array %s", offset - array->begin, array->name) : "shared memory";
}

bool SharedMemory::fail(std::string problem) {
  problem_ = std::move(problem);
  return false;
}

bool SharedMemory::load(uintptr_t address, size_t size, unsigned thread) {
  const uint32_t offset = static_cast<uint32_t>(address - begin_);
  if (offset + size > kSize) return fail("load past the end of shared memory");
  for (size_t i = 0; i < size; i++) {
    Byte& byte = bytes_[offset + i];
    if (byte.writer >> kThreadBits < first_interval_) {
      const bool is_padding = !find(offset + i, 1);
      return fail(is_padding ? "load outside any shared array"
                             : "load of " + place(offset + i) + ", which no thread has written");
    }
    if (is_by_other(byte.writer, thread))
      return fail(text("race: load of %s, which thread %u wrote; there is no block_sync() between them",
                       place(offset + i).c_str(), byte.writer & kManyThreads));
    byte.reader = stamp(is_by_other(byte.reader, thread) ? kManyThreads : thread);
  }
  return true;
}

bool SharedMemory::store(uintptr_t address, size_t size, unsigned thread) {
  const uint32_t offset = static_cast<uint32_t>(address - begin_);
  if (!find(offset, size)) return fail("store outside any shared array");
  for (size_t i = 0; i < size; i++) {
    Byte& byte = bytes_[offset + i];
    const bool is_written = is_by_other(byte.writer, thread);
    if (is_written || is_by_other(byte.reader, thread))
      return fail(text("race: store to %s, which %s %s; there is no block_sync() between them",
                       place(offset + i).c_str(),
                       who((is_written ? byte.writer : byte.reader) & kManyThreads, kManyThreads).c_str(),
                       is_written ? "wrote" : "read"));
    byte.writer = stamp(thread);
  }
  return true;
}

}  // namespace vmafx::emulator
