/* The definition of siti's sums. */
#include "kernels/siti/siti.h"

namespace vmafx {
namespace {

template <class T>
void add_gradients(const Plane<const T>& luma, int bpc, SitiSums& sums) {
  for (int y = 1; y < luma.h - 1; y++)
    for (int x = 1; x < luma.w - 1; x++) {
      const SitiGradient gradient = siti_gradient(luma.row(y - 1) + x, luma.row(y) + x, luma.row(y + 1) + x);
      sums.gradients += siti_magnitude(gradient, bpc);
      sums.gradient_squares += siti_square(gradient);
    }
}

template <class T>
void add_changes(const Plane<const T>& now, const Plane<const T>& before, SitiSums& sums) {
  for (int y = 0; y < now.h; y++)
    for (int x = 0; x < now.w; x++) {
      const int64_t change = int64_t{now.row(y)[x]} - before.row(y)[x];
      sums.changes += change;
      sums.change_squares += static_cast<uint64_t>(change * change);
    }
}

template <class T>
SitiSums sums_of(const SamplePlane& now, const SamplePlane& before, int bpc) {
  SitiSums sums = {};
  add_gradients(now.as<T>(), bpc, sums);
  if (before.data) add_changes(now.as<T>(), before.as<T>(), sums);
  return sums;
}

}  // namespace

SitiSums siti_plain(const SamplePlane& now, const SamplePlane& before, int bpc) {
  return bpc == 8 ? sums_of<uint8_t>(now, before, bpc) : sums_of<uint16_t>(now, before, bpc);
}

}  // namespace vmafx
