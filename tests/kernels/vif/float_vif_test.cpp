/* float_vif: the SIMD twin against the definition, options and scores. */
#include "kernels/vif/float_vif.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/steps/row_sums.h"
#include "kernels/vif/float_vif_math-inl.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

// -- Sums ------------------------------------------------------------------------------------------------------------

using Twin = decltype(&float_vif_plain);

/* The sums of a frame. */
std::vector<uint64_t> sums_of(Twin twin, size_t scratch_bytes, const FloatVifParams& params, const SamplePlane& ref,
                              const SamplePlane& dist) {
  const TestScratch scratch(scratch_bytes);
  FloatVifSums sums = {};
  twin(params, ref, dist, scratch.get(), sums);
  std::vector<uint64_t> words(sizeof sums / 8);
  std::memcpy(words.data(), &sums, sizeof sums);
  return words;
}

struct Case {
  double kernelscale = 1, noise = 2, gain_limit = 100;
  bool skip_scale0 = false;
  PrescaleMethod method = PrescaleMethod::kNearest;
  double prescale = 1;
};

FloatVifParams params_of(const Case& c, int w, int h, int bpc) {
  FloatVifParams params;
  params.w = prescaled_size(w, c.prescale);
  params.h = prescaled_size(h, c.prescale);
  params.bpc = bpc;
  params.skip_scale0 = c.skip_scale0;
  const auto noise = static_cast<float>(c.noise);
  params.eye = {c.noise, noise, c.noise == 2 ? 0.5f : 0, noise * noise / 65025, static_cast<float>(c.gain_limit)};
  for (int s = 0; s < kFloatVifScales; s++) params.window[s] = vif_window(s, c.kernelscale);
  if (c.prescale != 1) params.prescaler = std::make_shared<Prescaler>(c.method, w, h, params.w, params.h);
  return params;
}

/* A distorted copy: `gain` sixteenths of the contrast, and grain. */
template <class T>
void distort(TestPlane<T>& dist, TestPlane<T>& ref, int w, int h, int bpc, int gain) {
  std::mt19937 random(w * 131 + h);
  const int max = (1 << bpc) - 1;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      const int grain = static_cast<int>(random() % 13) - 6;
      const int value = (ref.at(x, y) - max / 2) * gain / 16 + max / 2 + grain * (max + 1) / 256;
      dist.at(x, y) = static_cast<T>(std::clamp(value, 0, max));
    }
}

void check(const Case& c, int w, int h, int bpc, Fill fill = Fill::kRandom, int gain = 10) {
  with_sample_type(bpc, [&]<class T>(T) {
    TestPlane<T> ref(w, h, w % 5, w % 3, w % 2), dist(w, h, h % 7, gain % 5, h % 2);
    ref.fill(fill, bpc, w + h);
    distort(dist, ref, w, h, bpc, gain);
    const FloatVifParams params = params_of(c, w, h, bpc);
    const auto want = sums_of(float_vif_plain, float_vif_scratch_bytes_plain(params), params, ref.sample_plane(),
                              dist.sample_plane());
    for_each_cpu_target([&](const std::string& target) {
      const auto got = sums_of(float_vif_simd, float_vif_scratch_bytes_simd(params), params, ref.sample_plane(),
                               dist.sample_plane());
      for (size_t i = 0; i < want.size(); i++)
        ck_assert_msg(got[i] == want[i], "%s %dx%d %d bit %s, kernelscale %g, prescale %g: sum %zu is %a, not %a",
                      target.c_str(), w, h, bpc, fill_name(fill), c.kernelscale, c.prescale, i, sum_of_word(got[i]),
                      sum_of_word(want[i]));
    });
  });
}

// -- Scores ----------------------------------------------------------------------------------------------------------

constexpr VideoFormat kSmall = {.w = 16, .h = 16, .bpc = 8, .chroma = Chroma::k400};

Scores scores_of_sums(const OptionTexts& given, const FloatVifSums& sums) {
  const auto vif = make_extractor(kFloatVifExtractor, kSmall, given);
  const auto scorer = vif->make_scorer();
  Scores scores(*vif);
  scorer->finalize(0, &sums, scores);
  return scores;
}

/* num 1, 2, 3, 4 and den 3, 6, 12, 24. */
FloatVifSums some_sums() {
  const auto word = [](int n) { return word_of_sum(static_cast<float>(n)); };
  return {{{word(1), word(3)}, {word(2), word(6)}, {word(3), word(12)}, {word(4), word(24)}}};
}

Scores scores_of_planes(const OptionTexts& options, Fill ref_fill, Fill dist_fill) {
  const auto vif = make_extractor(kFloatVifExtractor, {.w = 64, .h = 64, .bpc = 8, .chroma = Chroma::k400}, options);
  TestPlane<uint8_t> ref(64, 64), dist(64, 64);
  ref.fill(ref_fill, 8, 1);
  dist.fill(dist_fill, 8, 1);
  Picture pictures[2];
  pictures[0].plane[0] = ref.sample_plane();
  pictures[1].plane[0] = dist.sample_plane();
  return score_frame(*vif, pictures[0], pictures[1]);
}

}  // namespace

START_TEST(logarithm) {
  for (float x = 1; x < 1e30f; x *= 1.37f) ck_assert_double_eq_tol(float_vif_log2(x), std::log2(x), 1e-5);
  ck_assert_float_eq(float_vif_log2(1), 0);
  ck_assert_float_eq(float_vif_log2(1024), 10);
  ck_assert_float_eq(float_vif_log2(std::numeric_limits<float>::infinity()), 128);
}
END_TEST

START_TEST(one_sample) {
  const FloatVifEye eye;
  float num, den;
  /* s1 = 6, s2 = 1.5, s12 = 3: g = 1/2, sv = 0; num = log2(1 + 1.5 / 2), den = log2(4). */
  float_vif_sample({1, 2, 7, 5.5f, 5}, eye, num, den);
  ck_assert_double_eq_tol(num, std::log2(1.75), 1e-6);
  ck_assert_double_eq_tol(den, 2, 1e-6);
  /* No variance: the loss of s2 = 100. */
  float_vif_sample({0, 0, 0, 100, 0}, eye, num, den);
  ck_assert_double_eq_tol(num, 1 - 400 / 65025.0, 1e-6);
  ck_assert_double_eq(den, 1);
  /* Against the reference: nothing is left. */
  float_vif_sample({0, 0, 6, 6, -6}, eye, num, den);
  ck_assert_double_eq(num, 0);
  ck_assert_double_eq_tol(den, 2, 1e-6);
  /* Enhanced by 2, with no credit for it: g = 1, sv = 24 - 2 * 12 = 0. */
  float_vif_sample({0, 0, 6, 24, 12}, {2, 2, 0.5f, 4 / 65025.0f, 1}, num, den);
  ck_assert_double_eq_tol(num, 2, 1e-6);
}
END_TEST

/* libvmaf divides in double: its noise is one. With floats some of these quotients come out one place off. */
START_TEST(quotients) {
  constexpr float kNoise = 0.7f, kGain = 100;
  constexpr double kNoiseAsDouble = 0.7;
  int differ = 0;
  for (int i = 0; i < 1000; i++) {
    const float s1 = 3 + 0.37f * static_cast<float>(i), s12 = 0.9f * s1, s2 = 1.1f * s1;
    const float g = s12 / (s1 + 1e-10f), sv = s2 - g * s12;
    float num, den;
    float_vif_sample({0, 0, s1, s2, s12}, {kNoiseAsDouble, kNoise, 0, 0, kGain}, num, den);
    ck_assert_float_eq(
        num, float_vif_log2(static_cast<float>(1.0 + static_cast<double>(g * g * s1) / (sv + kNoiseAsDouble))));
    ck_assert_float_eq(den, float_vif_log2(static_cast<float>(1.0 + s1 / kNoiseAsDouble)));
    differ += num != float_vif_log2(1.0f + g * g * s1 / (sv + kNoise));
  }
  ck_assert_int_gt(differ, 0);
  /* A power of two needs no division. */
  for (const double noise : {0.25, 1.0, 2.0, 4.0})
    for (float s1 = static_cast<float>(noise); s1 < 70000; s1 *= 1.0371f) {
      const auto n = static_cast<float>(noise);
      float num, short_cut, den;
      float_vif_sample({0, 0, s1, 3, 1}, {noise, n, 1 / n, 0, kGain}, num, short_cut);
      float_vif_sample({0, 0, s1, 3, 1}, {noise, n, 0, 0, kGain}, num, den);
      ck_assert_float_eq(short_cut, den);
    }
}
END_TEST

START_TEST(every_width) {
  for (int w = 16; w <= 70; w++) check({}, w, 16 + w % 9, w % 2 ? 8 : 10, w % 3 ? Fill::kRandom : Fill::kGradient);
  for (const int w : {129, 160, 161, 193}) check({}, w, 37, 8);
}
END_TEST

START_TEST(every_depth_and_fill) {
  for (int bpc = 8; bpc <= 16; bpc++) check({}, 49, 35, bpc);
  for (const Fill fill : kFills)
    for (const int gain : {0, 10, 24}) check({}, 51, 33, 8, fill, gain);
}
END_TEST

START_TEST(every_kernelscale) {
  for (const double kernelscale :
       {1.0,     0.5, 1.5,      2.0,    2 / 3.0, 2.4, 360 / 97.0, 4 / 3.0,  3.5 / 3, 1.25,    4.25 / 3,
        5 / 3.0, 3.0, 1 / 2.25, 1.4746, 1.54,    1.6, 1.06667,    0.711111, 0.74074, 1.111111})
    check({.kernelscale = kernelscale}, 131, 67, 8);
}
END_TEST

START_TEST(other_options) {
  check({.noise = 0}, 40, 33, 8);
  check({.noise = 0}, 40, 33, 8, Fill::kZero);
  check({.noise = 4.5, .gain_limit = 1.25}, 40, 33, 8, Fill::kRandom, 24);
  check({.skip_scale0 = true}, 41, 34, 8);
  for (const PrescaleMethod method :
       {PrescaleMethod::kNearest, PrescaleMethod::kBilinear, PrescaleMethod::kBicubic, PrescaleMethod::kLanczos4})
    for (const double prescale : {0.5, 1.7}) check({.method = method, .prescale = prescale}, 47, 39, 10);
}
END_TEST

START_TEST(scores) {
  Scores of = scores_of_sums({}, some_sums());
  ck_assert_uint_eq(of.of.size(), 4);
  of.expect("vif_scale0 0", 1 / 3.0);
  of.expect("vif_scale3 0", 1 / 6.0);

  of = scores_of_sums({{"vif_scale1_min_val", "0.5"}, {"vif_scale2_min_val", "0.1"}, {"vif_scale3_min_val", "0.2"}},
                      some_sums());
  of.expect("vif_scale1 0", 0.5);
  of.expect("vif_scale2 0", 0.25);
  of.expect("vif_scale3 0", 0.2);

  of = scores_of_sums({{"debug", "true"}}, some_sums());
  ck_assert_uint_eq(of.of.size(), 15);
  of.expect("vif 0", 10 / 45.0);
  of.expect("vif_num 0", 10);
  of.expect("vif_den_scale2 0", 12);

  of = scores_of_sums({{"debug", "true"}, {"vif_skip_scale0", "true"}}, some_sums());
  of.expect("vif_scale0 0", 0);
  of.expect("vif 0", 9 / 42.0);
  of.expect("vif_num_scale0 0", 0);
  of.expect("vif_den_scale0 0", -1);
}
END_TEST

START_TEST(known_pictures) {
  /* Nothing there and nothing changed; all of it lost. */
  scores_of_planes({}, Fill::kZero, Fill::kZero).expect("vif_scale0 0", 1, 1e-6);
  scores_of_planes({}, Fill::kRandom, Fill::kRandom).expect("vif_scale1 0", 1, 1e-5);
  scores_of_planes({}, Fill::kRandom, Fill::kZero).expect("vif_scale0 0", 0, 1e-12);
  for (const auto& [key, score] :
       scores_of_planes({{"vif_sigma_nsq", "0"}, {"debug", "true"}}, Fill::kZero, Fill::kZero).of)
    ck_assert_msg(std::isfinite(score), "%s", key.c_str());
}
END_TEST

START_TEST(refusals) {
  refusal(kFloatVifExtractor, kSmall, {{"vif_kernelscale", "0.9"}});
  refusal(kFloatVifExtractor, kSmall, {{"vif_prescale_method", "box"}});
  refusal(kFloatVifExtractor, kSmall, {{"vif_prescale", "0.5"}});
  assert_contains(refusal(kFloatVifExtractor, {.w = 15, .h = 40, .bpc = 8, .chroma = Chroma::k400}), "16x16");
  make_extractor(kFloatVifExtractor, {.w = 8, .h = 9, .bpc = 8, .chroma = Chroma::k400}, {{"vif_prescale", "2"}});
}
END_TEST

int main() {
  return run_suite("float_vif", {{"logarithm", logarithm},
                                 {"one_sample", one_sample},
                                 {"quotients", quotients},
                                 {"widths", every_width},
                                 {"depths", every_depth_and_fill},
                                 {"kernelscales", every_kernelscale},
                                 {"options", other_options},
                                 {"scores", scores},
                                 {"known_pictures", known_pictures},
                                 {"refusals", refusals}});
}
