/* VIF, the SIMD twin: one source for every instruction set, equal to vif_ref.cpp to the last bit.
 *
 * A strip of columns goes through three steps, four rows at a time (vif_rows.h holds what lies between them):
 *
 *   vertical pass     Samples and their products lie in a ring of row pairs; 16-bit multiply-adds of pairs give sums of
 * 32 bits (vif_rows.h). Products of 16-bit samples run as high and low halves, since sum f p = 2^16 sum f high + sum f
 * low. Unsigned halves are stored minus 32768; the taps add up to 2^16, so that the sums are off by 2^31, which their
 * start makes up for. horizontal pass   The same on rows: means as they are, mean squares as halves. Only sum f high +
 * ((sum f low + 2^15) >> 16) is wanted. Then variances; samples without the log form are done with here. logarithms
 * Division and products in double precision, logarithms by polynomial.
 *
 * The filters of the next scale share the ring, and make only the rows and columns that are kept.
 *
 * Floor of a 1920x1080 frame of 8 bit on AVX-512 with VNNI: per 32 samples of scale 0, 90 multiply-adds in the vertical
 * pass, 144 in the horizontal one, 12 products of means and 64 operations of the logarithms, on two ports 155 cycles;
 * the smaller scales add a third: 13 million cycles, 3.3 ms at 4 GHz. Measured 5.5 ms: the horizontal pass also needs
 * 136 load slots, as its 64 shifted loads cross cache lines, and the processor looks ahead too little to fill both.
 * Without VNNI 6.2, AVX2 12, SSE4 28, the definition 420; 10 bit 6.4, 7.3, 14, 32. */
#include "kernels/vif/vif.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vif/vif_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
#include "kernels/vif/vif_vertical-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC optimize("no-tree-ter", "no-tree-reassoc")  // see vif_vertical-inl.h
#endif
#if VMAFX_VIF_VNNI
#pragma GCC target("avx512vnni")
#endif
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* One lane holds no pairs: a machine without vectors takes the definition. */
void vif(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, VifSums& sums) {
  vif_ref(params, ref, dist, scratch, sums);
}

#else

// -- Horizontal pass -------------------------------------------------------------------------------------------------

/* Window sums of a row of the vertical pass: `in` points at the first pair of columns under the window. */
template <int kScale>
HWY_INLINE void filter_columns(const uint16_t* HWY_RESTRICT in, V32 start, V32& even, V32& odd) {
  constexpr auto kTaps = vif_pair_taps<kScale>();
  even = odd = start;
#pragma GCC unroll kVifUnroll
  for (size_t k = 0; k < kTaps.size(); k++) {
    const V16 pairs = hn::BitCast(d16, hn::LoadU(du16, in + 2 * (kTaps[k].pair + vif_pair_radius(kScale))));
    even = add_pair_products(pairs, taps(kTaps[k].even), even);
    odd = add_pair_products(pairs, taps(kTaps[k].odd), odd);
  }
}

/* (sum f S + 2^15) >> 16 of 32-bit S in halves: exact, since sum f low + 2^15 is below 2^32. */
template <int kScale>
HWY_INLINE void filter_square_columns(const uint16_t* high, const uint16_t* low, VU32& even, VU32& odd) {
  V32 high_even, high_odd, low_even, low_odd;
  filter_columns<kScale>(high, constant(0x80000000u), high_even, high_odd);
  filter_columns<kScale>(low, constant(0x80008000u), low_even, low_odd);
  even = hn::Add(hn::BitCast(du32, high_even), hn::ShiftRight<16>(hn::BitCast(du32, low_even)));
  odd = hn::Add(hn::BitCast(du32, high_odd), hn::ShiftRight<16>(hn::BitCast(du32, low_odd)));
}

HWY_INLINE VU32 odd_to_even(VU32 v) { return hn::BitCast(du32, hn::ShiftRight<32>(hn::BitCast(du64, v))); }

/* vif_mean_product(); `a_odd`, `b_odd`: the odd lanes moved to even places. */
HWY_INLINE VU32 mean_product(VU32 a, VU32 b, VU32 a_odd, VU32 b_odd) {
  const VU64 half = hn::Set(du64, uint64_t{1} << 31);
  const VU64 even = hn::ShiftRight<32>(hn::Add(hn::MulEven(a, b), half));
  const VU64 odd = hn::Add(hn::MulEven(a_odd, b_odd), half);
  return hn::OddEven(hn::BitCast(du32, odd), hn::BitCast(du32, even));
}

/* Variances and covariance of a vector of samples, of which the first `valid` count. num_non_log gets what belongs
 * there; if any sample takes the log form, the vector goes to `out`, with zeros where a sample is to add no more than
 * noise alone would. Returns how many take the log form. */
HWY_INLINE size_t sort_samples(VU32 mu1, VU32 mu2, VU32 xx, VU32 yy, VU32 xy, size_t valid, const VifSigmas& out,
                               VU64& num_non_log) {
  const VU32 mu1_odd = odd_to_even(mu1), mu2_odd = odd_to_even(mu2);
  const V32 zero = hn::Zero(d32);
  const V32 sigma1_sq = hn::BitCast(d32, hn::Sub(xx, mean_product(mu1, mu1, mu1_odd, mu1_odd)));
  V32 sigma2_sq = hn::Max(hn::BitCast(d32, hn::Sub(yy, mean_product(mu2, mu2, mu2_odd, mu2_odd))), zero);
  const V32 sigma12 = hn::BitCast(d32, hn::Sub(xy, mean_product(mu1, mu2, mu1_odd, mu2_odd)));

  M32 is_log = hn::Gt(sigma1_sq, hn::Set(d32, kVifNoise - 1));
  if (HWY_UNLIKELY(valid < hn::Lanes(d32))) {
    is_log = hn::And(is_log, hn::FirstN(d32, valid));
    sigma2_sq = hn::IfThenElseZero(hn::FirstN(d32, valid), sigma2_sq);
  }
  const VU64 plain = hn::BitCast(du64, hn::IfThenZeroElse(is_log, sigma2_sq));
  num_non_log = hn::Add(num_non_log, hn::Add(hn::And(plain, hn::Set(du64, 0xFFFFFFFFu)), hn::ShiftRight<32>(plain)));

  const M32 has_gain = hn::And(is_log, hn::And(hn::Gt(sigma12, zero), hn::Gt(sigma2_sq, zero)));
  hn::Store(hn::IfThenElseZero(is_log, sigma1_sq), d32, out.sigma1_sq);
  hn::Store(sigma2_sq, d32, out.sigma2_sq);
  hn::Store(hn::IfThenElseZero(has_gain, sigma12), d32, out.sigma12);
  return hn::CountTrue(d32, is_log);
}

/* The horizontal pass of one row. `count` samples are in the strip's sigmas so far. */
template <class S>
HWY_NOINLINE void filter_horizontally(const Strip<S>& strip, int row, size_t& count) {
  constexpr int kScale = S::kScale;
  const size_t n = hn::Lanes(d32), columns = strip.columns;
  const V32 unbias = constant(0x80000000u);
  const VifSigmas out = strip.memory.sigmas();
  const auto in = [&](int plane, size_t x) { return strip.memory.filtered(row, plane) + x; };
  VU64 num_non_log = hn::Zero(du64);
  size_t logs = 0;
  for (size_t x = 0; x < columns; x += 2 * n) {
    V32 mu1_even, mu1_odd, mu2_even, mu2_odd;
    VU32 xx_even, xx_odd, yy_even, yy_odd, xy_even, xy_odd;
    filter_columns<kScale>(in(0, x), unbias, mu1_even, mu1_odd);
    filter_columns<kScale>(in(1, x), unbias, mu2_even, mu2_odd);
    filter_square_columns<kScale>(in(2, x), in(3, x), xx_even, xx_odd);
    filter_square_columns<kScale>(in(4, x), in(5, x), yy_even, yy_odd);
    filter_square_columns<kScale>(in(6, x), in(7, x), xy_even, xy_odd);
    const size_t even_logs = sort_samples(hn::BitCast(du32, mu1_even), hn::BitCast(du32, mu2_even), xx_even, yy_even,
                                          xy_even, (columns - x + 1) / 2, out + count, num_non_log);
    count += even_logs ? n : 0;
    const size_t odd_logs = sort_samples(hn::BitCast(du32, mu1_odd), hn::BitCast(du32, mu2_odd), xx_odd, yy_odd, xy_odd,
                                         (columns - x) / 2, out + count, num_non_log);
    count += odd_logs ? n : 0;
    logs += even_logs + odd_logs;
  }
  strip.sums->num_non_log += static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(du64, num_non_log)));
  strip.sums->den_non_log += static_cast<int64_t>(columns - logs);
}

/* The horizontal pass of one row of the next scale. */
template <class S>
void filter_horizontally_for_next(const Strip<S>& strip, int row, int picture, uint16_t* HWY_RESTRICT out) {
  const hn::Rebind<uint16_t, decltype(d32)> half16;
  const uint16_t* in = strip.memory.filtered_for_next(row, picture) + 2 * S::kSkip;
  for (size_t x = 0; x < static_cast<size_t>(strip.columns) / 2; x += hn::Lanes(d32)) {
    V32 even, odd;
    filter_columns<S::kNext>(in + 2 * x, constant(0x80008000u), even, odd);
    const V32 rounded = hn::BitCast(d32, hn::ShiftRight<16>(hn::BitCast(du32, even)));
    hn::StoreU(hn::DemoteTo(half16, rounded), half16, out + x);
  }
}

// -- Logarithms of whole numbers >= 2^17, from the upper words of their doubles: vif_log2() of vif_math.h --------------

constexpr uint32_t kUpperWordOfNoise = (1023 + 17) << 20;
static_assert(kVifNoise == 1 << 17);

/* u of vif_log2_entry(). The 15 bits of m are the mantissa's first. */
HWY_INLINE VF32 log2_argument(VU32 upper) {
  const VU32 one_to_two = hn::Or(hn::And(hn::ShiftLeft<3>(upper), hn::Set(du32, 0x7FFF00)), hn::Set(du32, 0x3F800000));
  return hn::Sub(hn::BitCast(df32, one_to_two), hn::Set(df32, 1.5f));
}

/* The logarithm plus kLog2Excess, from u's polynomial, whose bits count in units of 1 from 2^23 on, and the upper word,
 * whose exponent and m are the logarithm's chord. The excess is 2^23's own bits, less an exponent that wraps around: (e
 * + 1023) << 26 is (e - 1) << 26. */
constexpr int32_t kLog2Excess = (0x4B000000 >> 15) - 2048;
HWY_INLINE V32 log2_value(VU32 upper, VF32 bulge) {
  const VU32 chord = hn::And(hn::ShiftLeft<6>(upper), hn::Set(du32, ~0x7FFu));
  return hn::BitCast(d32, hn::ShiftRight<15>(hn::Add(chord, hn::BitCast(du32, bulge))));
}

/* Three logarithms in step, as one alone would wait for each of its multiply-adds. */
HWY_INLINE void log2_of_three(VU32 a, VU32 b, VU32 c, V32& log_a, V32& log_b, V32& log_c) {
  const VF32 ua = log2_argument(a), ub = log2_argument(b), uc = log2_argument(c);
  VF32 pa = hn::Set(df32, kVifLog2Poly[kVifLog2Degree]), pb = pa, pc = pa;
#pragma GCC unroll kVifUnroll
  for (int k = kVifLog2Degree - 1; k >= 0; k--) {
    const VF32 coefficient = hn::Set(df32, kVifLog2Poly[k]);
    pa = hn::MulAdd(pa, ua, coefficient);
    pb = hn::MulAdd(pb, ub, coefficient);
    pc = hn::MulAdd(pc, uc, coefficient);
  }
  log_a = log2_value(a, pa);
  log_b = log2_value(b, pb);
  log_c = log2_value(c, pc);
}

HWY_INLINE VU32 upper_words(VF64 low, VF64 high) {
  return hn::ConcatOdd(du32, hn::BitCast(du32, high), hn::BitCast(du32, low));
}

// -- What goes into the logarithms, in double precision. No fused operations: must match vif_math.h --------------------

HWY_INLINE VF64 load_double(const int32_t* p) {
  const hn::Rebind<int32_t, decltype(df64)> half;
  return hn::PromoteTo(df64, hn::Load(half, p));
}

/* g of half a vector of samples. */
HWY_INLINE VF64 gains(const VifSigmas& in) {
  return hn::Div(load_double(in.sigma12), hn::Add(load_double(in.sigma1_sq), hn::Set(df64, kVifEpsilon)));
}

/* sigma1 + n; sv + n; and that plus g^2 sigma1: whole numbers, of half a vector. */
HWY_INLINE void arguments_of_logs(const VifSigmas& in, VF64 g, VF64 gain_limit, VF64& visible, VF64& noise,
                                  VF64& total) {
  const VF64 s1 = load_double(in.sigma1_sq), s2 = load_double(in.sigma2_sq), s12 = load_double(in.sigma12);
  const VF64 n = hn::Set(df64, kVifNoise);
  const VF64 residual = hn::Sub(s2, hn::Mul(g, s12));
  const VF64 gain = hn::Min(g, gain_limit);
  visible = hn::Add(s1, n);
  noise = hn::Add(hn::Trunc(hn::Max(residual, hn::Zero(df64))), n);
  total = hn::Add(hn::Trunc(hn::Mul(hn::Mul(gain, gain), s1)), noise);
}

/* Adds up `count` samples, whole vectors. From division to logarithm a sample's way is longer than the processor looks
 * ahead, so each round takes three vectors one step further. The vectors that run in and out count as noise alone. */
void add_logs(VifSigmas in, size_t count, double limit, VifScaleSums& sums) {
  const size_t n = hn::Lanes(d32);
  const VF64 gain_limit = hn::Set(df64, limit);
  V32 num_log = hn::Zero(d32), den_log = hn::Zero(d32);
  VU32 visible = hn::Set(du32, kUpperWordOfNoise), noise = visible, total = visible;
  VF64 gains_low = gains(in), gains_high = gains(in + n / 2);
  for (size_t i = 0; i <= count; i += n) {
    V32 log_visible, log_noise, log_total;
    log2_of_three(visible, noise, total, log_visible, log_noise, log_total);
    den_log = hn::Add(den_log, log_visible);
    num_log = hn::Add(num_log, hn::Sub(log_total, log_noise));

    VF64 visible_low, visible_high, noise_low, noise_high, total_low, total_high;
    arguments_of_logs(in, gains_low, gain_limit, visible_low, noise_low, total_low);
    arguments_of_logs(in + n / 2, gains_high, gain_limit, visible_high, noise_high, total_high);
    visible = upper_words(visible_low, visible_high);
    noise = upper_words(noise_low, noise_high);
    total = upper_words(total_low, total_high);

    in = in + n;
    gains_low = gains(in);
    gains_high = gains(in + n / 2);
  }
  sums.num_log += hn::GetLane(hn::SumOfLanes(d32, num_log));
  sums.den_log +=
      hn::GetLane(hn::SumOfLanes(d32, den_log)) - (kLog2Excess + 17 * 2048) * static_cast<int64_t>(count + n);
}

// -- Scales ----------------------------------------------------------------------------------------------------------

template <class S>
void run_group(const Strip<S>& strip, int y) {
  const int first_pair = y / 2;
  const int16_t* slots[S::kSlots];
  for (int k = 0; k < S::kSlots; k++) slots[k] = strip.pairs(first_pair - S::kRadius + k);
  filter_vertically(strip, slots);
  for (int i = 0; S::kHasNext && i < kVifGroupRows / 2 && first_pair + i < strip.next_ref.h; i++) {
    filter_horizontally_for_next(strip, i, 0, strip.next_ref.row(first_pair + i) + strip.x0 / 2);
    filter_horizontally_for_next(strip, i, 1, strip.next_dist.row(first_pair + i) + strip.x0 / 2);
  }
  if (!strip.sums) return;
  size_t count = 0;
  for (int row = 0; row < kVifGroupRows && y + row < strip.ref.h; row++) filter_horizontally(strip, row, count);
  add_logs(strip.memory.sigmas(), count, strip.gain_limit, *strip.sums);
}

template <class S>
void run_strip(const Strip<S>& strip) {
  for (int pair = -S::kRadius; pair < S::kRadius; pair++) load_pair(strip, pair);
  for (int y = 0; y < strip.ref.h; y += kVifGroupRows) {
    for (int i = 0; i < kVifGroupRows / 2; i++) load_pair(strip, y / 2 + S::kRadius + i);
    run_group(strip, y);
  }
}

Plane<const uint16_t> read_only(const Plane<uint16_t>& p) { return {p.data, p.stride, p.w, p.h}; }

/* `planes`: memory for the planes of the scales to come, each ref before dist. */
template <class T, int kScale>
void run_scales(const Plane<const T>& ref, const Plane<const T>& dist, const VifParams& params,
                const VifStripMemory& memory, std::byte* planes, VifSums& sums) {
  using S = Stage<T, kScale>;
  const int w = ref.w / 2, h = ref.h / 2;
  const size_t stride = vif_decimated_stride(w);
  const auto plane_at = [&](int i) {
    return Plane<uint16_t>{reinterpret_cast<uint16_t*>(planes + i * stride * h), static_cast<ptrdiff_t>(stride), w, h};
  };
  const Plane<uint16_t> next_ref = plane_at(0), next_dist = plane_at(1);
  VifScaleSums* wanted = kScale == 0 && params.skip_scale0 ? nullptr : &sums.scale[kScale];
  for (int x0 = 0; x0 < ref.w; x0 += kVifStripColumns)
    run_strip(Strip<S>{ref, dist, next_ref, next_dist, vif_shifts(kScale, params.bpc), params.gain_limit, x0,
                       HWY_MIN(kVifStripColumns, ref.w - x0), memory, wanted});
  if constexpr (S::kHasNext)
    run_scales<uint16_t, kScale + 1>(read_only(next_ref), read_only(next_dist), params, memory, planes + 2 * stride * h,
                                     sums);
}

void vif(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, VifSums& sums) {
  const VifStripMemory memory(scratch);
  std::byte* planes = scratch + VifStripMemory::kBytes;
  if (params.bpc == 8) run_scales<uint8_t, 0>(ref.as<uint8_t>(), dist.as<uint8_t>(), params, memory, planes, sums);
  else run_scales<uint16_t, 0>(ref.as<uint16_t>(), dist.as<uint16_t>(), params, memory, planes, sums);
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(vif);

size_t vif_scratch_bytes_simd(const VifParams& params) {
  size_t bytes = VifStripMemory::kBytes;
  for (int s = 1; s < kVifScales; s++) bytes += 2 * vif_decimated_stride(params.w >> s) * (params.h >> s);
  return HWY_MAX(bytes, vif_scratch_bytes_ref(params));
}

void vif_simd(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
              VifSums& sums) {
  HWY_DYNAMIC_DISPATCH(vif)(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
#endif
