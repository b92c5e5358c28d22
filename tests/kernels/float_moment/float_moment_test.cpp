#include "kernels/float_moment/float_moment.h"

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
          TestPlane<T> plane(w, 1 + w % 3, w % 5, w % 3, w % 2);
          for (const Fill fill : kFills) {
            plane.fill(fill, bpc, w);
            const MomentSums want = moment_plain(plane.sample_plane(), bpc),
                             got = moment_simd(plane.sample_plane(), bpc);
            ck_assert_msg(got.first == want.first && got.second == want.second, "%s, width %d, %d bit, %s",
                          target.c_str(), w, bpc, fill_name(fill));
          }
        }
      });
  });
}
END_TEST

/* Rows so long that 32-bit sums of squares would wrap. */
START_TEST(long_rows) {
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 10, 14, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        TestPlane<T> plane(1200003, 1);
        plane.fill(Fill::kMax, bpc, 1);
        const uint64_t max = (1u << bpc) - 1;
        const MomentSums sums = moment_simd(plane.sample_plane(), bpc);
        ck_assert_msg(sums.first == 1200003 * max && sums.second == 1200003 * max * max, "%s, %d bit", target.c_str(),
                      bpc);
      });
  });
}
END_TEST

/* 9 bit: twice the samples of 8 bit. */
START_TEST(scores) {
  TestPlane<uint16_t> ref(2, 2), dist(2, 2);
  ref.fill(Fill::kZero, 9, 1);
  dist.fill(Fill::kMax, 9, 1);
  ref.at(1, 1) = 8;
  const auto moment = make_extractor(kFloatMomentExtractor, {.w = 2, .h = 2, .bpc = 9, .chroma = Chroma::k400});
  Scores scores = score_frame(*moment, {9, {ref.sample_plane()}}, {9, {dist.sample_plane()}});
  scores.expect("float_moment_ref1st 0", 1);
  scores.expect("float_moment_ref2nd 0", 4);
  scores.expect("float_moment_dis1st 0", 255.5);
  scores.expect("float_moment_dis2nd 0", 255.5 * 255.5);
}
END_TEST

int main() {
  return run_suite("moment", {{"simd_equals_plain", simd_equals_plain}, {"long_rows", long_rows}, {"scores", scores}});
}
