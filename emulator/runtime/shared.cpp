#include "emulator/runtime/shared.h"

#include <algorithm>
#include <new>

#include "emulator/runtime/report.h"

namespace vmafx::emulator {

SharedMemory::SharedMemory(size_t size, const char* who)
    : size_(size), who_(who), begin_(reinterpret_cast<uintptr_t>(::operator new(size, std::align_val_t{256}))),
      bytes_(size) {}

std::string SharedMemory::name(uint32_t last) const {
  const unsigned number = last & kManyThreads;
  return number == kManyThreads ? text("several %ss", who_) : text("%s %u", who_, number);
}

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
  if (size > size_ - used_) return nullptr;
  arrays_.push_back({key, name, used_, static_cast<uint32_t>(size)});
  used_ = std::min<uint32_t>(size_, (used_ + size + 31) / 16 * 16);  // at least 16 bytes that belong to no array
  return reinterpret_cast<void*>(begin_ + arrays_.back().begin);
}

const SharedMemory::Array* SharedMemory::find(size_t offset, size_t size) const {
  for (const Array& array : arrays_)
    if (offset - array.begin < array.size && size <= array.size - (offset - array.begin)) return &array;
  return nullptr;
}

std::string SharedMemory::place(size_t offset) const {
  const Array* array = find(offset, 1);
  return array ? text("byte %zu of shared array %s", offset - array->begin, array->name) : "shared memory";
}

bool SharedMemory::explain_load(size_t offset, size_t size, uint32_t now) {
  for (size_t i = offset; i < offset + size; i++) {
    if (!find(i, 1)) {
      problem_ = "load outside any shared array";
      return false;
    }
    const Byte& byte = bytes_[i];
    if (byte.writer >> kThreadBits < first_interval_)
      problem_ = "load of " + place(i) + ", which no " + who_ + " has written";
    else if (is_by_other(byte.writer, now))
      problem_ = text("race: load of %s, which %s wrote; there is no block_sync() between them", place(i).c_str(),
                      name(byte.writer).c_str());
    else continue;
    return false;
  }
  return true;
}

bool SharedMemory::explain_store(size_t offset, size_t size, uint32_t now) {
  if (!find(offset, size)) {
    problem_ = "store outside any shared array";
    return false;
  }
  for (size_t i = offset; i < offset + size; i++) {
    const Byte& byte = bytes_[i];
    const bool is_written = is_by_other(byte.writer, now);
    if (!is_written && !is_by_other(byte.reader, now)) continue;
    problem_ = text("race: store to %s, which %s %s; there is no block_sync() between them", place(i).c_str(),
                    name(is_written ? byte.writer : byte.reader).c_str(), is_written ? "wrote" : "read");
    return false;
  }
  return true;
}

}  // namespace vmafx::emulator
