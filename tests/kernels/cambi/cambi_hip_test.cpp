/* The kernels of cambi against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/cambi/cambi.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

std::unique_ptr<Extractor> make(const VideoFormat& format, const OptionTexts& given = {}) {
  return take(
      kCambiExtractor.create(take(Options::resolve("cambi_hip", kCambiExtractor.options, given)), format, Placement::kDevice));
}

VideoFormat format_of(int w, int h, int bpc) { return {.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k400}; }

/* Frames with bands of `band` samples, and grain in places: few samples without a mask, or many. */
template <class T>
class BandedFrames {
 public:
  BandedFrames(const VideoFormat& format, int count, int band) {
    std::mt19937 random(static_cast<uint32_t>(band));
    for (int i = 0; i < 2 * count; i++) {
      planes_.emplace_back(format.w, format.h, i % 3, i % 2);
      const int grain = 2 + static_cast<int>(random() % 60), base = 20 + static_cast<int>(random() % 40);
      for (int y = 0; y < format.h; y++)
        for (int x = 0; x < format.w; x++) {
          const int level = base + (x + y / 2) / band + (random() % grain == 0 ? static_cast<int>(random() % 3) : 0);
          planes_.back().at(x, y) = static_cast<T>(std::min(level << (format.bpc - 8), (1 << format.bpc) - 1) + i % 2);
        }
    }
  }
  std::vector<PicturePair> pairs(int bpc) {
    std::vector<PicturePair> pairs;
    for (size_t i = 0; i < planes_.size(); i += 2) {
      PicturePair pair;
      pair.ref.bpc = pair.dist.bpc = bpc;
      pair.ref.plane[0] = planes_[i].sample_plane();
      pair.dist.plane[0] = planes_[i + 1].sample_plane();
      pairs.push_back(pair);
    }
    return pairs;
  }

 private:
  std::vector<TestPlane<T>> planes_;
};

void check(const VideoFormat& format, int frames, int batch, int band, const OptionTexts& options = {}) {
  with_sample_type(format.bpc, [&]<class T>(T) {
    BandedFrames<T> banded(format, frames, band);
    std::string what = format_text("bands of %d", band);
    for (const auto& [name, text] : options) what += " " + name + "=" + text;
    assert_device_agrees(*make(format, options), format, banded.pairs(format.bpc), batch, what);
  });
}

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++) check(format_of(216, 37, bpc), 1, 1, 5, {{"enc_bitdepth", bpc % 2 ? "8" : "10"}});
}
END_TEST

START_TEST(sizes) {
  for (const auto& [w, h] :
       {std::pair(216, 1), std::pair(217, 33), std::pair(1, 216), std::pair(260, 65), std::pair(385, 32)})
    check(format_of(w, h, 8), 1, 1, 7, {{"enc_bitdepth", "10"}});
}
END_TEST

START_TEST(batches) { check(format_of(217, 50, 10), 5, 3, 9, {{"full_ref", "true"}}); }
END_TEST

/* Few samples that count: the largest keys are looked for. */
START_TEST(shares) {
  for (const char* topk : {"0.0001", "0.01", "0.3", "1"}) check(format_of(220, 60, 10), 1, 1, 6, {{"topk", topk}});
}
END_TEST

START_TEST(options) {
  const VideoFormat format = format_of(230, 70, 10);
  for (const char* contrast : {"0", "1", "3", "5"})
    check(format, 1, 1, 4, {{"max_log_contrast", contrast}, {"tvi_threshold", "0.005"}});
  check(format, 1, 1, 4, {{"cambi_vis_lum_threshold", "2"}, {"cambi_eotf", "pq"}});
  check(format, 1, 1, 4, {{"tvi_threshold", "0.0001"}, {"cambi_vis_lum_threshold", "300"}});
  check(format, 1, 1, 4, {{"full_ref", "true"}, {"src_width", "320"}, {"src_height", "200"}, {"topk", "0.1"}});
  check(format_of(300, 170, 8), 1, 1, 9, {{"enc_width", "240"}, {"enc_height", "160"}, {"enc_bitdepth", "10"}});
}
END_TEST

/* Steps of up to 32 levels in the largest windows: little room for levels. */
START_TEST(large_windows) {
  check(format_of(2048, 2, 10), 1, 1, 20, {{"max_log_contrast", "5"}, {"window_size", "127"}});
  for (const char* window : {"48", "65", "97", "127"}) /* 17, 23, 33 and 43 samples */
    check(format_of(2000, 70, 10), 1, 1, 20, {{"window_size", window}});
}
END_TEST

/* The first scale left out. */
START_TEST(halved) {
  check(format_of(16200, 128, 8), 1, 1, 50, {{"cambi_high_res_speedup", "1080"}, {"window_size", "15"}});
}
END_TEST

START_TEST(heatmaps_are_left_to_the_cpu) {
  const auto fits = [](const OptionTexts& given) {
    return kCambiExtractor.fits_device(take(Options::resolve("cambi_hip", kCambiExtractor.options, given)),
                                   format_of(216, 216, 8));
  };
  ck_assert(fits({}).ok());
  assert_contains(fits({{"heatmaps_path", "/tmp"}}).message(), "heatmaps");
}
END_TEST

int main() {
  return run_suite_on_device("cambi_hip", {{"depths", every_depth},
                                           {"sizes", sizes},
                                           {"batches", batches},
                                           {"shares", shares},
                                           {"options", options},
                                           {"large_windows", large_windows},
                                           {"halved", halved},
                                           {"heatmaps", heatmaps_are_left_to_the_cpu}});
}
