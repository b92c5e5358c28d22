/* The kernels of psnr_hvs against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <vector>

#include "kernels/psnr_hvs/psnr_hvs.h"
#include "tests/support/check_main.h"
#include "tests/support/frames.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

void check(const VideoFormat& format, int frames, int batch, const std::vector<Fill>& fills) {
  const auto extractor = take(kPsnrHvsExtractor.create({}, format, Placement::kDevice));
  with_sample_type(format.bpc, [&]<class T>(T) {
    assert_device_agrees(*extractor, format, TestFrames<T>(format, frames, fills).pairs(), batch, "psnr_hvs");
  });
}

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= kPsnrHvsMostBits; bpc++)
    check({.w = 70, .h = 39, .bpc = bpc, .chroma = Chroma::k420}, 2, 2, {Fill::kRandom});
}
END_TEST

/* From one block to more than are worked on at a time, with samples left over and without. */
START_TEST(every_size) {
  constexpr std::pair<int, int> kSizes[] = {{8, 8}, {14, 14}, {15, 15}, {63, 22}, {113, 16}, {120, 17}, {135, 30}};
  for (const auto& [w, h] : kSizes) {
    check({.w = w, .h = h, .bpc = 8, .chroma = Chroma::k444}, 1, 1, {Fill::kRandom});
    if (w >= 16 && h >= 16) check({.w = w, .h = h, .bpc = 10, .chroma = Chroma::k420}, 1, 1, {Fill::kRandom});
  }
}
END_TEST

START_TEST(batches) {
  const std::vector<Fill> fills = {Fill::kRandom, Fill::kGradient, Fill::kSparse};
  for (const int batch : {1, 3}) check({.w = 40, .h = 32, .bpc = 8, .chroma = Chroma::k422}, 5, batch, fills);
}
END_TEST

/* The largest coefficients there are. */
START_TEST(extremes) {
  const std::vector<Fill> all_fills[] = {{Fill::kZero, Fill::kZero, Fill::kZero, Fill::kMax, Fill::kMax, Fill::kMax},
                                         {Fill::kMax},
                                         {Fill::kCheckerboard, Fill::kRows, Fill::kMax, Fill::kSparse}};
  for (const int bpc : {8, 12})
    for (const auto& fills : all_fills) check({.w = 66, .h = 38, .bpc = bpc, .chroma = Chroma::k444}, 1, 1, fills);
}
END_TEST

int main() {
  return run_suite_on_device("psnr_hvs_hip", {{"depths", every_depth},
                                              {"sizes", every_size},
                                              {"batches", batches},
                                              {"extremes", extremes}});
}
