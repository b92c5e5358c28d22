#include "tests/kernels/steps/rows_lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/steps/rows_lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/steps/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {

void floats_of_bytes(const uint8_t* in, int n, float scale, float* out) { samples_to_floats(in, n, scale, out); }
void floats_of_words(const uint16_t* in, int n, float scale, float* out) { samples_to_floats(in, n, scale, out); }
void along(const float* in, int n, float* out) {
  for (int x = 0; x < n; x += lanes()) store(ordered_sum<test::SomeFilter>(AlongRow{in + x}), out + x);
}
void across(const float* const* rows, int n, float* out) {
  for (int x = 0; x < n; x += lanes()) store(ordered_sum<test::SomeFilter>(AcrossRows{rows, x}), out + x);
}

}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(floats_of_bytes);
HWY_EXPORT(floats_of_words);
HWY_EXPORT(along);
HWY_EXPORT(across);

void test::floats_of_lanes(const uint8_t* in, int n, float scale, float* out) {
  HWY_DYNAMIC_DISPATCH(floats_of_bytes)(in, n, scale, out);
}
void test::floats_of_lanes(const uint16_t* in, int n, float scale, float* out) {
  HWY_DYNAMIC_DISPATCH(floats_of_words)(in, n, scale, out);
}
void test::along_lanes(const float* in, int n, float* out) { HWY_DYNAMIC_DISPATCH(along)(in, n, out); }
void test::across_lanes(const float* const* rows, int n, float* out) { HWY_DYNAMIC_DISPATCH(across)(rows, n, out); }

}  // namespace vmafx
#endif
