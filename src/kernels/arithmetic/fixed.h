/* Sums of floating-point values as integers: whatever the order, the vector width, the tiles or the device, they are
 * the same.
 *
 * to_fixed<bits>(v) is v in multiples of 2^-bits, rounded to nearest: |v| < 2^(51 - bits), and the sum of all |v| stays
 * below 2^(63 - bits). If small values count as much as large ones, two words hold the sum: Fixed2<bits> keeps what the
 * first word rounds off, in multiples of 2^-(bits + 38), for up to 2^24 values. Fixed3<bits> has a third word, for
 * multiples of 2^-(bits + 76). */
#ifndef VMAFX_KERNELS_ARITHMETIC_FIXED_H
#define VMAFX_KERNELS_ARITHMETIC_FIXED_H

#include <bit>
#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx {

/* Adding this leaves a multiple of 2^-bits in the low bits of the double's mantissa. */
template <int bits>
inline constexpr double kFixedMagic = 0x1.8p52 / static_cast<double>(uint64_t{1} << bits);

template <int bits>
VMAFX_HD int64_t to_fixed(double v) {
  static_assert(0 <= bits && bits < 64);
  return std::bit_cast<int64_t>(v + kFixedMagic<bits>) - std::bit_cast<int64_t>(kFixedMagic<bits>);
}

/* The sum as a number again. */
template <int bits>
VMAFX_HD double from_fixed(int64_t sum) {
  return static_cast<double>(sum) / static_cast<double>(uint64_t{1} << bits);
}

/* Adds to_fixed<bits>(v) to `sum`. Returns what that rounds off. */
template <int bits>
VMAFX_HD double take_fixed(double v, int64_t* sum) {
  constexpr double magic = kFixedMagic<bits>;
  const double rounded = v + magic;
  *sum += std::bit_cast<int64_t>(rounded) - std::bit_cast<int64_t>(magic);
  return v - (rounded - magic);
}

template <int bits>
struct Fixed2 {
  static constexpr int kFineBits = bits + 38;
  int64_t coarse = 0, fine = 0;

  VMAFX_HD Fixed2& operator+=(double v) {
    fine += to_fixed<kFineBits>(take_fixed<bits>(v, &coarse));
    return *this;
  }
  VMAFX_HD Fixed2& operator+=(const Fixed2& other) {
    coarse += other.coarse;
    fine += other.fine;
    return *this;
  }
  VMAFX_HD double value() const { return from_fixed<bits>(coarse) + from_fixed<kFineBits>(fine); }
};

template <int bits>
struct Fixed3 {
  static constexpr int kFineBits = bits + 38;
  static constexpr double kFinestScale = 0x1p38;  // scales up what kFineBits rounds off, for the third word
  int64_t coarse = 0, fine = 0, finest = 0;

  VMAFX_HD Fixed3& operator+=(double v) {
    const double rest = take_fixed<kFineBits>(take_fixed<bits>(v, &coarse), &fine);
    finest += to_fixed<kFineBits>(rest * kFinestScale);
    return *this;
  }
  VMAFX_HD Fixed3& operator+=(const Fixed3& other) {
    coarse += other.coarse;
    fine += other.fine;
    finest += other.finest;
    return *this;
  }
  VMAFX_HD double value() const {
    return from_fixed<bits>(coarse) + (from_fixed<kFineBits>(fine) + from_fixed<kFineBits>(finest) / kFinestScale);
  }
};

}  // namespace vmafx

#endif
