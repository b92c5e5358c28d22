/* Uninitialized memory on a cache-line boundary, owned; on huge pages where it is large and the system has them. */
#ifndef VMAFX_BASE_ALIGNED_H
#define VMAFX_BASE_ALIGNED_H

#include <cstddef>
#include <memory>
#include <new>

#include "base/rounding.h"

namespace vmafx {

struct AlignedDelete {
  std::align_val_t alignment{kCacheLine};

  void operator()(std::byte* p) const { ::operator delete[](p, alignment); }
};

using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;

/* Throws std::bad_alloc, which the C API turns into ENOMEM. */
AlignedBytes allocate_aligned(size_t bytes);

}  // namespace vmafx

#endif
