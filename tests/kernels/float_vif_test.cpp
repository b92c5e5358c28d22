/* float_vif: the SIMD twin against the definition, options and scores. */
#include "kernels/float_vif/float_vif.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "kernels/float_vif/float_vif_math-inl.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

// -- Sums ------------------------------------------------------------------------------------------------------------

using Twin = decltype(&float_vif_ref);

/* The sums of a frame, from scratch memory full of rubbish, past whose end nothing may be written. */
std::vector<int64_t> sums_of(Twin twin, size_t scratch_bytes, const FloatVifParams& params, const SamplePlane& ref,
                             const SamplePlane& dist) {
  constexpr size_t kGuard = 256;
  constexpr int kRubbish = 0xA5;
  const AlignedBytes scratch = allocate_aligned(scratch_bytes + kGuard);
  std::memset(scratch.get(), kRubbish, scratch_bytes + kGuard);
  FloatVifSums sums = {};
  twin(params, ref, dist, scratch.get(), sums);
  for (size_t i = 0; i < kGuard; i++) ck_assert_int_eq(std::to_integer<int>(scratch[scratch_bytes + i]), kRubbish);
  std::vector<int64_t> words(sizeof sums / 8);
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
  params.eye = {noise, 1 / noise, noise * noise / 65025, static_cast<float>(c.gain_limit)};
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
    const auto want = sums_of(float_vif_ref, float_vif_scratch_bytes_ref(params), params, ref.sample_plane(),
                              dist.sample_plane());
    for_each_cpu_target([&](const std::string& target) {
      const auto got = sums_of(float_vif_simd, float_vif_scratch_bytes_simd(params), params, ref.sample_plane(),
                               dist.sample_plane());
      for (size_t i = 0; i < want.size(); i++)
        ck_assert_msg(got[i] == want[i], "%s %dx%d %d bit %s, kernelscale %g, prescale %g: sum %zu is %lld, not %lld",
                      target.c_str(), w, h, bpc, fill_name(fill), c.kernelscale, c.prescale, i,
                      static_cast<long long>(got[i]), static_cast<long long>(want[i]));
    });
  });
}

// -- Scores ----------------------------------------------------------------------------------------------------------

constexpr VideoFormat kSmall = {.w = 16, .h = 16, .bpc = 8, .chroma = Chroma::k400};

struct Scores : ScoreSink {
  void put(int64_t, int feature, double score) override { of[features[feature].key] = score; }
  void put_aggregate(const char* key, double) override { ck_abort_msg("unexpected aggregate %s", key); }

  std::span<const FeatureInfo> features;
  std::map<std::string, double> of;
};

StatusOr<std::unique_ptr<Extractor>> created(const OptionTexts& given, const VideoFormat& format) {
  auto options = Options::resolve("float_vif", kFloatVifExtractor.options, given);
  ck_assert_msg(options.ok(), "%s", options.status().message().c_str());
  return kFloatVifExtractor.create(options.value(), format);
}

std::unique_ptr<Extractor> make(const OptionTexts& given, const VideoFormat& format = kSmall) {
  auto made = created(given, format);
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return std::move(made.value());
}

std::map<std::string, double> scores_of(Extractor& vif, const FloatVifSums& sums) {
  Scores scores;
  scores.features = vif.features();
  vif.finalize(0, &sums, scores);
  return scores.of;
}

/* num 1, 2, 3, 4 and den 3, 6, 12, 24. */
constexpr int64_t kOne = int64_t{1} << kFloatVifBits;
const FloatVifSums kSums = {{{kOne, 3 * kOne}, {2 * kOne, 6 * kOne}, {3 * kOne, 12 * kOne}, {4 * kOne, 24 * kOne}}};

/* The scores of flat pictures of a 64x64 format but for what fill says. */
std::map<std::string, double> scores_of_planes(const OptionTexts& options, Fill ref_fill, Fill dist_fill) {
  const VideoFormat format = {.w = 64, .h = 64, .bpc = 8, .chroma = Chroma::k400};
  const auto vif = make(options, format);
  TestPlane<uint8_t> ref(64, 64), dist(64, 64);
  ref.fill(ref_fill, 8, 1);
  dist.fill(dist_fill, 8, 1);
  const AlignedBytes scratch = allocate_aligned(vif->scratch_bytes());
  FrameSet frames;
  frames.ref.plane[0] = ref.sample_plane();
  frames.dist.plane[0] = dist.sample_plane();
  FloatVifSums sums = {};
  vif->extract(frames, scratch.get(), &sums);
  return scores_of(*vif, sums);
}

}  // namespace

START_TEST(logarithm) {
  for (float x = 1; x < 1e30f; x *= 1.37f) ck_assert_double_eq_tol(float_vif_log2(x), std::log2(x), 1e-5);
  ck_assert_float_eq(float_vif_log2(1), 0);
  ck_assert_float_eq(float_vif_log2(1024), 10);
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
  float_vif_sample({0, 0, 6, 24, 12}, {2, 0.5f, 4 / 65025.0f, 1}, num, den);
  ck_assert_double_eq_tol(num, 2, 1e-6);
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
  for (const double kernelscale : {1.0, 0.5, 1.5, 2.0, 2 / 3.0, 2.4, 360 / 97.0, 4 / 3.0, 3.5 / 3, 1.25, 4.25 / 3,
                                   5 / 3.0, 3.0, 1 / 2.25, 1.4746, 1.54, 1.6, 1.06667, 0.711111, 0.74074, 1.111111})
    check({.kernelscale = kernelscale}, 131, 67, 8);
}
END_TEST

START_TEST(other_options) {
  check({.noise = 0}, 40, 33, 8);
  check({.noise = 0}, 40, 33, 8, Fill::kZero);
  check({.noise = 4.5, .gain_limit = 1.25}, 40, 33, 8, Fill::kRandom, 24);
  check({.skip_scale0 = true}, 41, 34, 8);
  for (const PrescaleMethod method : {PrescaleMethod::kNearest, PrescaleMethod::kBilinear, PrescaleMethod::kBicubic,
                                      PrescaleMethod::kLanczos4})
    for (const double prescale : {0.5, 1.7}) check({.method = method, .prescale = prescale}, 47, 39, 10);
}
END_TEST

START_TEST(scores) {
  const auto plain = make({});
  ck_assert_uint_eq(plain->features().size(), 4);
  auto of = scores_of(*plain, kSums);
  ck_assert_double_eq(of["vif_scale0"], 1 / 3.0);
  ck_assert_double_eq(of["vif_scale3"], 1 / 6.0);

  of = scores_of(*make({{"vif_scale1_min_val", "0.5"}, {"vif_scale2_min_val", "0.1"}, {"vif_scale3_min_val", "0.2"}}),
                 kSums);
  ck_assert_double_eq(of["vif_scale1"], 0.5);
  ck_assert_double_eq(of["vif_scale2"], 0.25);
  ck_assert_double_eq(of["vif_scale3"], 0.2);

  of = scores_of(*make({{"debug", "true"}}), kSums);
  ck_assert_uint_eq(of.size(), 15);
  ck_assert_double_eq(of["vif"], 10 / 45.0);
  ck_assert_double_eq(of["vif_num"], 10);
  ck_assert_double_eq(of["vif_den_scale2"], 12);

  of = scores_of(*make({{"debug", "true"}, {"vif_skip_scale0", "true"}}), kSums);
  ck_assert_double_eq(of["vif_scale0"], 0);
  ck_assert_double_eq(of["vif"], 9 / 42.0);
  ck_assert_double_eq(of["vif_num_scale0"], 0);
  ck_assert_double_eq(of["vif_den_scale0"], -1);
}
END_TEST

START_TEST(known_pictures) {
  /* Nothing there and nothing changed; all of it lost. */
  ck_assert_double_eq_tol(scores_of_planes({}, Fill::kZero, Fill::kZero)["vif_scale0"], 1, 1e-6);
  ck_assert_double_eq_tol(scores_of_planes({}, Fill::kRandom, Fill::kRandom)["vif_scale1"], 1, 1e-5);
  ck_assert_double_eq_tol(scores_of_planes({}, Fill::kRandom, Fill::kZero)["vif_scale0"], 0, 1e-12);
  for (const auto& [key, score] :
       scores_of_planes({{"vif_sigma_nsq", "0"}, {"debug", "true"}}, Fill::kZero, Fill::kZero))
    ck_assert_msg(std::isfinite(score), "%s", key.c_str());
}
END_TEST

START_TEST(refusals) {
  ck_assert_int_eq(created({{"vif_kernelscale", "0.9"}}, kSmall).status().code(), EINVAL);
  ck_assert_int_eq(created({{"vif_prescale_method", "box"}}, kSmall).status().code(), EINVAL);
  const auto small = created({}, {.w = 15, .h = 40, .bpc = 8, .chroma = Chroma::k400});
  ck_assert_int_eq(small.status().code(), EINVAL);
  assert_contains(small.status().message(), "16x16");
  ck_assert_int_eq(created({{"vif_prescale", "0.5"}}, kSmall).status().code(), EINVAL);
  make({{"vif_prescale", "2"}}, {.w = 8, .h = 9, .bpc = 8, .chroma = Chroma::k400});
}
END_TEST

int main() {
  return run_suite("float_vif", {{"logarithm", logarithm},
                                 {"one_sample", one_sample},
                                 {"widths", every_width},
                                 {"depths", every_depth_and_fill},
                                 {"kernelscales", every_kernelscale},
                                 {"options", other_options},
                                 {"scores", scores},
                                 {"known_pictures", known_pictures},
                                 {"refusals", refusals}});
}
