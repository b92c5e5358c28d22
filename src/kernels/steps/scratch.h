/* Scratch: what a CPU twin keeps in its scratch memory, one thing behind the other, each on a cache line. */
#ifndef VMAFX_KERNELS_STEPS_SCRATCH_H
#define VMAFX_KERNELS_STEPS_SCRATCH_H

#include <cstddef>
#include <cstdint>

#include "base/picture.h"
#include "base/rounding.h"

namespace vmafx {

class Scratch {
 public:
  /* nullptr learns the size: addresses are computed, and nothing is there. */
  explicit Scratch(std::byte* memory)
      : first_(memory ? reinterpret_cast<uintptr_t>(memory) : kCacheLine), next_(first_) {}

  template <class T>
  T* take(size_t count) {
    T* const at = reinterpret_cast<T*>(next_);
    next_ += round_to_lines(sizeof(T) * count);
    return at;
  }

  /* Rows that have room for `before` and `after` more on their sides; `before` are whole cache lines. */
  template <class T>
  Plane<T> take_plane(int w, int h, size_t before = 0, size_t after = 0) {
    const size_t stride = round_to_lines(sizeof(T) * (before + static_cast<size_t>(w) + after));
    return {take<T>(stride / sizeof(T) * h) + before, static_cast<ptrdiff_t>(stride), w, h};
  }

  size_t bytes() const { return next_ - first_; }

 private:
  const uintptr_t first_;
  uintptr_t next_;
};

}  // namespace vmafx

#endif
