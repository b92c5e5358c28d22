/* The kernels of float_adm against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "kernels/float_adm/float_adm.h"
#include "tests/kernels/float_adm_options.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

std::string text_of(const OptionTexts& given) {
  std::string text = "float_adm";
  for (const auto& [name, value] : given) text += " " + name + "=" + value;
  return text;
}

/* Frames of luma alone. */
template <class T>
class LumaFrames {
 public:
  LumaFrames(int w, int h, int bpc, int count) : format_{.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k400} {
    for (int i = 0; i < 2 * count; i++) planes_.emplace_back(w, h, i % 5);
  }

  void fill(int frame, Fill ref, Fill dist) {
    planes_[2 * frame].fill(ref, format_.bpc, 2 * frame);
    planes_[2 * frame + 1].fill(dist, format_.bpc, 2 * frame + 1);
  }

  /* The reference with its contrast changed and noise added: aligned and restored parts of every kind. */
  void make_lookalike(int frame, Fill fill, double contrast, int noise_bits) {
    TestPlane<T>&ref = planes_[2 * frame], &dist = planes_[2 * frame + 1];
    ref.fill(fill, format_.bpc, frame);
    std::mt19937 random(frame + 100);
    const int centre = 1 << (format_.bpc - 1), max = (1 << format_.bpc) - 1;
    for (int y = 0; y < format_.h; y++)
      for (int x = 0; x < format_.w; x++) {
        const int noise = noise_bits ? static_cast<int>(random() >> (32 - noise_bits)) - (1 << (noise_bits - 1)) : 0;
        const int value = centre + static_cast<int>((ref.at(x, y) - centre) * contrast) + noise;
        dist.at(x, y) = static_cast<T>(std::clamp(value, 0, max));
      }
  }

  void check(int batch, const OptionTexts& options = {}) {
    std::vector<PicturePair> pairs(planes_.size() / 2);
    for (size_t i = 0; i < pairs.size(); i++) {
      pairs[i].ref.bpc = pairs[i].dist.bpc = format_.bpc;
      pairs[i].ref.plane[0] = planes_[2 * i].sample_plane();
      pairs[i].dist.plane[0] = planes_[2 * i + 1].sample_plane();
    }
    const Options resolved = take(Options::resolve("float_adm_hip", kFloatAdmHipExtractor.options, options));
    assert_device_agrees(*take(kFloatAdmHipExtractor.create(resolved, format_)), format_, pairs, batch, text_of(options));
  }

 private:
  const VideoFormat format_;
  std::vector<TestPlane<T>> planes_;
};

/* One frame of noise, and one of a lookalike. */
void check_size(int w, int h, int bpc) {
  with_sample_type(bpc, [&]<class T>(T) {
    LumaFrames<T> frames(w, h, bpc, 2);
    frames.fill(0, Fill::kRandom, Fill::kRandom);
    frames.make_lookalike(1, Fill::kRandom, 0.9, bpc - 5);
    frames.check(2);
  });
}

}  // namespace

/* The smallest there are, those whose coarse scales have no border, and rows of tiles with one column in the last. */
START_TEST(every_size) {
  for (int n = 0; n < 24; n++) check_size(kAdmMinSize + n, kAdmMinSize + n * 7 % 24, n % 2 ? 8 : 10);
  for (const auto& [w, h] : {std::pair(37, 33), std::pair(131, 67), std::pair(153, 17), std::pair(155, 40), std::pair(157, 36),
                             std::pair(311, 34), std::pair(17, 300)})
    for (const int bpc : {8, 16}) check_size(w, h, bpc);
}
END_TEST

START_TEST(every_depth_and_fill) {
  for (int bpc = 8; bpc <= 16; bpc++) {
    with_sample_type(bpc, [&]<class T>(T) {
      LumaFrames<T> frames(97, 51, bpc, static_cast<int>(std::size(kFills)));
      for (const size_t shift : {0, 1, 3}) {
        for (size_t i = 0; i < std::size(kFills); i++)
          frames.fill(static_cast<int>(i), kFills[i], kFills[(i + shift) % std::size(kFills)]);
        frames.check(8);
      }
    });
  }
}
END_TEST

START_TEST(every_option) {
  for (const OptionTexts& options : float_adm_option_sets()) {
    for (const int bpc : {8, 10}) {
      with_sample_type(bpc, [&]<class T>(T) {
        LumaFrames<T> frames(131, 67, bpc, 4);
        frames.fill(0, Fill::kSparse, Fill::kCheckerboard);
        frames.make_lookalike(1, Fill::kRandom, 0.5, 0);
        frames.make_lookalike(2, Fill::kRandom, 1.3, bpc - 5);
        frames.make_lookalike(3, Fill::kGradient, 1.0, bpc - 3);
        frames.check(4, options);
      });
    }
  }
}
END_TEST

START_TEST(batches) {
  LumaFrames<uint8_t> frames(150, 70, 8, 11);
  for (int i = 0; i < 11; i++) frames.make_lookalike(i, Fill::kRandom, 0.8 + 0.05 * i, i % 7);
  for (const int batch : {1, 3, 8}) frames.check(batch);
}
END_TEST

/* Several tiles across and down, some without a sample that counts. */
START_TEST(a_large_picture) {
  LumaFrames<uint8_t> frames(823, 361, 8, 1);
  frames.make_lookalike(0, Fill::kRandom, 0.97, 3);
  frames.check(1);
  frames.check(1, {{"adm_skip_scale0", "true"}});
}
END_TEST

int main() {
  return run_suite_on_device("float_adm_hip", {{"sizes", every_size},
                                               {"depths_and_fills", every_depth_and_fill},
                                               {"options", every_option},
                                               {"batches", batches},
                                               {"large", a_large_picture}});
}
