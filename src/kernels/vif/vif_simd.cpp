/* VIF, the SIMD twin: one source for every instruction set, equal to vif_plain.cpp to the last bit.
 *
 * A strip of columns goes through three steps, eight rows at a time (vif_rows.h holds what lies between them):
 *
 *   vertical pass    Samples and their products lie in a ring of row pairs; 16-bit multiply-adds of pairs give sums of
 *                    32 bits. Products of 16-bit samples run as high and low halves, since
 *                    sum f p = 2^16 sum f high + sum f low. Unsigned halves are stored minus 32768; the taps add up to
 *                    2^16, so that the sums are off by 2^31, which their start makes up for.
 *   horizontal pass  The same on rows: means as they are, mean squares as halves. Only
 *                    sum f high + ((sum f low + 2^15) >> 16) is wanted. Then variances; samples without the log form
 *                    are done with here.
 *   logarithms       Division and products in double precision, logarithms by polynomial.
 *
 * The filters of the next scale share the ring, and make only the rows and columns that are kept.
 *
 * Several encodes of one reference go through a strip together. Eight rows of the reference are filtered first; its
 * means and variances, which of its samples take the log form, and den, which the first encode finds, serve all of
 * them.
 *
 * Floor of a 1920x1080 frame of 8 bit on AVX-512 with VNNI: per 32 samples of scale 0, 96 multiply-adds in the vertical
 * pass, margins included, 144 in the horizontal one, 12 products of means, 12 for the next scale, and 72 slots of
 * multiplications and divisions of the logarithms. Zen 4 multiplies one vector of 64 bytes a cycle: 336 cycles, at 3.68
 * GHz 5.9 ms, and 1.4 ms for the smaller scales. Measured there on a busy machine: 11.4 ms; without VNNI 13.0, AVX2
 * 15.5, SSE4 31 (docs/performance.md). Reasons for the difference: the vertical pass reads its rows from the
 * second-level cache, the horizontal one has as many other operations for the ports that multiply, and the way to a
 * logarithm is long.
 *
 * Intel's processors of servers have two ports for vectors of 64 bytes. As compiled, 32 samples of scale 0 take 610
 * operations there: 30 to load pairs, 153 in the vertical pass, 228 in the horizontal one, 184 of the logarithms and 18
 * for the next scale. With a fifth for the smaller scales that is 7 ms at 3.4 GHz; measured on a Xeon: 10.5 ms. AVX2
 * takes 17 ms there, with AVX-VNNI 14.
 *
 * Floor of each further encode: 54 multiply-adds remain in the vertical pass, 90 in the horizontal one, 8 products of
 * means and about 50 of the logarithms, 202 of 310. Eight encodes together take (310 + 7 * 202) / (8 * 310) = 0.70 of
 * the time that they take one by one. Measured on a Zen server, one thread, busy machine: 0.72, AVX2 0.70, SSE4
 * 0.73; 10 bit 0.70, 0.74. A frame alone takes 1 percent longer than by code for one encode. The logarithms share
 * little, as divisions remain, and loads of rows cost more among many pictures. Narrower strips, four encodes at a
 * time, and g by reciprocals that belong to the reference were no faster. */
#include "kernels/vif/vif.h"

#include <span>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vif/vif_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/cpu.h"
#include "base/rounding.h"

#if HWY_TARGET != HWY_SCALAR
#include "kernels/vif/vif_vertical-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC optimize("no-tree-ter", "no-tree-reassoc")  // see vif_vertical-inl.h
#endif
#if HWY_TARGET != HWY_SCALAR
VMAFX_ALLOW_VNNI
#endif
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* One lane holds no pairs: a machine without vectors takes the definition. */
void vif(const VifParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist, std::byte* scratch,
         VifSums* const* sums, const VifBlocks* blocks) {
  for (size_t i = 0; i < dist.size(); i++) {
    if (blocks) vif_mapped_plain(params, ref, dist[i], scratch, *sums[i], *blocks);
    else vif_plain(params, ref, dist[i], scratch, *sums[i]);
  }
}

#else

/* The list of vectors of a group that have samples of the log form. */
class LogVectors {
 public:
  explicit LogVectors(const VifStripMemory& memory) : places_(memory.log_vectors()) {}

  /* The vector at `place`, of which `samples` take the log form. */
  HWY_INLINE void add(size_t place, size_t samples) {
    places_[vectors_] = static_cast<uint16_t>(place);
    vectors_ += samples ? 1 : 0;
    samples_ += samples;
  }

  /* Adds the entries that are read but not used. */
  void end() const {
    for (size_t i = 0; i < VifStripMemory::kLogVectorsPadding; i++) places_[vectors_ + i] = VifStripMemory::kZeros;
  }

  size_t place(size_t i) const { return places_[i]; }
  size_t vectors() const { return vectors_; }
  size_t samples() const { return samples_; }

 private:
  uint16_t* places_;
  size_t vectors_ = 0, samples_ = 0;
};

// -- Horizontal pass -------------------------------------------------------------------------------------------------

/* Keeps a vector in a register from here on: gcc would load or make it anew for each use. */
HWY_INLINE V16 in_register(V16 v) {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC
  asm("" : "+v"(v.raw));
#endif
  return v;
}

/* A window's taps. They are made once for a row; where registers are few, each is loaded when it is its turn. */
template <int kScale>
class WindowTaps {
 public:
  HWY_INLINE WindowTaps() {
#pragma GCC unroll kVifUnroll
    for (size_t k = 0; k < kTaps.size(); k++) {
      even_[k] = in_register(taps(kTaps[k].even));
      odd_[k] = in_register(taps(kTaps[k].odd));
    }
  }
  HWY_INLINE V16 even(size_t k) const { return kManyRegisters ? even_[k] : in_register(even_[k]); }
  HWY_INLINE V16 odd(size_t k) const { return kManyRegisters ? odd_[k] : in_register(odd_[k]); }

 private:
  static constexpr auto kTaps = vif_pair_taps<kScale>();
  static constexpr bool kManyRegisters = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3;
  V16 even_[kTaps.size()], odd_[kTaps.size()];
};

/* Window sums of the columns of some planes of a picture's row. */
template <int kPlanes>
struct ColumnSums {
  V32 even[kPlanes], odd[kPlanes];

  HWY_INLINE ColumnSums() {}  // gcc would make one that knows nothing of this target, which vectors of NEON need
};

/* Sums rows of the vertical pass, one line after the other: `in` points at the first pair of columns under the window.
 * All planes take a tap before the next one comes, so that it is loaded once. The first plane is a mean; of a square
 * the low half's sum is rounded. */
template <bool kUseVnni, int kScale, int kPlanes>
HWY_INLINE void filter_columns(const uint16_t* HWY_RESTRICT in, const WindowTaps<kScale>& window,
                               ColumnSums<kPlanes>& sums) {
  constexpr auto kTaps = vif_pair_taps<kScale>();
#pragma GCC unroll kVifUnroll
  for (int plane = 0; plane < kPlanes; plane++)
    sums.even[plane] = sums.odd[plane] = constant(plane > 0 && plane % 2 == 0 ? 0x80008000u : 0x80000000u);
#pragma GCC unroll kVifUnroll
  for (size_t k = 0; k < kTaps.size(); k++) {
    const V16 even = window.even(k), odd = window.odd(k);
    const uint16_t* from = in + 2 * (kTaps[k].pair + vif_pair_radius(kScale));
#pragma GCC unroll kVifUnroll
    for (int plane = 0; plane < kPlanes; plane++) {
      const V16 pairs = in_register(hn::BitCast(d16, hn::LoadU(du16, from + plane * kVifLineColumns)));
      sums.even[plane] = add_pair_products<kUseVnni>(pairs, even, sums.even[plane]);
      sums.odd[plane] = add_pair_products<kUseVnni>(pairs, odd, sums.odd[plane]);
    }
  }
}

/* (sum f S + 2^15) >> 16 of 32-bit S in halves: exact, since sum f low + 2^15 is below 2^32. */
HWY_INLINE VU32 join_halves(V32 high, V32 low) {
  return hn::Add(hn::BitCast(du32, high), hn::ShiftRight<16>(hn::BitCast(du32, low)));
}

HWY_INLINE VU32 odd_to_even(VU32 v) { return hn::BitCast(du32, hn::ShiftRight<32>(hn::BitCast(du64, v))); }

/* vif_mean_product(); `a_odd`, `b_odd`: the odd lanes moved to even places. */
HWY_INLINE VU32 mean_product(VU32 a, VU32 b, VU32 a_odd, VU32 b_odd) {
  const VU64 half = hn::Set(du64, uint64_t{1} << 31);
  const VU64 even = hn::ShiftRight<32>(hn::Add(hn::MulEven(a, b), half));
  const VU64 odd = hn::Add(hn::MulEven(a_odd, b_odd), half);
  return hn::OddEven(hn::BitCast(du32, odd), hn::BitCast(du32, even));
}

/* The variances of a vector of samples of the reference, of which the first `valid` count, with zeros for those that
 * do not take the log form. `at`: the vector's place in sigmas(), which goes to `logs` if any does. */
HWY_INLINE void sort_samples(V32 mu1_signed, VU32 xx, size_t valid, VifStripMemory memory, size_t at,
                             LogVectors& logs) {
  const VU32 mu1 = hn::BitCast(du32, mu1_signed), mu1_odd = odd_to_even(mu1);
  const V32 sigma1_sq = hn::BitCast(d32, hn::Sub(xx, mean_product(mu1, mu1, mu1_odd, mu1_odd)));
  M32 is_log = hn::Gt(sigma1_sq, hn::Set(d32, kVifNoise - 1));
  if (HWY_UNLIKELY(valid < hn::Lanes(d32))) is_log = hn::And(is_log, hn::FirstN(d32, valid));
  hn::Store(mu1, du32, memory.mu1() + at);
  hn::Store(hn::IfThenElseZero(is_log, sigma1_sq), d32, memory.sigmas().sigma1_sq + at);
  logs.add(at, hn::CountTrue(d32, is_log));
}

/* Variance and covariance of a vector of samples of an encode, which go to `at`, with zeros where a sample is to add no
 * more than noise alone would. num_non_log gets what belongs there. */
HWY_INLINE void add_samples(V32 mu2_signed, VU32 yy, VU32 xy, size_t valid, VifStripMemory memory, size_t at,
                            VU64& num_non_log) {
  const VifSigmas sigmas = memory.sigmas() + at;
  const VU32 mu1 = hn::Load(du32, memory.mu1() + at), mu2 = hn::BitCast(du32, mu2_signed);
  const VU32 mu1_odd = odd_to_even(mu1), mu2_odd = odd_to_even(mu2);
  const V32 zero = hn::Zero(d32);
  V32 sigma2_sq = hn::Max(hn::BitCast(d32, hn::Sub(yy, mean_product(mu2, mu2, mu2_odd, mu2_odd))), zero);
  const V32 sigma12 = hn::BitCast(d32, hn::Sub(xy, mean_product(mu1, mu2, mu1_odd, mu2_odd)));
  if (HWY_UNLIKELY(valid < hn::Lanes(d32))) sigma2_sq = hn::IfThenElseZero(hn::FirstN(d32, valid), sigma2_sq);

  const M32 is_log = hn::Gt(hn::Load(d32, sigmas.sigma1_sq), zero);
  const VU64 plain = hn::BitCast(du64, hn::IfThenZeroElse(is_log, sigma2_sq));
  num_non_log = hn::Add(num_non_log, hn::Add(hn::And(plain, hn::Set(du64, 0xFFFFFFFFu)), hn::ShiftRight<32>(plain)));

  const M32 has_gain = hn::And(is_log, hn::Gt(hn::Min(sigma12, sigma2_sq), zero));
  hn::Store(sigma2_sq, d32, sigmas.sigma2_sq);
  hn::Store(hn::IfThenElseZero(has_gain, sigma12), d32, sigmas.sigma12);
}

/* The horizontal pass of one row of the reference. */
template <class S>
HWY_NOINLINE LogVectors filter_reference_horizontally(const Strip<S>& strip, int row, LogVectors logs) {
  const VifStripMemory memory = strip.memory;  // a copy: vectors may be stored over anything else
  const size_t n = hn::Lanes(d32), columns = strip.columns;
  const uint16_t* in = memory.filtered(kVifReference, row, 0);
  const WindowTaps<S::kScale> window;
  for (size_t x = 0, at = row * kVifLineColumns; x < columns; x += 2 * n, at += 2 * n) {
    ColumnSums<3> sums;  // mu1, xx in halves
    filter_columns<S::kUseVnni>(in + x, window, sums);
    const auto &e = sums.even, &o = sums.odd;
    sort_samples(e[0], join_halves(e[1], e[2]), (columns - x + 1) / 2, memory, at, logs);
    sort_samples(o[0], join_halves(o[1], o[2]), (columns - x) / 2, memory, at + n, logs);
  }
  return logs;
}

/* The horizontal pass of one row of an encode, whose planes are all in the same place. Returns its part of
 * num_non_log. */
template <class S>
HWY_NOINLINE int64_t filter_encode_horizontally(const Strip<S>& strip, int row) {
  const VifStripMemory memory = strip.memory;
  const size_t n = hn::Lanes(d32), columns = strip.columns;
  const uint16_t* in = memory.filtered(kVifEncode, row, 0);
  VU64 num_non_log = hn::Zero(du64);
  const WindowTaps<S::kScale> window;
  for (size_t x = 0, at = row * kVifLineColumns; x < columns; x += 2 * n, at += 2 * n) {
    ColumnSums<5> sums;  // mu2, yy and xy in halves
    filter_columns<S::kUseVnni>(in + x, window, sums);
    const auto &e = sums.even, &o = sums.odd;
    add_samples(e[0], join_halves(e[1], e[2]), join_halves(e[3], e[4]), (columns - x + 1) / 2, memory, at, num_non_log);
    add_samples(o[0], join_halves(o[1], o[2]), join_halves(o[3], o[4]), (columns - x) / 2, memory, at + n, num_non_log);
  }
  return static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(du64, num_non_log)));
}

/* The horizontal pass of one row of the next scale. */
template <class S>
void filter_horizontally_for_next(const Strip<S>& strip, int row, uint16_t* HWY_RESTRICT out) {
  const hn::Rebind<uint16_t, decltype(d32)> half16;
  const uint16_t* in = strip.memory.filtered_for_next(row) + 2 * S::kSkip;
  const WindowTaps<S::kNext> window;
  for (size_t x = 0; x < static_cast<size_t>(strip.columns) / 2; x += hn::Lanes(d32)) {
    ColumnSums<1> sums;
    filter_columns<S::kUseVnni>(in + 2 * x, window, sums);
    const VU32 sum = hn::BitCast(du32, hn::Add(sums.even[0], hn::Set(d32, 1 << 15)));
    const V32 rounded = hn::BitCast(d32, hn::ShiftRight<16>(sum));
    hn::StoreU(hn::DemoteTo(half16, rounded), half16, out + x);
  }
}

// -- Logarithms of whole numbers >= 2^17, from the upper words of their doubles: vif_log2() of vif_math.h -------------

constexpr uint32_t kUpperWordOfNoise = (1023 + 17) << 20;
static_assert(kVifNoise == 1 << 17);

/* u / 8 of vif_log2_entry(): the 15 bits of m are the mantissa's first, and stay where they are. */
HWY_INLINE VF32 log2_argument(VU32 upper) {
  const VU32 from_one = hn::Or(hn::And(upper, hn::Set(du32, 0xFFFE0)), hn::Set(du32, 0x3F800000));
  return hn::Sub(hn::BitCast(df32, from_one), hn::Set(df32, 1.0625f));
}

/* The coefficients of the polynomial in u / 8, which gives the same number to the last bit. */
constexpr float log2_coefficient(int k) { return kVifLog2Poly[k] * static_cast<float>(1 << 3 * k); }

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
  VF32 pa = hn::Set(df32, log2_coefficient(kVifLog2Degree)), pb = pa, pc = pa;
#pragma GCC unroll kVifUnroll
  for (int k = kVifLog2Degree - 1; k >= 0; k--) {
    const VF32 coefficient = hn::Set(df32, log2_coefficient(k));
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

// -- What goes into the logarithms, in double precision. No fused operations: must match vif_math.h -------------------

HWY_INLINE VF64 load_double(const int32_t* p) {
  const hn::Rebind<int32_t, decltype(df64)> half;
  return hn::PromoteTo(df64, hn::Load(half, p));
}

/* g of half a vector. */
HWY_INLINE VF64 gain_of(VF64 s1, VF64 s12) { return hn::Div(s12, hn::Add(s1, hn::Set(df64, kVifEpsilon))); }

/* Whole numbers plus kWholeFrom. From 2^52 on the unit of a double is 1, so a sum that is rounded down leaves the
 * fraction of the added number. If no instruction rounds so, Trunc() does. */
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr double kWholeFrom = 0x1p52;
HWY_INLINE VF64 add_whole_part(VF64 whole, VF64 positive) {
  return VF64{_mm512_add_round_pd(whole.raw, positive.raw, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)};
}
HWY_INLINE VF64 number_of(VF64 whole) { return hn::Sub(whole, hn::Set(df64, kWholeFrom)); }
#else
constexpr double kWholeFrom = 0;
HWY_INLINE VF64 add_whole_part(VF64 whole, VF64 positive) { return hn::Add(hn::Trunc(positive), whole); }
HWY_INLINE VF64 number_of(VF64 whole) { return whole; }
#endif

/* sv + n, and that plus g^2 sigma1: whole numbers, of half a vector. */
HWY_INLINE void arguments_of_logs(VF64 s1, VF64 s2, VF64 s12, VF64 g, VF64 gain_limit, VF64& noise, VF64& total) {
  const VF64 residual = hn::Max(hn::Sub(s2, hn::Mul(g, s12)), hn::Zero(df64));
  const VF64 gain = hn::Min(g, gain_limit);
  const VF64 whole = add_whole_part(hn::Set(df64, kWholeFrom + kVifNoise), residual);
  noise = number_of(whole);
  total = number_of(add_whole_part(whole, hn::Mul(hn::Mul(gain, gain), s1)));
}

/* s1 as doubles, of half a vector: from `in`, or where the first encode left it. */
template <bool kFirst>
HWY_INLINE VF64 load_sigma1(const int32_t* in, double* kept) {
  if constexpr (!kFirst) return hn::Load(df64, kept);
  const VF64 s1 = load_double(in);
  hn::Store(s1, df64, kept);
  return s1;
}

/* Adds what an encode's samples add to num_log; the first encode also finds what the reference's add to den_log. From
 * division to logarithm a sample's way is longer than the processor looks ahead, so each round takes three vectors one
 * step further. The vectors that run in and out count as noise alone. kMapped: leaves what each sample adds to num_log
 * and den_log in the places of its sigma12 and mu1, for add_to_blocks(). */
template <bool kFirst, bool kMapped = false>
HWY_NOINLINE void add_logs(const VifStripMemory& memory, const LogVectors& logs, double limit, int64_t& num_sum,
                           int64_t& den_sum) {
  const size_t n = hn::Lanes(d32);
  const VifSigmas sigmas = memory.sigmas();
  const VF64 gain_limit = hn::Set(df64, limit), eye = hn::Set(df64, kVifNoise);
  V32 num_log = hn::Zero(d32), den_log = num_log;
  VU32 noise = hn::Set(du32, kUpperWordOfNoise), total = noise, visible = noise;
  VF64 s1_low, s1_high, s12_low, s12_high, g_low, g_high;
  const auto start = [&](size_t i) HWY_ATTR {
    const VifSigmas in = sigmas + logs.place(i);
    double* const kept = memory.sigma1() + i * n;
    s1_low = load_sigma1<kFirst>(in.sigma1_sq, kept), s1_high = load_sigma1<kFirst>(in.sigma1_sq + n / 2, kept + n / 2);
    s12_low = load_double(in.sigma12), s12_high = load_double(in.sigma12 + n / 2);
    g_low = gain_of(s1_low, s12_low), g_high = gain_of(s1_high, s12_high);
  };
  start(0);
  for (size_t i = 0; i <= logs.vectors(); i++) {
    V32 log_visible, log_noise, log_total;
    log2_of_three(visible, noise, total, log_visible, log_noise, log_total);
    num_log = hn::Add(num_log, hn::Sub(log_total, log_noise));
    if (kFirst) den_log = hn::Add(den_log, log_visible);
    if (kMapped && i > 0) {
      const size_t at = logs.place(i - 1);
      hn::Store(hn::Sub(log_total, log_noise), d32, sigmas.sigma12 + at);
      hn::Store(hn::BitCast(du32, hn::Sub(log_visible, hn::Set(d32, kLog2Excess + 17 * 2048))), du32,
                memory.mu1() + at);
    }

    const int32_t* s2 = sigmas.sigma2_sq + logs.place(i);
    VF64 noise_low, noise_high, total_low, total_high;
    arguments_of_logs(s1_low, load_double(s2), s12_low, g_low, gain_limit, noise_low, total_low);
    arguments_of_logs(s1_high, load_double(s2 + n / 2), s12_high, g_high, gain_limit, noise_high, total_high);
    noise = upper_words(noise_low, noise_high);
    total = upper_words(total_low, total_high);
    if (kFirst) visible = upper_words(hn::Add(s1_low, eye), hn::Add(s1_high, eye));
    start(i + 1);
  }
  num_sum += hn::GetLane(hn::SumOfLanes(d32, num_log));
  if (kFirst)
    den_sum = hn::GetLane(hn::SumOfLanes(d32, den_log)) -
              (kLog2Excess + 17 * 2048) * static_cast<int64_t>((logs.vectors() + 1) * n);
}

// -- Blocks ----------------------------------------------------------------------------------------------------------

/* What some rows of a vector of columns add to the sums of their blocks. */
struct ColumnTotals {
  static constexpr size_t kMostLanes = kVifMostLanes / 2;
  alignas(kCacheLine) int32_t num_log[kMostLanes], den_log[kMostLanes], non_log[kMostLanes];
  alignas(kCacheLine) uint64_t even[kMostLanes / 2], odd[kMostLanes / 2];  // num_non_log

  HWY_INLINE void add_to(VifScaleSums& sums, size_t lane) const {
    sums.num_log += num_log[lane];
    sums.den_log += den_log[lane];
    sums.den_non_log += non_log[lane];
    sums.num_non_log += static_cast<int64_t>(lane % 2 ? odd[lane / 2] : even[lane / 2]);
  }
};

/* Adds up rows of the group, from the vector at `at` in the first one on. */
HWY_INLINE void total_columns(const VifStripMemory& memory, size_t at, int rows, ColumnTotals& totals) {
  const VifSigmas sigmas = memory.sigmas();
  const V32 zero = hn::Zero(d32);
  V32 num_log = zero, den_log = zero, non_log = zero;
  VU64 even = hn::Zero(du64), odd = even;
  for (int row = 0; row < rows; row++, at += kVifLineColumns) {
    const M32 is_log = hn::Gt(hn::Load(d32, sigmas.sigma1_sq + at), zero);
    num_log = hn::Add(num_log, hn::IfThenElseZero(is_log, hn::Load(d32, sigmas.sigma12 + at)));
    const V32 den = hn::BitCast(d32, hn::Load(du32, memory.mu1() + at));
    den_log = hn::Add(den_log, hn::IfThenElseZero(is_log, den));
    non_log = hn::Add(non_log, hn::IfThenZeroElse(is_log, hn::Set(d32, 1)));
    const VU64 plain = hn::BitCast(du64, hn::IfThenZeroElse(is_log, hn::Load(d32, sigmas.sigma2_sq + at)));
    even = hn::Add(even, hn::And(plain, hn::Set(du64, 0xFFFFFFFFu)));
    odd = hn::Add(odd, hn::ShiftRight<32>(plain));
  }
  hn::Store(num_log, d32, totals.num_log);
  hn::Store(den_log, d32, totals.den_log);
  hn::Store(non_log, d32, totals.non_log);
  hn::Store(even, du64, totals.even);
  hn::Store(odd, du64, totals.odd);
}

/* Adds a group, which begins at row y, to the blocks. */
template <class S>
HWY_NOINLINE void add_to_blocks(const Strip<S>& strip, int y, int rows) {
  const BlockGrid grid = strip.mapped->grid_of(S::kScale);
  const int n = static_cast<int>(hn::Lanes(d32)), step = HWY_MIN(grid.side, kVifGroupRows);
  ColumnTotals totals;
  for (int row = 0; row < rows; row += step) {
    VifScaleSums* const blocks = strip.mapped->scale[S::kScale] + grid.at(0, y + row);
    for (int x = 0; x < static_cast<int>(hwy::RoundUpTo(strip.columns, 2 * n)); x += n) {
      total_columns(strip.memory, static_cast<size_t>(row) * kVifLineColumns + static_cast<size_t>(x),
                    HWY_MIN(step, rows - row), totals);
      /* A vector has every second column, the next one those between. */
      const int first = x / (2 * n) * 2 * n + (x / n) % 2;
      for (int lane = 0; lane < n && first + 2 * lane < strip.columns; lane++)
        totals.add_to(blocks[(strip.x0 + first + 2 * lane) / grid.side], static_cast<size_t>(lane));
    }
  }
}

// -- Scales ----------------------------------------------------------------------------------------------------------

/* Vertical pass of a picture, and its rows of the next scale. */
template <class S>
void run_vertically(const Strip<S>& strip, int picture, int y) {
  const int first_pair = y / 2;
  filter_vertically(strip, picture, first_pair);
  const Plane<uint16_t>& next = strip.next.at[picture];
  for (int i = 0; S::kHasNext && i < kVifGroupRows / 2 && first_pair + i < next.h; i++)
    filter_horizontally_for_next(strip, i, next.row(first_pair + i) + strip.x0 / 2);
}

template <class S>
void run_group(const Strip<S>& strip, int y) {
  const int rows = HWY_MIN(kVifGroupRows, strip.height() - y);
  LogVectors logs(strip.memory);
  int64_t den_log = 0;
  run_vertically(strip, kVifReference, y);
  if (strip.sums) {
    for (int row = 0; row < rows; row++) logs = filter_reference_horizontally(strip, row, logs);
    logs.end();
  }
  for (int picture = kVifEncode; picture < strip.pictures; picture++) {
    run_vertically(strip, picture, y);
    if (!strip.sums) continue;
    VifScaleSums& sums = *strip.sums[picture];
    for (int row = 0; row < rows; row++) sums.num_non_log += filter_encode_horizontally(strip, row);
    if (strip.mapped) add_logs<true, true>(strip.memory, logs, strip.gain_limit, sums.num_log, den_log);
    else if (picture == kVifEncode) add_logs<true>(strip.memory, logs, strip.gain_limit, sums.num_log, den_log);
    else add_logs<false>(strip.memory, logs, strip.gain_limit, sums.num_log, den_log);
    sums.den_log += den_log;
    sums.den_non_log += rows * strip.columns - static_cast<int64_t>(logs.samples());
    if (strip.mapped) add_to_blocks(strip, y, rows);
  }
}

template <class S>
void load_pairs(const Strip<S>& strip, int pair) {
  for (int picture = 0; picture < strip.pictures; picture++) load_pair(strip, picture, pair);
}

template <class S>
void run_strip(const Strip<S>& strip) {
  for (int pair = -S::kRadius; pair < S::kRadius; pair++) load_pairs(strip, pair);
  for (int y = 0; y < strip.height(); y += kVifGroupRows) {
    for (int i = 0; i < kVifGroupRows / 2; i++) load_pairs(strip, y / 2 + S::kRadius + i);
    run_group(strip, y);
  }
}

/* The input of all scales: encode i is picture kVifEncode + i. */
struct Frames {
  const VifParams& params;
  int pictures;
  VifSums* const* sums;  // the encodes'
  VifStripMemory memory;
  const VifBlocks* blocks;  // of the one encode; nullptr: not wanted
};

/* `planes`: memory for the planes of the scales to come, those of each with the reference first. */
template <class T, int kScale, bool kUseVnni>
void run_scales(const Frames& frames, const Pictures<const T>& in, std::byte* planes) {
  using S = Stage<T, kScale, kUseVnni>;
  const VifParams& params = frames.params;
  const Plane<const T>& ref = in.at[kVifReference];
  const int w = ref.w / 2, h = ref.h / 2;
  const size_t stride = vif_decimated_stride(w);
  Pictures<uint16_t> next;
  Pictures<const uint16_t> next_in;
  VifScaleSums* sums[kVifEncode + kVifEncodesAtOnce] = {};
  for (int i = 0; i < frames.pictures; i++) {
    next.at[i] = {reinterpret_cast<uint16_t*>(planes), static_cast<ptrdiff_t>(stride), w, h};
    next_in.at[i] = next.at[i].to_read();
    planes += stride * h;
    if (i >= kVifEncode) sums[i] = &frames.sums[i - kVifEncode]->scale[kScale];
  }
  const bool wanted = kScale > 0 || !params.skip_scale0;
  for (int x0 = 0; x0 < ref.w; x0 += kVifStripColumns)
    run_strip(Strip<S>{in, next, frames.pictures, vif_shifts(kScale, params.bpc), params.gain_limit, x0,
                       HWY_MIN(kVifStripColumns, ref.w - x0), frames.memory, wanted ? sums : nullptr,
                       wanted ? frames.blocks : nullptr});
  if constexpr (S::kHasNext) run_scales<uint16_t, kScale + 1, kUseVnni>(frames, next_in, planes);
}

template <class T, bool kUseVnni>
void run(const Frames& frames, const SamplePlane& ref, std::span<const SamplePlane> dist, std::byte* planes) {
  Pictures<const T> in;
  in.at[kVifReference] = ref.as<T>();
  for (size_t i = 0; i < dist.size(); i++) in.at[kVifEncode + i] = dist[i].as<T>();
  run_scales<T, 0, kUseVnni>(frames, in, planes);
}

/* At most kVifEncodesAtOnce encodes. */
void vif(const VifParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist, std::byte* scratch,
         VifSums* const* sums, const VifBlocks* blocks) {
  const int encodes = static_cast<int>(dist.size());
  const Frames frames = {params, kVifEncode + encodes, sums, VifStripMemory(scratch), blocks};
  std::byte* const planes = scratch + VifStripMemory::bytes(encodes);
  frames.memory.clear_zeros();
  const auto run_with = [&]<bool kUseVnni>(std::bool_constant<kUseVnni>) {
    if (params.bpc == 8) run<uint8_t, kUseVnni>(frames, ref, dist, planes);
    else run<uint16_t, kUseVnni>(frames, ref, dist, planes);
  };
  /* Without a choice, both branches are the same. */
  if (kMaybeVnni && use_avx_vnni()) run_with(std::bool_constant<kVnni || kMaybeVnni>());
  else run_with(std::bool_constant<kVnni>());
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(vif);

size_t vif_encodes_scratch_bytes_simd(const VifParams& params, int encodes) {
  const int at_once = HWY_MIN(encodes, kVifEncodesAtOnce);
  size_t bytes = VifStripMemory::bytes(at_once);
  for (int s = 1; s < kVifScales; s++)
    bytes += (kVifEncode + at_once) * vif_decimated_stride(params.w >> s) * (params.h >> s);
  return HWY_MAX(bytes, vif_scratch_bytes_plain(params));
}

void vif_encodes_simd(const VifParams& params, const SamplePlane& ref, std::span<const SamplePlane> dist,
                      std::byte* scratch, std::span<VifSums* const> sums) {
  for (size_t i = 0; i < dist.size(); i += kVifEncodesAtOnce) {
    const size_t count = HWY_MIN(dist.size() - i, size_t{kVifEncodesAtOnce});
    HWY_DYNAMIC_DISPATCH(vif)(params, ref, dist.subspan(i, count), scratch, sums.data() + i, nullptr);
  }
}

size_t vif_scratch_bytes_simd(const VifParams& params) { return vif_encodes_scratch_bytes_simd(params, 1); }

void vif_simd(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
              VifSums& sums) {
  VifSums* const to = &sums;
  vif_encodes_simd(params, ref, {&dist, 1}, scratch, {&to, 1});
}

void vif_mapped_simd(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                     VifSums& sums, const VifBlocks& blocks) {
  VifSums* const to = &sums;
  HWY_DYNAMIC_DISPATCH(vif)(params, ref, {&dist, 1}, scratch, &to, &blocks);
}

}  // namespace vmafx
#endif
