/* Memory that is read soon. A processor foresees what follows what is read, but not further than a page, not while a
 * pass computes, and not where strips or windows jump. */
#ifndef VMAFX_KERNELS_STEPS_PREFETCH_H
#define VMAFX_KERNELS_STEPS_PREFETCH_H

#include <algorithm>
#include <cstddef>

#include "base/picture.h"
#include "base/rounding.h"

namespace vmafx {

/* Asks for [begin, end). Always part of its caller: gcc takes a call that only prefetches for one without effect. */
template <class T>
[[gnu::always_inline]] inline void prefetch(const T* begin, const T* end) {
  for (; begin < end; begin += kCacheLine / sizeof(T)) __builtin_prefetch(begin);
}

/* Prefetches a piece at a time, for loops that do much else: with a dozen lines on their way, a processor waits for one
 * of them before it asks for more. */
class Ahead {
 public:
  Ahead() = default;  // prefetches nothing
  /* Row y of a plane, or its last one, whose samples are read soon. */
  template <class T>
  Ahead(const Plane<T>& plane, int y)
      : row_(reinterpret_cast<const std::byte*>(plane.row(std::min(y, plane.h - 1)))), sample_bytes_(sizeof(T)) {}

  /* The line of sample x, which may be past the last one. */
  [[gnu::always_inline]] void fetch(int x) const { __builtin_prefetch(row_ + x * sample_bytes_); }

 private:
  const std::byte* row_ = nullptr;
  ptrdiff_t sample_bytes_ = 0;
};

}  // namespace vmafx

#endif
