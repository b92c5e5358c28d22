/* VIF, the SIMD twin: row pairs in, and the vertical pass. Included once per instruction set. */
#if defined(VMAFX_KERNELS_VIF_VIF_VERTICAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_VIF_VIF_VERTICAL_INL_H
#undef VMAFX_KERNELS_VIF_VIF_VERTICAL_INL_H
#else
#define VMAFX_KERNELS_VIF_VIF_VERTICAL_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>

#include "base/picture.h"
#include "kernels/arithmetic/pair_products-inl.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/prefetch.h"
#include "kernels/vif/vif_rows.h"

HWY_BEFORE_NAMESPACE();
#if HWY_COMPILER_GCC_ACTUAL
/* Keeps the sums of products in source order: gcc would make all the products first and spill them (AVX2: 16 ms, not
 * 13). */
#pragma GCC optimize("no-tree-ter", "no-tree-reassoc")
#endif
VMAFX_ALLOW_VNNI
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::ScalableTag<int16_t> d16;
constexpr hn::ScalableTag<uint16_t> du16;
constexpr hn::ScalableTag<int32_t> d32;
constexpr hn::ScalableTag<uint32_t> du32;
constexpr hn::ScalableTag<uint64_t> du64;
constexpr hn::ScalableTag<float> df32;
constexpr hn::ScalableTag<double> df64;
using V16 = hn::Vec<decltype(d16)>;
using VU16 = hn::Vec<decltype(du16)>;
using V32 = hn::Vec<decltype(d32)>;
using VU32 = hn::Vec<decltype(du32)>;
using VU64 = hn::Vec<decltype(du64)>;
using VF32 = hn::Vec<decltype(df32)>;
using VF64 = hn::Vec<decltype(df64)>;
using M32 = hn::Mask<decltype(d32)>;

HWY_INLINE V16 taps(int32_t packed) { return hn::BitCast(d16, hn::Set(d32, packed)); }
HWY_INLINE V32 constant(uint32_t value) { return hn::Set(d32, static_cast<int32_t>(value)); }
HWY_INLINE VU16 flip_sign(VU16 v) { return hn::Xor(v, hn::Set(du16, 0x8000)); }

/* The parameters of one scale, known at compile time. `T`: its samples. */
template <class T, int kScale_, bool kUseVnni_>
struct Stage {
  using Sample = T;
  static constexpr int kScale = kScale_;
  static constexpr bool kUseVnni = kUseVnni_;
  static constexpr bool kBytes = sizeof(T) == 1;
  static constexpr bool kHasNext = kScale + 1 < kVifScales;
  static constexpr int kNext = kHasNext ? kScale + 1 : kScale;
  static constexpr int kRadius = vif_pair_radius(kScale);
  static constexpr int kMargin = 2 * kRadius;                     // columns beyond a strip, each side
  static constexpr int kSkip = kRadius - vif_pair_radius(kNext);  // pairs that the next scale's window does not reach
  static constexpr int kSlots = 2 * kRadius + kVifGroupRows / 2;  // row pairs under the windows of a group
  static constexpr int kHalves = kBytes ? 1 : 2;                  // planes of a product, see load_pair()

  static constexpr int products(int picture) { return picture == kVifReference ? 1 : 2; }
  static constexpr int planes(int picture) { return 1 + kHalves * products(picture); }
};

/* The reference and its encodes at one scale. */
template <class T>
struct Pictures {
  Plane<T> at[kVifEncode + kVifEncodesAtOnce];
};

/* One strip of one scale. */
template <class S>
struct Strip {
  const Pictures<const typename S::Sample>& in;
  const Pictures<uint16_t>& next;
  int pictures;  // the reference is one
  VifShifts shifts;
  double gain_limit;
  int x0;
  int columns;
  VifStripMemory memory;
  VifScaleSums* const* sums;  // by picture; nullptr: decimate only
  const VifBlocks* mapped;    // of the one encode; nullptr: not wanted

  int height() const { return in.at[kVifReference].h; }

  size_t blocks() const { return hwy::RoundUpTo(columns + 2 * S::kMargin, hn::Lanes(d16)) / hn::Lanes(d16); }
  int16_t* pairs(int picture, int pair) const { return memory.pairs(picture, (pair + S::kSlots) % S::kSlots); }
  int mean_shift() const { return S::kBytes ? 8 : S::kScale > 0 ? 16 : shifts.mean; }  // constants where they can be
  int square_shift() const { return S::kBytes ? 0 : S::kScale > 0 ? 16 : shifts.square; }
};

// -- Row pairs in ----------------------------------------------------------------------------------------------------

/* mirror(), where a window's zero taps may reach further than one reflection. */
int reflect(int i, int size) { return HWY_MAX(0, HWY_MIN(mirror(i, size), size - 1)); }

/* Copies the strip's part of row y with its margins: reflected beyond the borders, zero up to whole vectors. */
template <class S>
const typename S::Sample* load_row(const Strip<S>& strip, const Plane<const typename S::Sample>& plane, int y,
                                   int line) {
  using T = typename S::Sample;
  const int begin = strip.x0 - S::kMargin, end = strip.x0 + strip.columns + S::kMargin;
  const int inner_begin = HWY_MAX(begin, 0), inner_end = HWY_MIN(end, plane.w);
  T* out = strip.memory.template input<T>(line);
  const T* in = plane.row(reflect(y, plane.h));
  for (int x = begin; x < inner_begin; x++) out[x - begin] = in[reflect(x, plane.w)];
  std::memcpy(out + (inner_begin - begin), in + inner_begin, (inner_end - inner_begin) * sizeof(T));
  for (int x = inner_end; x < end; x++) out[x - begin] = in[reflect(x, plane.w)];
  std::memset(out + (end - begin), 0, (strip.blocks() * hn::Lanes(d16) - (end - begin)) * sizeof(T));
  return out;
}

HWY_INLINE VU16 load_samples(const uint16_t* p) { return hn::Load(du16, p); }
HWY_INLINE VU16 load_samples(const uint8_t* p) {
  const hn::Rebind<uint8_t, decltype(du16)> du8;
  return hn::PromoteTo(du16, hn::Load(du8, p));
}

/* Stores rows a and b as pair lanes: first those of the even columns, then of the odd ones. */
HWY_INLINE void store_pairs(VU16 a, VU16 b, int16_t* out) {
  const VU16 even = hn::OddEven(hn::BitCast(du16, hn::ShiftLeft<16>(hn::BitCast(du32, b))), a);
  const VU16 odd = hn::OddEven(b, hn::BitCast(du16, hn::ShiftRight<16>(hn::BitCast(du32, a))));
  hn::Store(hn::BitCast(d16, even), d16, out);
  hn::Store(hn::BitCast(d16, odd), d16, out + hn::Lanes(d16));
}

/* Rows 2 * pair and 2 * pair + 1 of a picture into its ring. Planes of bytes: the samples, their squares, and of an
 * encode their products with the reference, whose rows were loaded last; of 16-bit samples the products as high and low
 * halves. Unsigned 16-bit values are stored minus 32768, as signed ones. */
template <class S>
HWY_NOINLINE void load_pair(const Strip<S>& strip, int picture, int pair) {
  using T = typename S::Sample;
  const int line = picture == kVifReference ? 0 : 2;
  const T* above = load_row(strip, strip.in.at[picture], 2 * pair, line);
  const T* below = load_row(strip, strip.in.at[picture], 2 * pair + 1, line + 1);
  const T *ref_above = strip.memory.template input<T>(0), *ref_below = strip.memory.template input<T>(1);
  const size_t n = hn::Lanes(d16);
  int16_t* out = strip.pairs(picture, pair);
  const auto store = [&](VU16 a, VU16 b) {
    store_pairs(a, b, out);
    out += 2 * n;
  };
  const auto store_products = [&](VU16 x0, VU16 y0, VU16 x1, VU16 y1) {
    if constexpr (!S::kBytes) store(flip_sign(hn::MulHigh(x0, y0)), flip_sign(hn::MulHigh(x1, y1)));
    store(flip_sign(hn::Mul(x0, y0)), flip_sign(hn::Mul(x1, y1)));
  };
  for (size_t x = 0; x < strip.blocks() * n; x += n) {
    const VU16 a = load_samples(above + x), b = load_samples(below + x);
    if constexpr (S::kBytes) store(a, b);
    else store(flip_sign(a), flip_sign(b));
    store_products(a, a, b, b);
    if (picture != kVifReference) store_products(load_samples(ref_above + x), a, load_samples(ref_below + x), b);
  }
}

// -- Vertical pass ---------------------------------------------------------------------------------------------------

/* Window sums of the pair lanes at `offset` for output rows 0 to 3, even and odd columns. */
template <int kScale, bool kUseVnni>
HWY_INLINE void filter_four_rows(const int16_t* HWY_RESTRICT const* slots, size_t offset, V32 start, V32& even0,
                                 V32& odd0, V32& even1, V32& odd1, V32& even2, V32& odd2, V32& even3, V32& odd3) {
  constexpr auto kTaps = vif_pair_taps<kScale>();
  constexpr int kRadius = vif_pair_radius(kScale);
  even0 = odd0 = even1 = odd1 = even2 = odd2 = even3 = odd3 = start;
#pragma GCC unroll kVifUnroll
  for (size_t k = 0; k < kTaps.size(); k++) {
    const V16 taps0 = taps(kTaps[k].even), taps1 = taps(kTaps[k].odd);
    const int16_t *in = slots[kTaps[k].pair + kRadius] + offset, *below = slots[kTaps[k].pair + kRadius + 1] + offset;
    const V16 even = hn::Load(d16, in), odd = hn::Load(d16, in + hn::Lanes(d16));
    even0 = add_pair_products<kUseVnni>(even, taps0, even0);
    odd0 = add_pair_products<kUseVnni>(odd, taps0, odd0);
    even1 = add_pair_products<kUseVnni>(even, taps1, even1);
    odd1 = add_pair_products<kUseVnni>(odd, taps1, odd1);
    const V16 even_below = hn::Load(d16, below), odd_below = hn::Load(d16, below + hn::Lanes(d16));
    even2 = add_pair_products<kUseVnni>(even_below, taps0, even2);
    odd2 = add_pair_products<kUseVnni>(odd_below, taps0, odd2);
    even3 = add_pair_products<kUseVnni>(even_below, taps1, even3);
    odd3 = add_pair_products<kUseVnni>(odd_below, taps1, odd3);
  }
}

/* Filters output row 0 alone. */
template <int kScale, bool kUseVnni>
HWY_INLINE void filter_row(const int16_t* HWY_RESTRICT const* slots, size_t offset, V32 start, V32& even, V32& odd) {
  constexpr auto kTaps = vif_pair_taps<kScale>();
  even = odd = start;
#pragma GCC unroll kVifUnroll
  for (size_t k = 0; k < kTaps.size(); k++) {
    const int16_t* in = slots[kTaps[k].pair + vif_pair_radius(kScale)] + offset;
    even = add_pair_products<kUseVnni>(hn::Load(d16, in), taps(kTaps[k].even), even);
    odd = add_pair_products<kUseVnni>(hn::Load(d16, in + hn::Lanes(d16)), taps(kTaps[k].even), odd);
  }
}

/* Halves of 32-bit lanes, in the order of the columns. */
HWY_INLINE VU16 low_halves(V32 even, V32 odd) {
  return hn::OddEven(hn::BitCast(du16, hn::ShiftLeft<16>(odd)), hn::BitCast(du16, even));
}
HWY_INLINE VU16 high_halves(V32 even, V32 odd) {
  return hn::OddEven(hn::BitCast(du16, odd), hn::BitCast(du16, hn::ShiftRight<16>(even)));
}

/* A mean's sum starts from the rounding, less the bias of the samples, plus that of the 16-bit mean after the shift. */
template <class S>
HWY_INLINE V32 mean_start(int shift) {
  const uint32_t samples_bias = S::kBytes ? 0 : 0x80000000u;
  return constant(samples_bias + (1u << (shift - 1)) - (0x8000u << shift));
}

template <class S>
HWY_INLINE void store_mean(V32 even, V32 odd, int shift, uint16_t* out) {
  const VU16 mean = S::kScale > 0 ? high_halves(even, odd)
                                  : hn::OddEven(hn::BitCast(du16, hn::ShiftLeftSame(odd, 16 - shift)),
                                                hn::BitCast(du16, hn::ShiftRightSame(even, shift)));
  hn::Store(mean, du16, out);
}

/* A mean of squares, less 2^31, as halves: the high one is less 32768 already. */
HWY_INLINE void store_square(V32 even, V32 odd, uint16_t* high, uint16_t* low) {
  hn::Store(high_halves(even, odd), du16, high);
  hn::Store(flip_sign(low_halves(even, odd)), du16, low);
}

/* (high * 2^16 + low) >> shift, modulo 2^32. */
HWY_INLINE V32 join_square(V32 high, V32 low, int shift) {
  const V32 shifted_low = hn::BitCast(d32, hn::ShiftRightSame(hn::BitCast(du32, low), shift));
  return hn::Add(hn::ShiftLeftSame(high, 16 - shift), shifted_low);
}

/* Means of squares of four rows, each less 2^31. */
template <class S>
HWY_INLINE void filter_squares(const int16_t* HWY_RESTRICT const* slots, size_t offset, int shift, V32& e0, V32& o0,
                               V32& e1, V32& o1, V32& e2, V32& o2, V32& e3, V32& o3) {
  if constexpr (S::kBytes) {
    filter_four_rows<S::kScale, S::kUseVnni>(slots, offset, hn::Zero(d32), e0, o0, e1, o1, e2, o2, e3, o3);
  } else {
    const V32 start_high = constant(0x80000000u - (0x8000u << shift));
    const V32 start_low = constant(0x80000000u + (1u << (shift - 1)));
    V32 le0, lo0, le1, lo1, le2, lo2, le3, lo3;
    filter_four_rows<S::kScale, S::kUseVnni>(slots, offset, start_high, e0, o0, e1, o1, e2, o2, e3, o3);
    filter_four_rows<S::kScale, S::kUseVnni>(slots, offset + 2 * hn::Lanes(d16), start_low, le0, lo0, le1, lo1, le2,
                                             lo2, le3, lo3);
    e0 = join_square(e0, le0, shift), o0 = join_square(o0, lo0, shift);
    e1 = join_square(e1, le1, shift), o1 = join_square(o1, lo1, shift);
    e2 = join_square(e2, le2, shift), o2 = join_square(o2, lo2, shift);
    e3 = join_square(e3, le3, shift), o3 = join_square(o3, lo3, shift);
  }
}

/* The means of four rows of a picture, from `row` of the group on, in one block of columns: `in` is their place in a
 * slot, `x` their first column. */
template <class S>
HWY_INLINE void filter_means(const Strip<S>& strip, const int16_t* HWY_RESTRICT const* slots, size_t in, int picture,
                             int row, size_t x) {
  const VifStripMemory& memory = strip.memory;
  const int shift = strip.mean_shift();
  V32 e0, o0, e1, o1, e2, o2, e3, o3;
  if constexpr (S::kHasNext) {
    filter_row<S::kNext, S::kUseVnni>(slots + S::kSkip, in, mean_start<S>(shift), e0, o0);
    filter_row<S::kNext, S::kUseVnni>(slots + S::kSkip + 1, in, mean_start<S>(shift), e1, o1);
    store_mean<S>(e0, o0, shift, memory.filtered_for_next(row / 2) + x);
    store_mean<S>(e1, o1, shift, memory.filtered_for_next(row / 2 + 1) + x);
  }
  if (!strip.sums) return;
  filter_four_rows<S::kScale, S::kUseVnni>(slots, in, mean_start<S>(shift), e0, o0, e1, o1, e2, o2, e3, o3);
  store_mean<S>(e0, o0, shift, memory.filtered(picture, row, 0) + x);
  store_mean<S>(e1, o1, shift, memory.filtered(picture, row + 1, 0) + x);
  store_mean<S>(e2, o2, shift, memory.filtered(picture, row + 2, 0) + x);
  store_mean<S>(e3, o3, shift, memory.filtered(picture, row + 3, 0) + x);
}

/* The squares of four rows, likewise. */
template <class S>
HWY_INLINE void filter_products(const Strip<S>& strip, const int16_t* HWY_RESTRICT const* slots, size_t in, int picture,
                                int row, size_t x) {
  const VifStripMemory& memory = strip.memory;
  for (int product = 0; product < S::products(picture) && strip.sums; product++) {
    const int high = 1 + 2 * product, low = high + 1;
    V32 e0, o0, e1, o1, e2, o2, e3, o3;
    filter_squares<S>(slots, in + (1 + product * S::kHalves) * 2 * hn::Lanes(d16), strip.square_shift(), e0, o0, e1, o1,
                      e2, o2, e3, o3);
    const auto store = [&](int r, V32 e, V32 o) HWY_ATTR {
      store_square(e, o, memory.filtered(picture, r, high) + x, memory.filtered(picture, r, low) + x);
    };
    store(row, e0, o0), store(row + 1, e1, o1), store(row + 2, e2, o2), store(row + 3, e3, o3);
  }
}

/* The vertical pass of a group of rows of a picture, and of half as many of the next scale: a block of columns comes
 * from the second-level cache once for all of them. `pair`: that of the first row. Meanwhile the rows of the picture
 * that the next group takes are asked for. */
template <class S>
HWY_NOINLINE void filter_vertically(const Strip<S>& strip, int picture, int pair) {
  const size_t n = hn::Lanes(d16);
  const int16_t* slots[S::kSlots];  // from the first row pair under the first row
  for (int k = 0; k < S::kSlots; k++) slots[k] = strip.pairs(picture, pair - S::kRadius + k);
  const auto& plane = strip.in.at[picture];
  Ahead ahead[kVifGroupRows];
  for (int row = 0; row < kVifGroupRows; row++)
    ahead[row] = Ahead(plane, 2 * (pair + S::kRadius) + kVifGroupRows + row);
  for (size_t b = 0; b < strip.blocks(); b++) {
    const size_t in = b * S::planes(picture) * 2 * n, x = b * n;
    const int first = strip.x0 - S::kMargin + static_cast<int>(x), last = first + static_cast<int>(n) - 1;
    for (const Ahead& row : ahead) row.fetch(first), row.fetch(last);
    for (int row = 0; row < kVifGroupRows; row += 4) filter_means(strip, slots + row / 2, in, picture, row, x);
    for (int row = 0; row < kVifGroupRows; row += 4) filter_products(strip, slots + row / 2, in, picture, row, x);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#endif
