/* The kernels of float_ssim and float_ms_ssim against their CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <string>
#include <vector>

#include "kernels/ssim/ssim.h"
#include "tests/support/check_main.h"
#include "tests/support/frames.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

void check(const ExtractorInfo& info, const VideoFormat& format, int frames, int batch, const std::vector<Fill>& fills,
           const OptionTexts& options = {}) {
  with_sample_type(format.bpc, [&]<class T>(T) {
    const auto extractor = take(info.create(take(Options::resolve(info.name, info.options, options)), format, Placement::kDevice));
    assert_device_agrees(*extractor, format, TestFrames<T>(format, frames, fills).pairs(), batch, info.name);
  });
}

VideoFormat luma(int w, int h, int bpc) { return {.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k400}; }

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++)
    check(kFloatSsimExtractor, luma(60, 33, bpc), 1, 1, {Fill::kRandom, Fill::kGradient});
}
END_TEST

/* From one window to past a tile. */
START_TEST(sizes) {
  for (const auto& [w, h] : {std::pair(11, 11), std::pair(12, 18), std::pair(17, 19), std::pair(254, 12),
                             std::pair(255, 27), std::pair(256, 11), std::pair(270, 18)})
    check(kFloatSsimExtractor, luma(w, h, w % 2 ? 8 : 10), 1, 1, {Fill::kRandom, Fill::kSparse});
}
END_TEST

START_TEST(factors) {
  for (int factor = 2; factor <= 10; factor++)
    check(kFloatSsimExtractor, luma(13 * factor + 1, 12 * factor - 1 + factor % 2, factor % 2 ? 8 : 16), 1, 1,
          {Fill::kRandom, Fill::kGradient}, {{"scale", std::to_string(factor)}});
}
END_TEST

START_TEST(five_scales) {
  check(kFloatMsSsimExtractor, luma(176, 179, 8), 1, 1, {Fill::kRandom, Fill::kGradient});
  check(kFloatMsSsimExtractor, luma(257, 176, 10), 1, 1, {Fill::kGradient, Fill::kSparse}, {{"enable_lcs", "true"}});
}
END_TEST

START_TEST(batches) {
  check(kFloatSsimExtractor, luma(70, 40, 8), 5, 3, {Fill::kRandom, Fill::kGradient, Fill::kSparse});
  check(kFloatSsimExtractor, luma(70, 40, 8), 3, 2, {Fill::kRandom, Fill::kGradient}, {{"scale", "3"}});
  check(kFloatMsSsimExtractor, luma(177, 176, 8), 2, 2, {Fill::kRandom, Fill::kGradient, Fill::kCheckerboard});
}
END_TEST

START_TEST(extremes) {
  for (const Fill ref : {Fill::kZero, Fill::kMax, Fill::kCheckerboard})
    for (const Fill dist : {Fill::kZero, Fill::kMax, Fill::kColumns})
      check(kFloatSsimExtractor, luma(40, 21, 16), 1, 1, {ref, dist});
}
END_TEST

int main() {
  return run_suite_on_device("ssim_hip", {{"depths", every_depth},
                                          {"sizes", sizes},
                                          {"factors", factors},
                                          {"five_scales", five_scales},
                                          {"batches", batches},
                                          {"extremes", extremes}});
}
