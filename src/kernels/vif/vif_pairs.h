/* VIF's windows as pairs of 16-bit taps, for instructions that multiply 16-bit lanes and add adjacent products.
 *
 * A 32-bit lane holds the two samples of rows (or columns) 2q and 2q + 1, aligned to even positions. The same lanes
 * then serve two outputs, at positions 0 and 1, which differ in the taps only:
 *
 *   output 0 = sum over q of lane q * (f[2q], f[2q + 1])        output 1 = sum over q of lane q * (f[2q - 1], f[2q]) */
#ifndef VMAFX_KERNELS_VIF_VIF_PAIRS_H
#define VMAFX_KERNELS_VIF_VIF_PAIRS_H

#include <array>

#include "kernels/vif/vif_math.h"

namespace vmafx {

/* How many pairs a window reaches to each side. */
constexpr int vif_pair_radius(int scale) { return (kVifHalfWidth[scale] + 1) / 2; }

struct VifPairTaps {
  int pair;           // q
  int32_t even, odd;  // the taps of outputs 0 and 1: low half for sample 2q, high half for sample 2q + 1
};

constexpr int32_t vif_pack_taps(int low, int high) {
  return static_cast<int32_t>(low | static_cast<uint32_t>(high) << 16);
}

/* The window of `scale`, one entry per pair. Scale 3's centre tap does not fit 16 signed bits: it is split into two
 * halves, the second in an entry of its own. */
template <int kScale>
consteval auto vif_pair_taps() {
  constexpr int kRadius = vif_pair_radius(kScale);
  constexpr bool kSplitCentre = kVifTaps[kScale][0] > INT16_MAX;
  const auto tap = [](int k) -> int {
    const int distance = k < 0 ? -k : k;
    if (distance > kVifHalfWidth[kScale]) return 0;
    return distance == 0 && kSplitCentre ? kVifTaps[kScale][0] / 2 : kVifTaps[kScale][distance];
  };
  std::array<VifPairTaps, 2 * kRadius + 1 + kSplitCentre> taps{};
  for (int q = -kRadius; q <= kRadius; q++)
    taps[q + kRadius] = {q, vif_pack_taps(tap(2 * q), tap(2 * q + 1)), vif_pack_taps(tap(2 * q - 1), tap(2 * q))};
  if (kSplitCentre) taps.back() = {0, vif_pack_taps(tap(0), 0), vif_pack_taps(0, tap(0))};
  return taps;
}

}  // namespace vmafx

#endif
