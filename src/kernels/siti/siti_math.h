/* The raw sums of siti, and its arithmetic for one sample, for all twins. */
#ifndef VMAFX_KERNELS_SITI_SITI_MATH_H
#define VMAFX_KERNELS_SITI_SITI_MATH_H

#include <cstdint>

#include "kernels/arithmetic/real.h"
#include "kernels/gpu/device.h"

namespace vmafx {

/* The sums of one picture's luma. */
struct SitiSums {
  uint64_t gradients;         // Σ of magnitudes of samples that have all neighbors, in multiples of siti_unit()
  uint64_t gradient_squares;  // Σ of their squares
  int64_t changes;            // Σ of differences to the picture before; 0: there is none
  uint64_t change_squares;    // Σ of their squares
};

/* The raw sums of one frame. */
struct SitiPair {
  SitiSums ref, dist;
};

/* Magnitudes are below 4·√2·2^bpc: in these units below 2^30.5. */
VMAFX_HD float siti_units(int bpc) { return static_cast<float>(1 << (28 - bpc)); }

inline constexpr int kSitiMostExactBits = 12;  // of samples whose squares of a gradient are below 2^31

/* The Sobel operator in both directions; |each| <= 4·2^bpc. */
struct SitiGradient {
  int32_t across, down;
};

/* The gradient at a sample, from pointers to it and to those above and below. */
template <class T>
VMAFX_HD SitiGradient siti_gradient(const T* above, const T* row, const T* below) {
  const int32_t left = above[-1] + 2 * row[-1] + below[-1], right = above[1] + 2 * row[1] + below[1];
  const int32_t upper = above[-1] + 2 * above[0] + above[1], lower = below[-1] + 2 * below[0] + below[1];
  return {right - left, lower - upper};
}

VMAFX_HD uint64_t siti_square(SitiGradient g) {
  return static_cast<uint64_t>(static_cast<int64_t>(g.across) * g.across + static_cast<int64_t>(g.down) * g.down);
}

/* The magnitude in units. Each operation is rounded to a float, in this order. */
VMAFX_HD uint32_t siti_magnitude(SitiGradient g, int bpc) {
  const float across = real(g.across), down = real(g.down);
  const float square =
      bpc <= kSitiMostExactBits ? real(static_cast<int32_t>(siti_square(g))) : across * across + down * down;
  return static_cast<uint32_t>(static_cast<int32_t>(square_root(square) * siti_units(bpc) + 0.5f));
}

}  // namespace vmafx

#endif
