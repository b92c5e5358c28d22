/* The definition of the sums of psnr and msad. */
#include "kernels/psnr/msad.h"
#include "kernels/psnr/psnr.h"

namespace vmafx {
namespace {

template <class Error, class T>
uint64_t errors_of(const Plane<const T>& ref, const Plane<const T>& dist) {
  uint64_t sum = 0;
  for (int y = 0; y < ref.h; y++)
    for (int x = 0; x < ref.w; x++) sum += Error()(ref.row(y)[x], dist.row(y)[x]);
  return sum;
}

template <class Error>
uint64_t errors_of(const SamplePlane& ref, const SamplePlane& dist, int bpc) {
  return bpc == 8 ? errors_of<Error>(ref.as<uint8_t>(), dist.as<uint8_t>())
                  : errors_of<Error>(ref.as<uint16_t>(), dist.as<uint16_t>());
}

}  // namespace

uint64_t psnr_sse_plain(const SamplePlane& ref, const SamplePlane& dist, int bpc) {
  return errors_of<SquaredError>(ref, dist, bpc);
}

uint64_t msad_plain(const SamplePlane& ref, const SamplePlane& dist, int bpc) {
  return errors_of<AbsoluteError>(ref, dist, bpc);
}

}  // namespace vmafx
