/* The SIMD twin of siti: one source for every instruction set, equal to siti_plain.cpp to the last bit.
 *
 * Gradients of up to 12 bits are made in lanes of 16 bits, and a multiply-add of neighbors squares and adds both
 * directions; deeper ones in lanes of 32. Each row ends with a vector that overlaps the one before, whose lanes are
 * masked out of it.
 *
 * Measured: 2.3 ms for both pictures of 1920x1080, 8 bit, on AVX2 and AVX-512, about as long as float_ssim. */
#include "kernels/siti/siti.h"

#include <algorithm>
#include <climits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/siti/siti_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/arithmetic/lanes-inl.h"
#include "kernels/arithmetic/pair_products-inl.h"
#include "kernels/arithmetic/squares-inl.h"

HWY_BEFORE_NAMESPACE();
VMAFX_ALLOW_VNNI
namespace vmafx::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* No vectors here: the definition does it. */
SitiSums siti(const SamplePlane& now, const SamplePlane& before, int bpc) { return siti_plain(now, before, bpc); }

#else

uint64_t sum_of(VU64 v) { return hn::GetLane(hn::SumOfLanes(DU64(), v)); }

/* -- Gradients ----------------------------------------------------------------------------------------------------- */

/* Loads as many samples as D has lanes. */
template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* from) {
  const hn::Rebind<T, D> samples;
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) return hn::BitCast(d, hn::LoadU(samples, from));
  else return hn::PromoteTo(d, hn::LoadU(samples, from));
}

template <class D>
struct Gradients {
  hn::Vec<D> across, down;
};

/* The gradients of the samples that begin at x. */
template <class D, class T>
HWY_INLINE Gradients<D> gradients(D d, const T* above, const T* row, const T* below, int x) {
  const auto twice = [](auto v) HWY_ATTR { return hn::Add(v, v); };
  const auto upper_left = load(d, above + x - 1), upper_right = load(d, above + x + 1);
  const auto lower_left = load(d, below + x - 1), lower_right = load(d, below + x + 1);
  const auto sides = hn::Sub(load(d, row + x + 1), load(d, row + x - 1));
  const auto middle = hn::Sub(load(d, below + x), load(d, above + x));
  const auto falling = hn::Sub(lower_right, upper_left), rising = hn::Sub(upper_right, lower_left);
  return {hn::Add(hn::Add(falling, rising), twice(sides)), hn::Add(hn::Sub(falling, rising), twice(middle))};
}

/* Adds up magnitudes and squares; lanes that do not count must be 0. */
class GradientSums {
 public:
  HWY_INLINE explicit GradientSums(int bpc)
      : units_(hn::Set(DF(), siti_units(bpc))), gradients_(hn::Zero(DU64())), squares_(hn::Zero(DU64())) {}

  HWY_INLINE void add(Gradients<D16> g) {
    add_exact(hn::InterleaveLower(D16(), g.across, g.down));
    add_exact(hn::InterleaveUpper(D16(), g.across, g.down));
  }
  HWY_INLINE void add(Gradients<D32> g) {
    const VF across = hn::ConvertTo(DF(), g.across), down = hn::ConvertTo(DF(), g.down);
    add_roots(hn::Add(hn::Mul(across, across), hn::Mul(down, down)));
    for (const auto v : {g.across, g.down}) {
      const VU32 magnitude = hn::BitCast(DU32(), hn::Abs(v));
      const VU32 odd = hn::BitCast(DU32(), hn::ShiftRight<32>(hn::BitCast(DU64(), magnitude)));
      squares_ = hn::Add(squares_, hn::Add(hn::MulEven(magnitude, magnitude), hn::MulEven(odd, odd)));
    }
  }
  void total(SitiSums& sums) const {
    sums.gradients = sum_of(gradients_);
    sums.gradient_squares = sum_of(squares_);
  }

 private:
  /* Both directions of a sample are neighbors. */
  HWY_INLINE void add_exact(hn::Vec<D16> both) {
    const auto squares = add_pair_products<false>(both, both, hn::Zero(D32()));
    squares_ = hn::Add(squares_, widened_sum(hn::BitCast(DU32(), squares)));
    add_roots(hn::ConvertTo(DF(), squares));
  }
  HWY_INLINE void add_roots(VF squares) {
    const VF scaled = hn::Add(hn::Mul(hn::Sqrt(squares), units_), hn::Set(DF(), 0.5f));
    gradients_ = hn::Add(gradients_, widened_sum(hn::BitCast(DU32(), hn::ConvertTo(DI(), scaled))));
  }

  const VF units_;
  VU64 gradients_, squares_;
};

template <class D, class T>
void add_gradients(D d, const Plane<const T>& luma, int bpc, SitiSums& sums) {
  const int lanes = static_cast<int>(hn::Lanes(d)), end = luma.w - 1;
  GradientSums all(bpc);
  for (int y = 1; y < luma.h - 1; y++)
    for (int x = 1; x < end; x += lanes) {
      const int start = std::min(x, end - lanes);
      Gradients<D> g = gradients(d, luma.row(y - 1), luma.row(y), luma.row(y + 1), start);
      if (start < x) {
        const auto counts = lanes_between(d, start, x, end);
        g = {hn::IfThenElseZero(counts, g.across), hn::IfThenElseZero(counts, g.down)};
      }
      all.add(g);
    }
  all.total(sums);
}

/* -- Changes ------------------------------------------------------------------------------------------------------- */

template <class D, class T>
uint64_t sum_of_plane(D d, const Plane<const T>& luma) {
  VU64 sum = hn::Zero(DU64());
  for (int y = 0; y < luma.h; y++)
    sum = hn::Add(sum, row_of_samples(d, luma.w, [&](int x) HWY_ATTR { return hn::LoadU(d, luma.row(y) + x); }));
  return sum_of(sum);
}

template <class Squares, class D, class T = hn::TFromD<D>>
void add_changes(D d, const Plane<const T>& now, const Plane<const T>& before, int steps, SitiSums& sums) {
  VU64 squares = hn::Zero(DU64());
  for (int y = 0; y < now.h; y++)
    squares = hn::Add(squares, row_of_squares<Squares>(d, now.row(y), before.row(y), now.w, now.w, steps));
  sums.change_squares = sum_of(squares);
  sums.changes = static_cast<int64_t>(sum_of_plane(d, now) - sum_of_plane(d, before));
}

/* -- Both ---------------------------------------------------------------------------------------------------------- */

template <class T, class Squares, class D, class DGradient>
SitiSums sums_of(D d, DGradient d_gradient, const SamplePlane& now, const SamplePlane& before, int bpc, int steps) {
  const int most = static_cast<int>(std::max(hn::Lanes(d), hn::Lanes(d_gradient) + 2));
  if (now.w < most) return siti_plain(now, before, bpc);
  SitiSums sums = {};
  add_gradients(d_gradient, now.as<T>(), bpc, sums);
  if (before.data) add_changes<Squares>(d, now.as<T>(), before.as<T>(), steps, sums);
  return sums;
}

SitiSums siti(const SamplePlane& now, const SamplePlane& before, int bpc) {
  const int steps = pair_squares_steps(bpc);
  if (bpc == 8) return sums_of<uint8_t, PairSquares>(D8(), D16(), now, before, bpc, steps);
  if (bpc <= kSitiMostExactBits) return sums_of<uint16_t, PairSquares>(DU16(), D16(), now, before, bpc, steps);
  if (bpc <= kMostPairBits) return sums_of<uint16_t, PairSquares>(DU16(), D32(), now, before, bpc, steps);
  return sums_of<uint16_t, FullSquares>(DU16(), D32(), now, before, bpc, INT_MAX);
}

#endif

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(siti);

SitiSums siti_simd(const SamplePlane& now, const SamplePlane& before, int bpc) {
  return HWY_DYNAMIC_DISPATCH(siti)(now, before, bpc);
}

}  // namespace vmafx
#endif
