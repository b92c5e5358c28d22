/* Sizes rounded up, to cache lines above all. */
#ifndef VMAFX_BASE_ROUNDING_H
#define VMAFX_BASE_ROUNDING_H

#include <cstddef>

namespace vmafx {

inline constexpr size_t kCacheLine = 64;

/* `bytes` rounded up to a multiple of `to`. */
constexpr size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

/* `bytes` rounded up to whole cache lines. */
constexpr size_t round_to_lines(size_t bytes) { return round_up(bytes, kCacheLine); }

}  // namespace vmafx

#endif
