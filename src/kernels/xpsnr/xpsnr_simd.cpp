/* The SIMD twin of xpsnr: one source for every instruction set, equal to xpsnr_plain.cpp to the last bit.
 *
 * Differences of few bits are made in lanes of 16 bits, others in 32. Each row of a block ends with a vector that may
 * overlap others or the block's neighbors; what is not to be added is masked out of it. */
#include "kernels/xpsnr/xpsnr.h"

#include <algorithm>
#include <climits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/xpsnr/xpsnr_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/arithmetic/squares-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* No vectors here: the definition does it. */
XpsnrActivity xpsnr_activity(const XpsnrParams& params, const XpsnrReference& ref, const XpsnrArea& block) {
  return xpsnr_activity_plain(params, ref, block);
}
uint64_t xpsnr_sse(const SamplePlane& ref, const SamplePlane& dist, const XpsnrArea& block, int bpc) {
  return xpsnr_sse_plain(ref, dist, block, bpc);
}

#else

/* -- Squared errors ------------------------------------------------------------------------------------------------ */

template <class Squares, class D>
uint64_t block_sse(D d, const SamplePlane& ref_plane, const SamplePlane& dist_plane, const XpsnrArea& block, int bpc,
                   int steps) {
  if (ref_plane.w < static_cast<int>(hn::Lanes(d))) return xpsnr_sse_plain(ref_plane, dist_plane, block, bpc);
  using T = hn::TFromD<D>;
  const auto ref = ref_plane.as<T>(), dist = dist_plane.as<T>();
  const int w = block.x1 - block.x0, readable = ref.w - block.x0;
  VU64 sum = hn::Zero(DU64());
  for (int y = block.y0; y < block.y1; y++)
    sum = hn::Add(sum, row_of_squares<Squares>(d, ref.row(y) + block.x0, dist.row(y) + block.x0, w, readable, steps));
  return hn::GetLane(hn::SumOfLanes(DU64(), sum));
}

uint64_t xpsnr_sse(const SamplePlane& ref, const SamplePlane& dist, const XpsnrArea& block, int bpc) {
  const int steps = pair_squares_steps(bpc);
  if (bpc == 8) return block_sse<PairSquares>(D8(), ref, dist, block, bpc, steps);
  if (bpc <= kMostPairBits) return block_sse<PairSquares>(DU16(), ref, dist, block, bpc, steps);
  return block_sse<FullSquares>(DU16(), ref, dist, block, bpc, INT_MAX);
}

/* -- Activity ------------------------------------------------------------------------------------------------------ */

uint64_t sum_of(VU64 v) { return hn::GetLane(hn::SumOfLanes(DU64(), v)); }

/* Loads as many samples as D has lanes. */
template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* from) {
  const hn::Rebind<T, D> samples;
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) return hn::BitCast(d, hn::LoadU(samples, from));
  else return hn::PromoteTo(d, hn::LoadU(samples, from));
}

template <int factor, class V>
HWY_INLINE V times(V v) {
  if constexpr (factor == 1) return v;
  else if constexpr (factor == 2) return hn::Add(v, v);
  else if constexpr (factor == 3) return hn::Add(v, hn::Add(v, v));
  else if constexpr (factor == 12) return hn::ShiftLeft<2>(times<3>(v));
}

/* Σ of magnitudes below 2^15 in lanes of 16 bits, or of at most 48·65535 in lanes of 32, of a row of a block. Blocks of
 * the largest picture, 65536 samples both ways, are 2912 samples wide: below 2^32 in each of at least four lanes. */
template <class D>
class RowSum {
 public:
  HWY_INLINE RowSum() : sum_(hn::Zero(DU32())) {}
  /* Adds all lanes, or every second one. */
  template <bool every_second>
  HWY_INLINE void add(hn::Vec<D> v) {
    const VU32 words = hn::BitCast(DU32(), v);
    if constexpr (sizeof(hn::TFromD<D>) == 2) {
      const VU32 first = hn::And(words, hn::Set(DU32(), 0xFFFF));
      sum_ = hn::Add(sum_, every_second ? first : hn::Add(first, hn::ShiftRight<16>(words)));
    } else {
      const VU64 first = hn::And(hn::BitCast(DU64(), v), hn::Set(DU64(), 0xFFFFFFFF));
      sum_ = hn::Add(sum_, every_second ? hn::BitCast(DU32(), first) : words);
    }
  }
  HWY_INLINE VU64 total() const { return widened_sum(sum_); }

 private:
  VU32 sum_;
};

/* Σ |value(x)| over x0 to x1 - 1, or over every second one of them, where x0 is even. Values can be had of vectors that
 * begin at `last` at most, and x1 is not behind the end of that one. */
template <bool every_second, class D, class Value>
HWY_INLINE VU64 row_of_magnitudes(D d, int x0, int x1, int last, const Value& value) {
  const int lanes = static_cast<int>(hn::Lanes(d));
  RowSum<D> sum;
  int x = x0;
  for (; x + lanes <= x1; x += lanes) sum.template add<every_second>(hn::Abs(value(x)));
  if (x < x1) {
    const int start = std::min(x, last);
    sum.template add<every_second>(hn::IfThenElseZero(lanes_between(d, start, x, x1), hn::Abs(value(start))));
  }
  return sum.total();
}

template <class D, class T>
uint64_t high_pass(D d, const Plane<const T>& luma, const XpsnrArea& inner) {
  VU64 sum = hn::Zero(DU64());
  for (int y = inner.y0; y < inner.y1; y++) {
    const T *above = luma.row(y - 1), *row = luma.row(y), *below = luma.row(y + 1);
    const auto value = [&](int x) HWY_ATTR {
      const auto left = hn::Add(load(d, above + x - 1), load(d, below + x - 1));
      const auto middle = hn::Add(load(d, above + x), load(d, below + x));
      const auto right = hn::Add(load(d, above + x + 1), load(d, below + x + 1));
      const auto sides = hn::Add(hn::Add(load(d, row + x - 1), load(d, row + x + 1)), middle);
      return hn::Sub(times<12>(load(d, row + x)), hn::Add(times<2>(sides), hn::Add(left, right)));
    };
    const int last = luma.w - 1 - static_cast<int>(hn::Lanes(d));
    sum = hn::Add(sum, row_of_magnitudes<false>(d, inner.x0, inner.x1, last, value));
  }
  return sum_of(sum);
}

template <class D, class T>
uint64_t coarse_high_pass(D d, const Plane<const T>& luma, const XpsnrArea& inner) {
  const int lanes = static_cast<int>(hn::Lanes(d)), last = (luma.w - 3 - lanes) & ~1;
  const int end = std::min(inner.x1, last + lanes);  // the end of the samples that vectors reach
  VU64 sum = hn::Zero(DU64());
  uint64_t rest = 0;
  for (int y = inner.y0; y < inner.y1; y += 2) {
    const T* rows[6];
    for (int i = 0; i < 6; i++) rows[i] = luma.row(y - 2 + i);
    const auto both = [&](int i, int x) HWY_ATTR { return hn::Add(load(d, rows[i] + x), load(d, rows[5 - i] + x)); };
    const auto value = [&](int x) HWY_ATTR {
      const auto pairs = [&](int i, int left) HWY_ATTR { return hn::Add(both(i, x + left), both(i, x + 1 - left)); };
      const auto ones = hn::Add(hn::Add(pairs(0, 0), pairs(0, -1)), hn::Add(pairs(1, -2), pairs(2, -2)));
      const auto threes = times<3>(hn::Add(pairs(1, 0), pairs(2, -1)));
      return hn::Sub(times<12>(pairs(2, 0)), hn::Add(hn::Add(ones, threes), times<2>(pairs(1, -1))));
    };
    sum = hn::Add(sum, row_of_magnitudes<true>(d, inner.x0, end, last, value));
    for (int x = end; x < inner.x1; x += 2) rest += xpsnr_coarse_high_pass(rows, x, luma.w - 1);
  }
  return sum_of(sum) + rest;
}

/* The difference in time at a row of samples. */
template <class D, class T>
struct Change {
  const Plane<const T> now, before, earlier;
  const hn::Vec<D> before_weight, earlier_weight;

  HWY_INLINE hn::Vec<D> at(D d, int x, int y) const {
    const auto sum = hn::Add(load(d, now.row(y) + x), hn::Mul(load(d, earlier.row(y) + x), earlier_weight));
    return hn::Sub(sum, hn::Mul(load(d, before.row(y) + x), before_weight));
  }
};

template <bool coarse, class D, class T>
uint64_t change(D d, const XpsnrReference& ref, const XpsnrArea& block) {
  const Change<D, T> change = {ref.now.as<T>(), ref.before.as<T>(), ref.earlier.as<T>(),
                               hn::Set(d, static_cast<hn::TFromD<D>>(ref.weights.before)),
                               hn::Set(d, static_cast<hn::TFromD<D>>(ref.weights.earlier))};
  const int lanes = static_cast<int>(hn::Lanes(d)), w = coarse ? ref.now.w & ~1 : ref.now.w, last = w - lanes;
  VU64 sum = hn::Zero(DU64());
  for (int y = block.y0; y < block.y1; y += coarse ? 2 : 1) {
    const auto value = [&](int x) HWY_ATTR {
      auto v = change.at(d, x, y);
      if constexpr (coarse) {
        v = hn::Add(v, change.at(d, x, y + 1));
        v = hn::Add(v, hn::Reverse2(d, v));
      }
      return v;
    };
    sum = hn::Add(sum, row_of_magnitudes<coarse>(d, block.x0, block.x1, last, value));
  }
  return sum_of(sum);
}

template <class D, class T>
XpsnrActivity activity(D d, const XpsnrGrid& grid, const XpsnrReference& ref, const XpsnrArea& block) {
  const auto luma = ref.now.as<T>();
  const XpsnrArea inner = grid.inner(block);
  XpsnrActivity activity = {};
  if (grid.coarse) {
    activity.temporal = change<true, D, T>(d, ref, block);
    if (xpsnr_has_high_pass(grid, block)) activity.spatial = coarse_high_pass(d, luma, inner);
  } else {
    activity.temporal = change<false, D, T>(d, ref, block);
    activity.spatial = high_pass(d, luma, inner);
  }
  return activity;
}

/* Bits of samples whose coarse high-pass is below 48·2^bits ≤ 2^15, and whose other one is below 12·2^bits ≤ 2^15. */
constexpr int kMostCoarseBits = 9, kMostBits = 11;

/* Whether the block and what is read around it is in the picture. */
bool reads_inside(const XpsnrGrid& grid, const XpsnrArea& block) {
  const auto inside = [](int end, int size) { return size % 2 == 0 || end + 2 <= size; };
  return !grid.coarse || (inside(block.x1, grid.planes[0].w) && inside(block.y1, grid.planes[0].h));
}

XpsnrActivity xpsnr_activity(const XpsnrParams& params, const XpsnrReference& ref, const XpsnrArea& block) {
  const XpsnrGrid& grid = params.grid;
  const int bpc = params.format.bpc, lanes = static_cast<int>(hn::Lanes(D16()));
  constexpr int kAround = 6;  // samples that the widest filter needs beside a vector
  if (ref.now.w < lanes + kAround || !reads_inside(grid, block)) return xpsnr_activity_plain(params, ref, block);
  if (bpc == 8) return activity<D16, uint8_t>(D16(), grid, ref, block);
  if (bpc <= (grid.coarse ? kMostCoarseBits : kMostBits)) return activity<D16, uint16_t>(D16(), grid, ref, block);
  return activity<D32, uint16_t>(D32(), grid, ref, block);
}

#endif

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(xpsnr_activity);
HWY_EXPORT(xpsnr_sse);

XpsnrActivity xpsnr_activity_simd(const XpsnrParams& params, const XpsnrReference& ref, const XpsnrArea& block) {
  return HWY_DYNAMIC_DISPATCH(xpsnr_activity)(params, ref, block);
}

uint64_t xpsnr_sse_simd(const SamplePlane& ref, const SamplePlane& dist, const XpsnrArea& block, int bpc) {
  return HWY_DYNAMIC_DISPATCH(xpsnr_sse)(ref, dist, block, bpc);
}

}  // namespace vmafx
#endif
