/* ADM, SIMD: rows through the wavelet transform.
 *
 * All products are of 16-bit lanes, two neighboring ones added at once (madd). Down a column, the two neighbors are
 * rows: the even columns of rows a and b make one vector of pairs, the odd columns another. Across a row they are
 * neighbors already.
 *
 * A 32-bit sample t is taken apart as t = high * 65536 + low with signed halves (low: its low 16 bits; high: what is
 * left over), so a filter of it is filter(high) * 65536 + filter(low), and both fit 32 bits: 32768 * (15826 + 27411 +
 * 7345 + 4240) < 2^31. */
#if defined(VMAFX_ADM_DWT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_ADM_DWT_INL_H
#undef VMAFX_ADM_DWT_INL_H
#else
#define VMAFX_ADM_DWT_INL_H
#endif

#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "kernels/adm/adm_math.h"
#include "kernels/arithmetic/pair_products-inl.h"

#if HWY_TARGET != HWY_SCALAR  // one lane holds no pairs
HWY_BEFORE_NAMESPACE();
VMAFX_ALLOW_VNNI
namespace vmafx {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<int16_t>;
using DU16 = hn::ScalableTag<uint16_t>;
using D32 = hn::ScalableTag<int32_t>;
using DU32 = hn::ScalableTag<uint32_t>;
using D64 = hn::ScalableTag<int64_t>;
using DU64 = hn::ScalableTag<uint64_t>;
using DF32 = hn::ScalableTag<float>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;
using V64 = hn::Vec<D64>;
using VU64 = hn::Vec<DU64>;
using VF32 = hn::Vec<DF32>;

HWY_INLINE V16 as16(V32 v) { return hn::BitCast(D16(), v); }
HWY_INLINE V32 as32(V16 v) { return hn::BitCast(D32(), v); }

/* Even 16-bit lanes to the odd places, zeros in the even ones; odd lanes to the even places, zeros in the odd ones. */
HWY_INLINE V16 even_to_odd(V16 v) { return as16(hn::ShiftLeft<16>(as32(v))); }
HWY_INLINE V16 odd_to_even(V16 v) { return hn::BitCast(D16(), hn::ShiftRight<16>(hn::BitCast(DU32(), v))); }

/* The even lanes of a and b side by side; the odd lanes of a and b. */
HWY_INLINE V16 even_pairs(V16 a, V16 b) { return hn::OddEven(even_to_odd(b), a); }
HWY_INLINE V16 odd_pairs(V16 a, V16 b) { return hn::OddEven(b, odd_to_even(a)); }

/* A constant for the even lanes and one for the odd lanes. */
HWY_INLINE V16 pair_of(int even, int odd) {
  return as16(hn::Set(D32(), static_cast<int32_t>((even & 0xFFFF) | static_cast<uint32_t>(odd) << 16)));
}

/* sum + ab . taps_ab + cd . taps_cd for each pair of lanes. */
HWY_INLINE V32 madd(V32 sum, V16 ab, V16 taps_ab, V16 cd, V16 taps_cd) {
  PairSum products(sum);
  products.add(ab, taps_ab);
  products.add(cd, taps_cd);
  return products.total();
}
HWY_INLINE V32 madd(V16 a, V16 b) {
  V32 rest = hn::Zero(D32());
  const V32 sum = hn::ReorderWidenMulAccumulate(D32(), a, b, hn::Zero(D32()), rest);
  return hn::RearrangeToOddPlusEven(sum, rest);
}

HWY_INLINE V32 low_pass(V32 sum, V16 ab, V16 cd) {
  return madd(sum, ab, pair_of(kAdmTap0, kAdmTap1), cd, pair_of(kAdmTap2, kAdmTap3));
}
HWY_INLINE V32 high_pass(V32 sum, V16 ab, V16 cd) {
  return madd(sum, ab, pair_of(kAdmTap3, -kAdmTap2), cd, pair_of(kAdmTap1, -kAdmTap0));
}

/* -- Scale 0: samples to 16-bit bands ------------------------------------------------------------------------------ */

/* Bytes fit 16 bits as they are, and are centered by where their sums start. */
HWY_INLINE V16 load_source(const uint8_t* from, V16) {
  return hn::PromoteTo(D16(), hn::LoadU(hn::Rebind<uint8_t, D16>(), from));
}
HWY_INLINE V16 load_source(const uint16_t* from, V16 center) {
  return hn::Sub(hn::BitCast(D16(), hn::LoadU(DU16(), from)), center);
}

/* The part of a low-pass sum that comes from the samples' center, if load_source() leaves it in them. High-pass sums
 * have no such part. */
template <class T>
constexpr int kCenterLeft = sizeof(T) == 1 ? 128 * (kAdmTap0 + kAdmTap1 + kAdmTap2 + kAdmTap3) : 0;

/* even >> bpc and odd >> bpc as neighbors. */
template <class T>
HWY_INLINE V16 interleave_shifted(V32 even, V32 odd, int bpc) {
  if constexpr (sizeof(T) == 1) return hn::OddEven(as16(hn::ShiftLeft<8>(odd)), as16(hn::ShiftRight<8>(even)));
  else return hn::OddEven(as16(hn::ShiftLeftSame(odd, 16 - bpc)), as16(hn::ShiftRightSame(even, bpc)));
}

/* One vector of columns down four rows. */
template <class T>
HWY_INLINE void filter_source(const T* a, const T* b, const T* c, const T* d, int bpc, int16_t* HWY_RESTRICT low,
                              int16_t* HWY_RESTRICT high) {
  const V16 center = hn::Set(D16(), static_cast<int16_t>(1 << (bpc - 1)));
  const V32 half = hn::Set(D32(), 1 << (bpc - 1)), low_start = hn::Set(D32(), (1 << (bpc - 1)) - kCenterLeft<T>);
  const V16 va = load_source(a, center), vb = load_source(b, center), vc = load_source(c, center),
            vd = load_source(d, center);
  const V16 ab_even = even_pairs(va, vb), cd_even = even_pairs(vc, vd);
  const V16 ab_odd = odd_pairs(va, vb), cd_odd = odd_pairs(vc, vd);
  hn::Store(interleave_shifted<T>(low_pass(low_start, ab_even, cd_even), low_pass(low_start, ab_odd, cd_odd), bpc),
            D16(), low);
  hn::Store(interleave_shifted<T>(high_pass(half, ab_even, cd_even), high_pass(half, ab_odd, cd_odd), bpc), D16(),
            high);
}

/* The vertical pass over columns [x0, x1) of a w columns wide picture; x0 is a multiple of the vector. */
template <class T>
void vertical_source(const T* const (&rows)[4], int x0, int x1, int w, int bpc, int16_t* low, int16_t* high) {
  const int lanes = static_cast<int>(hn::Lanes(D16()));
  int x = x0;
  for (; x < x1 && x + lanes <= w; x += lanes)
    filter_source(rows[0] + x, rows[1] + x, rows[2] + x, rows[3] + x, bpc, low + x, high + x);
  if (x >= x1) return;
  HWY_ALIGN T rest[4][hn::MaxLanes(D16())] = {};
  for (int r = 0; r < 4; r++) std::memcpy(rest[r], rows[r] + x, (w - x) * sizeof(T));
  filter_source(rest[0], rest[1], rest[2], rest[3], bpc, low + x, high + x);
}

/* The horizontal pass of a 16-bit row to columns [x0, x1) of two bands. */
inline void horizontal_fine(const int16_t* row, int x0, int x1, int16_t* HWY_RESTRICT low, int16_t* HWY_RESTRICT high) {
  const D16 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const V32 half = hn::Set(D32(), 1 << 15);
  for (int x = x0; x < x1; x += lanes) {
    const int16_t* from = row + 2 * x - 1;
    const V16 ab0 = hn::LoadU(d, from), cd0 = hn::LoadU(d, from + 2);
    const V16 ab1 = hn::LoadU(d, from + lanes), cd1 = hn::LoadU(d, from + lanes + 2);
    hn::Store(hn::ConcatOdd(d, as16(low_pass(half, ab1, cd1)), as16(low_pass(half, ab0, cd0))), d, low + x);
    hn::Store(hn::ConcatOdd(d, as16(high_pass(half, ab1, cd1)), as16(high_pass(half, ab0, cd0))), d, high + x);
  }
}

/* -- Scales 1 to 3: to 32-bit bands -------------------------------------------------------------------------------- */

/* A row of 32-bit samples in halves. */
struct SplitRow {
  int16_t* low;
  int16_t* high;
};

/* Makes the high half right for a signed low half. */
HWY_INLINE V32 with_carry(V32 v) { return hn::Add(v, hn::Set(D32(), 1 << 15)); }

HWY_INLINE void store_interleaved_split(V32 even, V32 odd, const SplitRow& to, int x) {
  hn::Store(even_pairs(as16(even), as16(odd)), D16(), to.low + x);
  hn::Store(odd_pairs(as16(with_carry(even)), as16(with_carry(odd))), D16(), to.high + x);
}
HWY_INLINE void store_split(V32 first, V32 second, const SplitRow& to, int x) {
  const D16 d;
  hn::Store(hn::ConcatEven(d, as16(second), as16(first)), d, to.low + x);
  hn::Store(hn::ConcatOdd(d, as16(with_carry(second)), as16(with_carry(first))), d, to.high + x);
}

/* Scale 1: from the 16-bit band a of scale 0, without a shift. */
inline void vertical_coarse(const int16_t* const (&rows)[4], int x0, int x1, const SplitRow& low,
                            const SplitRow& high) {
  const D16 d;
  const V32 zero = hn::Zero(D32());
  for (int x = x0; x < x1; x += static_cast<int>(hn::Lanes(d))) {
    const V16 va = hn::Load(d, rows[0] + x), vb = hn::Load(d, rows[1] + x);
    const V16 vc = hn::Load(d, rows[2] + x), vd = hn::Load(d, rows[3] + x);
    const V16 ab_even = even_pairs(va, vb), cd_even = even_pairs(vc, vd);
    const V16 ab_odd = odd_pairs(va, vb), cd_odd = odd_pairs(vc, vd);
    store_interleaved_split(low_pass(zero, ab_even, cd_even), low_pass(zero, ab_odd, cd_odd), low, x);
    store_interleaved_split(high_pass(zero, ab_even, cd_even), high_pass(zero, ab_odd, cd_odd), high, x);
  }
}

/* (high * 65536 + low + half) >> kShift, for the filtered halves; `low` already has its half. */
template <int kShift>
HWY_INLINE V32 join_shifted(V32 high, V32 low) {
  return hn::Add(hn::ShiftLeft<16 - kShift>(high), hn::ShiftRight<kShift>(low));
}

/* One vector of columns of 32-bit rows, with 16 bits shifted out. */
HWY_INLINE void filter_rows(const int32_t* const (&rows)[4], int x, V32& low, V32& high) {
  const D32 d;
  const V32 half = hn::Set(d, 1 << 15), zero = hn::Zero(d);
  const V32 va = hn::Load(d, rows[0] + x), vb = hn::Load(d, rows[1] + x);
  const V32 vc = hn::Load(d, rows[2] + x), vd = hn::Load(d, rows[3] + x);
  const V16 ab_low = even_pairs(as16(va), as16(vb)), cd_low = even_pairs(as16(vc), as16(vd));
  const V16 ab_high = odd_pairs(as16(with_carry(va)), as16(with_carry(vb)));
  const V16 cd_high = odd_pairs(as16(with_carry(vc)), as16(with_carry(vd)));
  low = join_shifted<16>(low_pass(zero, ab_high, cd_high), low_pass(half, ab_low, cd_low));
  high = join_shifted<16>(high_pass(zero, ab_high, cd_high), high_pass(half, ab_low, cd_low));
}

/* Scales 2 and 3: from the 32-bit band a of the scale before. */
inline void vertical_coarse(const int32_t* const (&rows)[4], int x0, int x1, const SplitRow& low,
                            const SplitRow& high) {
  const int lanes = static_cast<int>(hn::Lanes(D32()));
  for (int x = x0; x < x1; x += 2 * lanes) {
    V32 low0, high0, low1, high1;
    filter_rows(rows, x, low0, high0);
    filter_rows(rows, x + lanes, low1, high1);
    store_split(low0, low1, low, x);
    store_split(high0, high1, high, x);
  }
}

template <int kShift>
void horizontal_coarse(const SplitRow& row, int x0, int x1, int32_t* HWY_RESTRICT low, int32_t* HWY_RESTRICT high) {
  const D32 d;
  const D16 d16;
  const V32 half = hn::Set(d, 1 << (kShift - 1)), zero = hn::Zero(d);
  for (int x = x0; x < x1; x += static_cast<int>(hn::Lanes(d))) {
    const V16 ab_low = hn::LoadU(d16, row.low + 2 * x - 1), cd_low = hn::LoadU(d16, row.low + 2 * x + 1);
    const V16 ab_high = hn::LoadU(d16, row.high + 2 * x - 1), cd_high = hn::LoadU(d16, row.high + 2 * x + 1);
    hn::Store(join_shifted<kShift>(low_pass(zero, ab_high, cd_high), low_pass(half, ab_low, cd_low)), d, low + x);
    hn::Store(join_shifted<kShift>(high_pass(zero, ab_high, cd_high), high_pass(half, ab_low, cd_low)), d, high + x);
  }
}

/* Sets the samples that a filter reads beyond both ends of a row of w. */
inline void mirror_ends(int16_t* row, int w) {
  row[-1] = row[adm_mirror(-1, w)];
  row[w] = row[adm_mirror(w, w)];
  row[w + 1] = row[adm_mirror(w + 1, w)];
}

}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();
#endif

#endif
