/* The kernels of psnr against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <string>
#include <vector>

#include "kernels/psnr/psnr.h"
#include "tests/support/check_main.h"
#include "tests/support/frames.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

std::unique_ptr<Extractor> make(const VideoFormat& format, const OptionTexts& given = {}) {
  return take(kPsnrExtractor.create(take(Options::resolve("psnr_hip", kPsnrExtractor.options, given)), format, Placement::kDevice));
}

void check(const VideoFormat& format, int frames, int batch, const std::vector<Fill>& fills,
           const OptionTexts& options = {}) {
  with_sample_type(format.bpc, [&]<class T>(T) {
    assert_device_agrees(*make(format, options), format, TestFrames<T>(format, frames, fills).pairs(), batch, "psnr");
  });
}

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++) check({.w = 150, .h = 37, .bpc = bpc, .chroma = Chroma::k420}, 4, 3, {Fill::kRandom});
}
END_TEST

/* From one sample to past a tile, where rows end within a pack and where they do not. */
START_TEST(every_size) {
  for (const int bpc : {8, 10}) {
    for (int w = 1; w <= 36; w++) check({.w = w, .h = 1 + w % 7, .bpc = bpc, .chroma = Chroma::k444}, 1, 1, {Fill::kRandom});
    for (const auto& [w, h] : {std::pair(1024, 16), std::pair(1025, 17), std::pair(2081, 33), std::pair(512, 32)})
      check({.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k420}, 1, 1, {Fill::kRandom});
  }
}
END_TEST

START_TEST(chroma_formats) {
  for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444})
    check({.w = 71, .h = 19, .bpc = 8, .chroma = chroma}, 2, 2, {Fill::kRandom});
  check({.w = 71, .h = 19, .bpc = 8, .chroma = Chroma::k420}, 2, 2, {Fill::kRandom}, {{"enable_chroma", "false"}});
  check({.w = 1, .h = 5, .bpc = 8, .chroma = Chroma::k420}, 2, 2, {Fill::kRandom}); /* has no chroma to score */
}
END_TEST

START_TEST(batches) {
  for (const int batch : {1, 3, 8})
    check({.w = 70, .h = 40, .bpc = 8, .chroma = Chroma::k420}, 11, batch, {Fill::kRandom, Fill::kGradient, Fill::kSparse});
}
END_TEST

/* The largest sums there are: zero against the maximum. */
START_TEST(extremes) {
  for (const int bpc : {8, 16})
    for (const auto& fills : {std::vector{Fill::kZero, Fill::kZero, Fill::kZero, Fill::kMax, Fill::kMax, Fill::kMax},
                              std::vector{Fill::kMax, Fill::kMax, Fill::kMax, Fill::kZero, Fill::kZero, Fill::kZero},
                              std::vector{Fill::kMax}})
      check({.w = 1100, .h = 64, .bpc = bpc, .chroma = Chroma::k444}, 1, 1, fills);
}
END_TEST

int main() {
  return run_suite_on_device("psnr_hip", {{"depths", every_depth},
                                          {"sizes", every_size},
                                          {"chroma", chroma_formats},
                                          {"batches", batches},
                                          {"extremes", extremes}});
}
