/* The kernels of motion against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <string>
#include <vector>

#include "kernels/motion/motion.h"
#include "tests/support/check_main.h"
#include "tests/support/frames.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* Fills for TestFrames of luma alone: of the reference of each frame in turn. What dist is does not matter. */
std::vector<Fill> of_ref(std::initializer_list<Fill> fills) {
  std::vector<Fill> both;
  for (const Fill fill : fills) both.insert(both.end(), {fill, Fill::kRandom});
  return both;
}

void check(int w, int h, int bpc, int frames, int batch, const std::vector<Fill>& fills,
           const OptionTexts& given = {}) {
  const VideoFormat format = {.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k400};
  const Options options = take(Options::resolve("motion_hip", kMotionExtractor.options, given));
  with_sample_type(bpc, [&]<class T>(T) {
    assert_device_agrees(*take(kMotionExtractor.create(options, format, Placement::kDevice)), format,
                         TestFrames<T>(format, frames, fills).pairs(), batch, "motion");
  });
}

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++) check(150, 37, bpc, 4, 3, {Fill::kRandom});
}
END_TEST

/* From the smallest picture to past a block, where rows end within a strip, with it, and one sample behind it. */
START_TEST(every_size) {
  for (const int bpc : {8, 10}) {
    for (int w = kMotionMinSize; w <= 34; w++)
      for (const int h : {3, 4, 5, 8, 9, 17}) check(w, h, bpc, 2, 2, {Fill::kRandom});
    for (const auto& [w, h] : {std::pair(512, 16), std::pair(513, 17), std::pair(1030, 33), std::pair(521, 7)})
      check(w, h, bpc, 2, 2, {Fill::kRandom});
  }
}
END_TEST

START_TEST(batches) {
  for (const int batch : {1, 3, 8})
    for (const char* five : {"false", "true"})
      check(70, 40, 8, 11, batch, of_ref({Fill::kRandom, Fill::kGradient, Fill::kRandom, Fill::kSparse}),
            {{"motion_five_frame_window", five}});
}
END_TEST

START_TEST(streams_without_an_earlier_frame) {
  check(16, 16, 8, 1, 1, {Fill::kRandom});
  check(16, 16, 8, 2, 1, {Fill::kRandom}, {{"motion_five_frame_window", "true"}});
  check(16, 16, 8, 3, 3, {Fill::kRandom}, {{"motion_force_zero", "true"}});
  check(2, 1, 8, 3, 2, {Fill::kRandom}, {{"motion_force_zero", "true"}});
}
END_TEST

/* The largest values between the passes, of both signs, and the edges that ring most. */
START_TEST(extremes) {
  for (const int bpc : {8, 15, 16})
    for (const Fill other : {Fill::kMax, Fill::kCheckerboard, Fill::kColumns, Fill::kRows, Fill::kSparse})
      check(530, 21, bpc, 3, 3, of_ref({Fill::kZero, other, Fill::kZero}));
}
END_TEST

int main() {
  return run_suite_on_device("motion_hip", {{"depths", every_depth},
                                            {"sizes", every_size},
                                            {"batches", batches},
                                            {"no_earlier_frame", streams_without_an_earlier_frame},
                                            {"extremes", extremes}});
}
