/* ADM, SIMD: a row of bands into what the masking stage needs, and the row's part of the denominator.
 *
 * Scale 0 works on 16-bit lanes. Where it needs 32 bits, the even and the odd columns go separate ways; such rows are
 * kept as two, for even and for odd columns. Scales 1 to 3 work on 32-bit lanes, and on the even and odd of those for
 * 64 bits. */
#if defined(VMAFX_ADM_DECOUPLE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_ADM_DECOUPLE_INL_H
#undef VMAFX_ADM_DECOUPLE_INL_H
#else
#define VMAFX_ADM_DECOUPLE_INL_H
#endif

#include "kernels/adm/adm_dwt-inl.h"
#include "kernels/adm/adm_rows.h"

#if HWY_TARGET != HWY_SCALAR  // one lane holds no pairs
HWY_BEFORE_NAMESPACE();
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

/* Decides o.t >= 0 and (o.t)^2 >= cos^2 |o|^2 |t|^2 in single precision where its error (some 30 half ulps, and those
 * of the definition itself) cannot matter. Near the boundary o.t has no cancellation, far below it cancellation does
 * no harm. */
HWY_INLINE void decide_aligned(VF32 dot, VF32 o_square, VF32 t_square, V32& sure, V32& unsure) {
  const DF32 d;
  constexpr float kMargin = 0x1p-19f;
  const VF32 square = hn::Mul(dot, dot);
  const VF32 bound = hn::Mul(hn::Mul(hn::Set(d, kAdmCosSquared), o_square), t_square);
  const auto forward = hn::Ge(dot, hn::Zero(d));
  const auto above = hn::And(forward, hn::Ge(square, hn::Mul(bound, hn::Set(d, 1 + kMargin))));
  const auto not_below = hn::And(forward, hn::Ge(square, hn::Mul(bound, hn::Set(d, 1 - kMargin))));
  sure = hn::BitCast(D32(), hn::VecFromMask(d, above));
  unsure = hn::BitCast(D32(), hn::VecFromMask(d, hn::AndNot(above, not_below)));
}
HWY_INLINE bool none(V32 v) { return hn::AllTrue(D32(), hn::Eq(v, hn::Zero(D32()))); }

/* For pairs (h, v) of 16-bit coefficients. */
HWY_INLINE V32 aligned_pairs(V16 o, V16 t) {
  const DF32 d;
  V32 sure, unsure;
  decide_aligned(hn::ConvertTo(d, madd(o, t)), hn::ConvertTo(d, madd(o, o)), hn::ConvertTo(d, madd(t, t)), sure,
                 unsure);
  if (HWY_LIKELY(none(unsure))) return sure;
  return aligned_exactly(sure, unsure, low_halves(o), high_halves(o), low_halves(t), high_halves(t));
}

HWY_INLINE V16 aligned_fine(V16 oh, V16 ov, V16 th, V16 tv) {
  return interleave_low(aligned_pairs(even_pairs(oh, ov), even_pairs(th, tv)),
                        aligned_pairs(odd_pairs(oh, ov), odd_pairs(th, tv)));
}

HWY_INLINE V32 aligned_coarse(V32 oh, V32 ov, V32 th, V32 tv) {
  const DF32 d;
  const VF32 foh = hn::ConvertTo(d, oh), fov = hn::ConvertTo(d, ov), fth = hn::ConvertTo(d, th),
             ftv = hn::ConvertTo(d, tv);
  V32 sure, unsure;
  decide_aligned(hn::Add(hn::Mul(foh, fth), hn::Mul(fov, ftv)), hn::Add(hn::Mul(foh, foh), hn::Mul(fov, fov)),
                 hn::Add(hn::Mul(fth, fth), hn::Mul(ftv, ftv)), sure, unsure);
  if (HWY_LIKELY(none(unsure))) return sure;
  return aligned_exactly(sure, unsure, oh, ov, th, tv);
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

/* Rounds m * limit down, for limits that are no whole numbers. */
HWY_INLINE V32 gain_fraction(V32 m, double limit) {
  const hn::Half<D32> dh;
  const hn::ScalableTag<double> df;
  const auto factor = hn::Set(df, limit);
  const auto low = hn::DemoteTo(dh, hn::Mul(hn::PromoteTo(df, hn::LowerHalf(dh, m)), factor));
  const auto high = hn::DemoteTo(dh, hn::Mul(hn::PromoteTo(df, hn::UpperHalf(dh, m)), factor));
  return hn::Combine(D32(), high, low);
}

/* min(m * limit, u): what adm_restored() gives where the gradients are aligned. Products that would not fit are above
 * any u. */
template <bool kWholeGain>
HWY_INLINE V16 gained_fine(V16 m, V16 u, double limit) {
  const D16 d;
  if constexpr (kWholeGain) {
    const auto whole = static_cast<int16_t>(limit);
    return hn::Min(hn::Mul(hn::Min(m, hn::Set(d, static_cast<int16_t>(INT16_MAX / whole))), hn::Set(d, whole)), u);
  } else {
    const V32 even = hn::Min(gain_fraction(low_halves(m), limit), low_halves(u));
    const V32 odd = hn::Min(gain_fraction(high_halves(m), limit), high_halves(u));
    return interleave_low(even, odd);
  }
}
template <bool kWholeGain>
HWY_INLINE V32 gained_coarse(V32 m, V32 u, double limit) {
  const D32 d;
  if constexpr (kWholeGain) {
    const auto whole = static_cast<int32_t>(limit);
    return hn::Min(hn::Mul(hn::Min(m, hn::Set(d, INT32_MAX / whole)), hn::Set(d, whole)), u);
  } else {
    return hn::Min(gain_fraction(m, limit), u);
  }
}

/* k in Q15 for |o| = a >= u >= 0. */
HWY_INLINE V32 ratio_fine(V32 a, V32 u) {
  return hn::ShiftRight<15>(hn::Add(hn::Mul(reciprocal(a), u), hn::Set(D32(), 1 << 14)));
}

template <bool kWholeGain>
HWY_INLINE V16 restored_fine(V16 o, V16 t, V16 aligned, double limit) {
  const D16 d;
  const V16 zero = hn::Zero(d);
  const V16 sign = hn::ShiftRight<15>(o);
  const V16 a = hn::Abs(o);
  const V16 u = hn::Sub(hn::Xor(t, sign), sign);  // t, as seen from o's sign
  const V16 bounded = hn::Min(hn::Max(u, zero), a);
  const V16 k = interleave_low(ratio_fine(even_unsigned(a), even_unsigned(bounded)),
                               ratio_fine(odd_unsigned(a), odd_unsigned(bounded)));
  const auto whole = hn::Or(hn::Lt(k, zero), hn::Gt(u, a));  // k = 32768 shows as negative
  const V16 restored = hn::IfThenElse(whole, o, hn::MulFixedPoint15(o, k));
  const V16 gained = gained_fine<kWholeGain>(hn::Abs(restored), u, limit);
  const auto gains = hn::And(hn::Gt(u, zero), hn::MaskFromVec(aligned));
  return hn::IfThenElse(gains, hn::Sub(hn::Xor(gained, sign), sign), restored);
}

/* (reciprocal * u + half) >> (15 + shift) in the even lanes. */
HWY_INLINE VU64 ratio_even(V32 reciprocal, V32 u, VU64 shift) {
  const DU64 d;
  const VU64 product = hn::MulEven(hn::BitCast(DU32(), reciprocal), hn::BitCast(DU32(), u));
  return hn::Shr(hn::Add(product, hn::Shl(hn::Set(d, 1 << 14), shift)), hn::Add(shift, hn::Set(d, 15)));
}

/* k in Q15 for |o| = a and u >= 0. */
HWY_INLINE V32 ratio_coarse(V32 a, V32 u) {
  const D32 d;
  const DU32 du;
  const DU64 d64;
  /* A magnitude that rounds up to the next power of two as a float gets a shift one too large, of half the leading
   * part: the same k. */
  const V32 exponent = hn::ShiftRight<23>(hn::BitCast(d, hn::ConvertTo(DF32(), a)));
  const V32 shift = hn::Max(hn::Sub(exponent, hn::Set(d, 127 + 14)), hn::Zero(d));
  const auto ushift = hn::BitCast(du, shift);
  const auto half = hn::ShiftRight<1>(hn::Shl(hn::Set(du, 1), ushift));
  const V32 inverse = reciprocal(hn::BitCast(d, hn::Shr(hn::Add(hn::BitCast(du, a), half), ushift)));
  /* Twice a is beyond k = 1 for sure, and keeps k within 32 bits. */
  const V32 bounded = hn::BitCast(d, hn::Min(hn::BitCast(du, u), hn::ShiftLeft<1>(hn::BitCast(du, a))));
  const VU64 shift64 = hn::BitCast(d64, shift);
  const VU64 even = ratio_even(inverse, bounded, hn::And(shift64, hn::Set(d64, 63)));
  const VU64 odd = ratio_even(odd_lanes(inverse), odd_lanes(bounded), hn::ShiftRight<32>(shift64));
  const V32 k = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  return hn::Min(k, hn::Set(d, 32768));
}

template <bool kWholeGain>
HWY_INLINE V32 restored_coarse(V32 o, V32 t, V32 aligned, double limit) {
  const D32 d;
  const V32 zero = hn::Zero(d);
  const V32 sign = hn::ShiftRight<31>(o);
  const V32 u = hn::Sub(hn::Xor(t, sign), sign);
  const V32 k = ratio_coarse(hn::Abs(o), hn::Max(u, zero));
  /* (k * o + 16384) >> 15, with o in two parts of which k * 2^15 needs no rounding. */
  const V32 fine = hn::Mul(k, hn::And(o, hn::Set(d, 32767)));
  const V32 restored =
      hn::Add(hn::Mul(k, hn::ShiftRight<15>(o)), hn::ShiftRight<15>(hn::Add(fine, hn::Set(d, 1 << 14))));
  const V32 gained = gained_coarse<kWholeGain>(hn::Abs(restored), u, limit);
  const auto gains = hn::And(hn::Gt(u, zero), hn::MaskFromVec(aligned));
  return hn::IfThenElse(gains, hn::Sub(hn::Xor(gained, sign), sign), restored);
}

/* -- Contrast sensitivity ------------------------------------------------------------------------------------------ */

/* |adm_csf_fine()|, where a magnitude of 32768 shows as negative: read it as unsigned. */
template <int kBand>
HWY_INLINE V16 weighted_fine(V16 x, int rfactor) {
  const D16 d;
  if constexpr (kBand < 2) {
    /* x * 32768 needs no rounding, so the factor's top bit goes its own way. */
    const V16 top = hn::And(x, hn::Set(d, static_cast<int16_t>(rfactor & 0x8000 ? -1 : 0)));
    return hn::Abs(hn::Add(hn::MulFixedPoint15(x, hn::Set(d, static_cast<int16_t>(rfactor & 0x7FFF))), top));
  } else {
    /* (high * 65536 + low + 65535) >> 17: the low half only matters as being 0 or not. */
    const V16 factor = hn::Set(d, static_cast<int16_t>(rfactor));
    const V16 top = hn::And(x, hn::Set(d, static_cast<int16_t>(rfactor & 0x8000 ? -1 : 0)));
    const V16 high = hn::Add(hn::MulHigh(x, factor), top);
    const V16 low_is_zero = hn::VecFromMask(d, hn::Eq(hn::Mul(x, factor), hn::Zero(d)));
    return hn::Abs(hn::ShiftRight<1>(hn::Add(hn::Add(high, hn::Set(d, 1)), low_is_zero)));
  }
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

/* |adm_csf_coarse()|. `top` is all ones where the factor's top bit is set. */
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

/* One band of one vector of columns, scale 0. Adds to the masks' even and odd columns. */
template <int kBand>
HWY_INLINE void mask_fine(V16 x, int rfactor, V32& near_even, V32& near_odd, V32& center_even, V32& center_odd) {
  const V16 weighted = weighted_fine<kBand>(x, rfactor);
  const V16 near = neighbor_fine(weighted), center = center_fine(weighted);
  const V16 first = pair_of(1, 0), second = pair_of(0, 1);
  near_even = hn::Add(near_even, madd(near, first));
  near_odd = hn::Add(near_odd, madd(near, second));
  center_even = hn::Add(center_even, madd(center, first));
  center_odd = hn::Add(center_odd, madd(center, second));
}

HWY_INLINE void store_masks(const MaskRow& row, int x, V32 near, V32 center, int parity) {
  hn::Store(near, D32(), row.neighbors[parity] + x);
  hn::Store(hn::Sub(center, near), D32(), row.center[parity] + x);
}

HWY_INLINE void store_mask_fine(V16 h, V16 v, V16 diagonal, const AdmScale& scale, const MaskRow& row, int x) {
  const V32 zero = hn::Zero(D32());
  V32 near_even = zero, near_odd = zero, center_even = zero, center_odd = zero;
  mask_fine<0>(h, static_cast<int>(scale.rfactor[0]), near_even, near_odd, center_even, center_odd);
  mask_fine<1>(v, static_cast<int>(scale.rfactor[1]), near_even, near_odd, center_even, center_odd);
  mask_fine<2>(diagonal, static_cast<int>(scale.rfactor[2]), near_even, near_odd, center_even, center_odd);
  store_masks(row, x / 2, near_even, center_even, 0);
  store_masks(row, x / 2, near_odd, center_odd, 1);
}

HWY_INLINE void add_den_fine(V16 o, V16 scored, VU64& sum) {
  const V16 a = hn::And(hn::Abs(o), scored);
  add_den_cubes(even_unsigned(a), sum);
  add_den_cubes(odd_unsigned(a), sum);
}

template <bool kWholeGain>
void decouple_fine(const RowWork<int16_t>& work, double limit, int x0, int x1) {
  const D16 d;
  const AdmScale& scale = *work.scale;
  VU64 den_h = hn::Zero(DU64()), den_v = hn::Zero(DU64()), den_d = hn::Zero(DU64());
  for (int x = x0; x < x1; x += static_cast<int>(hn::Lanes(d))) {
    const V16 oh = hn::Load(d, work.ref[0] + x), ov = hn::Load(d, work.ref[1] + x), od = hn::Load(d, work.ref[2] + x);
    const V16 th = hn::Load(d, work.dist[0] + x), tv = hn::Load(d, work.dist[1] + x),
              td = hn::Load(d, work.dist[2] + x);
    const V16 scored = hn::Load(d, work.scored + x);
    if (work.row_scored) {
      add_den_fine(oh, scored, den_h);
      add_den_fine(ov, scored, den_v);
      add_den_fine(od, scored, den_d);
    }
    const V16 aligned = aligned_fine(oh, ov, th, tv);
    const V16 rh = restored_fine<kWholeGain>(oh, th, aligned, limit);
    const V16 rv = restored_fine<kWholeGain>(ov, tv, aligned, limit);
    const V16 rd = restored_fine<kWholeGain>(od, td, aligned, limit);
    const V16 ah = hn::Sub(th, rh), av = hn::Sub(tv, rv), ad = hn::Sub(td, rd);
    hn::Store(hn::Abs(rh), d, work.restored[0] + x);
    hn::Store(hn::Abs(rv), d, work.restored[1] + x);
    hn::Store(hn::Abs(rd), d, work.restored[2] + x);
    hn::Store(hn::Abs(ah), d, work.added[0] + x);
    hn::Store(hn::Abs(av), d, work.added[1] + x);
    hn::Store(hn::Abs(ad), d, work.added[2] + x);
    store_mask_fine(ah, av, ad, scale, work.mask_of_added, x);
    if (work.measure_aim) store_mask_fine(rh, rv, rd, scale, work.mask_of_restored, x);
  }
  work.den[0] += rounded_row(lane_sum(den_h), scale.den_row_shift);
  work.den[1] += rounded_row(lane_sum(den_v), scale.den_row_shift);
  work.den[2] += rounded_row(lane_sum(den_d), scale.den_row_shift);
}

/* Weighs the three bands, which cm() takes as its signal too, and stores their mask. */
HWY_INLINE void weigh_coarse(V32 h, V32 v, V32 diagonal, const AdmScale& scale, int32_t* const (&to)[kAdmBands],
                             const MaskRow& row, int x) {
  const D32 d;
  const V32 straight_factor = hn::Set(d, static_cast<int32_t>(scale.rfactor[0]));
  const V32 diagonal_factor = hn::Set(d, static_cast<int32_t>(scale.rfactor[2]));
  const V32 straight_top = hn::ShiftRight<31>(straight_factor), diagonal_top = hn::ShiftRight<31>(diagonal_factor);
  const V32 wh = weighted_coarse(h, straight_factor, straight_top);
  const V32 wv = weighted_coarse(v, straight_factor, straight_top);
  const V32 wd = weighted_coarse(diagonal, diagonal_factor, diagonal_top);
  hn::Store(wh, d, to[0] + x);
  hn::Store(wv, d, to[1] + x);
  hn::Store(wd, d, to[2] + x);
  const V32 near =
      hn::Add(hn::Add(share_coarse(wh, kAdmOneBy30), share_coarse(wv, kAdmOneBy30)), share_coarse(wd, kAdmOneBy30));
  const V32 center =
      hn::Add(hn::Add(share_coarse(wh, kAdmOneBy15), share_coarse(wv, kAdmOneBy15)), share_coarse(wd, kAdmOneBy15));
  store_masks(row, x, near, center, 0);
}

template <bool kWholeGain, int kDenSquareShift>
void decouple_coarse(const RowWork<int32_t>& work, double limit, int x0, int x1) {
  const D32 d;
  const AdmScale& scale = *work.scale;
  const VU64 den_half = hn::Set(DU64(), (uint64_t{1} << scale.den_cube_shift) >> 1);
  VU64 den_h = hn::Zero(DU64()), den_v = hn::Zero(DU64()), den_d = hn::Zero(DU64());
  for (int x = x0; x < x1; x += static_cast<int>(hn::Lanes(d))) {
    const V32 oh = hn::Load(d, work.ref[0] + x), ov = hn::Load(d, work.ref[1] + x), od = hn::Load(d, work.ref[2] + x);
    const V32 th = hn::Load(d, work.dist[0] + x), tv = hn::Load(d, work.dist[1] + x),
              td = hn::Load(d, work.dist[2] + x);
    const V32 scored = hn::Load(d, work.scored + x);
    if (work.row_scored) {
      add_den_cubes_coarse<kDenSquareShift>(hn::And(hn::Abs(oh), scored), scale.den_cube_shift, den_half, den_h);
      add_den_cubes_coarse<kDenSquareShift>(hn::And(hn::Abs(ov), scored), scale.den_cube_shift, den_half, den_v);
      add_den_cubes_coarse<kDenSquareShift>(hn::And(hn::Abs(od), scored), scale.den_cube_shift, den_half, den_d);
    }
    const V32 aligned = aligned_coarse(oh, ov, th, tv);
    const V32 rh = restored_coarse<kWholeGain>(oh, th, aligned, limit);
    const V32 rv = restored_coarse<kWholeGain>(ov, tv, aligned, limit);
    const V32 rd = restored_coarse<kWholeGain>(od, td, aligned, limit);
    weigh_coarse(hn::Sub(th, rh), hn::Sub(tv, rv), hn::Sub(td, rd), scale, work.added, work.mask_of_added, x);
    weigh_coarse(rh, rv, rd, scale, work.restored, work.mask_of_restored, x);
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
