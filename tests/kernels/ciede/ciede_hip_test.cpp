/* The kernels of ciede against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <vector>

#include "kernels/ciede/ciede.h"
#include "tests/support/check_main.h"
#include "tests/support/frames.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

void check(const VideoFormat& format, int frames, int batch, const std::vector<Fill>& fills) {
  const auto extractor = take(kCiedeExtractor.create({}, format, Placement::kDevice));
  with_sample_type(format.bpc, [&]<class T>(T) {
    assert_device_agrees(*extractor, format, TestFrames<T>(format, frames, fills).pairs(), batch, "ciede");
  });
}

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++)
    check({.w = 70, .h = 19, .bpc = bpc, .chroma = Chroma::k420}, 2, 2, {Fill::kRandom});
}
END_TEST

/* From the smallest to past a tile, odd ones too. */
START_TEST(every_size) {
  constexpr std::pair<int, int> kSizes[] = {{2, 2}, {3, 3}, {63, 17}, {64, 16}, {131, 33}};
  for (const Chroma chroma : {Chroma::k420, Chroma::k422, Chroma::k444})
    for (const auto& [w, h] : kSizes)
      check({.w = w, .h = h, .bpc = 8, .chroma = chroma}, 1, 1, {Fill::kRandom});
}
END_TEST

START_TEST(batches) {
  const std::vector<Fill> fills = {Fill::kRandom, Fill::kGradient, Fill::kSparse};
  for (const int batch : {1, 3}) check({.w = 40, .h = 18, .bpc = 10, .chroma = Chroma::k420}, 5, batch, fills);
}
END_TEST

START_TEST(extremes) {
  const std::vector<Fill> all_fills[] = {{Fill::kZero, Fill::kZero, Fill::kZero, Fill::kMax, Fill::kMax, Fill::kMax},
                                         {Fill::kMax},
                                         {Fill::kCheckerboard, Fill::kZero, Fill::kMax, Fill::kSparse}};
  for (const int bpc : {8, 16})
    for (const auto& fills : all_fills) check({.w = 66, .h = 18, .bpc = bpc, .chroma = Chroma::k444}, 1, 1, fills);
}
END_TEST

int main() {
  return run_suite_on_device("ciede_hip", {{"depths", every_depth},
                                           {"sizes", every_size},
                                           {"batches", batches},
                                           {"extremes", extremes}});
}
