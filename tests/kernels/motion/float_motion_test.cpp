/* float_motion: the SIMD twin against the definition, options and scores. */
#include "kernels/motion/float_motion.h"

#include <cstring>
#include <string>
#include <vector>

#include "kernels/steps/row_sums.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

// -- Sums ------------------------------------------------------------------------------------------------------------

FloatMotionParams params_of(int taps, bool half_size, int w, int h, int bpc) {
  FloatMotionParams params;
  params.taps = taps;
  params.format = {.w = w, .h = h, .bpc = bpc};
  if (half_size)
    params.half_size[0].emplace(PrescaleMethod::kBilinear, w, h, float_motion_half(w), float_motion_half(h));
  return params;
}

FloatMotionPlaneSums sums_of(decltype(&float_motion_plain) twin, size_t (*bytes)(const FloatMotionParams&),
                             const FloatMotionParams& params, const SamplePlane& earlier, const SamplePlane& current) {
  const TestScratch scratch(bytes(params));
  FloatMotionPlaneSums sums = {};
  twin(params, 0, earlier, current, scratch.get(), sums);
  return sums;
}

void check(int taps, bool half_size, int w, int h, int bpc, Fill a = Fill::kRandom, Fill b = Fill::kRandom) {
  with_sample_type(bpc, [&]<class T>(T) {
    TestPlane<T> earlier(w, h, w % 5, w % 3, w % 2), current(w, h, h % 7, 1, h % 2);
    earlier.fill(a, bpc, w);
    current.fill(b, bpc, h + 1000);
    const auto params = params_of(taps, half_size, w, h, bpc);
    const auto want = sums_of(float_motion_plain, float_motion_scratch_bytes_plain, params, earlier.sample_plane(),
                              current.sample_plane());
    for_each_cpu_target([&](const std::string& target) {
      const auto got = sums_of(float_motion_simd, float_motion_scratch_bytes_simd, params, earlier.sample_plane(),
                               current.sample_plane());
      ck_assert_msg(!std::memcmp(&got, &want, sizeof got), "%s: %dx%d, %d bit, %d taps: %.9g %.9g, not %.9g %.9g",
                    target.c_str(), w, h, bpc, taps, sum_of_word(got.sad), sum_of_word(got.half_size_sad),
                    sum_of_word(want.sad), sum_of_word(want.half_size_sad));
    });
  });
}

// -- Scores ----------------------------------------------------------------------------------------------------------

constexpr VideoFormat kSmall = {.w = 16, .h = 16, .bpc = 8, .chroma = Chroma::k420};

std::unique_ptr<Extractor> make(const OptionTexts& given, const VideoFormat& format = kSmall) {
  return make_extractor(kFloatMotionExtractor, format, given);
}

/* Scores a 16x16 stream whose frames have this mean difference of luma. */
void expect(const OptionTexts& options, const std::vector<double>& means, const char* motion, const char* motion2,
            const char* motion3) {
  const auto extractor = make(options);
  const auto scorer = extractor->make_scorer();
  Scores scores(*extractor);
  for (size_t n = 0; n < means.size(); n++) {
    FloatMotionSums sums = {};
    sums.plane[0].sad = word_of_sum(static_cast<float>(means[n]) * 256);
    scorer->finalize(static_cast<int64_t>(n), &sums, scores);
  }
  ck_assert(scorer->flush(scores).ok());
  const int frames = static_cast<int>(means.size());
  assert_text_eq(scores.text("motion", frames), motion);
  assert_text_eq(scores.text("motion2", frames), motion2);
  assert_text_eq(scores.text("motion3", frames), motion3);
}

/* The motion of the second of two frames, flat planes of these values. */
double motion_of_flat(const OptionTexts& options, const VideoFormat& format, int earlier, int current) {
  const auto extractor = make(options, format);
  std::vector<std::vector<uint8_t>> planes;
  const auto picture = [&](int value) {
    Picture picture;
    for (int p = 0; p < format.planes(); p++) {
      const int w = format.plane_w(p), h = format.plane_h(p);
      planes.emplace_back(static_cast<size_t>(w) * h, static_cast<uint8_t>(value));
      picture.plane[p] = {planes.back().data(), w, w, h};
    }
    return picture;
  };
  FrameSet frames;
  frames.index = 1;
  frames.earlier_ref[0] = picture(earlier);
  frames.ref = picture(current);
  const TestScratch scratch(extractor->scratch_bytes());
  FloatMotionSums sums = {};
  const auto scorer = extractor->make_scorer();
  Scores scores(*extractor);
  scorer->finalize(0, &sums, scores);
  extractor->extract(frames, scratch.get(), &sums);
  scorer->finalize(1, &sums, scores);
  return scores.of["motion 1"];
}

}  // namespace

START_TEST(simd_equals_plain) {
  for (const int taps : {1, 3, 5})
    for (const bool half_size : {false, true}) {
      for (int w = 3; w <= 70; w++) check(taps, half_size, w, 3 + w % 8, w % 2 ? 8 : 10);
      for (int bpc = 8; bpc <= 16; bpc++) check(taps, half_size, 37, 21, bpc);
      for (const Fill fill : kFills) check(taps, half_size, 45, 17, 8, fill, Fill::kZero);
    }
  check(5, true, 131, 67, 16, Fill::kMax, Fill::kCheckerboard);
}
END_TEST

START_TEST(impulse) {
  /* |taps| of a lone difference add up to 1; at half the size each sample is a mean of four. */
  TestPlane<uint8_t> earlier(12, 12), current(12, 12);
  earlier.fill(Fill::kZero, 8, 1);
  current.fill(Fill::kZero, 8, 1);
  current.at(5, 6) = 8;
  for (const int taps : {1, 3, 5}) {
    const auto sums = sums_of(float_motion_plain, float_motion_scratch_bytes_plain, params_of(taps, true, 12, 12, 8),
                              earlier.sample_plane(), current.sample_plane());
    ck_assert_float_eq_tol(sum_of_word(sums.sad), 8, 1e-4f);
    ck_assert_float_eq_tol(sum_of_word(sums.half_size_sad), 2, 1e-4f);
  }
}
END_TEST

/* As in libvmaf, rows are added up in single precision from the left: what is small counts before what is large, and is
 * lost behind it. */
START_TEST(sums_round) {
  constexpr int kMany = 700, kW = 2 * kMany;
  TestPlane<uint16_t> earlier(kW, 1), small_last(kW, 1), small_first(kW, 1);
  for (int x = 0; x < kW; x++) {
    earlier.at(x, 0) = 0;
    small_last.at(x, 0) = x < kMany ? 255 << 8 : 1;
    small_first.at(x, 0) = x < kMany ? 1 : 255 << 8;
  }
  const auto sad = [&](TestPlane<uint16_t>& current) {
    return sum_of_word(sums_of(float_motion_plain, float_motion_scratch_bytes_plain, params_of(1, false, kW, 1, 16),
                               earlier.sample_plane(), current.sample_plane())
                           .sad);
  };
  ck_assert_float_eq(sad(small_last), 255 * kMany);
  ck_assert_float_eq(sad(small_first), 255 * kMany + 2.734375f);
}
END_TEST

START_TEST(scores) {
  expect({}, {9, 4, 2, 6, 1}, "0 4 2 6 1", "0 2 2 1 1", "4 2 2 1 1");
  expect({}, {9}, "0", "0", "0");
  expect({}, {9, 4}, "0 4", "0 4", "4 4");
  expect({}, {}, "", "", "");
  expect({{"motion_fps_weight", "0.5"}}, {9, 4, 2, 6}, "0 2 1 3", "0 1 1 3", "2 1 1 3");
  expect({{"motion_max_val", "3"}}, {9, 4, 2, 6}, "0 3 2 3", "0 2 2 3", "3 2 2 3");
  expect({{"motion_blend_factor", "0.5"}, {"motion_blend_offset", "3"}}, {9, 4, 2, 6}, "0 4 2 6", "0 2 2 6",
         "3.5 2 2 4.5");
  /* motion3 blends what motion2 clips: 0.5 · 6 + 0.5 · 1. */
  expect({{"motion_blend_factor", "0.5"}, {"motion_blend_offset", "1"}, {"motion_max_val", "3.5"}}, {9, 6, 6},
         "0 3.5 3.5", "0 3.5 3.5", "3.5 3.5 3.5");
  expect({{"motion_force_zero", "true"}}, {0, 0, 0}, "0 0 0", "0 0 0", "0 0 0");
  expect({{"debug", "false"}}, {9, 4, 2}, "- - -", "0 2 2", "4 2 2");
}
END_TEST

START_TEST(planes_and_scales_add_up) {
  ck_assert_double_eq_tol(motion_of_flat({}, kSmall, 10, 17), 7, 1e-4);
  ck_assert_double_eq_tol(motion_of_flat({{"motion_add_scale1", "true"}}, kSmall, 10, 17), 14, 1e-4);
  ck_assert_double_eq_tol(motion_of_flat({{"motion_add_uv", "true"}}, kSmall, 17, 10), 21, 1e-4);
  ck_assert_double_eq_tol(motion_of_flat({{"motion_add_uv", "true"}, {"motion_add_scale1", "true"}}, kSmall, 17, 10),
                          42, 1e-4);
  for (const char* size : {"0", "1", "2", "3", "5", "9"})
    ck_assert_double_eq_tol(motion_of_flat({{"motion_filter_size", size}}, kSmall, 10, 17), 7, 1e-4);
}
END_TEST

START_TEST(reads) {
  const Reads plain = make({})->reads();
  ck_assert(plain.ref == 1 && plain.dist == 0 && plain.history == 1 && plain.every_frame);
  ck_assert_uint_eq(make({{"motion_add_uv", "true"}})->reads().ref, 7);
  ck_assert_uint_eq(make({{"motion_force_zero", "true"}})->reads().ref, 0);
}
END_TEST

START_TEST(refusals) {
  const VideoFormat gray = {.w = 16, .h = 16, .bpc = 8, .chroma = Chroma::k400};
  assert_contains(refusal(kFloatMotionExtractor, gray, {{"motion_add_uv", "true"}}), "chroma");
  const VideoFormat small = {.w = 16, .h = 2, .bpc = 8, .chroma = Chroma::k400};
  assert_contains(refusal(kFloatMotionExtractor, small), "at least 3x3");
  make({{"motion_filter_size", "3"}}, small);
  make({{"motion_force_zero", "true"}}, small);
}
END_TEST

int main() {
  return run_suite("float_motion", {{"simd_equals_plain", simd_equals_plain},
                                    {"impulse", impulse},
                                    {"sums_round", sums_round},
                                    {"scores", scores},
                                    {"planes_and_scales", planes_and_scales_add_up},
                                    {"reads", reads},
                                    {"refusals", refusals}});
}
