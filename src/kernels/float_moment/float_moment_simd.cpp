/* The SIMD twin of float_moment: exact sums, equal to moment_plain.cpp.
 *
 * Floor of two 1920x1080 lumas of 8 bit: 4.1 MB read. */
#include "kernels/float_moment/float_moment.h"

#include <climits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/float_moment/float_moment_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/arithmetic/squares-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* No vectors here: the definition does it. */
MomentSums moment(const SamplePlane& plane, int bpc) { return moment_plain(plane, bpc); }

#else

/* A Squares is given at most `steps` vectors, so that its lanes do not overflow. */
template <class Squares, class D>
MomentSums plane_sums(D d, const SamplePlane& samples, int bpc, int steps) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (samples.w < lanes) return moment_plain(samples, bpc);
  const auto plane = samples.as<hn::TFromD<D>>();
  VU64 first = hn::Zero(DU64()), second = hn::Zero(DU64());
  for (int y = 0; y < plane.h; y++) {
    const auto* row = plane.row(y);
    for (int x = 0; x < plane.w;) {
      Squares squares;
      for (int step = 0; step < steps && x < plane.w; step++, x += lanes) {
        auto v = hn::LoadU(d, row + (x + lanes <= plane.w ? x : plane.w - lanes));
        if (x + lanes > plane.w) v = hn::IfThenZeroElse(hn::FirstN(d, x + lanes - plane.w), v);  // were added already
        first = hn::Add(first, sum_of_samples(v));
        squares.add(v);
      }
      second = hn::Add(second, squares.total());
    }
  }
  return {hn::GetLane(hn::SumOfLanes(DU64(), first)), hn::GetLane(hn::SumOfLanes(DU64(), second))};
}

MomentSums moment(const SamplePlane& plane, int bpc) {
  const int steps = pair_squares_steps(bpc);
  if (bpc == 8) return plane_sums<PairSquares>(D8(), plane, bpc, steps);
  if (bpc <= kMostPairBits) return plane_sums<PairSquares>(DU16(), plane, bpc, steps);
  return plane_sums<FullSquares>(DU16(), plane, bpc, INT_MAX);
}

#endif

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(moment);

MomentSums moment_simd(const SamplePlane& plane, int bpc) { return HWY_DYNAMIC_DISPATCH(moment)(plane, bpc); }

}  // namespace vmafx
#endif
