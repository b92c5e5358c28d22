/* The kernels of float_vif against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <string>
#include <vector>

#include "kernels/vif/float_vif.h"
#include "tests/support/check_main.h"
#include "tests/support/frames.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

const std::vector<Fill> kUsual = {Fill::kRandom, Fill::kGradient, Fill::kGradient, Fill::kRandom, Fill::kSparse,
                                  Fill::kSparse};

void check(int w, int h, int bpc, int frames, int batch, const OptionTexts& given = {},
           const std::vector<Fill>& fills = kUsual) {
  const VideoFormat format = {.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k400};
  const Options options = take(Options::resolve("float_vif_hip", kFloatVifExtractor.options, given));
  std::string what = "float_vif";
  for (const auto& [name, text] : given) what += " " + name + "=" + text;
  with_sample_type(bpc, [&]<class T>(T) {
    assert_device_agrees(*take(kFloatVifExtractor.create(options, format, Placement::kDevice)), format,
                         TestFrames<T>(format, frames, fills).pairs(), batch, what);
  });
}

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++) check(37, 21, bpc, 1, 1);
}
END_TEST

/* From the smallest picture to past a tile. */
START_TEST(sizes) {
  for (int w = 16; w <= 24; w++) check(w, 16 + w % 5, w % 2 ? 8 : 10, 1, 1);
  for (const int w : {239, 240, 241, 249}) check(w, 17, 8, 1, 1);
  check(251, 33, 16, 2, 2);
}
END_TEST

START_TEST(batches) {
  for (const int batch : {1, 3}) check(50, 20, 8, 4, batch);
}
END_TEST

START_TEST(kernelscales) {
  for (const char* kernelscale : {"0.5", "0.6667", "1.5", "2.4", "3.7113"})
    check(100, 67, 8, 1, 1, {{"vif_kernelscale", kernelscale}});
  check(260, 40, 10, 1, 1, {{"vif_kernelscale", "2"}});
}
END_TEST

START_TEST(prescaled) {
  for (const char* method : {"nearest", "bilinear", "bicubic", "lanczos4"})
    for (const char* prescale : {"0.6", "1.4"})
      check(40, 36, method[0] == 'b' ? 10 : 8, 2, 2, {{"vif_prescale", prescale}, {"vif_prescale_method", method}});
  check(50, 40, 8, 1, 1, {{"vif_prescale", "1.3"}, {"vif_kernelscale", "1.3333"}});
}
END_TEST

START_TEST(other_options) {
  check(33, 20, 8, 1, 1, {{"vif_sigma_nsq", "0"}});
  check(33, 20, 8, 1, 1, {{"vif_sigma_nsq", "4.5"}, {"vif_enhn_gain_limit", "1"}});
  check(33, 20, 8, 1, 1, {{"vif_skip_scale0", "true"}});
}
END_TEST

START_TEST(extremes) {
  for (const Fill fill : {Fill::kZero, Fill::kMax, Fill::kCheckerboard, Fill::kRows})
    for (const Fill other : {fill, Fill::kRandom}) check(40, 24, 8, 1, 1, {}, {fill, other});
}
END_TEST

int main() {
  return run_suite_on_device("float_vif_hip", {{"depths", every_depth},
                                               {"sizes", sizes},
                                               {"batches", batches},
                                               {"kernelscales", kernelscales},
                                               {"prescaled", prescaled},
                                               {"options", other_options},
                                               {"extremes", extremes}});
}
