/* Uninitialized memory on a cache-line boundary, owned; on huge pages where it is large and the system has them. */
#ifndef VMAFX_BASE_ALIGNED_H
#define VMAFX_BASE_ALIGNED_H

#include <cstddef>
#include <memory>
#include <new>

namespace vmafx {

inline constexpr size_t kCacheLine = 64;

struct AlignedDelete {
  std::align_val_t alignment{kCacheLine};

  void operator()(std::byte* p) const { ::operator delete[](p, alignment); }
};

using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

/* Throws std::bad_alloc, which the C API turns into ENOMEM. */
AlignedBytes allocate_aligned(size_t bytes);

/* `bytes` rounded up to a multiple of `to`. */
constexpr size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/* `bytes` rounded up to whole cache lines. */
constexpr size_t round_to_lines(size_t bytes) { return round_up(bytes, kCacheLine); }

}  // namespace vmafx

#endif
