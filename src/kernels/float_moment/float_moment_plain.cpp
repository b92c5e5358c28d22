/* The definition of float_moment's sums. */
#include "kernels/float_moment/float_moment.h"

namespace vmafx {
namespace {

template <class T>
MomentSums sums_of(const Plane<const T>& plane) {
  MomentSums sums = {};
  for (int y = 0; y < plane.h; y++)
    for (int x = 0; x < plane.w; x++) {
      const uint64_t sample = plane.row(y)[x];
      sums.first += sample;
      sums.second += sample * sample;
    }
  return sums;
}

}  // namespace

MomentSums moment_plain(const SamplePlane& plane, int bpc) {
  return bpc == 8 ? sums_of(plane.as<uint8_t>()) : sums_of(plane.as<uint16_t>());
}

}  // namespace vmafx
