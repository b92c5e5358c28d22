#include "kernels/adm/adm.h"

#include <check.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/adm/adm_csf.h"
#include "kernels/adm/float_adm.h"
#include "tests/kernels/adm/adm_options.h"
#include "tests/kernels/adm/adm_twins.h"
#include "tests/support/check_main.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

Options options_of(const OptionTexts& given) {
  auto options = Options::resolve("adm", kAdmExtractor.options, given);
  ck_assert_msg(options.ok(), "%s", options.status().message().c_str());
  return options.value();
}

/* -- Twins: the SIMD sums are the definition's, to the last bit ---------------------------------------------------- */

AdmParams params_of(const AdmCase& c, const std::vector<OptionTexts>& sets) {
  std::vector<Options> options;
  for (const OptionTexts& given : sets) options.push_back(options_of(given));
  auto params = adm_params(options, {c.ref.w, c.ref.h, c.bpc, Chroma::k400});
  ck_assert_msg(params.ok(), "%s", params.status().message().c_str());
  return params.value();
}

/* The sums of each view. */
std::vector<AdmSums> sums_of(decltype(&adm_plain) twin, size_t scratch_bytes, const AdmParams& params,
                             const AdmCase& c) {
  const TestScratch scratch(scratch_bytes);
  std::vector<AdmSums> sums(params.views.size(), AdmSums{});
  twin(params, c.ref, c.dist, scratch.get(), sums[0]);
  return sums;
}
std::vector<AdmSums> plain_sums(const AdmParams& params, const AdmCase& c) {
  return sums_of(adm_plain, adm_scratch_bytes_plain(params), params, c);
}
std::vector<AdmSums> simd_sums(const AdmParams& params, const AdmCase& c) {
  return sums_of(adm_simd, adm_scratch_bytes_simd(params), params, c);
}

void assert_sums_equal(const AdmSums& got, const AdmSums& want, const AdmCase& c, const std::string& target) {
  if (!std::memcmp(&got, &want, sizeof got)) return;
  for (int s = 0; s < kAdmScales; s++) {
    for (int band = 0; band < kAdmBands; band++) {
      const auto assert_equal = [&](const char* sum, uint64_t a, uint64_t b) {
        ck_assert_msg(a == b, "%s %dx%d %d bit%s %s: %s of scale %d band %d is %llu, the definition says %llu",
                      target.c_str(), c.ref.w, c.ref.h, c.bpc, text_of(c.options).c_str(), c.what.c_str(), sum, s, band,
                      static_cast<unsigned long long>(a), static_cast<unsigned long long>(b));
      };
      assert_equal("csf_den", got.csf_den[s][band], want.csf_den[s][band]);
      assert_equal("dlm", got.dlm[s][band], want.dlm[s][band]);
      assert_equal("aim", got.aim[s][band], want.aim[s][band]);
    }
  }
}

void assert_twins_agree(const AdmCase& c) {
  const AdmParams params = params_of(c, {c.options});
  const AdmSums want = plain_sums(params, c)[0];
  for_each_cpu_target([&](const std::string& target) { assert_sums_equal(simd_sums(params, c)[0], want, c, target); });
}

/* The sums of several views at once are those of each alone. */
void assert_views_are_apart(const AdmCase& c, const std::vector<OptionTexts>& sets, size_t views) {
  const AdmParams params = params_of(c, sets);
  ck_assert_uint_eq(params.views.size(), views);
  for (const OptionTexts& set : sets) {
    const AdmParams alone = params_of(c, {set});
    const AdmSums want = plain_sums(alone, c)[0];
    const auto view = static_cast<size_t>(std::ranges::find(params.views, alone.views[0]) - params.views.begin());
    ck_assert_uint_lt(view, views);
    assert_sums_equal(plain_sums(params, c)[view], want, c, "plain, several views");
    for_each_cpu_target([&](const std::string& target) {
      assert_sums_equal(simd_sums(params, c)[view], want, c, target + ", several views");
    });
  }
}

/* -- Scores -------------------------------------------------------------------------------------------------------- */

constexpr int kAdm2 = 0, kAim = 1, kAdm3 = 2, kScale0 = 3;  // indices of features

std::unique_ptr<Extractor> make(const OptionTexts& given, int w, int h, int bpc = 8) {
  return make_extractor(kAdmExtractor, {w, h, bpc, Chroma::k420}, given);
}

template <class T>
std::vector<double> score(Pair<T>& pair, int bpc, const OptionTexts& given) {
  const Picture ref = {bpc, {pair.ref.sample_plane()}}, dist = {bpc, {pair.dist.sample_plane()}};
  return score_frame(*make(given, pair.w, pair.h, bpc), ref, dist).first();
}

std::string refusal(const OptionTexts& given, int w, int h) {
  return test::refusal(kAdmExtractor, {w, h, 8, Chroma::k420}, given);
}

}  // namespace

START_TEST(twins_agree_at_every_width) { check_adm_widths(assert_twins_agree); }
END_TEST
START_TEST(twins_agree_at_every_height) { check_adm_heights(assert_twins_agree); }
END_TEST
START_TEST(twins_agree_on_every_fill_and_depth) { check_adm_fills_and_depths(assert_twins_agree); }
END_TEST
START_TEST(twins_agree_on_every_option) { check_adm_options(assert_twins_agree, adm_option_sets()); }
END_TEST
START_TEST(several_views_are_those_of_each_alone) {
  constexpr size_t kViews[] = {2, 3, 2, 3};
  const std::vector<std::vector<OptionTexts>> all = adm_view_sets();
  for (size_t i = 0; i < all.size(); i++)
    for (const int w : {17, 64, 163, 300}) {
      Pair<uint8_t> pair(w, 85, w % 5);
      pair.ref.fill(Fill::kRandom, 8, static_cast<uint32_t>(w));
      pair.make_lookalike(8, 3, 0.9 + 0.2 * (w % 2), 3);
      assert_views_are_apart(adm_case(pair, 8, all[i][0], "lookalike"), all[i], kViews[i]);
      Pair<uint16_t> deep(w, 50);
      deep.ref.fill(Fill::kRandom, 10, static_cast<uint32_t>(w));
      deep.dist.fill(w == 64 ? Fill::kCheckerboard : Fill::kRandom, 10, 9);
      assert_views_are_apart(adm_case(deep, 10, all[i][0], "random"), all[i], kViews[i]);
    }
}
END_TEST

START_TEST(twins_agree_on_a_large_picture) { check_large_adm(assert_twins_agree); }
END_TEST

/* Every kind of 4x4 block, of every strength: the largest coefficients that the transform can make, alone and side by
 * side. */
START_TEST(twins_agree_on_steep_blocks) {
  for (const int bpc : {8, 16}) {
    with_sample_type(bpc, [&](auto sample) {
      Pair<decltype(sample)> pair(330, 70);
      const uint32_t max = (1u << bpc) - 1;
      for (uint32_t seed = 0; seed < 12; seed++) {
        std::mt19937 random(seed);
        const auto block_size = static_cast<int>(2 << seed % 4);
        const auto steep = [&](auto& plane) {
          std::vector<uint32_t> bits(pair.w / block_size + 1);
          for (int y = 0; y < pair.h; y++) {
            if (y % block_size == 0)
              for (uint32_t& b : bits) b = random();
            for (int x = 0; x < pair.w; x++)
              plane.at(x, y) = static_cast<decltype(sample)>(bits[x / block_size] & 1 ? max : 0);
          }
        };
        steep(pair.ref);
        if (seed % 3) steep(pair.dist);
        else pair.make_lookalike(bpc, seed, 0.99, bpc - 4);
        for (const char* mode : {"0", "1", "2"})
          assert_twins_agree(adm_case(pair, bpc, {{"adm_csf_mode", mode}}, format_text("blocks of %d", block_size)));
      }
    });
  }
}
END_TEST

/* 4x4 blocks with the signs of the taps, so that scale 0's coefficients are the largest there are, and a little larger
 * still in the distorted picture: ratios right at 1, of reciprocals with few digits. */
START_TEST(twins_agree_on_the_strongest_coefficients) {
  constexpr int kLow[4] = {1, 1, 1, -1}, kHigh[4] = {-1, -1, 1, -1};
  Pair<uint16_t> pair(330, 130);
  std::mt19937 random(5);
  for (const auto& [down, across] : {std::pair(kHigh, kLow), std::pair(kLow, kHigh), std::pair(kHigh, kHigh)}) {
    int strength[2] = {};
    for (int y = 0; y < pair.h; y++) {
      for (int x = 0; x < pair.w; x++) {
        if ((x + 1) % 4 == 0 || x == 0) {
          strength[0] = 22000 + static_cast<int>(random() % 10000);
          strength[1] = std::min(strength[0] + static_cast<int>(random() % 100), 32767);
        }
        const int sign = down[(y + 1) % 4] * across[(x + 1) % 4];
        pair.ref.at(x, y) = static_cast<uint16_t>(32768 + sign * strength[0]);
        pair.dist.at(x, y) = static_cast<uint16_t>(32768 + sign * strength[1]);
      }
    }
    for (const char* gain : {"1", "100"})
      assert_twins_agree(adm_case(pair, 16, {{"adm_enhn_gain_limit", gain}}, "strongest"));
  }
}
END_TEST

START_TEST(filter_taps_reflect_at_the_near_side_and_repeat_at_the_far_side) {
  ck_assert_int_eq(adm_mirror(-1, 5), 1);
  ck_assert_int_eq(adm_mirror(0, 5), 0);
  ck_assert_int_eq(adm_mirror(4, 5), 4);
  ck_assert_int_eq(adm_mirror(5, 5), 4);
  ck_assert_int_eq(adm_mirror(6, 5), 3);
}
END_TEST

/* -- What libvmaf leaves undefined, or does otherwise than it means to --------------------------------------------- */

/* From 17 to 32 samples a side, scale 3 has a side of 2 or 3, where libvmaf reads before its planes; and bands of 16
 * columns and fewer have cubes that are shifted by 0, whose rounding it computes from 2 to the power of 2^32 - 1. Here
 * the scores are those of the definition, whatever lies around the pictures. */
START_TEST(small_pictures_read_nothing_around_them) {
  for (const int side : {17, 24, 32}) {
    std::vector<double> first;
    for (const int pad : {0, 7, 33}) {
      TestPlane<uint8_t> ref(side, side, pad, pad / 2), dist(side, side, pad, pad / 3, pad == 7);
      ref.fill(Fill::kRandom, 8, 1);
      dist.fill(Fill::kRandom, 8, 2);
      if (pad == 7)  // upside down
        for (int y = 0; y < side / 2; y++)
          for (int x = 0; x < side; x++) std::swap(dist.at(x, y), dist.at(x, side - 1 - y));
      const auto got =
          score_frame(*make({}, side, side), {8, {ref.sample_plane()}}, {8, {dist.sample_plane()}}).first();
      if (first.empty()) first = got;
      for (size_t i = 0; i < got.size(); i++) ck_assert_double_eq(got[i], first[i]);
      ck_assert(got[kAdm2] > 0 && got[kAdm2] < 1);
    }
  }
  ck_assert_int_eq(adm_round_shift(12345, 0), 12345);
  ck_assert_int_eq(adm_masked_cube(1 << 16, 0, 29, 0), int64_t{8} << 16);
}
END_TEST

/* As libvmaf: a weighted coefficient from 15360 on has a negative threshold at the center, of which the neighbors' are
 * not affected. */
START_TEST(thresholds_at_the_center_wrap) {
  ck_assert_int_eq(adm_center_fine(15359), 32765);
  ck_assert_int_eq(adm_center_fine(15360), -32768);
  ck_assert_int_eq(adm_center_fine(-15360), -32768);
  ck_assert_int_eq(adm_neighbor_fine(15360), 16384);
}
END_TEST

/* As libvmaf: where the reference has no detail, what was added may be more than all of it, and adm3 ends at its least
 * value. In floating point libvmaf limits aim to 1. */
START_TEST(aim_has_no_upper_limit) {
  Pair<uint8_t> pair(128, 96);
  for (int y = 0; y < pair.h; y++)
    for (int x = 0; x < pair.w; x++) {
      pair.ref.at(x, y) = 128;
      pair.dist.at(x, y) = static_cast<uint8_t>(x / 32 % 2 ? 255 * ((x / 4 + y / 4) & 1) : 128);
    }
  const auto scores = score(pair, 8, {});
  ck_assert_double_gt(scores[kAim], 1);
  ck_assert_double_eq(scores[kAdm3], 0);
  ck_assert_double_eq(score(pair, 8, {{"adm_min_val", "0.25"}})[kAdm3], 0.25);
}
END_TEST

START_TEST(decoupling_by_hand) {
  ck_assert_int_eq(adm_ratio(0, 5), 32768);  // no reference: k = 1, of nothing
  ck_assert_int_eq(adm_ratio(1000, 500), 16384);
  ck_assert_int_eq(adm_ratio(-1000, -250), 8192);
  ck_assert_int_eq(adm_ratio(1000, -500), 0);  // opposite signs
  ck_assert_int_eq(adm_ratio(1000, 5000), 32768);
  ck_assert_int_eq(adm_ratio(1 << 30, 1 << 29), 16384);
  ck_assert_int_eq(adm_restored(1000, 500, false, 100), 500);
  ck_assert_int_eq(adm_restored(1000, 3000, false, 100), 1000);
  ck_assert_int_eq(adm_restored(1000, 3000, true, 100),
                   3000);  // contrast enhanced: all of it is the reference's detail
  ck_assert_int_eq(adm_restored(1000, 3000, true, 2), 2000);
  ck_assert_int_eq(adm_restored(-1000, -3000, true, 1), -1000);
  ck_assert(adm_aligned(100, 0, 50, 0));
  ck_assert(!adm_aligned(100, 0, -50, 0));
  ck_assert(adm_aligned(10000, 0, 10000, 170));   // 0.97 degrees
  ck_assert(!adm_aligned(10000, 0, 10000, 180));  // 1.03 degrees
  ck_assert(adm_aligned(0, 0, 7, 9));
}
END_TEST

/* From 3 heights of 1080 lines the formula gives what libvmaf writes as constants; the blends of 2160 lines are
 * shifted by a scale. */
START_TEST(sensitivities_by_hand) {
  AdmSensitivity watson[kAdmScales], near[kAdmScales], far[kAdmScales];
  ck_assert(adm_sensitivities({}, watson).ok());
  ck_assert_double_eq_tol(watson[0].straight * std::ldexp(1, 21), 36453, 3);
  ck_assert_double_eq_tol(watson[0].diagonal * std::ldexp(1, 23), 49417, 3);
  ck_assert(adm_sensitivities({.mode = AdmCsfMode::kBlend, .distance_h = 1.5, .display_height = 2160}, near).ok());
  ck_assert(adm_sensitivities({.mode = AdmCsfMode::kBlend, .distance_h = 3, .display_height = 2160}, far).ok());
  for (int s = 1; s < kAdmScales; s++) ck_assert_float_eq(far[s].straight, near[s - 1].straight);
}
END_TEST

START_TEST(identical_pictures_keep_all_and_add_nothing) {
  Pair<uint8_t> pair(128, 96);
  pair.ref.fill(Fill::kRandom, 8, 1);
  pair.dist.fill(Fill::kRandom, 8, 1);
  const auto scores = score(pair, 8, {});
  /* The thresholds of scales 1 to 3 are -27 where nothing was added (see adm_neighbor_coarse), hence a trace more
   * than 1. */
  ck_assert_double_eq_tol(scores[kAdm2], 1, 1e-5);
  ck_assert_double_eq_tol(scores[kAim], 0, 1e-5);
  ck_assert_double_eq_tol(scores[kAdm3], 1, 1e-5);
}
END_TEST

START_TEST(nothing_to_see_scores_one) {
  Pair<uint8_t> pair(64, 64);
  pair.ref.fill(Fill::kMax, 8, 1);
  pair.dist.fill(Fill::kRandom, 8, 1);
  const auto scores = score(pair, 8, {{"adm_noise_weight", "0"}});
  ck_assert_double_eq(scores[kAdm2], 1);
  ck_assert_double_eq(scores[kAim], 0);
  ck_assert_double_eq(scores[kAdm3], 1);
  for (int s = 0; s < kAdmScales; s++) ck_assert_double_eq(scores[kScale0 + s], 1);
}
END_TEST

START_TEST(options_change_the_scores) {
  Pair<uint8_t> pair(128, 96);
  pair.ref.fill(Fill::kRandom, 8, 1);
  pair.dist.fill(Fill::kRandom, 8, 2);
  const auto plain = score(pair, 8, {});
  ck_assert_double_gt(plain[kAim], 0.1);
  ck_assert_double_eq(plain[kAdm3], plain[kAdm2] * 0.5 + (1 - plain[kAim]) * 0.5);

  const auto weighted = score(pair, 8, {{"adm_dlm_weight", "0.7"}});
  ck_assert_double_eq_tol(weighted[kAdm3], plain[kAdm2] * 0.7 + (1 - plain[kAim]) * 0.3, 1e-12);

  const auto skipped = score(pair, 8, {{"adm_skip_aim", "true"}});
  ck_assert_double_eq(skipped[kAdm2], plain[kAdm2]);
  ck_assert_double_eq(skipped[kAim], 0);

  ck_assert_double_eq(score(pair, 8, {{"adm_min_val", "0.95"}})[kAdm3], 0.95);
  const auto coarse = score(pair, 8, {{"adm_skip_scale0", "true"}});
  ck_assert_double_eq(coarse[kScale0], 0);
  ck_assert_double_eq(coarse[kScale0 + 1], plain[kScale0 + 1]);
}
END_TEST

/* Scores that libvmaf's vmaf tool (f85a853, --cpumask 63) prints for the same planes, with six decimals. */
START_TEST(scores_are_libvmafs) {
  struct Picture {
    int w, h, bpc;
  };
  const Picture kPictures[] = {{96, 64, 8}, {101, 77, 8}, {131, 67, 10}};
  struct Row {
    OptionTexts options;
    std::vector<double> scores[3];
  };
  const Row kRows[] = {
      {{{"debug", "true"}},
       {{0.776222, 0.017272, 0.879475, 0.796001, 0.77893, 0.753788, 0.774805, 0.776222, 134.970078, 173.880756,
         36.316101, 45.623211, 40.47361, 51.960541, 33.532742, 44.485619, 24.647625, 31.811386},
        {0.776783, 0.018633, 0.879075, 0.793734, 0.770066, 0.766656, 0.779532, 0.776783, 152.61215, 196.46701,
         38.979027, 49.108425, 42.278847, 54.902916, 42.742302, 55.751637, 28.611975, 36.704033},
        {0.776457, 0.025797, 0.87533, 0.794705, 0.77503, 0.799193, 0.724075, 0.776457, 160.009853, 206.076851,
         41.981884, 52.827023, 43.796982, 56.510033, 44.5158, 55.70097, 29.715187, 41.038826}}},
      {{{"adm_enhn_gain_limit", "1"}},
       {{0.774816, 0.017382, 0.878717, 0.794786, 0.7773, 0.751441, 0.774805},
        {0.776293, 0.018633, 0.87883, 0.79318, 0.769567, 0.765937, 0.779491},
        {0.776018, 0.02582, 0.875099, 0.79381, 0.774325, 0.799133, 0.724073}}},
      {{{"adm_enhn_gain_limit", "1.1"}},
       {{0.775557, 0.017351, 0.879103, 0.795415, 0.778144, 0.752707, 0.774805},
        {0.776542, 0.018633, 0.878955, 0.793533, 0.769707, 0.76634, 0.779532},
        {0.776301, 0.025816, 0.875243, 0.794271, 0.774867, 0.799193, 0.724075}}},
      {{{"adm_csf_mode", "3"}, {"adm_skip_scale0", "true"}},
       {{0.774334, 0.015694, 0.87932, 0.0, 0.789163, 0.758698, 0.774805},
        {0.77665, 0.015849, 0.8804, 0.0, 0.78109, 0.770561, 0.779532},
        {0.772349, 0.025168, 0.873591, 0.0, 0.785497, 0.802272, 0.724075}}},
  };
  for (int p = 0; p < 3; p++) {
    const auto [w, h, bpc] = kPictures[p];
    with_sample_type(bpc, [&](auto sample) {
      Pair<decltype(sample)> pair(kPictures[p].w, kPictures[p].h);
      const int depth = kPictures[p].bpc, center = 1 << (depth - 1);
      pair.ref.fill(Fill::kRandom, depth, 1);
      pair.dist.fill(Fill::kRandom, depth, 2);
      for (int y = 0; y < pair.h; y++)
        for (int x = 0; x < pair.w; x++)
          pair.dist.at(x, y) = static_cast<decltype(sample)>(center + (pair.ref.at(x, y) - center) * 3 / 4 +
                                                             (pair.dist.at(x, y) - center) / 4);
      for (const Row& row : kRows) {
        const auto got = score(pair, depth, row.options);
        ck_assert_uint_eq(got.size(), row.scores[p].size());
        for (size_t i = 0; i < got.size(); i++) ck_assert_double_eq_tol(got[i], row.scores[p][i], 5.1e-7);
      }
    });
  }
}
END_TEST

/* Barten's factors are a thousand times those of the other modes; libvmaf's fixed point drops their high bits (adm2
 * 0.024 here), or ends in nan. The floating-point form has no such limit. Cubes of bands that weigh a hundred times
 * less than others have few digits. */
START_TEST(barten_is_that_of_the_floating_point_form) {
  Pair<uint8_t> pair(176, 144);
  pair.ref.fill(Fill::kRandom, 8, 1);
  pair.dist.fill(Fill::kRandom, 8, 2);
  for (int y = 0; y < pair.h; y++)
    for (int x = 0; x < pair.w; x++)
      pair.dist.at(x, y) =
          static_cast<uint8_t>(128 + (pair.ref.at(x, y) - 128) * 3 / 4 + (pair.dist.at(x, y) - 128) / 4);
  const VideoFormat format = {pair.w, pair.h, 8, Chroma::k420};
  const Picture ref = {8, {pair.ref.sample_plane()}}, dist = {8, {pair.dist.sample_plane()}};
  const std::string scales[] = {"0", "0.0001", "0.01", "1", "2.5", "50"};
  for (const char* view_dist : {"3", "24"})
    for (const std::string& straight : scales)
      for (const std::string& diagonal : scales) {
        const OptionTexts options = {{"adm_csf_mode", "1"},
                                     {"adm_csf_scale", straight},
                                     {"adm_csf_diag_scale", diagonal},
                                     {"adm_norm_view_dist", view_dist}};
        const double most = straight == diagonal || straight == "0" || diagonal == "0" ? 5e-5 : 3e-3;
        const auto got = score(pair, 8, options);
        const auto want = score_frame(*make_extractor(kFloatAdmExtractor, format, options), ref, dist).first();
        for (size_t i = 0; i < got.size(); i++)
          ck_assert_msg(std::abs(got[i] - want[i]) < most, "%s: score %zu is %.7f, in floating point %.7f",
                        text_of(options).c_str(), i, got[i], want[i]);
      }
}
END_TEST

/* The largest coefficients that the transform can make do not leave the fixed point, either. On such pictures the two
 * forms differ as much with the sensitivities of Watson. */
START_TEST(barten_of_the_strongest_pictures_is_in_range) {
  Pair<uint16_t> pair(330, 130);
  const VideoFormat format = {pair.w, pair.h, 16, Chroma::k420};
  for (uint32_t seed = 0; seed < 6; seed++) {
    std::mt19937 random(seed);
    const int block_size = 2 << seed % 3;
    std::vector<uint32_t> bits(static_cast<size_t>(pair.w / block_size + 1));
    for (int y = 0; y < pair.h; y++) {
      if (y % block_size == 0)
        for (uint32_t& b : bits) b = random();
      for (int x = 0; x < pair.w; x++) {
        const uint32_t b = bits[static_cast<size_t>(x / block_size)];
        pair.ref.at(x, y) = static_cast<uint16_t>(b & 1 ? 65535 : 0);
        pair.dist.at(x, y) = static_cast<uint16_t>(b & 2 ? 65535 : 0);
      }
    }
    const Picture ref = {16, {pair.ref.sample_plane()}}, dist = {16, {pair.dist.sample_plane()}};
    for (const char* scale : {"0.003", "1", "50"}) {
      const OptionTexts options = {{"adm_csf_mode", "1"}, {"adm_csf_scale", scale}, {"adm_csf_diag_scale", scale}};
      const auto got = score(pair, 16, options);
      const auto want = score_frame(*make_extractor(kFloatAdmExtractor, format, options), ref, dist).first();
      for (size_t i = 0; i < got.size(); i++)
        if (i != kAim && i != kAdm3)  // aim is cut at 1 in floating point only
          ck_assert_msg(std::abs(got[i] - want[i]) < 4e-3, "seed %u, %s: score %zu is %.7f, in floating point %.7f",
                        seed, scale, i, got[i], want[i]);
    }
  }
}
END_TEST

START_TEST(keys_are_libvmafs) {
  const auto plain = make({}, 64, 64);
  ck_assert_uint_eq(plain->features().size(), 7);
  assert_text_eq(plain->features()[kAdm2].name, "VMAF_integer_feature_adm2_score");
  assert_text_eq(plain->features()[kAdm3].key, "integer_adm3");
  assert_text_eq(plain->features()[kScale0].name, "integer_adm_scale0");
  const auto debug = make({{"debug", "true"}}, 64, 64);
  ck_assert_uint_eq(debug->features().size(), 18);
  assert_text_eq(debug->features()[17].key, "integer_adm_den_scale3");
  assert_text_eq(options_of({{"adm_skip_aim", "true"}, {"debug", "true"}}).key_suffix(), "");
  assert_text_eq(options_of({{"adm_csf_mode", "2"},
                             {"adm_dlm_weight", "0.7"},
                             {"adm_enhn_gain_limit", "1"},
                             {"adm_min_val", "0.5"},
                             {"adm_noise_weight", "0.02"},
                             {"adm_skip_scale0", "true"}})
                     .key_suffix(),
                 "_csf_2_dlmw_0.7_egl_1_min_0.5_nw_0.02_ssz");
  assert_text_eq(options_of({{"adm_norm_view_dist", "1.5"},
                             {"adm_ref_display_height", "2160"},
                             {"adm_csf_scale", "2"},
                             {"adm_csf_diag_scale", "3"}})
                     .key_suffix(),
                 "_scfd_3_scf_2_nvd_1.5_rdh_2160");
}
END_TEST

START_TEST(what_cannot_be_scored_is_refused) {
  assert_contains(refusal({}, 16, 64), "16x64 is too small; its coarsest scale needs pictures of at least 17x17");
  assert_contains(refusal({}, 64, 16), "too small");
  make({}, 17, 17);
  assert_contains(refusal({{"adm_norm_view_dist", "1.5"}}, 64, 64),
                  "adm_norm_view_dist 1.5 times adm_ref_display_height 1080 is 1620");
  assert_contains(refusal({{"adm_norm_view_dist", "4"}, {"adm_csf_mode", "2"}}, 64, 64),
                  "adm_csf_mode 2 is not known for adm_ref_display_height 1080 lines seen from adm_norm_view_dist 4 "
                  "heights; it is for: "
                  "1080 lines from 3, 1080 lines from 5, 2160 lines from 1.5, 2160 lines from 3, 2160 lines from 5, "
                  "720 lines from 5");
  assert_contains(refusal({{"adm_norm_view_dist", "4"}, {"adm_csf_mode", "3"}}, 64, 64), "adm_csf_mode 3 is not known");
  make({{"adm_norm_view_dist", "4"}}, 64, 64);
}
END_TEST

int main() {
  return run_suite("adm", {{"widths", twins_agree_at_every_width},
                           {"heights", twins_agree_at_every_height},
                           {"fills", twins_agree_on_every_fill_and_depth},
                           {"options", twins_agree_on_every_option},
                           {"blocks", twins_agree_on_steep_blocks},
                           {"strongest", twins_agree_on_the_strongest_coefficients},
                           {"views", several_views_are_those_of_each_alone},
                           {"large", twins_agree_on_a_large_picture},
                           {"mirror", filter_taps_reflect_at_the_near_side_and_repeat_at_the_far_side},
                           {"small", small_pictures_read_nothing_around_them},
                           {"wraps", thresholds_at_the_center_wrap},
                           {"aim", aim_has_no_upper_limit},
                           {"decoupling", decoupling_by_hand},
                           {"sensitivities", sensitivities_by_hand},
                           {"identical", identical_pictures_keep_all_and_add_nothing},
                           {"flat", nothing_to_see_scores_one},
                           {"effects", options_change_the_scores},
                           {"libvmaf", scores_are_libvmafs},
                           {"barten", barten_is_that_of_the_floating_point_form},
                           {"barten_range", barten_of_the_strongest_pictures_is_in_range},
                           {"keys", keys_are_libvmafs},
                           {"refusals", what_cannot_be_scored_is_refused}});
}
