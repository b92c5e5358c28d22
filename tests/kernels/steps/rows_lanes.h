/* The vector side of tests/kernels/steps/rows_test.cpp, to be compared with plain loops: kernels/steps/rows-inl.h, by
 * Highway's dispatch. */
#ifndef VMAFX_TESTS_KERNELS_ROWS_LANES_H
#define VMAFX_TESTS_KERNELS_ROWS_LANES_H

#include <cstdint>

#include "kernels/gpu/device.h"

namespace vmafx::test {

VMAFX_CONSTANT float kSomeTaps[4] = {0.4f, 0.2f, 0.07f, -0.01f};

struct SomeFilter {
  static constexpr int kRadius = 3;
  static float tap(int k) { return kSomeTaps[k]; }
};

void floats_of_lanes(const uint8_t* in, int n, float scale, float* out);
void floats_of_lanes(const uint16_t* in, int n, float scale, float* out);
void along_lanes(const float* in, int n, float* out);
void across_lanes(const float* const* rows, int n, float* out);

}  // namespace vmafx::test

#endif
