/* Cases for the kernels of cambi (tests/support/parity.h). */
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

/* Bands of `band` samples, and grain in places: few samples without a mask, or many. */
Paint bands(int band) {
  return [band](TestPictures& pictures) {
    const VideoFormat& format = pictures.format();
    std::mt19937 random(static_cast<uint32_t>(band));
    for (int i = 0; i < pictures.count(); i++) {
      const int grain = 2 + static_cast<int>(random() % 60), base = 20 + static_cast<int>(random() % 40);
      for (int y = 0; y < format.h; y++)
        for (int x = 0; x < format.w; x++) {
          const int level = base + (x + y / 2) / band + (random() % grain == 0 ? static_cast<int>(random() % 3) : 0);
          pictures.set(i, x, y, std::min(level << (format.bpc - 8), (1 << format.bpc) - 1) + i % 2);
        }
    }
  };
}

ParityCases cambi_options() {
  const ParityCase like = {luma(230, 70, 10), 1, 1, bands(4)};
  return values({luma(230, 70, 10), 1, 1, bands(4), {{"tvi_threshold", "0.005"}}}, "max_log_contrast",
                {"0", "1", "3", "5"}) +
         /* Few samples that count: the largest keys are looked for. */
         values({luma(220, 60, 10), 1, 1, bands(6)}, "topk", {"0.0001", "0.01", "0.3", "1"}) +
         option_sets(like, {{{"cambi_vis_lum_threshold", "2"}, {"cambi_eotf", "pq"}},
                            {{"tvi_threshold", "0.0001"}, {"cambi_vis_lum_threshold", "300"}},
                            {{"full_ref", "true"}, {"src_width", "320"}, {"src_height", "200"}, {"topk", "0.1"}}});
}

ParityCases cambi_cases() {
  const OptionTexts ten_bits = {{"enc_bitdepth", "10"}}, eight_bits = {{"enc_bitdepth", "8"}};
  ParityCases cases = cambi_options() + sizes({luma(216, 1), 1, 1, bands(7), ten_bits},
                                              {{216, 1}, {217, 33}, {1, 216}, {260, 65}, {385, 32}});
  for (int bpc = 8; bpc <= 16; bpc++)
    cases.push_back({luma(216, 37, bpc), 1, 1, bands(5), bpc % 2 ? eight_bits : ten_bits});
  cases.push_back({luma(217, 50, 10), 5, 3, bands(9), {{"full_ref", "true"}}});
  cases.push_back(
      {luma(300, 170), 1, 1, bands(9), {{"enc_width", "240"}, {"enc_height", "160"}, {"enc_bitdepth", "10"}}});
  cases.push_back({luma(320, 180), 1, 1, bands(9), {{"enc_width", "256"}, {"enc_height", "144"}}});
  /* Steps of up to 32 levels in the largest windows: little room for levels. Windows of 17, 23, 33 and 43 samples. */
  cases.push_back({luma(2048, 2, 10), 1, 1, bands(20), {{"max_log_contrast", "5"}, {"window_size", "127"}}});
  cases = cases + values({luma(2000, 70, 10), 1, 1, bands(20)}, "window_size", {"48", "65", "97", "127"});
  /* The first scale left out. */
  cases.push_back({luma(16200, 128), 1, 1, bands(50), {{"cambi_high_res_speedup", "1080"}, {"window_size", "15"}}});
  return cases;
}

const MetricCases kCambi("cambi", cambi_cases);

}  // namespace
}  // namespace vmafx::test
