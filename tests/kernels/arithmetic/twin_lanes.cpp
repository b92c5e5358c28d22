#include "tests/kernels/arithmetic/twin_lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/arithmetic/twin_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tests/kernels/arithmetic/twin_sample-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {

Real of_lanes(test::Function function, Real a, Real b) {
  switch (function) {
    case test::Function::kEverything: return everything(a, b);
    case test::Function::kLogarithm2: return logarithm2(a);
    case test::Function::kPowerOf2: return power_of_2(a);
    case test::Function::kPower: return power(a, b);
    case test::Function::kCubeRoot: return cube_root(a);
    case test::Function::kFused: return fused_sample(a, b);
    case test::Function::kFusedHalfway: return fused_halfway_sample(a, b);
    case test::Function::kDoublePower: return double_power_sample(a);
  }
  return a;
}

void apply_all(test::Function function, const float* a, const float* b, float* out, size_t count) {
  for (size_t i = 0; i < count; i += hn::Lanes(DF()))
    hn::StoreU(of_lanes(function, hn::LoadU(DF(), a + i), hn::LoadU(DF(), b + i)).v, DF(), out + i);
}

test::Sums sum_all(const float* values, size_t count) {
  FixedSum<test::kSumBits> one;
  FixedSum2<test::kTwoWordBits> two;
  FixedSum3<test::kTwoWordBits> three;
  for (size_t i = 0; i < count; i += hn::Lanes(DF())) {
    const Real v = hn::LoadU(DF(), values + i);
    one.add(v);
    two.add(v);
    three.add(v);
  }
  return {one.total(), two.total(), three.total()};
}

}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(apply_all);
HWY_EXPORT(sum_all);

void test::apply_lanes(Function function, const float* a, const float* b, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(apply_all)(function, a, b, out, count);
}

test::Sums test::sum_lanes(const float* values, size_t count) { return HWY_DYNAMIC_DISPATCH(sum_all)(values, count); }

}  // namespace vmafx
#endif
