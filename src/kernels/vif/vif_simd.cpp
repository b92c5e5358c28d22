/* VIF, the SIMD twin. */
#include "kernels/vif/vif.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vif/vif_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/aligned.h"
#include "kernels/common/mirror.h"
#include "kernels/vif/vif_pairs.h"

#ifndef VMAFX_VIF_SIMD_ONCE
#define VMAFX_VIF_SIMD_ONCE
namespace vmafx {
namespace {

constexpr int kStrip = 480;          // columns worked on at once
constexpr int kMaxMargin = 8;        // columns that the widest window reaches beyond a strip
constexpr int kLineColumns = 512 + 128;    // a strip with its margins, in whole vectors of up to 256 bytes
constexpr int kMaxPlanes = 8;
constexpr int kMaxPairs = 9;         // row pairs under the tallest window
constexpr int kSamplePlanes = 2;

/* Bytes of each part of the scratch memory that does not depend on the picture. */
constexpr size_t kLineBytes = kLineColumns * sizeof(uint16_t);
constexpr size_t kSlotBytes = kMaxPlanes * 2 * kLineBytes;           // one pair of rows, all planes
constexpr size_t kRingBytes = kMaxPairs * kSlotBytes;
constexpr size_t kFilteredBytes = (2 * kMaxPlanes + kSamplePlanes) * kLineBytes;
constexpr size_t kInputBytes = 2 * kSamplePlanes * kLineBytes;

size_t decimated_stride(int w) { return round_to_lines(sizeof(uint16_t) * w); }

/* Working memory of a strip. */
struct StripMemory {
  std::byte* ring;      // row pairs: [slot][block of columns][plane][even columns, odd columns]
  std::byte* filtered;  // rows after the vertical pass: [row][plane], then [ref, dist] for the next scale
  std::byte* input;     // rows with reflected borders: [ref, dist][row]
};

}  // namespace
}  // namespace vmafx
#endif

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

/* One lane holds no pairs: a machine without vectors takes the definition. */
void vif(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, VifSums& sums) {
  vif_ref(params, ref, dist, scratch, sums);
}

#else

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::ScalableTag<int16_t>;
using DU16 = hn::ScalableTag<uint16_t>;
using D32 = hn::ScalableTag<int32_t>;
using DU32 = hn::ScalableTag<uint32_t>;
using DU64 = hn::ScalableTag<uint64_t>;
using DF32 = hn::ScalableTag<float>;
using DF64 = hn::ScalableTag<double>;
using V16 = hn::Vec<D16>;
using VU16 = hn::Vec<DU16>;
using V32 = hn::Vec<D32>;
using VU32 = hn::Vec<DU32>;
using VU64 = hn::Vec<DU64>;
using VF64 = hn::Vec<DF64>;
using M32 = hn::Mask<D32>;

constexpr D16 d16;
constexpr DU16 du16;
constexpr D32 d32;
constexpr DU32 du32;
constexpr DU64 du64;
constexpr DF32 df32;
constexpr DF64 df64;

/* acc + the sums of adjacent products. */
HWY_INLINE V32 add_pair_products(V16 a, V16 b, V32 acc) {
  V32 sum1 = hn::Zero(d32);
  const V32 sum0 = hn::ReorderWidenMulAccumulate(d32, a, b, hn::Zero(d32), sum1);
  return hn::Add(acc, hn::RearrangeToOddPlusEven(sum0, sum1));
}

HWY_INLINE V16 taps(int32_t packed) { return hn::BitCast(d16, hn::Set(d32, packed)); }
HWY_INLINE V32 constant(uint32_t value) { return hn::Set(d32, static_cast<int32_t>(value)); }

/* What one scale does, known at compile time. */
template <class T, int kScale_>
struct Stage {
  using Sample = T;
  static constexpr int kScale = kScale_;
  static constexpr bool kBytes = sizeof(T) == 1;
  static constexpr bool kHasNext = kScale + 1 < kVifScales;
  static constexpr int kNext = kHasNext ? kScale + 1 : kScale;
  static constexpr int kRadius = vif_pair_radius(kScale);
  static constexpr int kNextRadius = vif_pair_radius(kNext);
  static constexpr int kPairs = 2 * kRadius + 1;
  static constexpr int kMargin = 2 * kRadius;
  /* ref, dist, then ref^2, dist^2, ref * dist: one plane each for bytes, else high and low halves. */
  static constexpr int kPlanes = kBytes ? 5 : 8;
};

/* One strip of one scale. */
template <class S>
struct Strip {
  Plane<const typename S::Sample> ref, dist;
  Plane<uint16_t> next_ref, next_dist;
  VifShifts shifts;
  double gain_limit;
  int x0;
  int columns;
  StripMemory memory;
  VifScaleSums* sums;  // nullptr: decimate only

  size_t blocks() const { return (columns + 2 * S::kMargin + hn::Lanes(d16) - 1) / hn::Lanes(d16); }
  int16_t* slot(int pair) const {
    return reinterpret_cast<int16_t*>(memory.ring + static_cast<size_t>((pair + S::kPairs) % S::kPairs) * kSlotBytes);
  }
  uint16_t* filtered(int row, int plane) const {
    return reinterpret_cast<uint16_t*>(memory.filtered + (row * kMaxPlanes + plane) * kLineBytes);
  }
  uint16_t* filtered_for_next(int plane) const { return filtered(2, plane); }
};

// -- Row pairs in ----------------------------------------------------------------------------------------------------

/* Copies the strip's part of row y with its margins; reflected beyond the borders, zero beyond the margins. */
template <class S>
const typename S::Sample* load_row(const Strip<S>& strip, const Plane<const typename S::Sample>& plane, int y, int line) {
  using T = typename S::Sample;
  T* out = reinterpret_cast<T*>(strip.memory.input + line * kLineBytes);
  const T* in = plane.row(HWY_MAX(0, mirror(y, plane.h)));
  const int begin = strip.x0 - S::kMargin, end = strip.x0 + strip.columns + S::kMargin;
  const int inner_begin = HWY_MAX(begin, 0), inner_end = HWY_MIN(end, plane.w);
  for (int x = begin; x < inner_begin; x++) out[x - begin] = in[HWY_MIN(-x, plane.w - 1)];
  std::memcpy(out + (inner_begin - begin), in + inner_begin, (inner_end - inner_begin) * sizeof(T));
  for (int x = inner_end; x < end; x++) out[x - begin] = in[HWY_MAX(0, mirror(x, plane.w))];
  const int padded = static_cast<int>(strip.blocks() * hn::Lanes(d16));
  std::memset(out + (end - begin), 0, (padded - (end - begin)) * sizeof(T));
  return out;
}

HWY_INLINE VU16 load_samples(const uint16_t* p) { return hn::Load(du16, p); }
HWY_INLINE VU16 load_samples(const uint8_t* p) {
  const hn::Rebind<uint8_t, DU16> du8;
  return hn::PromoteTo(du16, hn::Load(du8, p));
}

/* Stores rows a and b as pair lanes: first those of the even columns, then of the odd ones. */
HWY_INLINE void store_pairs(VU16 a, VU16 b, int16_t* out) {
  const VU16 even = hn::OddEven(hn::BitCast(du16, hn::ShiftLeft<16>(hn::BitCast(du32, b))), a);
  const VU16 odd = hn::OddEven(b, hn::BitCast(du16, hn::ShiftRight<16>(hn::BitCast(du32, a))));
  hn::Store(hn::BitCast(d16, even), d16, out);
  hn::Store(hn::BitCast(d16, odd), d16, out + hn::Lanes(d16));
}

/* Rows 2 * pair and 2 * pair + 1 into the ring. Unsigned 16-bit values are stored minus 32768, so that they are signed. */
template <class S>
void load_pair(const Strip<S>& strip, int pair) {
  const auto* ra = load_row(strip, strip.ref, 2 * pair, 0);
  const auto* rb = load_row(strip, strip.ref, 2 * pair + 1, 1);
  const auto* da = load_row(strip, strip.dist, 2 * pair, 2);
  const auto* db = load_row(strip, strip.dist, 2 * pair + 1, 3);
  const size_t n = hn::Lanes(d16);
  const VU16 sign = hn::Set(du16, 0x8000);
  int16_t* out = strip.slot(pair);
  for (size_t b = 0; b < strip.blocks(); b++, out += S::kPlanes * 2 * n) {
    const VU16 r0 = load_samples(ra + b * n), r1 = load_samples(rb + b * n);
    const VU16 d0 = load_samples(da + b * n), d1 = load_samples(db + b * n);
    const auto low = [&](VU16 x, VU16 y) { return hn::Xor(hn::Mul(x, y), sign); };
    if constexpr (S::kBytes) {
      store_pairs(r0, r1, out);
      store_pairs(d0, d1, out + 2 * n);
      store_pairs(low(r0, r0), low(r1, r1), out + 4 * n);
      store_pairs(low(d0, d0), low(d1, d1), out + 6 * n);
      store_pairs(low(r0, d0), low(r1, d1), out + 8 * n);
    } else {
      const auto high = [&](VU16 x, VU16 y) { return hn::Xor(hn::MulHigh(x, y), sign); };
      store_pairs(hn::Xor(r0, sign), hn::Xor(r1, sign), out);
      store_pairs(hn::Xor(d0, sign), hn::Xor(d1, sign), out + 2 * n);
      store_pairs(high(r0, r0), high(r1, r1), out + 4 * n);
      store_pairs(low(r0, r0), low(r1, r1), out + 6 * n);
      store_pairs(high(d0, d0), high(d1, d1), out + 8 * n);
      store_pairs(low(d0, d0), low(d1, d1), out + 10 * n);
      store_pairs(high(r0, d0), high(r1, d1), out + 12 * n);
      store_pairs(low(r0, d0), low(r1, d1), out + 14 * n);
    }
  }
}

// -- Vertical pass ---------------------------------------------------------------------------------------------------

/* Window sums of the pair lanes at `offset` for output rows 0 and 1, even and odd columns. */
template <int kScale>
HWY_INLINE void filter_two_rows(const int16_t* HWY_RESTRICT const* slots, size_t offset, V32 start, V32& even0, V32& odd0, V32& even1,
                                V32& odd1) {
  constexpr auto kTaps = vif_pair_taps<kScale>();
  even0 = odd0 = even1 = odd1 = start;
#pragma GCC unroll 16
  for (size_t k = 0; k < kTaps.size(); k++) {
    const int16_t* in = slots[kTaps[k].pair + vif_pair_radius(kScale)] + offset;
    const V16 even = hn::Load(d16, in), odd = hn::Load(d16, in + hn::Lanes(d16));
    even0 = add_pair_products(even, taps(kTaps[k].even), even0);
    odd0 = add_pair_products(odd, taps(kTaps[k].even), odd0);
    even1 = add_pair_products(even, taps(kTaps[k].odd), even1);
    odd1 = add_pair_products(odd, taps(kTaps[k].odd), odd1);
  }
}

template <int kScale>
HWY_INLINE void filter_row(const int16_t* HWY_RESTRICT const* slots, size_t offset, V32 start, V32& even0, V32& odd0) {
  constexpr auto kTaps = vif_pair_taps<kScale>();
  even0 = odd0 = start;
#pragma GCC unroll 16
  for (size_t k = 0; k < kTaps.size(); k++) {
    const int16_t* in = slots[kTaps[k].pair + vif_pair_radius(kScale)] + offset;
    even0 = add_pair_products(hn::Load(d16, in), taps(kTaps[k].even), even0);
    odd0 = add_pair_products(hn::Load(d16, in + hn::Lanes(d16)), taps(kTaps[k].even), odd0);
  }
}

HWY_INLINE VU16 low_halves(V32 even, V32 odd) {
  return hn::OddEven(hn::BitCast(du16, hn::ShiftLeft<16>(odd)), hn::BitCast(du16, even));
}
HWY_INLINE VU16 high_halves(V32 even, V32 odd) {
  return hn::OddEven(hn::BitCast(du16, odd), hn::BitCast(du16, hn::ShiftRight<16>(even)));
}

/* The sum before rounding shift and bias of a mean plane. */
template <class S>
HWY_INLINE V32 mean_start(int shift) {
  const uint32_t unbias = S::kBytes ? 0 : 0x80000000u;
  return constant(unbias + (1u << (shift - 1)) - (0x8000u << shift));
}

template <class S>
HWY_INLINE void store_mean(V32 even, V32 odd, int shift, uint16_t* out) {
  if constexpr (S::kScale > 0) {
    hn::Store(high_halves(even, odd), du16, out);
  } else {
    hn::Store(low_halves(hn::BitCast(d32, hn::ShiftRightSame(hn::BitCast(du32, even), shift)), hn::ShiftRightSame(odd, shift)), du16, out);
  }
}

HWY_INLINE void store_square(V32 even, V32 odd, uint16_t* high, uint16_t* low) {
  hn::Store(high_halves(even, odd), du16, high);
  hn::Store(hn::Xor(low_halves(even, odd), hn::Set(du16, 0x8000)), du16, low);
}

HWY_INLINE V32 join_square(V32 high, V32 low, int shift) {
  const VU32 l = hn::BitCast(du32, low);
  return hn::Add(hn::ShiftLeftSame(high, 16 - shift), hn::BitCast(d32, hn::ShiftRightSame(l, shift)));
}

template <class S>
void filter_vertically(const Strip<S>& strip, const int16_t* HWY_RESTRICT const* slots) {
  constexpr int kScale = S::kScale;
  const size_t n = hn::Lanes(d16);
  const int mean_shift = S::kBytes ? 8 : kScale > 0 ? 16 : strip.shifts.mean;
  const int square_shift = kScale > 0 ? 16 : strip.shifts.square;
  V32 e0, o0, e1, o1;
  for (size_t b = 0; b < strip.blocks(); b++) {
    const size_t in = b * S::kPlanes * 2 * n, out = b * n;
    for (int p = 0; p < 2; p++) {
      filter_two_rows<kScale>(slots, in + p * 2 * n, mean_start<S>(mean_shift), e0, o0, e1, o1);
      store_mean<S>(e0, o0, mean_shift, strip.filtered(0, p) + out);
      store_mean<S>(e1, o1, mean_shift, strip.filtered(1, p) + out);
    }
    for (int q = 0; q < 3; q++) {
      const int high = 2 + 2 * q, low = high + 1;
      if constexpr (S::kBytes) {
        filter_two_rows<kScale>(slots, in + (2 + q) * 2 * n, hn::Zero(d32), e0, o0, e1, o1);
      } else {
        const V32 start_high = constant(0x80000000u - (0x8000u << square_shift));
        const V32 start_low = constant(0x80000000u + (1u << (square_shift - 1)));
        V32 le0, lo0, le1, lo1;
        filter_two_rows<kScale>(slots, in + high * 2 * n, start_high, e0, o0, e1, o1);
        filter_two_rows<kScale>(slots, in + low * 2 * n, start_low, le0, lo0, le1, lo1);
        e0 = join_square(e0, le0, square_shift);
        o0 = join_square(o0, lo0, square_shift);
        e1 = join_square(e1, le1, square_shift);
        o1 = join_square(o1, lo1, square_shift);
      }
      store_square(e0, o0, strip.filtered(0, high) + out, strip.filtered(0, low) + out);
      store_square(e1, o1, strip.filtered(1, high) + out, strip.filtered(1, low) + out);
    }
  }
}

// -- Horizontal pass -------------------------------------------------------------------------------------------------

/* Window sums of a row of the vertical pass: `in` points at the first pair of columns under the window. */
template <int kScale>
HWY_INLINE void filter_columns(const uint16_t* HWY_RESTRICT in, V32 start, V32& even, V32& odd) {
  constexpr auto kTaps = vif_pair_taps<kScale>();
  even = odd = start;
#pragma GCC unroll 16
  for (size_t k = 0; k < kTaps.size(); k++) {
    const V16 pairs = hn::BitCast(d16, hn::LoadU(du16, in + 2 * (kTaps[k].pair + vif_pair_radius(kScale))));
    even = add_pair_products(pairs, taps(kTaps[k].even), even);
    odd = add_pair_products(pairs, taps(kTaps[k].odd), odd);
  }
}

template <int kScale>
HWY_INLINE void filter_square_columns(const uint16_t* high, const uint16_t* low, VU32& even, VU32& odd) {
  V32 he, ho, le, lo;
  filter_columns<kScale>(high, constant(0x80000000u), he, ho);
  filter_columns<kScale>(low, constant(0x80008000u), le, lo);
  even = hn::Add(hn::BitCast(du32, he), hn::ShiftRight<16>(hn::BitCast(du32, le)));
  odd = hn::Add(hn::BitCast(du32, ho), hn::ShiftRight<16>(hn::BitCast(du32, lo)));
}

// -- Statistic -------------------------------------------------------------------------------------------------------

/* Per-lane sums over a row. */
#define VMAFX_NOTHING

/* (a * b + 2^31) >> 32 */
HWY_INLINE VU32 mean_product(VU32 a, VU32 b, VU32 a_odd, VU32 b_odd) {
  const VU64 half = hn::Set(du64, uint64_t{1} << 31);
  const VU64 even = hn::ShiftRight<32>(hn::Add(hn::MulEven(a, b), half));
  const VU64 odd = hn::Add(hn::MulEven(a_odd, b_odd), half);
  return hn::OddEven(hn::BitCast(du32, odd), hn::BitCast(du32, even));
}

HWY_INLINE VU32 odd_to_even(VU32 v) { return hn::BitCast(du32, hn::ShiftRight<32>(hn::BitCast(du64, v))); }

/* log2 in Q11 minus 2048 of whole numbers >= 2^17, from the upper words of their doubles: see vif_math.h. */
HWY_INLINE V32 log2_less_one(VU32 upper) {
  constexpr float kUnit = 0x1p-20f;  // the mantissa's bits are those of m * 32
  const VU32 m = hn::And(upper, hn::Set(du32, 0xFFFE0u));
  const auto u = hn::Mul(hn::ConvertTo(df32, hn::Sub(hn::BitCast(d32, m), hn::Set(d32, 0x80000))), hn::Set(df32, kUnit));
  auto bulge = hn::Set(df32, kVifLog2Poly[kVifLog2Degree]);
#pragma GCC unroll 16
  for (int k = kVifLog2Degree - 1; k >= 0; k--) bulge = hn::MulAdd(bulge, u, hn::Set(df32, kVifLog2Poly[k]));
  const VU32 chord = hn::ShiftLeft<6>(hn::And(upper, hn::Set(du32, ~0x1Fu)));
  const VU32 sum = hn::Add(chord, hn::BitCast(du32, hn::ConvertTo(d32, bulge)));
  return hn::BitCast(d32, hn::ShiftRight<15>(sum));
}

HWY_INLINE VU32 upper_words(VF64 low, VF64 high) {
  return hn::ConcatOdd(du32, hn::BitCast(du32, high), hn::BitCast(du32, low));
}

/* sv + n, and the same plus g^2 sigma1: whole numbers. No fused operations: must match vif_math.h. */
HWY_INLINE void noise_and_total(VF64 s1, VF64 s2, VF64 s12, VF64 gain_limit, VF64& noise, VF64& total) {
  const VF64 g = hn::Div(s12, hn::Add(s1, hn::Set(df64, kVifEpsilon)));
  const VF64 residual = hn::Sub(s2, hn::Mul(g, s12));
  noise = hn::Add(hn::Trunc(hn::Max(residual, hn::Zero(df64))), hn::Set(df64, kVifNoise));
  const VF64 gain = hn::Min(g, gain_limit);
  total = hn::Add(hn::Trunc(hn::Mul(hn::Mul(gain, gain), s1)), noise);
}

HWY_INLINE void add_samples(VU32 mu1, VU32 mu2, VU32 xx, VU32 yy, VU32 xy, M32 valid, VF64 gain_limit, V32& num_log, V32& den_log,
                            VU64& num_non_log, size_t& count) {
  const VU32 mu1_odd = odd_to_even(mu1), mu2_odd = odd_to_even(mu2);
  const V32 zero = hn::Zero(d32);
  const V32 s1 = hn::BitCast(d32, hn::Sub(xx, mean_product(mu1, mu1, mu1_odd, mu1_odd)));
  const V32 s2 = hn::Max(hn::BitCast(d32, hn::Sub(yy, mean_product(mu2, mu2, mu2_odd, mu2_odd))), zero);
  const V32 s12 = hn::BitCast(d32, hn::Sub(xy, mean_product(mu1, mu2, mu1_odd, mu2_odd)));

  const M32 is_log = hn::And(valid, hn::Gt(s1, hn::Set(d32, kVifNoise - 1)));
  const VU32 plain = hn::BitCast(du32, hn::IfThenElseZero(hn::AndNot(is_log, valid), s2));
  num_non_log = hn::Add(num_non_log, hn::And(hn::BitCast(du64, plain), hn::Set(du64, 0xFFFFFFFFu)));
  num_non_log = hn::Add(num_non_log, hn::ShiftRight<32>(hn::BitCast(du64, plain)));
  if (hn::AllFalse(d32, is_log)) return;
  count += hn::CountTrue(d32, is_log);

  const hn::Half<D32> dh;
  const VF64 s1_low = hn::PromoteTo(df64, hn::LowerHalf(s1)), s1_high = hn::PromoteTo(df64, hn::UpperHalf(dh, s1));
  const VF64 noise_constant = hn::Set(df64, kVifNoise);
  const V32 den = log2_less_one(upper_words(hn::Add(s1_low, noise_constant), hn::Add(s1_high, noise_constant)));
  den_log = hn::Add(den_log, hn::IfThenElseZero(is_log, den));

  VF64 noise_low, noise_high, total_low, total_high;
  noise_and_total(s1_low, hn::PromoteTo(df64, hn::LowerHalf(s2)), hn::PromoteTo(df64, hn::LowerHalf(s12)), gain_limit, noise_low,
                  total_low);
  noise_and_total(s1_high, hn::PromoteTo(df64, hn::UpperHalf(dh, s2)), hn::PromoteTo(df64, hn::UpperHalf(dh, s12)), gain_limit,
                  noise_high, total_high);
  const V32 num = hn::Sub(log2_less_one(upper_words(total_low, total_high)), log2_less_one(upper_words(noise_low, noise_high)));
  const M32 has_gain = hn::And(is_log, hn::And(hn::Gt(s12, zero), hn::Gt(s2, zero)));
  num_log = hn::Add(num_log, hn::IfThenElseZero(has_gain, num));
}

/* Horizontal pass and statistic of one row. */
template <class S>
void add_row(const Strip<S>& strip, int row) {
  constexpr int kScale = S::kScale;
  const size_t n = hn::Lanes(d32), columns = strip.columns;
  const VF64 gain_limit = hn::Set(df64, strip.gain_limit);
  const V32 unbias = constant(0x80000000u);
  V32 num_log = hn::Zero(d32), den_log = hn::Zero(d32);
  VU64 num_non_log = hn::Zero(du64);
  size_t count = 0;
  for (size_t x = 0; x < columns; x += 2 * n) {
    V32 mu1_even, mu1_odd, mu2_even, mu2_odd;
    VU32 xx_even, xx_odd, yy_even, yy_odd, xy_even, xy_odd;
    filter_columns<kScale>(strip.filtered(row, 0) + x, unbias, mu1_even, mu1_odd);
    filter_columns<kScale>(strip.filtered(row, 1) + x, unbias, mu2_even, mu2_odd);
    filter_square_columns<kScale>(strip.filtered(row, 2) + x, strip.filtered(row, 3) + x, xx_even, xx_odd);
    filter_square_columns<kScale>(strip.filtered(row, 4) + x, strip.filtered(row, 5) + x, yy_even, yy_odd);
    filter_square_columns<kScale>(strip.filtered(row, 6) + x, strip.filtered(row, 7) + x, xy_even, xy_odd);
    const M32 valid_even = hn::FirstN(d32, HWY_MIN(n, (columns - x + 1) / 2));
    const M32 valid_odd = hn::FirstN(d32, HWY_MIN(n, (columns - x) / 2));
    add_samples(hn::BitCast(du32, mu1_even), hn::BitCast(du32, mu2_even), xx_even, yy_even, xy_even, valid_even, gain_limit, num_log,
                den_log, num_non_log, count);
    add_samples(hn::BitCast(du32, mu1_odd), hn::BitCast(du32, mu2_odd), xx_odd, yy_odd, xy_odd, valid_odd, gain_limit, num_log,
                den_log, num_non_log, count);
  }
  VifScaleSums& sums = *strip.sums;
  const int64_t logs = static_cast<int64_t>(count);
  sums.num_log += hn::GetLane(hn::SumOfLanes(d32, num_log));
  sums.den_log += hn::GetLane(hn::SumOfLanes(d32, den_log)) - 16 * 2048 * logs;
  sums.num_non_log += static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(du64, num_non_log)));
  sums.den_non_log += static_cast<int64_t>(columns) - logs;
}

// -- The next scale's planes -----------------------------------------------------------------------------------------

template <class S>
void decimate_plane(const Strip<S>& strip, const int16_t* HWY_RESTRICT const* slots, int plane, uint16_t* HWY_RESTRICT out) {
  constexpr int kSkip = S::kRadius - S::kNextRadius;  // pairs that only this scale's wider window reaches
  const size_t n16 = hn::Lanes(d16), n32 = hn::Lanes(d32);
  const int shift = S::kBytes ? 8 : S::kScale > 0 ? 16 : strip.shifts.mean;
  uint16_t* line = strip.filtered_for_next(plane);
  for (size_t b = 0; b < strip.blocks(); b++) {
    V32 even, odd;
    filter_row<S::kNext>(slots + kSkip, (b * S::kPlanes + plane) * 2 * n16, mean_start<S>(shift), even, odd);
    store_mean<S>(even, odd, shift, line + b * n16);
  }
  const hn::Rebind<uint16_t, D32> half16;
  const size_t wanted = strip.columns / 2;
  for (size_t x = 0; x < wanted; x += n32) {
    V32 even, odd;
    filter_columns<S::kNext>(line + 2 * (x + kSkip), constant(0x80008000u), even, odd);
    const V32 rounded = hn::BitCast(d32, hn::ShiftRight<16>(hn::BitCast(du32, even)));
    hn::StoreU(hn::DemoteTo(half16, rounded), half16, out + x);
  }
}

// -- Scales ----------------------------------------------------------------------------------------------------------

template <class S>
void run_strip(const Strip<S>& strip) {
  const int h = strip.ref.h;
  for (int pair = -S::kRadius; pair < S::kRadius; pair++) load_pair(strip, pair);
  for (int pair = 0; 2 * pair < h; pair++) {
    load_pair(strip, pair + S::kRadius);
    const int16_t* slots[S::kPairs];
    for (int k = 0; k < S::kPairs; k++) slots[k] = strip.slot(pair - S::kRadius + k);
    if (S::kHasNext && pair < strip.next_ref.h) {
      decimate_plane(strip, slots, 0, strip.next_ref.row(pair) + strip.x0 / 2);
      decimate_plane(strip, slots, 1, strip.next_dist.row(pair) + strip.x0 / 2);
    }
    if (!strip.sums) continue;
    filter_vertically(strip, slots);
    add_row(strip, 0);
    if (2 * pair + 1 < h) add_row(strip, 1);
  }
}

template <class T, int kScale>
void run_scales(const Plane<const T>& ref, const Plane<const T>& dist, const VifParams& params, const StripMemory& memory,
                std::byte* planes, VifSums& sums) {
  using S = Stage<T, kScale>;
  const int w = ref.w / 2, h = ref.h / 2;
  const size_t stride = decimated_stride(w);
  const auto plane_at = [&](int i) {
    return Plane<uint16_t>{reinterpret_cast<uint16_t*>(planes + i * stride * h), static_cast<ptrdiff_t>(stride), w, h};
  };
  const Plane<uint16_t> next_ref = plane_at(0), next_dist = plane_at(1);
  VifScaleSums* wanted = kScale == 0 && params.skip_scale0 ? nullptr : &sums.scale[kScale];
  for (int x0 = 0; x0 < ref.w; x0 += kStrip)
    run_strip(Strip<S>{ref, dist, next_ref, next_dist, vif_shifts(kScale, params.bpc), params.gain_limit, x0,
                       HWY_MIN(kStrip, ref.w - x0), memory, wanted});
  if constexpr (S::kHasNext)
    run_scales<uint16_t, kScale + 1>({next_ref.data, next_ref.stride, w, h}, {next_dist.data, next_dist.stride, w, h}, params, memory,
                                     planes + 2 * stride * h, sums);
}

void vif(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, VifSums& sums) {
  const StripMemory memory = {scratch, scratch + kRingBytes, scratch + kRingBytes + kFilteredBytes};
  std::byte* planes = scratch + kRingBytes + kFilteredBytes + kInputBytes;
  if (params.bpc == 8)
    run_scales<uint8_t, 0>(ref.as<uint8_t>(), dist.as<uint8_t>(), params, memory, planes, sums);
  else
    run_scales<uint16_t, 0>(ref.as<uint16_t>(), dist.as<uint16_t>(), params, memory, planes, sums);
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(vif);

size_t vif_scratch_bytes_simd(const VifParams& params) {
  size_t bytes = kRingBytes + kFilteredBytes + kInputBytes;
  for (int s = 1; s < kVifScales; s++) bytes += 2 * decimated_stride(params.w >> s) * (params.h >> s);
  return HWY_MAX(bytes + kCacheLine * 4, vif_scratch_bytes_ref(params));
}

void vif_simd(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, VifSums& sums) {
  HWY_DYNAMIC_DISPATCH(vif)(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
#endif
