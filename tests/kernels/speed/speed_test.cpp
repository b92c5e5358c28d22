#include "kernels/speed/speed.h"

#include <check.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "kernels/speed/speed_blocks-inl.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

double number(const SpeedSums& sums) { return std::bit_cast<float>(static_cast<uint32_t>(sums.difference)); }

SpeedPlan plan_of(int w, int h, int bpc, const OptionTexts& given = {}) {
  const Options options = Options::resolve("speed_chroma", kSpeedChromaExtractor.options, given).value();
  const auto fields = options.fields<SpeedOptions>();
  auto plan = SpeedPlan::create("speed_chroma", fields, {.w = w, .h = h, .bpc = bpc}, {});
  ck_assert_msg(plan.ok(), "%s", plan.status().message().c_str());
  return std::move(plan.value());
}

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

void score_one(SpeedTwin twin, const SpeedPlan& plan, const SpeedPlane& ref, const SpeedPlane& dist, std::byte* scratch,
               SpeedSums* sums) {
  twin(plan, ref, {&dist, 1}, scratch, {&sums, 1});
}

SpeedSums assert_twins_agree(const SpeedPlan& plan, const SpeedPlane& ref, const SpeedPlane& dist,
                             const std::string& what) {
  const TestScratch scratch(plan.scratch_bytes(), kRubbishNan);
  SpeedSums want = {1, 1};
  score_one(speed_plain, plan, ref, dist, scratch.get(), &want);
  for_each_cpu_target([&](const std::string& target) {
    SpeedSums got = {2, 2};
    score_one(speed_simd, plan, ref, dist, scratch.get(), &got);
    ck_assert_msg(got.difference == want.difference && got.singular == want.singular,
                  "%s %dx%d %d bit %s: %.9g (%d), the definition says %.9g (%d)", target.c_str(), ref.now.w, ref.now.h,
                  plan.bpc, what.c_str(), number(got), static_cast<int>(got.singular), number(want),
                  static_cast<int>(want.singular));
  });
  ck_assert(std::isfinite(number(want)));
  return want;
}

/* Whether K was regular in some case, with and without differences in time. */
template <class T>
bool check_planes(const SpeedPlan& plan, int w, int h, Fill ref_fill, Fill dist_fill) {
  TestPlane<T> ref(w, h, w % 5, w % 3, w % 2), dist(w, h, w % 7, h % 4, h % 2), old_ref(w, h), old_dist(w, h, 3);
  ref.fill(ref_fill, plan.bpc, w + 1);
  dist.fill(dist_fill, plan.bpc, w + 2);
  old_ref.fill(Fill::kRandom, plan.bpc, w + 3);
  old_dist.fill(dist_fill, plan.bpc, w + 4);
  const std::string what = std::string(fill_name(ref_fill)) + " against " + fill_name(dist_fill);
  const SpeedSums still = assert_twins_agree(plan, {ref.sample_plane()}, {dist.sample_plane()}, what);
  const SpeedSums moved = assert_twins_agree(plan, {ref.sample_plane(), old_ref.sample_plane()},
                                             {dist.sample_plane(), old_dist.sample_plane()}, what + " in time");
  return !still.singular && !moved.singular && number(still) > 0 && number(moved) > 0;
}

/* Tiles of 16x16 samples, each in every second row and column at the maximum. */
template <class T>
void fill_tiles(TestPlane<T>& plane, int w, int h, T max, uint32_t seed) {
  std::mt19937 random(seed);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) plane.at(x, y) = (((x + 8) / 16 + (y + 8) / 16) % 2) ? max : 0;
  for (int i = 0; i < w * h / 8; i++) plane.at(random() % w, random() % h) = static_cast<T>(random() % (max + 1u));
}

/* -- Scores -------------------------------------------------------------------------------------------------------- */

VideoFormat format_of(int w, int h, int bpc = 8, Chroma chroma = Chroma::k420) {
  return {.w = w, .h = h, .bpc = bpc, .chroma = chroma};
}

void assert_refused(const ExtractorInfo& info, const OptionTexts& given, const VideoFormat& format, const char* want) {
  const std::string said = refusal(info, format, given);
  ck_assert_msg(said.find(want) != std::string::npos, "\"%s\" lacks \"%s\"", said.c_str(), want);
}

/* The sums of a plane of `blocks` that scores `score`. */
SpeedSums sums_of(float score, int blocks, uint64_t singular = 0) {
  return {std::bit_cast<uint32_t>(score * static_cast<float>(blocks)), singular};
}

/* A team that does everything from the end. */
struct Backwards {
  template <class F>
  void each(int count, F f) const {
    for (int i = count - 1; i >= 0; i--) f(i);
  }
  template <class F>
  void square(int size, F f) const {
    each(size, [&](int i) { each(size, [&](int j) { f(i, j); }); });
  }
  void product(int first, int column, speed::ConstMatrix a, speed::ConstMatrix b, speed::Matrix out) const {
    for (int i = speed::n - 1; i >= first; i--)
      for (int j = speed::n - 1; j >= column; j--) out[i][j] = speed::product_element(first, a, b, i, j);
  }
};

/* 2 I + v v', v all ones, plus what is random in `strength`. */
struct TestMatrix {
  explicit TestMatrix(double strength, uint32_t seed = 1) {
    std::mt19937 random(seed);
    for (int i = 0; i < speed::n; i++)
      for (int j = 0; j <= i; j++)
        k[i][j] = k[j][i] = static_cast<float>((i == j ? 3 : 1) + strength * (random() % 1000 / 1000.0 - 0.5));
  }
  float k[speed::n][kSpeedRow] = {};
};

float variance_of(const speed::Model& model, const float* y) {
  float x[speed::n];
  return speed::variance(model, [&](int i) { return y[i]; }, [&](int i) -> float& { return x[i]; });
}

}  // namespace

START_TEST(numbers) {
  for (double x = 1e-30; x < 1e200; x *= 1.37)
    ck_assert_double_le(std::abs(logarithm2(x) - std::log2(x)), 1e-13 * std::max(1.0, std::abs(std::log2(x))));
  ck_assert(logarithm2(1.0) == 0 && logarithm2(8.0) == 3);
  for (float x = 1; x <= 2; x = std::nextafter(x, 3.0f)) {
    const auto want = static_cast<float>(1 / std::sqrt(static_cast<double>(x)));
    const float got = speed::inverse_square_root(x), on_device = speed::inverse_square_root_by_integers(x);
    if (got != want || on_device != want) ck_abort_msg("1 / sqrt(%a) is %a, or %a, not %a", x, got, on_device, want);
  }
}
END_TEST

/* K = 2 I + v v': eigenvalues 2, 24 times, and 27; K^-1 = (I - v v' / 27) / 2. */
START_TEST(model_of_a_known_matrix) {
  constexpr int n = speed::n;
  TestMatrix known(0);
  speed::Model model;
  ck_assert(speed::make_model(speed::Alone(), known.k, &model));
  std::sort(model.eigenvalues, model.eigenvalues + n);
  for (int i = 0; i < n; i++) ck_assert_double_eq_tol(model.eigenvalues[i], i < n - 1 ? 2 : 27, 1e-4);
  float y[n] = {};
  y[3] = 1;
  ck_assert_double_eq_tol(variance_of(model, y), (1 - 1.0 / 27) / 2 / n, 1e-7);
  y[20] = -1;
  ck_assert_double_eq_tol(variance_of(model, y), 1.0 / n, 1e-6);

  TestMatrix flat(0);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) flat.k[i][j] = i == j && i != 7; /* an eigenvalue of 0 */
  ck_assert(!speed::make_model(speed::Alone(), flat.k, &model));
}
END_TEST

/* Eigenvalues have the sums of K and of its squares; in any order of work they and all else have the same bits. */
START_TEST(models_do_not_depend_on_the_team) {
  constexpr int n = speed::n;
  for (uint32_t seed = 1; seed < 40; seed++) {
    TestMatrix first(0.5, seed), second = first;
    double trace = 0, squares = 0;
    for (int i = 0; i < n; i++) {
      trace += first.k[i][i];
      for (int j = 0; j < n; j++) squares += first.k[i][j] * first.k[i][j];
    }
    speed::Model alone, backwards;
    ck_assert(speed::make_model(speed::Alone(), first.k, &alone));
    ck_assert(speed::make_model(Backwards(), second.k, &backwards));
    for (const float value : alone.eigenvalues) {
      trace -= value;
      squares -= value * value;
    }
    ck_assert_double_eq_tol(trace, 0, 1e-4);
    ck_assert_double_eq_tol(squares, 0, 1e-2);
    ck_assert(std::equal(alone.eigenvalues, alone.eigenvalues + n, backwards.eigenvalues));
    for (int i = 0; i < n; i++) {
      ck_assert(std::equal(alone.turned[i], alone.turned[i] + n, backwards.turned[i]));
      ck_assert(std::equal(alone.triangle[i], alone.triangle[i] + n, backwards.triangle[i]));
    }
  }
}
END_TEST

/* An S that rounding spoilt still has an entropy and a weight. */
START_TEST(variances_without_logarithm) {
  TestMatrix known(0);
  speed::Model model;
  ck_assert(speed::make_model(speed::Alone(), known.k, &model));
  const float none = speed::entropy(model, 0, 0.29f);
  for (const float s : {-1e9f, std::numeric_limits<float>::quiet_NaN()}) {
    ck_assert(speed::entropy(model, s, 0.29f) == none);
    ck_assert(speed::weight(0, false, s, 1) == 0 && speed::weight(3, true, s, s) == 0);
  }
  ck_assert(std::isfinite(speed::entropy(model, std::numeric_limits<float>::infinity(), 0.29f)));
  ck_assert_double_lt(speed::entropy(model, -0.001f, 0.29f), none); /* as small as that it is taken as it is */
}
END_TEST

START_TEST(simd_equals_plain) {
  for (int bpc = 8; bpc <= 16; bpc++)
    with_sample_type(bpc, [&]<class T>(T) {
      for (int w = 160; w <= 320; w += bpc == 8 ? 3 * every_under_sanitizers(9) : 21 * every_under_sanitizers(3)) {
        const SpeedPlan plan = plan_of(w, 165 + w % 50, bpc);
        ck_assert(check_planes<T>(plan, w, 165 + w % 50, Fill::kRandom, Fill::kSparse));
      }
    });
}
END_TEST

/* Under sanitizers each fill of the reference meets one or two of the distorted picture's, other ones at each size. */
START_TEST(least_sizes_and_fills) {
  size_t turn = 0;
  for (const int bpc : {8, 12})
    with_sample_type(bpc, [&]<class T>(T) {
      for (const auto& [w, h] : {std::pair(80, 80), std::pair(95, 161), std::pair(400, 85), std::pair(177, 180)})
        for (const Fill a : kFills) {
          const size_t step = every_under_sanitizers(13);
          for (size_t b = turn++ % step; b < std::size(kFills); b += step)
            check_planes<T>(plan_of(w, h, bpc), w, h, a, kFills[b]);
        }
    });
}
END_TEST

START_TEST(options_that_change_sums) {
  for (const char* kernelscale : {"0.5", "2", "3.71134", "1.4746", "0.711111"})
    ck_assert(check_planes<uint8_t>(plan_of(230, 260, 8, {{"speed_kernelscale", kernelscale}}), 230, 260, Fill::kRandom,
                                    Fill::kSparse));
  int turn = 0;
  for (const char* method : {"nearest", "bilinear", "bicubic", "lanczos4"})
    for (const char* prescale : {"0.5", "0.6", "1.3", "2"}) {
      if (turn++ % every_under_sanitizers(3)) continue;
      const OptionTexts given = {{"speed_prescale", prescale}, {"speed_prescale_method", method}};
      ck_assert(check_planes<uint8_t>(plan_of(362, 400, 8, given), 362, 400, Fill::kRandom, Fill::kSparse));
      check_planes<uint16_t>(plan_of(361, 323, 10, given), 361, 323, Fill::kSparse, Fill::kRandom);
    }
  for (const char* mode : {"0", "1", "2", "3", "4", "5", "6"})
    ck_assert(check_planes<uint8_t>(plan_of(240, 240, 8, {{"speed_weight_var_mode", mode}}), 240, 240, Fill::kRandom,
                                    Fill::kSparse));
}
END_TEST

/* The largest m there are, in many bands. */
START_TEST(strong_contrast_in_a_high_plane) {
  const int w = 176, h = 5200;
  TestPlane<uint8_t> now(w, h), before(w, h), other(w, h);
  fill_tiles<uint8_t>(now, w, h, 255, 1);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) before.at(x, y) = 255 - now.at(x, y);
  other.fill(Fill::kRandom, 8, 1);
  const SpeedPlane ref = {now.sample_plane(), before.sample_plane()};
  const SpeedPlane dist = {other.sample_plane(), now.sample_plane()};
  const SpeedSums sums = assert_twins_agree(plan_of(w, h, 8), ref, dist, "tiles");
  ck_assert(!sums.singular);
}
END_TEST

/* Depth does not matter: samples scaled up score the same. */
START_TEST(depths_score_alike) {
  TestPlane<uint8_t> ref8(200, 200), dist8(200, 200);
  ref8.fill(Fill::kRandom, 8, 1);
  dist8.fill(Fill::kRandom, 8, 2);
  const SpeedSums want = assert_twins_agree(plan_of(200, 200, 8), {ref8.sample_plane()}, {dist8.sample_plane()}, "");
  ck_assert(!want.singular && want.difference > 0);
  for (int bpc = 9; bpc <= 16; bpc++) {
    TestPlane<uint16_t> ref(200, 200), dist(200, 200);
    for (int i = 0; i < 200 * 200; i++) {
      ref.at(i % 200, i / 200) = static_cast<uint16_t>(ref8.at(i % 200, i / 200) << (bpc - 8));
      dist.at(i % 200, i / 200) = static_cast<uint16_t>(dist8.at(i % 200, i / 200) << (bpc - 8));
    }
    const SpeedSums got = assert_twins_agree(plan_of(200, 200, bpc), {ref.sample_plane()}, {dist.sample_plane()}, "");
    ck_assert_uint_eq(got.difference, want.difference);
  }
}
END_TEST

START_TEST(equal_and_flat_planes) {
  TestPlane<uint8_t> a(200, 200), flat(200, 200);
  a.fill(Fill::kRandom, 8, 1);
  flat.fill(Fill::kMax, 8, 1);
  const SpeedPlan plan = plan_of(200, 200, 8);
  const auto sums = [&](TestPlane<uint8_t>& ref, TestPlane<uint8_t>& dist) {
    return assert_twins_agree(plan, {ref.sample_plane()}, {dist.sample_plane()}, "flat");
  };
  ck_assert(sums(a, a).difference == 0 && sums(a, a).singular == 0);
  ck_assert(sums(flat, a).difference == 0 && sums(flat, a).singular == 1);
  ck_assert(sums(a, flat).difference == 0 && sums(a, flat).singular == 2);
  ck_assert(sums(flat, flat).difference == 0 && sums(flat, flat).singular == 3);
}
END_TEST

START_TEST(scores_of_chroma) {
  const auto speed = make_extractor(kSpeedChromaExtractor, format_of(320, 320), {{"speed_max_val", "45"}});
  ck_assert_uint_eq(speed->reads().ref, 6);
  ck_assert_uint_eq(speed->reads().dist, 6);
  const auto expect = [&](const SpeedSums& u, const SpeedSums& v, double want_u, double want_v, double want_uv) {
    const SpeedSums sums[2] = {u, v};
    const auto scorer = speed->make_scorer();
    Scores scores(*speed);
    scorer->finalize(7, sums, scores);
    scores.expect("speed_chroma_u 7", want_u);
    scores.expect("speed_chroma_v 7", want_v);
    scores.expect("speed_chroma_uv 7", want_uv);
  };
  const int blocks = 4;  // of planes of 160x160
  expect(sums_of(3, blocks), sums_of(5, blocks), 3, 5, 4);
  expect(sums_of(0, blocks, 1), sums_of(5, blocks), 0, 5, 5);
  expect(sums_of(3, blocks), sums_of(0, blocks, 3), 3, 0, 3);
  expect(sums_of(0, blocks, 1), sums_of(0, blocks, 2), 0, 0, 0);
  expect(sums_of(60, blocks), sums_of(20, blocks), 45, 20, 40);
  expect(sums_of(90, blocks), sums_of(20, blocks), 45, 20, 45);
  expect(sums_of(0.1f, blocks), sums_of(0.7f, blocks), 0.1f, 0.7f, (0.1f + 0.7f) / 2);
}
END_TEST

/* Frame 0 scores 0; later ones are clipped, too. use_ref_diff takes the old distorted and the new reference picture. */
START_TEST(scores_in_time) {
  const VideoFormat format = format_of(200, 200);
  TestPlane<uint8_t> planes[4] = {{200, 200}, {200, 200}, {200, 200}, {200, 200}};
  for (int i = 0; i < 4; i++) planes[i].fill(i % 2 ? Fill::kSparse : Fill::kRandom, 8, i);
  FrameSet frames;
  frames.index = 1;
  frames.ref.plane[0] = planes[0].sample_plane();
  frames.dist.plane[0] = planes[1].sample_plane();
  frames.earlier_ref[0].plane[0] = planes[2].sample_plane();
  frames.earlier_dist[0].plane[0] = planes[3].sample_plane();

  for (const bool ref_diff : {false, true}) {
    const auto speed =
        make_extractor(kSpeedTemporalExtractor, format, {{"speed_use_ref_diff", ref_diff ? "true" : "false"}});
    ck_assert_int_eq(speed->reads().history, 1);
    const TestScratch scratch(speed->scratch_bytes());
    SpeedSums got = {}, want = {};
    speed->extract(frames, scratch.get(), &got);
    score_one(speed_plain, plan_of(200, 200, 8), {planes[0].sample_plane(), planes[2].sample_plane()},
              {planes[ref_diff ? 0 : 1].sample_plane(), planes[3].sample_plane()}, scratch.get(), &want);
    ck_assert(got.difference == want.difference && number(got) > 0);
  }

  const auto speed = make_extractor(kSpeedTemporalExtractor, format, {{"speed_max_val", "2"}});
  const TestScratch scratch(speed->scratch_bytes());
  const auto scorer = speed->make_scorer();
  Scores scores(*speed);
  FrameSet first = frames;
  first.index = 0;
  first.earlier_ref[0] = first.earlier_dist[0] = {};
  SpeedSums sums = {};
  speed->extract(first, scratch.get(), &sums);
  scorer->finalize(0, &sums, scores);
  sums = sums_of(1.5, 4);
  scorer->finalize(1, &sums, scores);
  sums = sums_of(2.5, 4);
  scorer->finalize(2, &sums, scores);
  scores.expect("speed_temporal 0", 0);
  scores.expect("speed_temporal 1", 1.5);
  scores.expect("speed_temporal 2", 2);
}
END_TEST

START_TEST(refusals) {
  assert_refused(kSpeedChromaExtractor, {}, format_of(320, 320, 8, Chroma::k400), "this video has none");
  assert_refused(kSpeedChromaExtractor, {}, format_of(158, 320), "79x160 is too small, it needs 80x80");
  assert_refused(kSpeedTemporalExtractor, {}, format_of(320, 79), "320x79 is too small");
  assert_refused(kSpeedTemporalExtractor, {{"speed_prescale", "0.5"}}, format_of(158, 158), "79x79, after prescaling,");
  assert_refused(kSpeedTemporalExtractor, {{"speed_kernelscale", "1.2"}}, format_of(320, 320), "speed_kernelscale=1.2");
  assert_refused(kSpeedChromaExtractor, {{"speed_prescale_method", "cubic"}}, format_of(320, 320), "\"cubic\"");
  make_extractor(kSpeedChromaExtractor, format_of(160, 160));
  make_extractor(kSpeedTemporalExtractor, format_of(80, 80));
}
END_TEST

int main() {
  return run_suite("speed", {{"numbers", numbers},
                             {"model", model_of_a_known_matrix},
                             {"teams", models_do_not_depend_on_the_team},
                             {"logarithms", variances_without_logarithm},
                             {"simd_equals_plain", simd_equals_plain},
                             {"fills", least_sizes_and_fills},
                             {"options", options_that_change_sums},
                             {"contrast", strong_contrast_in_a_high_plane},
                             {"depths", depths_score_alike},
                             {"flat", equal_and_flat_planes},
                             {"chroma", scores_of_chroma},
                             {"temporal", scores_in_time},
                             {"refusals", refusals}});
}
