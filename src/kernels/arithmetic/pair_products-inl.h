/* Products of 16-bit lanes, two neighboring ones added at once: for Highway sources, not for HWY_SCALAR. */
#if defined(VMAFX_KERNELS_ARITHMETIC_PAIR_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_ARITHMETIC_PAIR_PRODUCTS_INL_H
#undef VMAFX_KERNELS_ARITHMETIC_PAIR_PRODUCTS_INL_H
#else
#define VMAFX_KERNELS_ARITHMETIC_PAIR_PRODUCTS_INL_H
#endif

#include <cstdint>

#include <hwy/highway.h>

/* VNNI's one instruction multiplies and adds to a sum. Highway's AVX3_DL stands for processors that have it, but does
 * not name it to the compiler. So VMAFX_ALLOW_VNNI stands behind HWY_BEFORE_NAMESPACE() wherever these functions are
 * used. */
#undef VMAFX_HAS_VNNI
#undef VMAFX_ALLOW_VNNI
#define VMAFX_HAS_VNNI (HWY_TARGET == HWY_AVX3_DL && HWY_COMPILER_GCC_ACTUAL)
#if VMAFX_HAS_VNNI
#define VMAFX_ALLOW_VNNI HWY_PRAGMA(GCC target("avx512vnni"))
#else
#define VMAFX_ALLOW_VNNI
#endif

HWY_BEFORE_NAMESPACE();
VMAFX_ALLOW_VNNI
namespace vmafx::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

namespace hn = hwy::HWY_NAMESPACE;

/* Whether code for this target uses VNNI, and whether it may where use_avx_vnni() of base/cpu.h says so. */
constexpr bool kVnni = VMAFX_HAS_VNNI;
constexpr bool kMaybeVnni = HWY_TARGET == HWY_AVX2 && HWY_COMPILER_GCC_ACTUAL;

using PairLanes = hn::Vec<hn::ScalableTag<int16_t>>;
using PairSums = hn::Vec<hn::ScalableTag<int32_t>>;

/* `start` and the sums of adjacent products, modulo 2^32. On x86 products are added to the lane of their pair at once;
 * elsewhere lanes are those of pairs only when they are rearranged, once for all products. */
template <bool kUseVnni = kVnni>
class PairSum {
 public:
  HWY_INLINE explicit PairSum(PairSums start)
      : start_(start), low_(kInOrder ? start : hn::Zero(d32)), high_(hn::Zero(d32)) {}

  HWY_INLINE void add(PairLanes a, PairLanes b) {
#if VMAFX_HAS_VNNI
    low_ = PairSums{_mm512_dpwssd_epi32(low_.raw, a.raw, b.raw)};
#else
#if HWY_TARGET == HWY_AVX2
    if constexpr (kUseVnni) {
      asm("%{vex%} vpdpwssd %2, %1, %0" : "+x"(low_.raw) : "x"(a.raw), "xm"(b.raw));
      return;
    }
#endif
    low_ = hn::ReorderWidenMulAccumulate(d32, a, b, low_, high_);
#endif
  }

  HWY_INLINE PairSums total() const {
    if constexpr (kInOrder) return low_;
    return hn::Add(start_, hn::RearrangeToOddPlusEven(low_, high_));
  }

 private:
  static constexpr hn::ScalableTag<int32_t> d32{};
  static constexpr bool kInOrder = HWY_ARCH_X86;

  PairSums start_, low_, high_;
};

/* acc + the sums of adjacent products. */
template <bool kUseVnni>
HWY_INLINE PairSums add_pair_products(PairLanes a, PairLanes b, PairSums acc) {
  PairSum<kUseVnni> sum(acc);
  sum.add(a, b);
  return sum.total();
}

#endif

}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
