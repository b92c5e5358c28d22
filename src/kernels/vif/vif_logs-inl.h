/* VIF, the SIMD twin: from variances to num_log and den_log. Included once per instruction set. */
#if defined(VMAFX_KERNELS_VIF_VIF_LOGS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_VIF_VIF_LOGS_INL_H
#undef VMAFX_KERNELS_VIF_VIF_LOGS_INL_H
#else
#define VMAFX_KERNELS_VIF_VIF_LOGS_INL_H
#endif

#include <hwy/highway.h>

#include "kernels/vif/vif_rows.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::ScalableTag<int32_t> d32;
constexpr hn::ScalableTag<uint32_t> du32;
constexpr hn::ScalableTag<float> df32;
constexpr hn::ScalableTag<double> df64;
using V32 = hn::Vec<decltype(d32)>;
using VU32 = hn::Vec<decltype(du32)>;
using VF32 = hn::Vec<decltype(df32)>;
using VF64 = hn::Vec<decltype(df64)>;

// -- Logarithms of whole numbers >= 2^17, from the upper words of their doubles: vif_log2() of vif_math.h
// ----------------

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

// -- What goes into the logarithms, in double precision. No fused operations: must match vif_math.h
// ----------------------

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#endif
