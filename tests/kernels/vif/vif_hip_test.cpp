/* The kernels of vif against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/vif/vif.h"
#include "kernels/vif/vif_work.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

using Fills = std::pair<Fill, Fill>;  // of ref and dist
constexpr Fills kUsual[] = {{Fill::kRandom, Fill::kRandom}, {Fill::kGradient, Fill::kGradient}};

std::unique_ptr<Extractor> make(const VideoFormat& format, const OptionTexts& given) {
  return take(kVifExtractor.create(take(Options::resolve("vif_hip", kVifExtractor.options, given)), format, Placement::kDevice));
}

/* Luma of a stream. Where both pictures of a frame have the same fill, dist is what codecs make of ref: contrast times
 * 5/8, 1 or 3/2, and grain. */
template <class T>
class TestFrames {
 public:
  TestFrames(int w, int h, int bpc, int count, std::span<const Fills> fills) {
    planes_.reserve(static_cast<size_t>(count) * 2);
    for (int i = 0; i < count; i++) {
      const auto [ref_fill, dist_fill] = fills[i % fills.size()];
      auto& ref = planes_.emplace_back(w, h, i % 5);
      auto& dist = planes_.emplace_back(w, h, i % 7);
      ref.fill(ref_fill, bpc, static_cast<uint32_t>(i));
      if (ref_fill == dist_fill) distort(dist, ref, w, h, bpc, i);
      else dist.fill(dist_fill, bpc, static_cast<uint32_t>(i) + 1000);
      pairs_.push_back({{.bpc = bpc, .plane = {ref.sample_plane()}}, {.bpc = bpc, .plane = {dist.sample_plane()}}});
    }
  }

  const std::vector<PicturePair>& pairs() const { return pairs_; }

 private:
  static void distort(TestPlane<T>& dist, TestPlane<T>& ref, int w, int h, int bpc, int seed) {
    std::mt19937 random(seed);
    const int max = (1 << bpc) - 1, gain = seed % 3 == 0 ? 10 : seed % 3 == 1 ? 16 : 24, noise = max / 64;
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        const int grain = static_cast<int>(random() % (2 * noise + 1)) - noise;
        dist.at(x, y) = static_cast<T>(std::clamp((ref.at(x, y) - max / 2) * gain / 16 + max / 2 + grain, 0, max));
      }
  }

  std::vector<TestPlane<T>> planes_;
  std::vector<PicturePair> pairs_;
};

void check(int w, int h, int bpc, int frames = 1, int batch = 1, const OptionTexts& options = {},
           std::span<const Fills> fills = kUsual) {
  const VideoFormat format = {.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k400};
  with_sample_type(bpc, [&]<class T>(T) {
    assert_device_agrees(*make(format, options), format, TestFrames<T>(w, h, bpc, frames, fills).pairs(), batch, "vif");
  });
}

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++) check(37, 33, bpc, 2, 2);
}
END_TEST

START_TEST(small_sizes) {
  for (const auto& [w, h] : {std::pair(16, 16), std::pair(17, 19), std::pair(31, 18), std::pair(131, 67)})
    for (const int bpc : {8, 12}) check(w, h, bpc);
}
END_TEST

/* Up to the end of a tile, one sample past it, and into a third one. */
START_TEST(across_tiles) {
  const int columns = vif_tile_columns(0), rows = 2 * kVifTileRows;
  for (const int bpc : {8, 10})
    for (const auto& [w, h] :
         {std::pair(columns, rows), std::pair(columns + 1, rows + 1), std::pair(2 * columns + 9, rows),
          std::pair(2 * vif_tile_columns(1) + 3, rows + 7), std::pair(2 * vif_decimated_columns(1), 20)})
      check(w, h, bpc);
}
END_TEST

/* Each fill against each other one: samples with and without logarithms, the largest sums and the smallest. */
START_TEST(extremes) {
  std::vector<Fills> fills;
  for (const Fill ref : kFills)
    for (const Fill dist : kFills) fills.emplace_back(ref, dist);
  for (const int bpc : {8, 10, 16}) check(51, 37, bpc, static_cast<int>(fills.size()), hip::kMostBatch, {}, fills);
}
END_TEST

START_TEST(batches) {
  for (const int batch : {1, 3, hip::kMostBatch}) check(70, 40, 8, 11, batch);
}
END_TEST

START_TEST(with_options) {
  for (const int bpc : {8, 10}) {
    check(70, 41, bpc, 3, 3, {{"vif_enhn_gain_limit", "1"}});
    check(70, 41, bpc, 2, 2, {{"vif_skip_scale0", "true"}});
  }
}
END_TEST

int main() {
  return run_suite_on_device("vif_hip", {{"depths", every_depth},
                                         {"small", small_sizes},
                                         {"tiles", across_tiles},
                                         {"extremes", extremes},
                                         {"batches", batches},
                                         {"options", with_options}});
}
