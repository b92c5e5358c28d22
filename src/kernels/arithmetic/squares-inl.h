/* Sums of samples and of their squares, exact, in vectors: for Highway sources, not for HWY_SCALAR. */
#if defined(VMAFX_KERNELS_ARITHMETIC_SQUARES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_ARITHMETIC_SQUARES_INL_H
#undef VMAFX_KERNELS_ARITHMETIC_SQUARES_INL_H
#else
#define VMAFX_KERNELS_ARITHMETIC_SQUARES_INL_H
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

using D8 = hn::ScalableTag<uint8_t>;
using D16 = hn::ScalableTag<int16_t>;
using DU16 = hn::RebindToUnsigned<D16>;
using D32 = hn::RepartitionToWide<D16>;
using DU32 = hn::RebindToUnsigned<D32>;
using DU64 = hn::RepartitionToWide<DU32>;

using VU32 = hn::Vec<DU32>;
using VU64 = hn::Vec<DU64>;

HWY_INLINE VU64 widened_sum(VU32 lanes) {
  const VU64 pairs = hn::BitCast(DU64(), lanes);
  return hn::Add(hn::And(pairs, hn::Set(DU64(), 0xFFFFFFFFu)), hn::ShiftRight<32>(pairs));
}

constexpr int kMostPairBits = 14;  // the deepest samples that PairSquares takes

/* How many vectors of `bpc` bits a PairSquares takes before a lane of 32 bits, which gets four squares from each vector
 * of bytes and two from one of words, could overflow. */
HWY_INLINE int pair_squares_steps(int bpc) {
  const uint32_t max = (1u << bpc) - 1;
  return static_cast<int>(0xFFFFFFFFu / ((bpc == 8 ? 4 : 2) * max * max));
}

/* Σ of squares below 2^28, in 32-bit lanes. */
class PairSquares {
 public:
  HWY_INLINE PairSquares() : low_(hn::Zero(D32())), high_(hn::Zero(D32())) {}
  HWY_INLINE void add(hn::Vec<DU16> v) {
    const auto signed_v = hn::BitCast(D16(), v);
    low_ = hn::ReorderWidenMulAccumulate(D32(), signed_v, signed_v, low_, high_);
  }
  HWY_INLINE void add(hn::Vec<D8> v) {
    const auto pairs = hn::BitCast(DU16(), v);
    add(hn::And(pairs, hn::Set(DU16(), 0xFF)));
    add(hn::ShiftRight<8>(pairs));
  }
  HWY_INLINE VU64 total() const {
    return hn::Add(widened_sum(hn::BitCast(DU32(), low_)), widened_sum(hn::BitCast(DU32(), high_)));
  }

 private:
  hn::Vec<D32> low_, high_;
};

/* Σ of squares below 2^32, in 64-bit lanes. */
class FullSquares {
 public:
  HWY_INLINE FullSquares() : sum_(hn::Zero(DU64())) {}
  HWY_INLINE void add(hn::Vec<DU16> v) {
    const VU32 pairs = hn::BitCast(DU32(), v);
    add_squares(hn::And(pairs, hn::Set(DU32(), 0xFFFF)));
    add_squares(hn::ShiftRight<16>(pairs));
  }
  HWY_INLINE VU64 total() const { return sum_; }

 private:
  HWY_INLINE void add_squares(VU32 v) { sum_ = hn::Add(sum_, widened_sum(hn::Mul(v, v))); }
  VU64 sum_;
};

template <class V>
HWY_INLINE V absolute_difference(V a, V b) {
  return hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a));
}

/* The lanes that are [x, end) of a vector whose first lane is `start`. */
template <class D>
HWY_INLINE hn::Mask<D> lanes_between(D d, int start, int x, int end) {
  return hn::AndNot(hn::FirstN(d, x - start), hn::FirstN(d, end - start));
}

/* Σ of the squared differences of w samples in a row, of which `readable` can be read, from ref + readable - lanes on
 * where those are fewer than lanes. A Squares is given at most `steps` vectors, so that its lanes do not overflow. */
template <class Squares, class D, class T = hn::TFromD<D>>
HWY_INLINE VU64 row_of_squares(D d, const T* ref, const T* dist, int w, int readable, int steps) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto differences = [&](int x) HWY_ATTR {
    return absolute_difference(hn::LoadU(d, ref + x), hn::LoadU(d, dist + x));
  };
  VU64 sum = hn::Zero(DU64());
  int x = 0;
  while (x + lanes <= w) {
    Squares squares;
    for (int step = 0; step < steps && x + lanes <= w; step++, x += lanes) squares.add(differences(x));
    sum = hn::Add(sum, squares.total());
  }
  if (x < w) { /* a last vector, which may overlap what was added already, and what is not to be */
    const int start = x + lanes <= readable ? x : readable - lanes;
    Squares squares;
    squares.add(hn::IfThenElseZero(lanes_between(d, start, x, w), differences(start)));
    sum = hn::Add(sum, squares.total());
  }
  return sum;
}

/* Σ of the samples themselves, each call for itself. */
HWY_INLINE VU64 sum_of_samples(hn::Vec<D8> v) { return hn::SumsOf8(v); }
HWY_INLINE VU64 sum_of_samples(hn::Vec<DU16> v) {
  const VU32 pairs = hn::BitCast(DU32(), v);
  return widened_sum(hn::Add(hn::And(pairs, hn::Set(DU32(), 0xFFFF)), hn::ShiftRight<16>(pairs)));
}

/* Σ of the w samples of a row, at least a vector of them; samples(x): the vector that begins at x. */
template <class D, class Samples>
HWY_INLINE VU64 row_of_samples(D d, int w, Samples samples) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  VU64 sum = hn::Zero(DU64());
  int x = 0;
  for (; x + lanes <= w; x += lanes) sum = hn::Add(sum, sum_of_samples(samples(x)));
  if (x == w) return sum;
  const int start = w - lanes;  // a last vector, which overlaps what was added already
  return hn::Add(sum, sum_of_samples(hn::IfThenElseZero(lanes_between(d, start, x, w), samples(start))));
}

#endif

}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
