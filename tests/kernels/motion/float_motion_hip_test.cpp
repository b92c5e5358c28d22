/* The kernels of float_motion against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <string>
#include <vector>

#include "kernels/motion/float_motion.h"
#include "tests/support/check_main.h"
#include "tests/support/frames.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

void check(int w, int h, int bpc, int frames, int batch, const OptionTexts& given = {},
           const std::vector<Fill>& fills = {Fill::kRandom}, Chroma chroma = Chroma::k400) {
  const VideoFormat format = {.w = w, .h = h, .bpc = bpc, .chroma = chroma};
  const Options options = take(Options::resolve("float_motion_hip", kFloatMotionExtractor.options, given));
  std::string what = "float_motion";
  for (const auto& [name, text] : given) what += " " + name + "=" + text;
  with_sample_type(bpc, [&]<class T>(T) {
    assert_device_agrees(*take(kFloatMotionExtractor.create(options, format, Placement::kDevice)), format,
                         TestFrames<T>(format, frames, fills).pairs(), batch, what);
  });
}

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++) check(40, 21, bpc, 3, 3);
}
END_TEST

/* From the smallest picture to past a tile, at full and half size. */
START_TEST(sizes) {
  for (const char* half_size : {"false", "true"})
    for (const int bpc : {8, 10}) {
      for (int w = 3; w <= 12; w++) check(w, 3 + w % 4, bpc, 2, 2, {{"motion_add_scale1", half_size}});
      for (const auto& [w, h] : {std::pair(64, 32), std::pair(65, 33), std::pair(127, 63), std::pair(131, 66)})
        check(w, h, bpc, 2, 2, {{"motion_add_scale1", half_size}});
    }
}
END_TEST

START_TEST(filters) {
  for (const char* size : {"1", "3", "5", "9"})
    for (const char* half_size : {"false", "true"})
      check(33, 20, 8, 2, 2, {{"motion_filter_size", size}, {"motion_add_scale1", half_size}});
}
END_TEST

START_TEST(chroma) {
  for (const Chroma chroma : {Chroma::k420, Chroma::k422, Chroma::k444})
    check(45, 26, 8, 3, 2, {{"motion_add_uv", "true"}, {"motion_add_scale1", "true"}}, {Fill::kRandom, Fill::kGradient},
          chroma);
}
END_TEST

START_TEST(batches) {
  for (const int batch : {1, 3, 8}) check(30, 20, 8, 10, batch);
  check(30, 20, 8, 1, 1);
  check(30, 20, 8, 3, 2, {{"motion_force_zero", "true"}});
}
END_TEST

START_TEST(extremes) {
  for (const Fill fill : {Fill::kMax, Fill::kCheckerboard, Fill::kRows, Fill::kSparse})
    check(70, 36, 16, 2, 2, {{"motion_add_scale1", "true"}}, {Fill::kZero, Fill::kRandom, fill, Fill::kRandom});
}
END_TEST

int main() {
  return run_suite_on_device("float_motion_hip", {{"depths", every_depth},
                                                  {"sizes", sizes},
                                                  {"filters", filters},
                                                  {"chroma", chroma},
                                                  {"batches", batches},
                                                  {"extremes", extremes}});
}
