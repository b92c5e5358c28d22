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

HWY_INLINE V16 aligned(V16 oh, V16 ov, V16 th, V16 tv) {
  return interleave_low(aligned_pairs(even_pairs(oh, ov), even_pairs(th, tv)),
                        aligned_pairs(odd_pairs(oh, ov), odd_pairs(th, tv)));
}

HWY_INLINE V32 aligned(V32 oh, V32 ov, V32 th, V32 tv) {
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

/* min(m * limit, u), the product rounded down, for limits that are no whole numbers. */
HWY_INLINE V32 least_gained(V32 m, V32 u, double limit) {
  const hn::Half<D32> dh;
  const hn::ScalableTag<double> df;
  const auto factor = hn::Set(df, limit);
  const auto low = hn::DemoteTo(dh, hn::Mul(hn::PromoteTo(df, hn::LowerHalf(dh, m)), factor));
  const auto high = hn::DemoteTo(dh, hn::Mul(hn::PromoteTo(df, hn::UpperHalf(dh, m)), factor));
  return hn::Min(hn::Combine(D32(), high, low), u);
}
HWY_INLINE V16 least_gained(V16 m, V16 u, double limit) {
  return interleave_low(least_gained(low_halves(m), low_halves(u), limit),
                        least_gained(high_halves(m), high_halves(u), limit));
}

/* What adm_restored() gives where the gradients are aligned, min(|restored| * limit, u), elsewhere `restored`. u is t, as
 * seen from o's sign. Products that would not fit are above any u. */
template <bool kWholeGain, class V>
HWY_INLINE V with_gain(V restored, V u, V sign, V is_aligned, double limit) {
  const hn::DFromV<V> d;
  using T = hn::TFromD<decltype(d)>;
  const V m = hn::Abs(restored);
  V gained;
  if constexpr (kWholeGain) {
    const auto whole = static_cast<T>(limit);
    const auto most = static_cast<T>(hwy::LimitsMax<T>() / whole);
    gained = hn::Min(hn::Mul(hn::Min(m, hn::Set(d, most)), hn::Set(d, whole)), u);
  } else {
    gained = least_gained(m, u, limit);
  }
  const auto gains = hn::And(hn::Gt(u, hn::Zero(d)), hn::MaskFromVec(is_aligned));
  return hn::IfThenElse(gains, hn::Sub(hn::Xor(gained, sign), sign), restored);
}

/* k in Q15 for |o| = a >= u >= 0. */
HWY_INLINE V32 ratio_fine(V32 a, V32 u) {
  return hn::ShiftRight<15>(hn::Add(hn::Mul(reciprocal(a), u), hn::Set(D32(), 1 << 14)));
}

template <bool kWholeGain>
HWY_INLINE V16 restored_part(V16 o, V16 t, V16 is_aligned, double limit) {
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
  return with_gain<kWholeGain>(restored, u, sign, is_aligned, limit);
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
HWY_INLINE V32 restored_part(V32 o, V32 t, V32 is_aligned, double limit) {
  const D32 d;
  const V32 sign = hn::ShiftRight<31>(o);
  const V32 u = hn::Sub(hn::Xor(t, sign), sign);
  const V32 k = ratio_coarse(hn::Abs(o), hn::Max(u, hn::Zero(d)));
  /* (k * o + 16384) >> 15, with o in two parts of which k * 2^15 needs no rounding. */
  const V32 fine = hn::Mul(k, hn::And(o, hn::Set(d, 32767)));
  const V32 restored =
      hn::Add(hn::Mul(k, hn::ShiftRight<15>(o)), hn::ShiftRight<15>(hn::Add(fine, hn::Set(d, 1 << 14))));
  return with_gain<kWholeGain>(restored, u, sign, is_aligned, limit);
}

/* -- Contrast sensitivity ------------------------------------------------------------------------------------------ */

/* |adm_csf_fine()|, where a magnitude of 32768 shows as negative: read it as unsigned. */
HWY_INLINE V16 weighted_fine(int band, V16 x, uint32_t rfactor) {
  const D16 d;
  const V16 top = hn::And(x, hn::Set(d, static_cast<int16_t>(rfactor & 0x8000 ? -1 : 0)));
  if (band < 2) {
    /* x * 32768 needs no rounding, so the factor's top bit goes its own way. */
    return hn::Abs(hn::Add(hn::MulFixedPoint15(x, hn::Set(d, static_cast<int16_t>(rfactor & 0x7FFF))), top));
  } else {
    /* (high * 65536 + low + 65535) >> 17: the low half only matters as being 0 or not. */
    const V16 factor = hn::Set(d, static_cast<int16_t>(rfactor));
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

/* |adm_csf_coarse()|. */
HWY_INLINE V32 weighted_coarse(V32 x, uint32_t factor) {
  const D32 d;
  const V32 rfactor = hn::Set(d, static_cast<int32_t>(factor)), top = hn::ShiftRight<31>(rfactor);
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

/* Of the reference's magnitudes; kSquareShift is 0 at scale 0. */
template <int kSquareShift>
HWY_INLINE void add_den(V16 a, const AdmScale&, VU64& sum) {
  add_den_cubes(even_unsigned(a), sum);
  add_den_cubes(odd_unsigned(a), sum);
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
HWY_INLINE void add_den(V32 a, const AdmScale& scale, VU64& sum) {
  const int shift = scale.den_cube_shift;
  const VU64 half = hn::Set(DU64(), (uint64_t{1} << shift) >> 1);
  sum = hn::Add(sum, hn::Add(den_cube_even<kSquareShift>(a, shift, half),
                             den_cube_even<kSquareShift>(odd_lanes(a), shift, half)));
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

/* -- A row --------------------------------------------------------------------------------------------------------- */

template <class T>
T* samples(std::byte* row) {
  return reinterpret_cast<T*>(row);
}

HWY_INLINE void store_mask(const AdmMaskRow& row, int x, V32 near, V32 center, int parity) {
  hn::Store(near, D32(), row.neighbors[parity] + x);
  hn::Store(hn::Sub(center, near), D32(), row.center[parity] + x);
}

/* Stores what masking takes of a vector of columns of a part: magnitudes as its signal, and, if that is needed, what they
 * add to thresholds. */
HWY_INLINE void store_part(const V16 (&part)[kAdmBands], const AdmScale& scale, std::byte* const (&to)[kAdmBands],
                           const AdmMaskRow* mask, int x) {
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++) hn::Store(hn::Abs(part[band]), D16(), samples<int16_t>(to[band]) + x);
  if (!mask) return;
  V32 near_even = hn::Zero(D32()), near_odd = near_even, center_even = near_even, center_odd = near_even;
  const V16 first = pair_of(1, 0), second = pair_of(0, 1);
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++) {
    const V16 weighted = weighted_fine(band, part[band], scale.rfactor[band]);
    const V16 near = neighbor_fine(weighted), center = center_fine(weighted);
    near_even = hn::Add(near_even, madd(near, first));
    near_odd = hn::Add(near_odd, madd(near, second));
    center_even = hn::Add(center_even, madd(center, first));
    center_odd = hn::Add(center_odd, madd(center, second));
  }
  store_mask(*mask, x / 2, near_even, center_even, 0);
  store_mask(*mask, x / 2, near_odd, center_odd, 1);
}
HWY_INLINE void store_part(const V32 (&part)[kAdmBands], const AdmScale& scale, std::byte* const (&to)[kAdmBands],
                           const AdmMaskRow* mask, int x) {
  V32 near = hn::Zero(D32()), center = near;
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++) {
    const V32 weighted = weighted_coarse(part[band], scale.rfactor[band]);
    hn::Store(weighted, D32(), samples<int32_t>(to[band]) + x);
    near = hn::Add(near, share_coarse(weighted, kAdmOneBy30));
    center = hn::Add(center, share_coarse(weighted, kAdmOneBy15));
  }
  if (mask) store_mask(*mask, x, near, center, 0);
}

/* Columns [x0, x1) of row y of a level, of samples T. kDenSquareShift: adm_den_square_shift(), 0 at scale 0. */
template <class T, bool kWholeGain, int kDenSquareShift>
void decouple(const AdmParams& params, const AdmRowsOfLevel& level, int y, int x0, int x1, uint64_t (&den)[kAdmBands]) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const AdmScale scale = *level.scale;
  const double limit = params.gain_limit;
  const bool measure_aim = params.measure_aim;
  const bool counts = level.scored_rows().contains(y);
  const AdmMaskRow of_added = level.mask_of_added.row(y), of_restored = level.mask_of_restored.row(y);
  VU64 sums[kAdmBands];
  for (VU64& sum : sums) sum = hn::Zero(DU64());
  for (int x = x0; x < x1; x += static_cast<int>(hn::Lanes(d))) {
    V o[kAdmBands], t[kAdmBands], restored[kAdmBands], added[kAdmBands];
    VMAFX_UNROLL
    for (int band = 0; band < kAdmBands; band++) {
      o[band] = hn::Load(d, samples<T>(level.detail[0][band]) + x);
      t[band] = hn::Load(d, samples<T>(level.detail[1][band]) + x);
    }
    if (counts) {
      const V scored = hn::Load(d, samples<T>(level.scored) + x);
      VMAFX_UNROLL
      for (int band = 0; band < kAdmBands; band++)
        add_den<kDenSquareShift>(hn::And(hn::Abs(o[band]), scored), scale, sums[band]);
    }
    const V is_aligned = aligned(o[0], o[1], t[0], t[1]);
    VMAFX_UNROLL
    for (int band = 0; band < kAdmBands; band++) {
      restored[band] = restored_part<kWholeGain>(o[band], t[band], is_aligned, limit);
      added[band] = hn::Sub(t[band], restored[band]);
    }
    store_part(added, scale, level.added[y % kAdmSignalRows], &of_added, x);
    store_part(restored, scale, level.restored[y % kAdmSignalRows], measure_aim ? &of_restored : nullptr, x);
  }
  const uint64_t half = (uint64_t{1} << scale.den_row_shift) >> 1;
  for (int band = 0; band < kAdmBands; band++) den[band] += (lane_sum(sums[band]) + half) >> scale.den_row_shift;
}

}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();
#endif

#endif
