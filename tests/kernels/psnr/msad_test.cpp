#include "kernels/psnr/msad.h"

#include <check.h>

#include <string>

#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

START_TEST(simd_equals_plain) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= 16; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 1; w <= 134; w++) {
          TestPlane<T> ref(w, 1 + w % 3, w % 5, w % 3, w % 2), dist(w, 1 + w % 3, w % 3);
          dist.fill(Fill::kRandom, bpc, w + 1);
          for (const Fill fill : kFills) {
            ref.fill(fill, bpc, w);
            const uint64_t want = msad_plain(ref.sample_plane(), dist.sample_plane(), bpc),
                           got = msad_simd(ref.sample_plane(), dist.sample_plane(), bpc);
            ck_assert_msg(got == want, "%s, width %d, %d bit, %s", target.c_str(), w, bpc, fill_name(fill));
          }
        }
      });
  });
}
END_TEST

/* Rows so long that 32-bit sums would wrap. */
START_TEST(long_rows) {
  static constexpr int kW = 1200003;
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 12, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        TestPlane<T> ref(kW, 1), dist(kW, 1);
        ref.fill(Fill::kMax, bpc, 1);
        dist.fill(Fill::kZero, bpc, 1);
        const uint64_t max = (1u << bpc) - 1;
        ck_assert_msg(msad_simd(ref.sample_plane(), dist.sample_plane(), bpc) == kW * max, "%s, %d bit", target.c_str(),
                      bpc);
      });
  });
}
END_TEST

/* Planes of 4:2:0 with odd sizes: 3x3 of luma, 2x2 of chroma. */
START_TEST(scores) {
  const VideoFormat format = {.w = 3, .h = 3, .bpc = 8, .chroma = Chroma::k420, .whole_chroma = true};
  TestPlane<uint8_t> zero(3, 3), luma(3, 3), cb(2, 2), cr(2, 2), none(2, 2);
  for (TestPlane<uint8_t>* plane : {&zero, &none, &cb}) plane->fill(Fill::kZero, 8, 1);
  luma.fill(Fill::kZero, 8, 1);
  luma.at(1, 2) = 51;
  cr.fill(Fill::kMax, 8, 1);
  const Picture ref = {8, {zero.sample_plane(), none.sample_plane(), none.sample_plane()}};
  const Picture dist = {8, {luma.sample_plane(), cb.sample_plane(), cr.sample_plane()}};
  Scores scores = score_frame(*make_extractor(kMsadExtractor, format), ref, dist);
  scores.expect("msad_y 0", 0.2 / 9, 1e-15);
  scores.expect("msad_cb 0", 0);
  scores.expect("msad_cr 0", 1);
  scores.expect("msad 0", (0.2 / 9 + 1) / 3, 1e-15);
  const auto of_luma = make_extractor(kMsadExtractor, format, {{"enable_chroma", "false"}});
  Scores without = score_frame(*of_luma, ref, dist);
  without.expect("msad 0", without.of.at("msad_y 0"));
  ck_assert(!without.of.count("msad_cb 0"));
  ck_assert_uint_eq(of_luma->reads().dist, 1);
}
END_TEST

int main() {
  return run_suite("msad", {{"simd_equals_plain", simd_equals_plain}, {"long_rows", long_rows}, {"scores", scores}});
}
