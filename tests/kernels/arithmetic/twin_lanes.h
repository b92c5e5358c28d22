/* The vector side of tests/kernels/arithmetic/twin_test.cpp: functions of floats, on vectors, by Highway's dispatch. */
#ifndef VMAFX_TESTS_KERNELS_TWIN_LANES_H
#define VMAFX_TESTS_KERNELS_TWIN_LANES_H

#include <cstddef>
#include <cstdint>

#include "kernels/arithmetic/fixed.h"

namespace vmafx::test {

enum class Function { kEverything, kLogarithm2, kPowerOf2, kPower, kCubeRoot, kFused, kFusedHalfway, kDoublePower };

inline constexpr size_t kLaneMultiple = 64;  // a multiple of every vector's lanes, for `count`

/* out[i] = function(a[i], b[i]); those of one argument leave b alone. */
void apply_lanes(Function function, const float* a, const float* b, float* out, size_t count);

inline constexpr int kSumBits = 30, kTwoWordBits = 12;

struct Sums {
  int64_t one_word;  // FixedSum<kSumBits>
  Fixed2<kTwoWordBits> two_words;
  Fixed3<kTwoWordBits> three_words;
};
Sums sum_lanes(const float* values, size_t count);

}  // namespace vmafx::test

#endif
