/* The definition of float_ansnr's sums. */
#include "kernels/ansnr/ansnr.h"
#include "kernels/ansnr/ansnr_math.h"

namespace vmafx {
namespace {

template <class T>
int32_t sample(const Plane<const T>& plane, int x, int y) {
  return plane.row(ansnr_reflect(y, plane.h))[ansnr_reflect(x, plane.w)];
}

template <class T>
int32_t ref_window(const Plane<const T>& plane, int x, int y) {
  int32_t sum = 0;
  for (int dx = -kAnsnrRefRadius; dx <= kAnsnrRefRadius; dx++)
    sum += ansnr_ref_column(dx < 0 ? -dx : dx, sample(plane, x + dx, y),
                            sample(plane, x + dx, y - 1) + sample(plane, x + dx, y + 1));
  return sum;
}

template <class T>
int32_t dist_window(const Plane<const T>& plane, int x, int y) {
  int32_t sum = 0;
  for (int dx = -kAnsnrDistRadius; dx <= kAnsnrDistRadius; dx++)
    sum += ansnr_dist_column(dx < 0 ? -dx : dx, sample(plane, x + dx, y),
                             sample(plane, x + dx, y - 1) + sample(plane, x + dx, y + 1),
                             sample(plane, x + dx, y - 2) + sample(plane, x + dx, y + 2));
  return sum;
}

template <class T>
AnsnrSums sums_of(const Plane<const T>& ref, const Plane<const T>& dist, int bpc) {
  AnsnrSums sums = {};
  for (int y = 0; y < ref.h; y++)
    for (int x = 0; x < ref.w; x++) {
      const int32_t window = ref_window(ref, x, y);
      const int64_t signal = window - ansnr_middle(bpc);
      const uint64_t noise = ansnr_noise(window, dist_window(dist, x, y));
      sums.signal += static_cast<uint64_t>(signal * signal);
      sums.noise_low += static_cast<uint32_t>(noise * noise);
      sums.noise_high += noise * noise >> 32;
    }
  return sums;
}

}  // namespace

AnsnrSums ansnr_ref(const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte*) {
  return bpc == 8 ? sums_of(ref.as<uint8_t>(), dist.as<uint8_t>(), bpc)
                  : sums_of(ref.as<uint16_t>(), dist.as<uint16_t>(), bpc);
}

}  // namespace vmafx
