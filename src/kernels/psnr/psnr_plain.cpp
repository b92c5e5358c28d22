/* The definition of psnr's sum of squared errors. */
#include "kernels/psnr/psnr.h"

namespace vmafx {
namespace {

template <class T>
uint64_t plane_sse(const Plane<const T>& ref, const Plane<const T>& dist) {
  uint64_t sse = 0;
  for (int y = 0; y < ref.h; y++)
    for (int x = 0; x < ref.w; x++) sse += squared_error(ref.row(y)[x], dist.row(y)[x]);
  return sse;
}

}  // namespace

uint64_t psnr_sse_plain(const SamplePlane& ref, const SamplePlane& dist, int bpc) {
  return bpc == 8 ? plane_sse(ref.as<uint8_t>(), dist.as<uint8_t>())
                  : plane_sse(ref.as<uint16_t>(), dist.as<uint16_t>());
}

}  // namespace vmafx
