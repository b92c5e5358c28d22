/* The definition of ciede. */
#include "kernels/arithmetic/fixed.h"
#include "kernels/ciede/ciede.h"
#include "kernels/ciede/ciede_math-inl.h"

namespace vmafx {
namespace {

template <class T>
float chroma_at(const CiedeParams& params, const Plane<const T>& plane, CiedeSite site) {
  return static_cast<float>(plane.row(site.y)[site.x]) - params.chroma_zero;
}

template <class T>
CiedeLab lab_at(const CiedeParams& params, const Picture& picture, int x, int y) {
  const auto luma = picture.plane[0].as<T>(), cb = picture.plane[1].as<T>(), cr = picture.plane[2].as<T>();
  const CiedeSite site = ciede_chroma_site(params, x, y);
  return ciede_lab(params, luma.row(y)[x] - params.luma_zero,
                   ciede_offsets(params, chroma_at(params, cb, site), chroma_at(params, cr, site)));
}

template <class T>
int64_t sum(const CiedeParams& params, const Picture& ref, const Picture& dist) {
  int64_t sum = 0;
  for (int y = 0; y < ref.plane[0].h; y++)
    for (int x = 0; x < ref.plane[0].w; x++)
      sum += to_fixed<kCiedeSumBits>(ciede_difference(lab_at<T>(params, ref, x, y), lab_at<T>(params, dist, x, y)));
  return sum;
}

}  // namespace

int64_t ciede_plain(const CiedeParams& params, const Picture& ref, const Picture& dist, std::byte*) {
  return params.bpc == 8 ? sum<uint8_t>(params, ref, dist) : sum<uint16_t>(params, ref, dist);
}

}  // namespace vmafx
