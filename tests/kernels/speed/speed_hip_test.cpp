/* The kernels of SpEED against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <string>
#include <vector>

#include "kernels/speed/speed.h"
#include "tests/support/check_main.h"
#include "tests/support/frames.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

void check(const ExtractorInfo& info, const VideoFormat& format, int frames, int batch, const std::vector<Fill>& fills,
           const OptionTexts& given = {}) {
  const Options options = take(Options::resolve(info.name, info.options, given));
  with_sample_type(format.bpc, [&]<class T>(T) {
    const TestFrames<T> test_frames(format, frames, fills);
    assert_device_agrees(*take(info.create(options, format, Placement::kDevice)), format, test_frames.pairs(), batch, info.name);
  });
}

VideoFormat format_of(int w, int h, int bpc, Chroma chroma) { return {.w = w, .h = h, .bpc = bpc, .chroma = chroma}; }

const std::vector<Fill> kNoise = {Fill::kRandom, Fill::kSparse, Fill::kRandom, Fill::kRandom, Fill::kRandom};

}  // namespace

START_TEST(depths) {
  for (const int bpc : {8, 9, 10, 12, 16}) {
    check(kSpeedChromaExtractor, format_of(175, 164, bpc, Chroma::k444), 1, 1, kNoise);
    check(kSpeedTemporalExtractor, format_of(175, 164, bpc, Chroma::k400), 2, 2, kNoise);
  }
}
END_TEST

START_TEST(sizes) {
  for (const auto& [w, h] : {std::pair(80, 80), std::pair(240, 165), std::pair(401, 171), std::pair(163, 330)})
    check(kSpeedTemporalExtractor, format_of(w, h, 8, Chroma::k400), 2, 2, kNoise);
}
END_TEST

START_TEST(chroma_formats_and_fills) {
  check(kSpeedChromaExtractor, format_of(347, 330, 8, Chroma::k420), 1, 1, kNoise);
  check(kSpeedChromaExtractor, format_of(320, 160, 8, Chroma::k422), 1, 1, kNoise);
  check(kSpeedChromaExtractor, format_of(160, 160, 8, Chroma::k444), 5, 3,
        {Fill::kRandom, Fill::kZero, Fill::kMax, Fill::kSparse, Fill::kRandom, Fill::kGradient, Fill::kRandom});
}
END_TEST

START_TEST(batches) {
  for (const int batch : {1, 3})
    check(kSpeedTemporalExtractor, format_of(160, 160, 8, Chroma::k400), 5, batch, kNoise);
  check(kSpeedTemporalExtractor, format_of(160, 160, 8, Chroma::k400), 3, 2, kNoise,
        {{"speed_use_ref_diff", "true"}});
}
END_TEST

START_TEST(options) {
  for (const char* kernelscale : {"0.5", "3.71134"})
    check(kSpeedTemporalExtractor, format_of(170, 165, 8, Chroma::k400), 2, 2, kNoise,
          {{"speed_kernelscale", kernelscale}});
  for (const char* mode : {"1", "3", "5"})
    check(kSpeedChromaExtractor, format_of(160, 160, 8, Chroma::k444), 1, 1, kNoise,
          {{"speed_weight_var_mode", mode}});
}
END_TEST

START_TEST(prescaling) {
  for (const char* method : {"nearest", "bilinear", "bicubic", "lanczos4"})
    check(kSpeedTemporalExtractor, format_of(137, 131, 8, Chroma::k400), 2, 2, kNoise,
          {{"speed_prescale", "1.3"}, {"speed_prescale_method", method}});
  check(kSpeedChromaExtractor, format_of(322, 340, 10, Chroma::k444), 1, 1, kNoise,
        {{"speed_prescale", "0.5"}, {"speed_prescale_method", "bilinear"}});
}
END_TEST

int main() {
  return run_suite_on_device("speed_hip", {{"depths", depths},
                                           {"sizes", sizes},
                                           {"chroma", chroma_formats_and_fills},
                                           {"batches", batches},
                                           {"options", options},
                                           {"prescaling", prescaling}});
}
