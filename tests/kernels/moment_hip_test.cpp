/* The kernels of float_moment against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <vector>

#include "kernels/moment/moment.h"
#include "tests/support/check_main.h"
#include "tests/support/frames.h"
#include "tests/support/scores.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

void check(const VideoFormat& format, int frames, int batch, const std::vector<Fill>& fills) {
  with_sample_type(format.bpc, [&]<class T>(T) {
    assert_device_agrees(*make_extractor(kFloatMomentHipExtractor, format), format,
                         TestFrames<T>(format, frames, fills).pairs(), batch, "float_moment");
  });
}

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++) check({.w = 90, .h = 37, .bpc = bpc}, 2, 2, {Fill::kRandom});
}
END_TEST

START_TEST(every_size) {
  for (const int bpc : {8, 10}) {
    for (int w = 1; w <= 36; w++) check({.w = w, .h = 1 + w % 7, .bpc = bpc}, 1, 1, {Fill::kRandom});
    for (const auto& [w, h] : {std::pair(64, 16), std::pair(65, 17), std::pair(127, 33), std::pair(1025, 5)})
      check({.w = w, .h = h, .bpc = bpc}, 1, 1, {Fill::kRandom, Fill::kSparse});
  }
}
END_TEST

START_TEST(batches) {
  for (const int batch : {1, 3, 8}) check({.w = 70, .h = 20, .bpc = 8}, 9, batch, {Fill::kRandom, Fill::kGradient, Fill::kSparse});
}
END_TEST

START_TEST(extremes) {
  for (const int bpc : {8, 16})
    for (const auto& fills : {std::vector{Fill::kZero, Fill::kMax}, std::vector{Fill::kMax, Fill::kZero},
                              std::vector{Fill::kCheckerboard, Fill::kColumns}})
      check({.w = 140, .h = 40, .bpc = bpc, .chroma = Chroma::k400}, 1, 1, fills);
}
END_TEST

int main() {
  return run_suite_on_device(
      "float_moment_hip", {{"depths", every_depth}, {"sizes", every_size}, {"batches", batches}, {"extremes", extremes}});
}
