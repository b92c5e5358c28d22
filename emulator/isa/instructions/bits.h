/* Operations that vector and scalar instructions have in common. */
#ifndef VMAFX_EMULATOR_ISA_INSTRUCTIONS_BITS_H
#define VMAFX_EMULATOR_ISA_INSTRUCTIONS_BITS_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace vmafx::emulator::isa {

using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

/* `width` bits from bit `offset` on, with zeros or, of a signed T, the sign above. */
template <class T>
constexpr T bit_field(T value, uint32_t offset, uint32_t width) {
  constexpr uint32_t kBits = sizeof(T) * 8;
  using Unsigned = std::make_unsigned_t<T>;
  if (width == 0) return 0;
  const T shifted = value >> offset;
  if (width >= kBits) return shifted;
  return static_cast<T>(static_cast<Unsigned>(shifted) << (kBits - width)) >> (kBits - width);
}

/* Counts of zeros; for the value 0 all ones, "none found". */
template <class T>
constexpr uint32_t leading_zeros(T value) {
  return value ? static_cast<uint32_t>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(value))) : ~0u;
}
template <class T>
constexpr uint32_t trailing_zeros(T value) {
  return value ? static_cast<uint32_t>(std::countr_zero(value)) : ~0u;
}

constexpr uint32_t reverse_bits(uint32_t x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}

/* Toward zero; what does not fit becomes the nearest that does, NaN becomes 0. */
constexpr uint32_t to_u32(double x) { return !(x > 0) ? 0 : x >= 0x1p32 ? ~0u : static_cast<uint32_t>(x); }
constexpr int32_t to_i32(double x) {
  if (x != x) return 0;
  return x <= -0x1p31 ? INT32_MIN : x >= 0x1p31 ? INT32_MAX : static_cast<int32_t>(x);
}

/* The number if the other one is NaN; -0 is less than 0. */
template <class T>
T min_number(T a, T b) {
  if (a != a || b != b) return a != a ? b : a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T>
T max_number(T a, T b) {
  if (a != a || b != b) return a != a ? b : a;
  return a > b || (a == b && std::signbit(b)) ? a : b;
}

}  // namespace vmafx::emulator::isa

#endif
