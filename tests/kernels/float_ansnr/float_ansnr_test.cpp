#include "kernels/float_ansnr/float_ansnr.h"

#include <check.h>

#include <cmath>
#include <string>

#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

template <class T>
void check_twins(const std::string& target, int w, int h, int bpc, Fill ref_fill, Fill dist_fill) {
  TestPlane<T> ref(w, h, w % 5, w % 3, w % 2), dist(w, h, w % 7, h % 4, h % 2);
  ref.fill(ref_fill, bpc, w);
  dist.fill(dist_fill, bpc, h);
  const VideoFormat format = {.w = w, .h = h, .bpc = bpc};
  const TestScratch scratch(ansnr_scratch_bytes(format), kRubbishNan);
  AnsnrSums want = {}, got = {};
  ansnr_plain(format, ref.sample_plane(), dist.sample_plane(), nullptr, want);
  ansnr_simd(format, ref.sample_plane(), dist.sample_plane(), scratch.get(), got);
  ck_assert_msg(got.signal == want.signal && got.noise == want.noise, "%s, %dx%d, %d bit, %s against %s",
                target.c_str(), w, h, bpc, fill_name(ref_fill), fill_name(dist_fill));
}

}  // namespace

START_TEST(simd_equals_plain) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= 16; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 3; w <= 70; w++)
          check_twins<T>(target, w, 3 + w % 6, bpc, kFills[w % std::size(kFills)], kFills[w / 2 % std::size(kFills)]);
        for (const Fill ref : kFills)
          for (const Fill dist : kFills) check_twins<T>(target, 37, 7, bpc, ref, dist);
      });
  });
}
END_TEST

/* One sample of 128 + 16 amid 128, far from the borders: r is K₃, d is 0 where dist is flat. */
START_TEST(impulse) {
  TestPlane<uint8_t> ref(9, 9), dist(9, 9);
  for (int i = 0; i < 81; i++) ref.at(i % 9, i / 9) = dist.at(i % 9, i / 9) = 128;
  const Picture flat = {8, {dist.sample_plane()}}, point = {8, {ref.sample_plane()}};
  const auto ansnr = make_extractor(kFloatAnsnrExtractor, {.w = 9, .h = 9, .bpc = 8, .chroma = Chroma::k400});
  score_frame(*ansnr, flat, flat).expect("float_ansnr 0", 60);
  score_frame(*ansnr, flat, flat).expect("float_anpsnr 0", 60);

  ref.at(4, 4) += 16;
  Scores scores = score_frame(*ansnr, point, flat);
  scores.expect("float_ansnr 0", 0, 1e-12);
  scores.expect("float_anpsnr 0", 10 * std::log10(255. * 255. * 81 / (16 + 4 * 4 + 4 * 1)), 1e-12);

  /* The other way round: r is 0, d is 16·K₅/571; the squares of K₅ add up to 31,773. */
  score_frame(*ansnr, flat, point)
      .expect("float_anpsnr 0", 10 * std::log10(255. * 255. * 81 / (31773 * 256. / (571 * 571))), 1e-6);
}
END_TEST

/* A window of 3 - 128 is off by one place of a float, 2^-17, so flat pictures have noise, as in libvmaf. */
START_TEST(flat_pictures_may_have_noise) {
  TestPlane<uint8_t> plane(16, 16);
  for (int i = 0; i < 256; i++) plane.at(i % 16, i / 16) = 3;
  const Picture dark = {8, {plane.sample_plane()}};
  const auto ansnr = make_extractor(kFloatAnsnrExtractor, {.w = 16, .h = 16, .bpc = 8, .chroma = Chroma::k400});
  Scores scores = score_frame(*ansnr, dark, dark);
  scores.expect("float_ansnr 0", 20 * std::log10(125 * 0x1p17), 1e-5);
  scores.expect("float_anpsnr 0", 60);
}
END_TEST

START_TEST(refusals) {
  const std::string said = refusal(kFloatAnsnrExtractor, {.w = 2, .h = 9});
  ck_assert_str_eq(said.c_str(), "float_ansnr needs pictures of at least 3x3; these are 2x9");
}
END_TEST

int main() {
  return run_suite("ansnr", {{"simd_equals_plain", simd_equals_plain},
                             {"impulse", impulse},
                             {"flat", flat_pictures_may_have_noise},
                             {"refusals", refusals}});
}
