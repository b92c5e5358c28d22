/* A vector of floats with the names of real.h, for one instruction set: what twin-inl.h makes Real, Mask, Integer and
 * Double in a Highway source. Operations round each for itself, as those of one float do; only fused() is fused. */
#if defined(VMAFX_KERNELS_ARITHMETIC_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_ARITHMETIC_LANES_INL_H
#undef VMAFX_KERNELS_ARITHMETIC_LANES_INL_H
#else
#define VMAFX_KERNELS_ARITHMETIC_LANES_INL_H
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "kernels/arithmetic/fixed.h"
#include "kernels/arithmetic/real.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;

struct Mask {
  hn::Mask<DF> m;
};
HWY_INLINE Mask operator&(Mask a, Mask b) { return {hn::And(a.m, b.m)}; }
HWY_INLINE Mask operator|(Mask a, Mask b) { return {hn::Or(a.m, b.m)}; }
HWY_INLINE Mask operator&&(Mask a, Mask b) { return a & b; }  // no short cut: vectors have both
HWY_INLINE Mask operator||(Mask a, Mask b) { return a | b; }
HWY_INLINE Mask operator!(Mask a) { return {hn::Not(a.m)}; }

struct Real {
  Real() = default;
  HWY_INLINE Real(VF vector) : v(vector) {}
  HWY_INLINE explicit Real(float each) : v(hn::Set(DF(), each)) {}
  HWY_INLINE Real& operator+=(Real b) { return *this = Real(hn::Add(v, b.v)); }
  VF v;
};
HWY_INLINE Real operator+(Real a, Real b) { return hn::Add(a.v, b.v); }
HWY_INLINE Real operator-(Real a, Real b) { return hn::Sub(a.v, b.v); }
HWY_INLINE Real operator*(Real a, Real b) { return hn::Mul(a.v, b.v); }
HWY_INLINE Real operator/(Real a, Real b) { return hn::Div(a.v, b.v); }
HWY_INLINE Real plus(Real a, Real b) { return hn::MulAdd(a.v, hn::Set(DF(), 1.f), b.v); }
HWY_INLINE Real operator-(Real a) { return hn::Neg(a.v); }
HWY_INLINE Mask operator<(Real a, Real b) { return {hn::Lt(a.v, b.v)}; }
HWY_INLINE Mask operator>(Real a, Real b) { return {hn::Gt(a.v, b.v)}; }
HWY_INLINE Mask operator<=(Real a, Real b) { return {hn::Le(a.v, b.v)}; }
HWY_INLINE Mask operator>=(Real a, Real b) { return {hn::Ge(a.v, b.v)}; }
HWY_INLINE Mask operator==(Real a, Real b) { return {hn::Eq(a.v, b.v)}; }

template <class AnyMask>
HWY_INLINE constexpr bool worth_computing(AnyMask) {
  return true;
}
HWY_INLINE bool any(Mask a) { return !hn::AllFalse(DF(), a.m); }
HWY_INLINE int64_t count(Mask a) { return static_cast<int64_t>(hn::CountTrue(DF(), a.m)); }

struct Integer {
  Integer() = default;
  HWY_INLINE Integer(VI vector) : v(vector) {}
  HWY_INLINE explicit Integer(int32_t each) : v(hn::Set(DI(), each)) {}
  VI v;
};
HWY_INLINE Integer operator+(Integer a, Integer b) { return hn::Add(a.v, b.v); }
HWY_INLINE Integer operator-(Integer a, Integer b) { return hn::Sub(a.v, b.v); }
HWY_INLINE Integer operator*(Integer a, Integer b) { return hn::Mul(a.v, b.v); }
HWY_INLINE Integer operator&(Integer a, Integer b) { return hn::And(a.v, b.v); }
HWY_INLINE Integer operator|(Integer a, Integer b) { return hn::Or(a.v, b.v); }
template <int n>
HWY_INLINE Integer shifted_left(Integer i) {
  return hn::ShiftLeft<n>(i.v);
}
template <int n>
HWY_INLINE Integer shifted_right(Integer i) {
  return hn::ShiftRight<n>(i.v);
}

HWY_INLINE Real select(Mask mask, Real a, Real b) { return hn::IfThenElse(mask.m, a.v, b.v); }
HWY_INLINE Integer select(Mask mask, Integer a, Integer b) {
  return hn::IfThenElse(hn::RebindMask(DI(), mask.m), a.v, b.v);
}
#if HWY_ARCH_X86  // x86's instructions return the second operand when one is NaN, as real.h asks
HWY_INLINE Real minimum(Real a, Real b) { return hn::Min(a.v, b.v); }
HWY_INLINE Real maximum(Real a, Real b) { return hn::Max(a.v, b.v); }
#else
HWY_INLINE Real minimum(Real a, Real b) { return select(a < b, a, b); }
HWY_INLINE Real maximum(Real a, Real b) { return select(a > b, a, b); }
#endif
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE Real fused(Real a, Real b, Real c) {
  return hn::Set(DF(), __builtin_fmaf(hn::GetLane(a.v), hn::GetLane(b.v), hn::GetLane(c.v)));
}
#elif HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
/* Without the instruction: the product of two floats is a double. Its sum with the third one is rounded to a double and
 * then to a float, which is the same as once, unless the double lies halfway between two floats or below the least
 * normal one. */
using WideF = hn::RepartitionToWide<DF>;
struct WideSums {
  hn::Vec<WideF> lower, upper;
};
HWY_INLINE VF narrowed(WideSums sums) {
  const hn::Half<DF> half;
  return hn::Combine(DF(), hn::DemoteTo(half, sums.upper), hn::DemoteTo(half, sums.lower));
}
/* sum_of(product, c) of both halves of a * b and c. */
template <class SumOf>
HWY_INLINE WideSums wide_sums(Real a, Real b, Real c, SumOf sum_of) {
  const WideF d;
  const hn::Half<DF> half;
  const auto lower = [&](VF v) HWY_ATTR { return hn::PromoteTo(d, hn::LowerHalf(half, v)); };
  const auto upper = [&](VF v) HWY_ATTR { return hn::PromoteTo(d, hn::UpperHalf(half, v)); };
  return {sum_of(hn::Mul(lower(a.v), lower(b.v)), lower(c.v)), sum_of(hn::Mul(upper(a.v), upper(b.v)), upper(c.v))};
}
/* Rounded to an odd last bit where it is not exact; what is rounded to a float then is as if nothing had been rounded
 * before. */
HWY_INLINE hn::Vec<WideF> added_to_odd(hn::Vec<WideF> a, hn::Vec<WideF> b) {
  const WideF d;
  const hn::RebindToSigned<WideF> di;
  const auto sum = hn::Add(a, b), of_b = hn::Sub(sum, a);
  const auto error = hn::Add(hn::Sub(a, hn::Sub(sum, of_b)), hn::Sub(b, of_b));
  const auto sum_bits = hn::BitCast(di, sum), one = hn::Set(di, 1), zero = hn::Zero(di);
  const auto opposite = hn::ShiftRight<63>(hn::Xor(sum_bits, hn::BitCast(di, error)));  // -1: the sum is too large
  const auto even = hn::Sub(hn::And(sum_bits, one), one);                               // -1, or 0
  const auto inexact = hn::IfThenElse(hn::RebindMask(di, hn::Eq(error, hn::Zero(d))), zero, even);
  return hn::BitCast(d, hn::Add(sum_bits, hn::And(inexact, hn::Or(opposite, one))));
}
HWY_NOINLINE inline VF fused_by_odd(VF a, VF b, VF c) {
  return narrowed(wide_sums(a, b, c, [](auto product, auto third) HWY_ATTR { return added_to_odd(product, third); }));
}
HWY_INLINE Real fused(Real a, Real b, Real c) {
  const WideSums sums = wide_sums(a, b, c, [](auto product, auto third) HWY_ATTR { return hn::Add(product, third); });
  const VF nearest = narrowed(sums);
  const VI low = hn::ConcatEven(DI(), hn::BitCast(DI(), sums.upper), hn::BitCast(DI(), sums.lower));
  constexpr int kRoundedOff = 53 - 24;  // bits of the double
  const auto halfway = hn::Eq(hn::ShiftLeft<32 - kRoundedOff>(low), hn::Set(DI(), INT32_MIN));
  const auto tiny = hn::Le(hn::Abs(nearest), hn::Set(DF(), 0x1p-126f));
  if (HWY_UNLIKELY(!hn::AllFalse(DF(), hn::Or(hn::RebindMask(DF(), halfway), tiny))))
    return fused_by_odd(a.v, b.v, c.v);
  return nearest;
}
#else
#if HWY_ARCH_X86 && defined(HWY_DISABLE_BMI2_FMA)
#error "Highway's MulAdd would round twice"
#endif
HWY_INLINE Real fused(Real a, Real b, Real c) { return hn::MulAdd(a.v, b.v, c.v); }
#endif
HWY_INLINE Real absolute(Real a) { return hn::Abs(a.v); }
HWY_INLINE Real quotient(Real a, Real b) { return a / b; }
HWY_INLINE Real square_root(Real a) { return hn::Sqrt(a.v); }
HWY_INLINE Integer truncated(Real a) { return hn::ConvertTo(DI(), a.v); }
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL /* without what NearestInt() adds for numbers beyond 2^31 */
HWY_INLINE Integer rounded(Real a) { return VI{_mm512_cvtps_epi32(a.v.raw)}; }
#elif HWY_TARGET == HWY_AVX2
HWY_INLINE Integer rounded(Real a) { return VI{_mm256_cvtps_epi32(a.v.raw)}; }
#else
HWY_INLINE Integer rounded(Real a) { return hn::NearestInt(a.v); }
#endif
HWY_INLINE Real real(Integer i) { return hn::ConvertTo(DF(), i.v); }
HWY_INLINE Integer bits(Real a) { return hn::BitCast(DI(), a.v); }
HWY_INLINE Real from_bits(Integer i) { return hn::BitCast(DF(), i.v); }
HWY_INLINE Integer entry(const int32_t* table, Integer i) { return hn::GatherIndex(DI(), table, i.v); }
HWY_INLINE Real entry(const float* table, Integer i) { return hn::GatherIndex(DF(), table, i.v); }

#if HWY_TARGET == HWY_SCALAR

using vmafx::any, vmafx::bits, vmafx::Double, vmafx::from_bits, vmafx::Long, vmafx::maximum, vmafx::minimum,
    vmafx::rounded, vmafx::select, vmafx::shifted_left, vmafx::shifted_right;
HWY_INLINE Double widened(Real a) { return hn::GetLane(a.v); }
HWY_INLINE Real narrowed(Double a) { return Real(vmafx::narrowed(a)); }
HWY_INLINE Real whole(Double a) { return Real(vmafx::whole(a)); }
HWY_INLINE Real select(bool mask, Real a, Real b) { return mask ? a : b; }
HWY_INLINE Double first_lanes(Double a, int) { return a; }

template <int bits>
class FixedSum {
 public:
  void add(Real value) { sum_ += to_fixed<bits>(hn::GetLane(value.v)); }
  void add(Double value) { sum_ += to_fixed<bits>(value); }
  int64_t total() const { return sum_; }

 private:
  int64_t sum_ = 0;
};

template <class Sum>
class LaneSum {
 public:
  void add(Real value) { sum_ += hn::GetLane(value.v); }
  Sum total() const { return sum_; }

 private:
  Sum sum_ = {};
};
template <int bits>
using FixedSum2 = LaneSum<Fixed2<bits>>;
template <int bits>
using FixedSum3 = LaneSum<Fixed3<bits>>;

#else

/* (Constructors are written out: one that the compiler makes is not compiled for the instruction set.) */

using DD = hn::RepartitionToWide<DF>;
using DI64 = hn::RebindToSigned<DD>;
using VD = hn::Vec<DD>;
using VI64 = hn::Vec<DI64>;

HWY_INLINE VD lower_doubles(Real a) { return hn::PromoteTo(DD(), hn::LowerHalf(hn::Half<DF>(), a.v)); }
HWY_INLINE VD upper_doubles(Real a) { return hn::PromoteTo(DD(), hn::UpperHalf(hn::Half<DF>(), a.v)); }

/* A vector takes half as many doubles as floats. */
struct Double {
  Double() = default;
  HWY_INLINE Double(VD low, VD high) : lower(low), upper(high) {}
  HWY_INLINE explicit Double(double each) : lower(hn::Set(DD(), each)), upper(hn::Set(DD(), each)) {}
  VD lower, upper;
};
HWY_INLINE Double operator+(Double a, Double b) { return {hn::Add(a.lower, b.lower), hn::Add(a.upper, b.upper)}; }
HWY_INLINE Double operator-(Double a, Double b) { return {hn::Sub(a.lower, b.lower), hn::Sub(a.upper, b.upper)}; }
HWY_INLINE Double operator*(Double a, Double b) { return {hn::Mul(a.lower, b.lower), hn::Mul(a.upper, b.upper)}; }
HWY_INLINE Double operator/(Double a, Double b) { return {hn::Div(a.lower, b.lower), hn::Div(a.upper, b.upper)}; }
HWY_INLINE Double widened(Real a) { return {lower_doubles(a), upper_doubles(a)}; }
HWY_INLINE Real narrowed(Double a) {
  const hn::Half<DF> half;
  return hn::Combine(DF(), hn::DemoteTo(half, a.upper), hn::DemoteTo(half, a.lower));
}

struct DoubleMask {
  hn::Mask<DD> lower, upper;
};
HWY_INLINE DoubleMask operator<(Double a, Double b) { return {hn::Lt(a.lower, b.lower), hn::Lt(a.upper, b.upper)}; }
HWY_INLINE DoubleMask operator<=(Double a, Double b) { return {hn::Le(a.lower, b.lower), hn::Le(a.upper, b.upper)}; }
HWY_INLINE bool any(DoubleMask m) { return !hn::AllFalse(DD(), hn::Or(m.lower, m.upper)); }
HWY_INLINE Double select(DoubleMask mask, Double a, Double b) {
  return {hn::IfThenElse(mask.lower, a.lower, b.lower), hn::IfThenElse(mask.upper, a.upper, b.upper)};
}
HWY_INLINE Real select(DoubleMask mask, Real a, Real b) { return narrowed(select(mask, widened(a), widened(b))); }
HWY_INLINE Double minimum(Double a, Double b) { return select(a < b, a, b); }
HWY_INLINE Double maximum(Double a, Double b) { return select(b < a, a, b); }
HWY_INLINE Double rounded(Double a) { return (a + Double(0x1.8p52)) - Double(0x1.8p52); }
HWY_INLINE Real whole(Double a) { return narrowed(rounded(a)); }
/* The first n > 0 lanes; others are 0. */
HWY_INLINE Double first_lanes(Double a, int n) {
  const int half = static_cast<int>(hn::Lanes(DD()));
  const auto first = [](VD v, int count) HWY_ATTR {
    return hn::IfThenElseZero(hn::FirstN(DD(), static_cast<size_t>(count)), v);
  };
  return {first(a.lower, n < half ? n : half), first(a.upper, n < half ? 0 : n - half)};
}

struct Long {
  HWY_INLINE Long(VI64 low, VI64 high) : lower(low), upper(high) {}
  HWY_INLINE explicit Long(int64_t each) : lower(hn::Set(DI64(), each)), upper(hn::Set(DI64(), each)) {}
  VI64 lower, upper;
};
HWY_INLINE Long operator+(Long a, Long b) { return {hn::Add(a.lower, b.lower), hn::Add(a.upper, b.upper)}; }
HWY_INLINE Long operator-(Long a, Long b) { return {hn::Sub(a.lower, b.lower), hn::Sub(a.upper, b.upper)}; }
template <int n>
HWY_INLINE Long shifted_left(Long i) {
  return {hn::ShiftLeft<n>(i.lower), hn::ShiftLeft<n>(i.upper)};
}
template <int n>
HWY_INLINE Long shifted_right(Long i) {
  return {hn::ShiftRight<n>(i.lower), hn::ShiftRight<n>(i.upper)};
}
HWY_INLINE Long bits(Double a) { return {hn::BitCast(DI64(), a.lower), hn::BitCast(DI64(), a.upper)}; }
HWY_INLINE Double from_bits(Long i) { return {hn::BitCast(DD(), i.lower), hn::BitCast(DD(), i.upper)}; }

/* Adds to_fixed<bits>() of each lane to `sum`. Returns what that rounds off. */
template <int bits>
HWY_INLINE VD take_fixed(VD v, VI64* sum) {
  const VD magic = hn::Set(DD(), kFixedMagic<bits>), rounded = hn::Add(v, magic);
  *sum = hn::Add(*sum, hn::Sub(hn::BitCast(DI64(), rounded), hn::BitCast(DI64(), magic)));
  return hn::Sub(v, hn::Sub(rounded, magic));
}

/* Σ to_fixed<bits>(v) over all lanes of what is added; lanes that do not count must be 0. */
template <int bits>
class FixedSum {
 public:
  HWY_INLINE FixedSum() : sum_(hn::Zero(DI64())) {}
  HWY_INLINE void add(Real value) { add(widened(value)); }
  HWY_INLINE void add(Double value) {
    add(value.lower);
    add(value.upper);
  }
  HWY_INLINE void add(VD value) { take_fixed<bits>(value, &sum_); }
  HWY_INLINE int64_t total() const { return hn::GetLane(hn::SumOfLanes(DI64(), sum_)); }

 private:
  VI64 sum_;
};

/* Σ Fixed2<bits>(v) over all lanes of the added vectors; lanes that do not count must be 0. */
template <int bits>
class FixedSum2 {
 public:
  HWY_INLINE FixedSum2() : coarse_(hn::Zero(DI64())), fine_(hn::Zero(DI64())) {}
  HWY_INLINE void add(Real value) {
    add(lower_doubles(value));
    add(upper_doubles(value));
  }
  HWY_INLINE void add(VD value) { take_fixed<Fixed2<bits>::kFineBits>(take_fixed<bits>(value, &coarse_), &fine_); }
  HWY_INLINE Fixed2<bits> total() const {
    return {hn::GetLane(hn::SumOfLanes(DI64(), coarse_)), hn::GetLane(hn::SumOfLanes(DI64(), fine_))};
  }

 private:
  VI64 coarse_, fine_;
};

/* Σ Fixed3<bits>(v) over all lanes of the added vectors; lanes that do not count must be 0. */
template <int bits>
class FixedSum3 {
 public:
  HWY_INLINE FixedSum3() : coarse_(hn::Zero(DI64())), fine_(hn::Zero(DI64())), finest_(hn::Zero(DI64())) {}
  HWY_INLINE void add(Real value) {
    add(lower_doubles(value));
    add(upper_doubles(value));
  }
  HWY_INLINE void add(VD value) {
    constexpr int fine = Fixed3<bits>::kFineBits;
    const VD rest = take_fixed<fine>(take_fixed<bits>(value, &coarse_), &fine_);
    take_fixed<fine>(hn::Mul(rest, hn::Set(DD(), Fixed3<bits>::kFinestScale)), &finest_);
  }
  HWY_INLINE Fixed3<bits> total() const {
    return {hn::GetLane(hn::SumOfLanes(DI64(), coarse_)), hn::GetLane(hn::SumOfLanes(DI64(), fine_)),
            hn::GetLane(hn::SumOfLanes(DI64(), finest_))};
  }

 private:
  VI64 coarse_, fine_, finest_;
};

#endif

}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
