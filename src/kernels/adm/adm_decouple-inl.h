/* ADM, SIMD: a row of bands of the reference and of its encodes into what the masking stage needs, and the row's part
 * of the denominator.
 *
 * Scale 0 works on 16-bit lanes. Steps that need 32 bits treat even and odd columns apart; such rows are kept as two,
 * for even and for odd columns. Scales 1 to 3 work on 32-bit lanes, and on the even and odd of those for 64 bits. */
#if defined(VMAFX_ADM_DECOUPLE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_ADM_DECOUPLE_INL_H
#undef VMAFX_ADM_DECOUPLE_INL_H
#else
#define VMAFX_ADM_DECOUPLE_INL_H
#endif

#include <limits>

#include "kernels/adm/adm_dwt-inl.h"
#include "kernels/adm/adm_rows.h"

#if HWY_TARGET != HWY_SCALAR  // one lane holds no pairs
HWY_BEFORE_NAMESPACE();
VMAFX_ALLOW_VNNI
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC optimize("schedule-insns", "sched-pressure")  // see ciede_simd.cpp
#endif
namespace vmafx {
namespace HWY_NAMESPACE {

HWY_INLINE V32 low_halves(V16 v) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(as32(v))); }
HWY_INLINE V32 high_halves(V16 v) { return hn::ShiftRight<16>(as32(v)); }
HWY_INLINE V32 even_unsigned(V16 v) { return hn::And(as32(v), hn::Set(D32(), 0xFFFF)); }
HWY_INLINE V32 odd_unsigned(V16 v) { return as32(odd_to_even(v)); }
HWY_INLINE V16 interleave_low(V32 even, V32 odd) { return even_pairs(as16(even), as16(odd)); }

HWY_INLINE V32 odd_lanes(V32 v) { return hn::BitCast(D32(), hn::ShiftRight<32>(hn::BitCast(DU64(), v))); }
HWY_INLINE VU64 bits64(V64 v) { return hn::BitCast(DU64(), v); }

/* -- Alignment ----------------------------------------------------------------------------------------------------- */

/* adm_aligned() for the lanes set in `unsure`; `sure` has the others' result. */
HWY_NOINLINE V32 aligned_exactly(V32 sure, V32 unsure, V32 oh, V32 ov, V32 th, V32 tv) {
  const D32 d;
  HWY_ALIGN int32_t result[hn::MaxLanes(d)], open[hn::MaxLanes(d)], o[2][hn::MaxLanes(d)], t[2][hn::MaxLanes(d)];
  hn::Store(sure, d, result);
  hn::Store(unsure, d, open);
  hn::Store(oh, d, o[0]);
  hn::Store(ov, d, o[1]);
  hn::Store(th, d, t[0]);
  hn::Store(tv, d, t[1]);
  for (size_t i = 0; i < hn::Lanes(d); i++)
    if (open[i]) result[i] = adm_aligned(o[0][i], o[1][i], t[0][i], t[1][i]) ? -1 : 0;
  return hn::Load(d, result);
}

using M32 = hn::Mask<DF32>;

/* Decides o.t >= 0 and (o.t)^2 >= cos^2 |o|^2 |t|^2 in single precision where its error (some 30 half ulps, and those
 * of the definition itself) cannot matter. Near the boundary o.t has no cancellation, far below it cancellation does
 * no harm. `o_square_bound` is cos^2 |o|^2. */
HWY_INLINE void decide_aligned(VF32 dot, VF32 o_square_bound, VF32 t_square, V32& sure, M32& unsure) {
  const DF32 d;
  constexpr float kMargin = 0x1p-19f;
  const VF32 square = hn::Mul(dot, dot);
  const VF32 bound = hn::Mul(o_square_bound, t_square);
  const auto forward = hn::Ge(dot, hn::Zero(d));
  const auto above = hn::And(forward, hn::Ge(square, hn::Mul(bound, hn::Set(d, 1 + kMargin))));
  const auto not_below = hn::And(forward, hn::Ge(square, hn::Mul(bound, hn::Set(d, 1 - kMargin))));
  sure = hn::BitCast(D32(), hn::VecFromMask(d, above));
  unsure = hn::AndNot(above, not_below);
}

HWY_INLINE VF32 square_bound(VF32 square) { return hn::Mul(hn::Set(DF32(), kAdmCosSquared), square); }

/* Gradients of the reference, pairs (h, v) of 16-bit coefficients. */
struct RefPairs {
  V16 o;
  VF32 square_bound;
};
HWY_INLINE RefPairs ref_pairs(V16 o) { return {o, square_bound(hn::ConvertTo(DF32(), madd(o, o)))}; }

HWY_INLINE V32 aligned_pairs(const RefPairs& ref, V16 t) {
  const DF32 d;
  V32 sure;
  M32 unsure;
  decide_aligned(hn::ConvertTo(d, madd(ref.o, t)), ref.square_bound, hn::ConvertTo(d, madd(t, t)), sure, unsure);
  if (HWY_LIKELY(hn::AllFalse(d, unsure))) return sure;
  return aligned_exactly(sure, hn::BitCast(D32(), hn::VecFromMask(d, unsure)), low_halves(ref.o), high_halves(ref.o),
                         low_halves(t), high_halves(t));
}

/* The gradient of 32-bit coefficients. */
struct RefGradient {
  V32 h, v;
  VF32 float_h, float_v, square_bound;
};
HWY_INLINE RefGradient ref_gradient(V32 h, V32 v) {
  const DF32 d;
  const VF32 fh = hn::ConvertTo(d, h), fv = hn::ConvertTo(d, v);
  return {h, v, fh, fv, square_bound(hn::Add(hn::Mul(fh, fh), hn::Mul(fv, fv)))};
}

HWY_INLINE V32 aligned_coarse(const RefGradient& ref, V32 th, V32 tv) {
  const DF32 d;
  const VF32 fth = hn::ConvertTo(d, th), ftv = hn::ConvertTo(d, tv);
  V32 sure;
  M32 unsure;
  decide_aligned(hn::Add(hn::Mul(ref.float_h, fth), hn::Mul(ref.float_v, ftv)), ref.square_bound,
                 hn::Add(hn::Mul(fth, fth), hn::Mul(ftv, ftv)), sure, unsure);
  if (HWY_LIKELY(hn::AllFalse(d, unsure))) return sure;
  return aligned_exactly(sure, hn::BitCast(D32(), hn::VecFromMask(d, unsure)), ref.h, ref.v, th, tv);
}

/* -- Restored part ------------------------------------------------------------------------------------------------- */

/* adm_reciprocal(x), exact for x in (64, 32768]: the rounded quotient is right or one too large. Below, where it has
 * more bits than a float, it is off by at most 64 / x + 2, which no ratio of integers up to x, in Q15, comes near
 * enough to a half to notice (their distance to a half is at least 1 / 128, the error at most 128 / 32768). For x = 0
 * it is anything. */
HWY_INLINE V32 reciprocal(V32 x) {
  const V32 quotient = hn::ConvertTo(D32(), hn::Div(hn::Set(DF32(), 0x1p30f), hn::ConvertTo(DF32(), x)));
  const V32 remainder = hn::Sub(hn::Set(D32(), 1 << 30), hn::Mul(quotient, x));
  return hn::Add(quotient, hn::ShiftRight<31>(remainder));
}

/* Rounds m * limit down, for limits that are not whole numbers. */
HWY_INLINE V32 gain_fraction(V32 m, double limit) {
  const hn::Half<D32> dh;
  const hn::ScalableTag<double> df;
  const auto factor = hn::Set(df, limit);
  const auto low = hn::DemoteTo(dh, hn::Mul(hn::PromoteTo(df, hn::LowerHalf(dh, m)), factor));
  const auto high = hn::DemoteTo(dh, hn::Mul(hn::PromoteTo(df, hn::UpperHalf(dh, m)), factor));
  return hn::Combine(D32(), high, low);
}

/* adm_enhn_gain_limit. Products with a whole number that would not fit are above any coefficient: `most` still fits. */
template <class V>
struct GainLimit {
  double value;
  V whole, most;
};
template <class D>
HWY_INLINE GainLimit<hn::Vec<D>> gain_limit(D d, double limit) {
  using T = hn::TFromD<D>;
  const auto whole = static_cast<T>(limit);
  return {limit, hn::Set(d, whole), hn::Set(d, static_cast<T>(std::numeric_limits<T>::max() / whole))};
}

/* min(m * limit, u): what adm_restored() gives where the gradients are aligned. */
template <bool kWholeGain>
HWY_INLINE V16 gained_fine(V16 m, V16 u, const GainLimit<V16>& limit) {
  if constexpr (kWholeGain) {
    return hn::Min(hn::Mul(hn::Min(m, limit.most), limit.whole), u);
  } else {
    const V32 even = hn::Min(gain_fraction(low_halves(m), limit.value), low_halves(u));
    const V32 odd = hn::Min(gain_fraction(high_halves(m), limit.value), high_halves(u));
    return interleave_low(even, odd);
  }
}
template <bool kWholeGain>
HWY_INLINE V32 gained_coarse(V32 m, V32 u, const GainLimit<V32>& limit) {
  if constexpr (kWholeGain) return hn::Min(hn::Mul(hn::Min(m, limit.most), limit.whole), u);
  else return hn::Min(gain_fraction(m, limit.value), u);
}

/* A band of the reference at scale 0, as decoupling takes it. */
struct RefFine {
  V16 sign, minus_o;
  V16 above;                                  // |o| + 1
  V32 even_minus_inverse, odd_minus_inverse;  // the reciprocals of |o|
};
HWY_INLINE RefFine ref_fine(V16 o) {
  const D16 d;
  const V16 a = hn::Abs(o);
  return {hn::ShiftRight<15>(o), hn::Neg(o), hn::Add(a, hn::Set(d, 1)), hn::Neg(reciprocal(even_unsigned(a))),
          hn::Neg(reciprocal(odd_unsigned(a)))};
}

/* -k in Q30, but rounded to Q15 once it is shifted there. If u is larger than |o|, its ratio counts as 1. The product
 * of |o| with its reciprocal, which was rounded down, need not reach 1; the product of |o| + 1 does. */
HWY_INLINE V32 minus_ratio_fine(V32 minus_inverse, V32 u) {
  const D32 d;
  return hn::Max(hn::Add(hn::Mul(minus_inverse, u), hn::Set(d, (1 << 14) - 1)), hn::Set(d, -(1 << 30)));
}

template <bool kWholeGain>
HWY_INLINE V16 restored_fine(const RefFine& ref, V16 t, V16 aligned, const GainLimit<V16>& limit) {
  const V16 zero = hn::Zero(D16());
  const V16 u = hn::Sub(hn::Xor(t, ref.sign), ref.sign);  // t, as seen from o's sign
  const V16 bounded = hn::Min(hn::Max(u, zero), ref.above);
  const V32 even = minus_ratio_fine(ref.even_minus_inverse, even_unsigned(bounded));
  const V32 odd = minus_ratio_fine(ref.odd_minus_inverse, odd_unsigned(bounded));
  const V16 minus_k = hn::OddEven(as16(hn::ShiftLeft<1>(odd)), as16(hn::ShiftRight<15>(even)));  // -1 fits, 1 does not
  const V16 restored = hn::MulFixedPoint15(ref.minus_o, minus_k);
  const V16 gained = gained_fine<kWholeGain>(hn::Abs(restored), u, limit);
  const auto gains = hn::And(hn::Gt(u, zero), hn::MaskFromVec(aligned));
  return hn::IfThenElse(gains, hn::Sub(hn::Xor(gained, ref.sign), ref.sign), restored);
}

/* The factor and the shift that make the ratio of the even lanes. */
struct RatioEven {
  V32 inverse;
  VU64 half, shift;
};
HWY_INLINE RatioEven ratio_even(V32 inverse, VU64 leading_shift) {
  const DU64 d;
  return {inverse, hn::Shl(hn::Set(d, 1 << 14), leading_shift), hn::Add(leading_shift, hn::Set(d, 15))};
}
HWY_INLINE VU64 ratio_even(const RatioEven& ratio, V32 u) {
  const VU64 product = hn::MulEven(hn::BitCast(DU32(), ratio.inverse), hn::BitCast(DU32(), u));
  return hn::Shr(hn::Add(product, ratio.half), ratio.shift);
}

/* A band of the reference at scales 1 to 3, as decoupling takes it. */
struct RefCoarse {
  V32 sign, twice;  // twice the magnitude
  V32 high, low;    // high * 2^15 + low
  RatioEven even, odd;
};
HWY_INLINE RefCoarse ref_coarse(V32 o) {
  const D32 d;
  const DU32 du;
  const V32 a = hn::Abs(o);
  /* A magnitude that rounds up to the next power of two as a float gets a shift one too large, of half the leading
   * part: the same k. */
  const V32 exponent = hn::ShiftRight<23>(hn::BitCast(d, hn::ConvertTo(DF32(), a)));
  const V32 shift = hn::Max(hn::Sub(exponent, hn::Set(d, 127 + 14)), hn::Zero(d));
  const auto ushift = hn::BitCast(du, shift);
  const auto half = hn::ShiftRight<1>(hn::Shl(hn::Set(du, 1), ushift));
  const V32 inverse = reciprocal(hn::BitCast(d, hn::Shr(hn::Add(hn::BitCast(du, a), half), ushift)));
  const VU64 shift64 = hn::BitCast(DU64(), shift);
  return {hn::ShiftRight<31>(o),
          hn::BitCast(d, hn::ShiftLeft<1>(hn::BitCast(du, a))),
          hn::ShiftRight<15>(o),
          hn::And(o, hn::Set(d, 32767)),
          ratio_even(inverse, hn::And(shift64, hn::Set(DU64(), 63))),
          ratio_even(odd_lanes(inverse), hn::ShiftRight<32>(shift64))};
}

/* k in Q15 for u >= 0. */
HWY_INLINE V32 ratio_coarse(const RefCoarse& ref, V32 u) {
  const D32 d;
  const DU32 du;
  /* Twice the magnitude is beyond k = 1 for sure, and keeps k within 32 bits. */
  const V32 bounded = hn::BitCast(d, hn::Min(hn::BitCast(du, u), hn::BitCast(du, ref.twice)));
  const VU64 even = ratio_even(ref.even, bounded), odd = ratio_even(ref.odd, odd_lanes(bounded));
  const V32 k = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  return hn::Min(k, hn::Set(d, 32768));
}

template <bool kWholeGain>
HWY_INLINE V32 restored_coarse(const RefCoarse& ref, V32 t, V32 aligned, const GainLimit<V32>& limit) {
  const D32 d;
  const V32 zero = hn::Zero(d);
  const V32 u = hn::Sub(hn::Xor(t, ref.sign), ref.sign);
  const V32 k = ratio_coarse(ref, hn::Max(u, zero));
  /* (k * o + 16384) >> 15: k * high * 2^15 needs no rounding. */
  const V32 fine = hn::Mul(k, ref.low);
  const V32 restored = hn::Add(hn::Mul(k, ref.high), hn::ShiftRight<15>(hn::Add(fine, hn::Set(d, 1 << 14))));
  const V32 gained = gained_coarse<kWholeGain>(hn::Abs(restored), u, limit);
  const auto gains = hn::And(hn::Gt(u, zero), hn::MaskFromVec(aligned));
  return hn::IfThenElse(gains, hn::Sub(hn::Xor(gained, ref.sign), ref.sign), restored);
}

/* -- Contrast sensitivity ------------------------------------------------------------------------------------------ */

/* The sensitivities of the bands h and v and of d. `top` is all ones where a factor's top bit is set, for this goes its
 * own way; the straight one of scale 0 is without it. */
template <class V>
struct Weights {
  V straight, straight_top, diagonal, diagonal_top;
};
HWY_INLINE Weights<V16> weights_of(D16 d, const uint32_t (&rfactor)[kAdmBands]) {
  const auto straight = static_cast<int16_t>(rfactor[0]), diagonal = static_cast<int16_t>(rfactor[2]);
  return {hn::Set(d, straight & INT16_MAX), hn::Set(d, straight >> 15), hn::Set(d, diagonal),
          hn::Set(d, diagonal >> 15)};
}
HWY_INLINE Weights<V32> weights_of(D32 d, const uint32_t (&rfactor)[kAdmBands]) {
  const auto straight = static_cast<int32_t>(rfactor[0]), diagonal = static_cast<int32_t>(rfactor[2]);
  return {hn::Set(d, straight), hn::Set(d, straight >> 31), hn::Set(d, diagonal), hn::Set(d, diagonal >> 31)};
}

/* The three bands of some columns. */
template <class V>
struct Detail {
  V h, v, d;
};

/* The weights of several views at a scale. */
template <class V>
struct ViewWeights {
  size_t count;
  Weights<V> of[kAdmMostViews];
};

/* The weights of the views of a row: Weights of one (`kCount` 1), or ViewWeights. An array of one, or a loop over it,
 * makes adm 7 % slower: compilers then keep weights in memory. */
template <size_t kCount, class D, class T>
HWY_INLINE auto view_weights(D d, const RowWork<T>& work) {
  if constexpr (kCount == 1) {
    return weights_of(d, work.views[0].rfactor[work.index]);
  } else {
    ViewWeights<hn::Vec<D>> weights;
    weights.count = work.views.size();
    for (size_t i = 0; i < weights.count; i++) weights.of[i] = weights_of(d, work.views[i].rfactor[work.index]);
    return weights;
  }
}

/* |adm_csf_fine()|, where a magnitude of 32768 shows as negative: read it as unsigned. */
HWY_INLINE V16 weighted_straight(V16 x, const Weights<V16>& weights) {
  /* x * 32768 needs no rounding. */
  return hn::Abs(hn::Add(hn::MulFixedPoint15(x, weights.straight), hn::And(x, weights.straight_top)));
}
HWY_INLINE V16 weighted_diagonal(V16 x, const Weights<V16>& weights) {
  const D16 d;
  /* (high * 65536 + low + 65535) >> 17: the low half only matters as being 0 or not. */
  const V16 high = hn::Add(hn::MulHigh(x, weights.diagonal), hn::And(x, weights.diagonal_top));
  const V16 low_is_zero = hn::VecFromMask(d, hn::Eq(hn::Mul(x, weights.diagonal), hn::Zero(d)));
  return hn::Abs(hn::ShiftRight<1>(hn::Add(hn::Add(high, hn::Set(d, 1)), low_is_zero)));
}

/* adm_neighbor_fine() and adm_center_fine(): (4369 w + 2048) >> 12 = w + ((4368 w + 32768) >> 16), and so on. */
HWY_INLINE V16 rounded_share(V16 weighted, int twice_factor) {
  const DU16 d;
  const auto share = hn::MulHigh(hn::BitCast(d, weighted), hn::Set(d, static_cast<uint16_t>(twice_factor)));
  return hn::BitCast(D16(), hn::AverageRound(share, hn::Zero(d)));
}
HWY_INLINE V16 neighbor_fine(V16 weighted) { return hn::Add(weighted, rounded_share(weighted, 2 * 4368)); }
HWY_INLINE V16 center_fine(V16 weighted) {
  return hn::Add(hn::Add(weighted, weighted), rounded_share(weighted, 2 * 8736));
}

/* |adm_csf_coarse()|. */
HWY_INLINE V32 weighted_coarse(V32 x, V32 rfactor, V32 top) {
  const D32 d;
  const V64 half = hn::Set(D64(), 1 << 27);
  const VU64 even = bits64(hn::Add(hn::MulEven(x, rfactor), half));
  const VU64 odd = bits64(hn::Add(hn::MulEven(odd_lanes(x), rfactor), half));
  const V32 signed_part = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<4>(odd)), hn::BitCast(d, hn::ShiftRight<28>(even)));
  return hn::Abs(hn::Add(signed_part, hn::And(hn::ShiftLeft<4>(x), top)));
}

/* (factor * weighted - 2^31) >> 32: adm_neighbor_coarse() and adm_center_coarse(). */
HWY_INLINE V32 share_coarse(V32 weighted, int32_t factor) {
  const D32 d;
  const V32 factors = hn::Set(d, factor);
  const V64 half = hn::Set(D64(), kAdmCoarseRounding);
  const VU64 even = bits64(hn::Add(hn::MulEven(weighted, factors), half));
  const V64 odd = hn::Add(hn::MulEven(odd_lanes(weighted), factors), half);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

/* -- Denominator --------------------------------------------------------------------------------------------------- */

/* sum += a * a * a of every 32-bit lane, a < 2^15. */
HWY_INLINE void add_den_cubes(V32 a, VU64& sum) {
  const V32 square = madd(as16(a), as16(a));
  const VU64 even = bits64(hn::MulEven(square, a));
  const VU64 odd = bits64(hn::MulEven(odd_lanes(square), odd_lanes(a)));
  sum = hn::Add(sum, hn::Add(even, odd));
}

template <int kSquareShift>
HWY_INLINE VU64 den_cube_even(V32 a, int cube_shift, VU64 half) {
  const DU32 d;
  const auto ua = hn::BitCast(d, a);
  const VU64 square =
      hn::ShiftRight<kSquareShift>(hn::Add(hn::MulEven(ua, ua), hn::Set(DU64(), uint64_t{1} << kSquareShift)));
  return hn::ShiftRightSame(hn::Add(hn::MulEven(hn::BitCast(d, square), ua), half), cube_shift);
}
template <int kSquareShift>
HWY_INLINE void add_den_cubes_coarse(V32 a, int cube_shift, VU64 half, VU64& sum) {
  sum = hn::Add(sum, hn::Add(den_cube_even<kSquareShift>(a, cube_shift, half),
                             den_cube_even<kSquareShift>(odd_lanes(a), cube_shift, half)));
}

/* Modulo 2^64. (Highway 1.0.3's SumOfLanes adds the last two as signed numbers.) */
HWY_INLINE uint64_t lane_sum(VU64 v) {
  const DU64 d;
  HWY_ALIGN uint64_t lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  uint64_t sum = 0;
  for (size_t i = 0; i < hn::Lanes(d); i++) sum += lanes[i];
  return sum;
}

HWY_INLINE uint64_t rounded_row(uint64_t sum, int shift) { return (sum + ((uint64_t{1} << shift) >> 1)) >> shift; }

/* -- A row --------------------------------------------------------------------------------------------------------- */

/* Even and odd columns of what bands add up to. */
struct ColumnSums {
  PairSum<> even, odd;

  HWY_INLINE ColumnSums() : even(hn::Zero(D32())), odd(even) {}
  HWY_INLINE void add(V16 columns) {
    even.add(columns, pair_of(1, 0));
    odd.add(columns, pair_of(0, 1));
  }
};

HWY_INLINE void store_masks(const MaskRow& row, int x, V32 near, V32 center, int parity) {
  hn::Store(near, D32(), row.neighbors[parity] + x);
  hn::Store(hn::Sub(center, near), D32(), row.center[parity] + x);
}

HWY_INLINE void store_mask_fine(V16 h, V16 v, V16 diagonal, const Weights<V16>& weights, const MaskRow& row, int x) {
  const V16 bands[] = {weighted_straight(h, weights), weighted_straight(v, weights),
                       weighted_diagonal(diagonal, weights)};
  ColumnSums near, center;
  for (const V16 weighted : bands) {
    near.add(neighbor_fine(weighted));
    center.add(center_fine(weighted));
  }
  store_masks(row, x / 2, near.even.total(), center.even.total(), 0);
  store_masks(row, x / 2, near.odd.total(), center.odd.total(), 1);
}

HWY_INLINE void add_den_fine(V16 o, V16 scored, VU64& sum) {
  const V16 a = hn::And(hn::Abs(o), scored);
  add_den_cubes(even_unsigned(a), sum);
  add_den_cubes(odd_unsigned(a), sum);
}

/* A vector of columns of the reference, scale 0. */
struct RefColumnsFine {
  RefFine h, v, d;
  RefPairs even, odd;
};
HWY_INLINE RefColumnsFine ref_columns_fine(V16 h, V16 v, V16 d) {
  return {ref_fine(h), ref_fine(v), ref_fine(d), ref_pairs(even_pairs(h, v)), ref_pairs(odd_pairs(h, v))};
}

/* Stores what masks a view at scale 0: the added detail, and with `measure_aim` the restored one. */
HWY_INLINE void store_masks_fine(const Detail<V16>& added, const Detail<V16>& restored, bool measure_aim,
                                 const Weights<V16>& weights, const ViewRow<int16_t>* view, int x) {
  store_mask_fine(added.h, added.v, added.d, weights, view->mask_of_added, x);
  if (measure_aim) store_mask_fine(restored.h, restored.v, restored.d, weights, view->mask_of_restored, x);
}
HWY_INLINE void store_masks_fine(const Detail<V16>& added, const Detail<V16>& restored, bool measure_aim,
                                 const ViewWeights<V16>& weights, const ViewRow<int16_t>* view, int x) {
  for (size_t i = 0; i < weights.count; i++) store_masks_fine(added, restored, measure_aim, weights.of[i], view + i, x);
}

template <bool kWholeGain, class Views>
HWY_INLINE void decouple_columns_fine(const RefColumnsFine& ref, const EncodeRow<int16_t>& encode, bool measure_aim,
                                      const GainLimit<V16>& limit, const Views& weights, int x) {
  const D16 d;
  const V16 th = hn::Load(d, encode.dist[0] + x), tv = hn::Load(d, encode.dist[1] + x),
            td = hn::Load(d, encode.dist[2] + x);
  const V16 aligned =
      interleave_low(aligned_pairs(ref.even, even_pairs(th, tv)), aligned_pairs(ref.odd, odd_pairs(th, tv)));
  const V16 rh = restored_fine<kWholeGain>(ref.h, th, aligned, limit);
  const V16 rv = restored_fine<kWholeGain>(ref.v, tv, aligned, limit);
  const V16 rd = restored_fine<kWholeGain>(ref.d, td, aligned, limit);
  const V16 ah = hn::Sub(th, rh), av = hn::Sub(tv, rv), ad = hn::Sub(td, rd);
  const ViewRow<int16_t>& first = encode.view[0];
  hn::Store(hn::Abs(rh), d, first.restored[0] + x);
  hn::Store(hn::Abs(rv), d, first.restored[1] + x);
  hn::Store(hn::Abs(rd), d, first.restored[2] + x);
  hn::Store(hn::Abs(ah), d, first.added[0] + x);
  hn::Store(hn::Abs(av), d, first.added[1] + x);
  hn::Store(hn::Abs(ad), d, first.added[2] + x);
  store_masks_fine({ah, av, ad}, {rh, rv, rd}, measure_aim, weights, encode.view, x);
}

/* `kCount`: 1 for one encode that is viewed in one way, else std::dynamic_extent. */
template <bool kWholeGain, size_t kCount>
void decouple_fine(const RowWork<int16_t>& work, int x0, int x1) {
  const D16 d;
  const AdmScale& scale = *work.scale;
  const GainLimit<V16> limit = gain_limit(d, work.gain_limit);
  const auto weights = view_weights<kCount>(d, work);
  VU64 den_h = hn::Zero(DU64()), den_v = hn::Zero(DU64()), den_d = hn::Zero(DU64());
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int x = x0; x < x1; x += lanes) {
    for (const Ahead& row : work.ahead) {
      row.fetch(2 * x);
      row.fetch(2 * x + lanes);
    }
    const V16 oh = hn::Load(d, work.ref[0] + x), ov = hn::Load(d, work.ref[1] + x), od = hn::Load(d, work.ref[2] + x);
    const V16 scored = hn::Load(d, work.scored + x);
    if (work.row_scored) {
      add_den_fine(oh, scored, den_h);
      add_den_fine(ov, scored, den_v);
      add_den_fine(od, scored, den_d);
    }
    const RefColumnsFine ref = ref_columns_fine(oh, ov, od);
    for (const EncodeRow<int16_t>& encode : std::span<const EncodeRow<int16_t>, kCount>(work.encodes))
      decouple_columns_fine<kWholeGain>(ref, encode, work.measure_aim, limit, weights, x);
  }
  work.den[0] += rounded_row(lane_sum(den_h), scale.den_row_shift);
  work.den[1] += rounded_row(lane_sum(den_v), scale.den_row_shift);
  work.den[2] += rounded_row(lane_sum(den_d), scale.den_row_shift);
}

/* Weighs the three bands, which cm() takes as its signal too, and stores their mask. */
HWY_INLINE void weigh_coarse(V32 h, V32 v, V32 diagonal, const Weights<V32>& weights, int32_t* const (&to)[kAdmBands],
                             const MaskRow& row, int x) {
  const D32 d;
  const V32 wh = weighted_coarse(h, weights.straight, weights.straight_top);
  const V32 wv = weighted_coarse(v, weights.straight, weights.straight_top);
  const V32 wd = weighted_coarse(diagonal, weights.diagonal, weights.diagonal_top);
  hn::Store(wh, d, to[0] + x);
  hn::Store(wv, d, to[1] + x);
  hn::Store(wd, d, to[2] + x);
  const V32 near =
      hn::Add(hn::Add(share_coarse(wh, kAdmOneBy30), share_coarse(wv, kAdmOneBy30)), share_coarse(wd, kAdmOneBy30));
  const V32 center =
      hn::Add(hn::Add(share_coarse(wh, kAdmOneBy15), share_coarse(wv, kAdmOneBy15)), share_coarse(wd, kAdmOneBy15));
  store_masks(row, x, near, center, 0);
}

/* A vector of columns of the reference, scales 1 to 3. */
struct RefColumnsCoarse {
  RefCoarse h, v, d;
  RefGradient gradient;
};
HWY_INLINE RefColumnsCoarse ref_columns_coarse(V32 h, V32 v, V32 d) {
  return {ref_coarse(h), ref_coarse(v), ref_coarse(d), ref_gradient(h, v)};
}

/* Stores the restored and the added detail of a view at scales 1 to 3, and what they mask. */
HWY_INLINE void weigh_views_coarse(const Detail<V32>& added, const Detail<V32>& restored, const Weights<V32>& weights,
                                   const ViewRow<int32_t>* view, int x) {
  weigh_coarse(added.h, added.v, added.d, weights, view->added, view->mask_of_added, x);
  weigh_coarse(restored.h, restored.v, restored.d, weights, view->restored, view->mask_of_restored, x);
}
HWY_INLINE void weigh_views_coarse(const Detail<V32>& added, const Detail<V32>& restored,
                                   const ViewWeights<V32>& weights, const ViewRow<int32_t>* view, int x) {
  for (size_t i = 0; i < weights.count; i++) weigh_views_coarse(added, restored, weights.of[i], view + i, x);
}

template <bool kWholeGain, class Views>
HWY_INLINE void decouple_columns_coarse(const RefColumnsCoarse& ref, const EncodeRow<int32_t>& encode,
                                        const GainLimit<V32>& limit, const Views& weights, int x) {
  const D32 d;
  const V32 th = hn::Load(d, encode.dist[0] + x), tv = hn::Load(d, encode.dist[1] + x),
            td = hn::Load(d, encode.dist[2] + x);
  const V32 aligned = aligned_coarse(ref.gradient, th, tv);
  const V32 rh = restored_coarse<kWholeGain>(ref.h, th, aligned, limit);
  const V32 rv = restored_coarse<kWholeGain>(ref.v, tv, aligned, limit);
  const V32 rd = restored_coarse<kWholeGain>(ref.d, td, aligned, limit);
  weigh_views_coarse({hn::Sub(th, rh), hn::Sub(tv, rv), hn::Sub(td, rd)}, {rh, rv, rd}, weights, encode.view, x);
}

template <bool kWholeGain, size_t kCount, int kDenSquareShift>
void decouple_coarse(const RowWork<int32_t>& work, int x0, int x1) {
  const D32 d;
  const AdmScale& scale = *work.scale;
  const GainLimit<V32> limit = gain_limit(d, work.gain_limit);
  const auto weights = view_weights<kCount>(d, work);
  const VU64 den_half = hn::Set(DU64(), (uint64_t{1} << scale.den_cube_shift) >> 1);
  VU64 den_h = hn::Zero(DU64()), den_v = hn::Zero(DU64()), den_d = hn::Zero(DU64());
  for (int x = x0; x < x1; x += static_cast<int>(hn::Lanes(d))) {
    const V32 oh = hn::Load(d, work.ref[0] + x), ov = hn::Load(d, work.ref[1] + x), od = hn::Load(d, work.ref[2] + x);
    const V32 scored = hn::Load(d, work.scored + x);
    if (work.row_scored) {
      add_den_cubes_coarse<kDenSquareShift>(hn::And(hn::Abs(oh), scored), scale.den_cube_shift, den_half, den_h);
      add_den_cubes_coarse<kDenSquareShift>(hn::And(hn::Abs(ov), scored), scale.den_cube_shift, den_half, den_v);
      add_den_cubes_coarse<kDenSquareShift>(hn::And(hn::Abs(od), scored), scale.den_cube_shift, den_half, den_d);
    }
    const RefColumnsCoarse ref = ref_columns_coarse(oh, ov, od);
    for (const EncodeRow<int32_t>& encode : std::span<const EncodeRow<int32_t>, kCount>(work.encodes))
      decouple_columns_coarse<kWholeGain>(ref, encode, limit, weights, x);
  }
  work.den[0] += rounded_row(lane_sum(den_h), scale.den_row_shift);
  work.den[1] += rounded_row(lane_sum(den_v), scale.den_row_shift);
  work.den[2] += rounded_row(lane_sum(den_d), scale.den_row_shift);
}

}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();
#endif

#endif
