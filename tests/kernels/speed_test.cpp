#include "kernels/speed/speed.h"

#include <check.h>

#include <cerrno>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "kernels/speed/speed_math.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

Options resolve(const ExtractorInfo& info, const OptionTexts& given) {
  auto options = Options::resolve(info.name, info.options, given);
  ck_assert_msg(options.ok(), "%s", options.status().message().c_str());
  return options.value();
}

SpeedPlan plan_of(int w, int h, int bpc, const OptionTexts& given = {}) {
  const Options options = resolve(kSpeedChromaExtractor, given);
  auto plan = SpeedPlan::create("speed_chroma", options, w, h, bpc, options.integer("speed_weight_var_mode"));
  ck_assert_msg(plan.ok(), "%s", plan.status().message().c_str());
  return std::move(plan.value());
}

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

SpeedSums assert_twins_agree(const std::string& target, const SpeedPlan& plan, const SpeedPlane& ref,
                             const SpeedPlane& dist, const std::string& what) {
  const AlignedBytes scratch = allocate_aligned(plan.scratch_bytes());
  SpeedSums want = {1, 1}, got = {2, 2};
  speed_ref(plan, ref, dist, scratch.get(), &want);
  speed_simd(plan, ref, dist, scratch.get(), &got);
  ck_assert_msg(got.difference == want.difference && got.singular == want.singular,
                "%s %dx%d %d bit %s: %lld (%d), the definition says %lld (%d)", target.c_str(), ref.now.w, ref.now.h,
                plan.bpc, what.c_str(), static_cast<long long>(got.difference), static_cast<int>(got.singular),
                static_cast<long long>(want.difference), static_cast<int>(want.singular));
  return want;
}

/* Whether K was regular in some case, with and without differences in time. */
template <class T>
bool check_planes(const std::string& target, const SpeedPlan& plan, int w, int h, Fill ref_fill, Fill dist_fill) {
  TestPlane<T> ref(w, h, w % 5, w % 3, w % 2), dist(w, h, w % 7, h % 4, h % 2), old_ref(w, h), old_dist(w, h, 3);
  ref.fill(ref_fill, plan.bpc, w + 1);
  dist.fill(dist_fill, plan.bpc, w + 2);
  old_ref.fill(Fill::kRandom, plan.bpc, w + 3);
  old_dist.fill(dist_fill, plan.bpc, w + 4);
  const std::string what = std::string(fill_name(ref_fill)) + " against " + fill_name(dist_fill);
  const SpeedSums still = assert_twins_agree(target, plan, {ref.sample_plane()}, {dist.sample_plane()}, what);
  const SpeedSums moved = assert_twins_agree(target, plan, {ref.sample_plane(), old_ref.sample_plane()},
                                             {dist.sample_plane(), old_dist.sample_plane()}, what + " in time");
  return !still.singular && !moved.singular && still.difference > 0 && moved.difference > 0;
}

/* Tiles of 16x16 samples, each in every second row and column at the maximum: the largest m there are. */
template <class T>
void fill_tiles(TestPlane<T>& plane, int w, int h, T max, uint32_t seed) {
  std::mt19937 random(seed);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) plane.at(x, y) = (((x + 8) / 16 + (y + 8) / 16) % 2) ? max : 0;
  for (int i = 0; i < w * h / 8; i++) plane.at(random() % w, random() % h) = static_cast<T>(random() % (max + 1u));
}

/* -- Scores -------------------------------------------------------------------------------------------------------- */

struct Scores : ScoreSink {
  void put(int64_t frame, int feature, double score) override { of[{frame, feature}] = score; }
  void put_aggregate(const char*, double) override { ck_abort_msg("nothing is aggregated"); }
  double at(int64_t frame, int feature) const {
    ck_assert(of.count({frame, feature}));
    return of.at({frame, feature});
  }
  std::map<std::pair<int64_t, int>, double> of;
};

VideoFormat format_of(int w, int h, int bpc = 8, Chroma chroma = Chroma::k420) {
  return {.w = w, .h = h, .bpc = bpc, .chroma = chroma};
}

std::unique_ptr<Extractor> make(const ExtractorInfo& info, const OptionTexts& given, const VideoFormat& format) {
  auto made = info.create(resolve(info, given), format);
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return std::move(made.value());
}

void assert_refused(const ExtractorInfo& info, const OptionTexts& given, const VideoFormat& format, const char* want) {
  const auto made = info.create(resolve(info, given), format);
  ck_assert_msg(!made.ok(), "%s was taken", want);
  ck_assert_int_eq(made.status().code(), EINVAL);
  ck_assert_msg(made.status().message().find(want) != std::string::npos, "\"%s\" lacks \"%s\"",
                made.status().message().c_str(), want);
}

/* The sums of a plane of `blocks` that scores `score`. */
SpeedSums sums_of(double score, int blocks, uint64_t singular = 0) {
  return {static_cast<int64_t>(score * blocks * std::pow(2.0, speed::kScoreBits)), singular};
}

}  // namespace

START_TEST(numbers) {
  for (double x = 1e-30; x < 1e200; x *= 1.37) {
    ck_assert_double_le(std::abs(speed::log2(x) - std::log2(x)), 1e-13 * std::max(1.0, std::abs(std::log2(x))));
    ck_assert_double_le(std::abs(speed::square_root(x) - std::sqrt(x)), 1e-15 * std::sqrt(x));
  }
  ck_assert(speed::log2(1) == 0 && speed::log2(8) == 3);
  const __int128 big = (static_cast<__int128>(1) << 80) + 1;
  ck_assert(speed::to_double(big) == 0x1p80 && speed::to_double(-big) == -0x1p80 && speed::to_double(-5) == -5);
}
END_TEST

/* K = 2 I + v v', v all ones: eigenvalues 2, 24 times, and 27; K^-1 = (I - v v' / 27) / 2. */
START_TEST(model_of_a_known_matrix) {
  constexpr int n = speed::n;
  double k[n][n], work[n][n], product[n];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) k[i][j] = i == j ? 3 : 1;
  speed::Model model;
  speed::make_model(speed::Alone(), k, work, product, &model);
  ck_assert(model.regular);
  double trace = 0, squares = 0, determinant = 1;
  for (int i = 0; i < n; i++) {
    trace += model.diagonal[i];
    squares += model.diagonal[i] * model.diagonal[i] + (i ? 2 * model.beside2[i] : 0);
    determinant /= model.inverse[i];
  }
  ck_assert_double_eq_tol(trace, 75, 1e-11);
  ck_assert_double_eq_tol(squares, 24 * 4 + 27 * 27, 1e-9);
  ck_assert_double_eq_tol(determinant, std::pow(2.0, 24) * 27, 1e-2);

  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) k[i][j] = i == j && i != 7; /* an eigenvalue of 0 */
  speed::make_model(speed::Alone(), k, work, product, &model);
  ck_assert(!model.regular);
}
END_TEST

START_TEST(simd_equals_ref) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= 16; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 160; w <= 320; w += bpc == 8 ? 3 : 21) {
          const SpeedPlan plan = plan_of(w, 165 + w % 50, bpc);
          ck_assert(check_planes<T>(target, plan, w, 165 + w % 50, Fill::kRandom, Fill::kSparse));
        }
      });
  });
}
END_TEST

START_TEST(least_sizes_and_fills) {
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 12})
      with_sample_type(bpc, [&]<class T>(T) {
        for (const auto& [w, h] : {std::pair(80, 80), std::pair(95, 161), std::pair(400, 85), std::pair(177, 180)})
          for (const Fill a : kFills)
            for (const Fill b : kFills) check_planes<T>(target, plan_of(w, h, bpc), w, h, a, b);
      });
  });
}
END_TEST

START_TEST(options_that_change_sums) {
  for_each_cpu_target([](const std::string& target) {
    for (const char* kernelscale : {"0.5", "2", "3.71134", "1.4746", "0.711111"})
      ck_assert(check_planes<uint8_t>(target, plan_of(230, 260, 8, {{"speed_kernelscale", kernelscale}}), 230, 260,
                                      Fill::kRandom, Fill::kSparse));
    for (const char* method : {"nearest", "bilinear", "bicubic", "lanczos4"})
      for (const char* prescale : {"0.5", "0.6", "1.3", "2"}) {
        const OptionTexts given = {{"speed_prescale", prescale}, {"speed_prescale_method", method}};
        ck_assert(check_planes<uint8_t>(target, plan_of(362, 400, 8, given), 362, 400, Fill::kRandom, Fill::kSparse));
        check_planes<uint16_t>(target, plan_of(361, 323, 10, given), 361, 323, Fill::kSparse, Fill::kRandom);
      }
    for (const char* mode : {"0", "1", "2", "3", "4", "5", "6"})
      ck_assert(check_planes<uint8_t>(target, plan_of(240, 240, 8, {{"speed_weight_var_mode", mode}}), 240, 240,
                                      Fill::kRandom, Fill::kSparse));
  });
}
END_TEST

/* Columns of products that need more than 64 bits. */
START_TEST(strong_contrast_in_a_high_plane) {
  for_each_cpu_target([](const std::string& target) {
    const int w = 176, h = 5200;
    TestPlane<uint8_t> now(w, h), before(w, h), other(w, h);
    fill_tiles<uint8_t>(now, w, h, 255, 1);
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) before.at(x, y) = 255 - now.at(x, y);
    other.fill(Fill::kRandom, 8, 1);
    const SpeedPlane ref = {now.sample_plane(), before.sample_plane()};
    const SpeedPlane dist = {other.sample_plane(), now.sample_plane()};
    const SpeedSums sums = assert_twins_agree(target, plan_of(w, h, 8), ref, dist, "tiles");
    ck_assert(!sums.singular);
  });
}
END_TEST

/* Depth does not matter: samples scaled up score the same. */
START_TEST(depths_score_alike) {
  TestPlane<uint8_t> ref8(200, 200), dist8(200, 200);
  ref8.fill(Fill::kRandom, 8, 1);
  dist8.fill(Fill::kRandom, 8, 2);
  const SpeedSums want =
      assert_twins_agree("", plan_of(200, 200, 8), {ref8.sample_plane()}, {dist8.sample_plane()}, "");
  ck_assert(!want.singular && want.difference > 0);
  for (int bpc = 9; bpc <= 16; bpc++) {
    TestPlane<uint16_t> ref(200, 200), dist(200, 200);
    for (int i = 0; i < 200 * 200; i++) {
      ref.at(i % 200, i / 200) = static_cast<uint16_t>(ref8.at(i % 200, i / 200) << (bpc - 8));
      dist.at(i % 200, i / 200) = static_cast<uint16_t>(dist8.at(i % 200, i / 200) << (bpc - 8));
    }
    const SpeedSums got =
        assert_twins_agree("", plan_of(200, 200, bpc), {ref.sample_plane()}, {dist.sample_plane()}, "");
    ck_assert_int_eq(got.difference, want.difference);
  }
}
END_TEST

START_TEST(equal_and_flat_planes) {
  TestPlane<uint8_t> a(200, 200), flat(200, 200);
  a.fill(Fill::kRandom, 8, 1);
  flat.fill(Fill::kMax, 8, 1);
  const SpeedPlan plan = plan_of(200, 200, 8);
  const auto sums = [&](TestPlane<uint8_t>& ref, TestPlane<uint8_t>& dist) {
    return assert_twins_agree("", plan, {ref.sample_plane()}, {dist.sample_plane()}, "flat");
  };
  ck_assert(sums(a, a).difference == 0 && sums(a, a).singular == 0);
  ck_assert(sums(flat, a).difference == 0 && sums(flat, a).singular == 1);
  ck_assert(sums(a, flat).difference == 0 && sums(a, flat).singular == 2);
  ck_assert(sums(flat, flat).difference == 0 && sums(flat, flat).singular == 3);
}
END_TEST

START_TEST(scores_of_chroma) {
  const auto speed = make(kSpeedChromaExtractor, {{"speed_max_val", "45"}}, format_of(320, 320));
  ck_assert_uint_eq(speed->reads().ref, 6);
  ck_assert_uint_eq(speed->reads().dist, 6);
  const int blocks = 4;  // of planes of 160x160
  Scores scores;
  const std::vector<std::pair<SpeedSums, SpeedSums>> frames = {
      {sums_of(3, blocks), sums_of(5, blocks)},    {sums_of(0, blocks, 1), sums_of(5, blocks)},
      {sums_of(3, blocks), sums_of(0, blocks, 3)}, {sums_of(0, blocks, 1), sums_of(0, blocks, 2)},
      {sums_of(60, blocks), sums_of(20, blocks)},  {sums_of(90, blocks), sums_of(20, blocks)}};
  for (size_t i = 0; i < frames.size(); i++) {
    const SpeedSums sums[2] = {frames[i].first, frames[i].second};
    speed->finalize(static_cast<int64_t>(i), sums, scores);
  }
  const double want[][3] = {{3, 5, 4}, {0, 5, 5}, {3, 0, 3}, {0, 0, 0}, {45, 20, 40}, {45, 20, 45}};
  for (int i = 0; i < 6; i++)
    for (int f = 0; f < 3; f++) ck_assert_double_eq(scores.at(i, f), want[i][f]);
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
    const auto speed = make(kSpeedTemporalExtractor, {{"speed_use_ref_diff", ref_diff ? "true" : "false"}}, format);
    ck_assert_int_eq(speed->reads().history, 1);
    const AlignedBytes scratch = allocate_aligned(speed->scratch_bytes());
    SpeedSums got = {}, want = {};
    speed->extract(frames, scratch.get(), &got);
    speed_ref(plan_of(200, 200, 8), {planes[0].sample_plane(), planes[2].sample_plane()},
              {planes[ref_diff ? 0 : 1].sample_plane(), planes[3].sample_plane()}, scratch.get(), &want);
    ck_assert(got.difference == want.difference && got.difference > 0);
  }

  const auto speed = make(kSpeedTemporalExtractor, {{"speed_max_val", "2"}}, format);
  const AlignedBytes scratch = allocate_aligned(speed->scratch_bytes());
  Scores scores;
  FrameSet first = frames;
  first.index = 0;
  first.earlier_ref[0] = first.earlier_dist[0] = {};
  SpeedSums sums = {};
  speed->extract(first, scratch.get(), &sums);
  speed->finalize(0, &sums, scores);
  sums = sums_of(1.5, 4);
  speed->finalize(1, &sums, scores);
  sums = sums_of(2.5, 4);
  speed->finalize(2, &sums, scores);
  ck_assert_double_eq(scores.at(0, 0), 0);
  ck_assert_double_eq(scores.at(1, 0), 1.5);
  ck_assert_double_eq(scores.at(2, 0), 2);
}
END_TEST

START_TEST(refusals) {
  assert_refused(kSpeedChromaExtractor, {}, format_of(320, 320, 8, Chroma::k400), "without chroma");
  assert_refused(kSpeedChromaExtractor, {}, format_of(158, 320), "79x160 is too small, it needs 80x80");
  assert_refused(kSpeedTemporalExtractor, {}, format_of(320, 79), "320x79 is too small");
  assert_refused(kSpeedTemporalExtractor, {{"speed_prescale", "0.5"}}, format_of(158, 158), "79x79, after prescaling,");
  assert_refused(kSpeedTemporalExtractor, {{"speed_kernelscale", "1.2"}}, format_of(320, 320), "speed_kernelscale=1.2");
  assert_refused(kSpeedChromaExtractor, {{"speed_prescale_method", "cubic"}}, format_of(320, 320), "\"cubic\"");
  make(kSpeedChromaExtractor, {}, format_of(160, 160));
  make(kSpeedTemporalExtractor, {}, format_of(80, 80));
}
END_TEST

int main() {
  return run_suite("speed", {{"numbers", numbers},
                             {"model", model_of_a_known_matrix},
                             {"simd_equals_ref", simd_equals_ref},
                             {"fills", least_sizes_and_fills},
                             {"options", options_that_change_sums},
                             {"contrast", strong_contrast_in_a_high_plane},
                             {"depths", depths_score_alike},
                             {"flat", equal_and_flat_planes},
                             {"chroma", scores_of_chroma},
                             {"temporal", scores_in_time},
                             {"refusals", refusals}});
}
