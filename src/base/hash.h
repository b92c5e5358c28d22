/* A 64-bit hash of bytes (XXH3, https://xxhash.com): tells contents apart, but not against an adversary. */
#ifndef VMAFX_BASE_HASH_H
#define VMAFX_BASE_HASH_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace vmafx {

class Hash {
 public:
  Hash();
  ~Hash();

  void add(const void* data, size_t bytes);

  /* The hash of everything added so far. */
  uint64_t value() const;

  /* The value as reports have it: 16 hexadecimal digits. */
  static std::string text(uint64_t value);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vmafx

#endif
