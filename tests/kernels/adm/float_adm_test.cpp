#include "kernels/adm/float_adm.h"

#include <check.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "kernels/adm/adm_csf.h"
#include "kernels/adm/float_adm_math-inl.h"
#include "tests/kernels/adm/adm_twins.h"
#include "tests/kernels/adm/float_adm_options.h"
#include "tests/support/check_main.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

Options options_of(const OptionTexts& given) {
  auto options = Options::resolve("float_adm", kFloatAdmExtractor.options, given);
  ck_assert_msg(options.ok(), "%s", options.status().message().c_str());
  return options.value();
}

/* -- Twins: the SIMD sums are the definition's, to the last bit ---------------------------------------------------- */

using Words = std::vector<uint64_t>;

Words sums_of(decltype(&float_adm_plain) twin, size_t scratch_bytes, const FloatAdmParams& params,
              const SamplePlane& ref, const SamplePlane& dist) {
  const TestScratch scratch(scratch_bytes);
  Words sums(params.sums_bytes() / sizeof(uint64_t));
  twin(params, ref, dist, scratch.get(), sums.data());
  return sums;
}

void assert_twins_agree(const AdmCase& c) {
  const auto params = float_adm_params(options_of(c.options), {c.ref.w, c.ref.h, c.bpc, Chroma::k400});
  ck_assert_msg(params.ok(), "%s", params.status().message().c_str());
  const FloatAdmParams& p = params.value();
  const Words want = sums_of(float_adm_plain, float_adm_scratch_bytes_plain(p), p, c.ref, c.dist);
  for_each_cpu_target([&](const std::string& target) {
    const Words got = sums_of(float_adm_simd, float_adm_scratch_bytes_simd(p), p, c.ref, c.dist);
    for (size_t i = 0; i < want.size(); i++) {
      const int sum = static_cast<int>(i) / p.words_per_sum();
      ck_assert_msg(got[i] == want[i],
                    "%s %dx%d %d bit%s %s: word %zu (kind %d, scale %d, band %d) is %lld, the definition says %lld",
                    target.c_str(), c.ref.w, c.ref.h, c.bpc, text_of(c.options).c_str(), c.what.c_str(), i,
                    sum / kAdmBands % kFloatAdmKinds, sum / kAdmBands / kFloatAdmKinds, sum % kAdmBands,
                    static_cast<long long>(got[i]), static_cast<long long>(want[i]));
    }
  });
}

/* -- Scores -------------------------------------------------------------------------------------------------------- */

constexpr const char *kAdm2 = "adm2", *kAim = "aim", *kAdm3 = "adm3";

std::string of_scale(const char* key, int scale) { return format_text("%s_scale%d", key, scale); }

/* One frame's. */
struct FrameScores {
  double operator[](const std::string& key) const { return of.at(key + " 0"); }
  std::map<std::string, double> of;
};

template <class T>
FrameScores score(Pair<T>& pair, int bpc, const OptionTexts& given) {
  const auto extractor = make_extractor(kFloatAdmExtractor, {pair.w, pair.h, bpc, Chroma::k400}, given);
  const Picture ref = {bpc, {pair.ref.sample_plane()}}, dist = {bpc, {pair.dist.sample_plane()}};
  FrameScores scores = {score_frame(*extractor, ref, dist).of};
  ck_assert_uint_eq(scores.of.size(), extractor->features().size());
  return scores;
}

/* Noise, and that noise with less contrast and other noise. */
template <class T = uint8_t>
Pair<T> impaired(int bpc = 8) {
  Pair<T> pair(128, 96);
  pair.ref.fill(Fill::kRandom, bpc, 1);
  pair.make_lookalike(bpc, 2, 0.8, bpc - 2);
  return pair;
}

}  // namespace

START_TEST(twins_agree_at_every_width) { check_adm_widths(assert_twins_agree); }
END_TEST
START_TEST(twins_agree_at_every_height) { check_adm_heights(assert_twins_agree); }
END_TEST
START_TEST(twins_agree_on_every_fill_and_depth) { check_adm_fills_and_depths(assert_twins_agree); }
END_TEST
START_TEST(twins_agree_on_every_option) { check_adm_options(assert_twins_agree, float_adm_option_sets()); }
END_TEST
START_TEST(twins_agree_on_a_large_picture) { check_large_adm(assert_twins_agree); }
END_TEST

START_TEST(decoupling_by_hand) {
  ck_assert_float_eq_tol(float_adm_restored(10, 5, false, 100), 5, 1e-6);
  ck_assert_float_eq_tol(float_adm_restored(-10, -2.5f, false, 100), -2.5f, 1e-6);
  ck_assert_float_eq(float_adm_restored(10, -5, false, 100), 0);  // opposite signs
  ck_assert_float_eq(float_adm_restored(10, 30, false, 100), 10);
  ck_assert_float_eq(float_adm_restored(0, 30, true, 100), 0);
  ck_assert_float_eq(float_adm_restored(10, 30, true, 100),
                     30);  // contrast enhanced: all of it is the reference's detail
  ck_assert_float_eq(float_adm_restored(-10, -30, true, 2), -20);
  ck_assert_float_eq(float_adm_restored(10, 30, true, 1.2), 12);
  ck_assert(float_adm_aligned(100, 0, 50, 0));
  ck_assert(!float_adm_aligned(100, 0, -50, 0));
  ck_assert(float_adm_aligned(100, 0, 100, 1.7f));   // 0.97 degrees
  ck_assert(!float_adm_aligned(100, 0, 100, 1.8f));  // 1.03 degrees
  ck_assert(float_adm_aligned(0, 0, 7, 9));
}
END_TEST

/* The table of RCPSS: within the 1.5 · 2^-12 that x86 promises, of every sign and exponent; a step of Newton's squares
 * that. */
START_TEST(reciprocals_are_near) {
  for (const float unit : {1.0f, -1.0f, 0x1p-90f, 0x1p90f}) {
    for (int i = 0; i < 4096; i++) {
      for (const int below : {0, 2047}) {
        const float x = unit * from_bits(0x3f800000 + (i << 11) + below);
        ck_assert_double_eq_tol(static_cast<double>(float_adm_reciprocal(x)) * x, 1, 1.5 / 4096);
        ck_assert_double_eq_tol(x * float_adm_inverse(x), 1, 3e-7);
      }
    }
  }
  /* As measured. */
  ck_assert_float_eq(float_adm_reciprocal(1), 0x1.ffep-1f);
  ck_assert_float_eq(float_adm_reciprocal(3), 0x1.555p-2f);
  ck_assert_float_eq(float_adm_reciprocal(-0x1.921fb6p+1f), -0x1.45fp-2f);
}
END_TEST

/* Magnitudes of 1 in all bands give the threshold 3 (8 / 30 + 1 / 15). */
START_TEST(masking_by_hand) {
  const auto share = [](int, int) { return float_adm_share(1); };
  const float band = float_adm_masking(share, 1);
  ck_assert_float_eq_tol(band, 1 / 3.f, 1e-7);
  ck_assert_float_eq_tol(float_adm_threshold(band, band, band), 1, 2e-7);
  ck_assert_float_eq(float_adm_excess(1, 3), 0);
  ck_assert_float_eq(float_adm_excess(3, 1), 2);
}
END_TEST

START_TEST(powers_by_hand) {
  for (const float p : {1.0f, 2.5f, 7.0f, 20.0f}) {
    for (const float x : {15.99f, 8.0f, 7.99f, 1.0f, 0.3f, 1e-3f, 1e-8f}) {
      const FloatAdmPower power = float_adm_power(x, p);
      const double scaled = x * std::exp2(power.bin - kFloatAdmMostExponent);
      ck_assert_int_ge(power.bin, 0);
      ck_assert_int_lt(power.bin, kFloatAdmBins);
      ck_assert(scaled >= 0.5 && scaled < 1);
      ck_assert_double_eq_tol(power.power / std::pow(scaled, static_cast<double>(p)), 1, 6e-6);
    }
    ck_assert_int_ge(float_adm_power(0, p).bin, kFloatAdmBins);
  }
}
END_TEST

/* No weighted coefficient reaches the top of its range, whatever the sensitivity. */
START_TEST(units_hold_the_largest_coefficients) {
  for (const OptionTexts& options : float_adm_option_sets()) {
    OptionTexts powers = options;
    powers.emplace("adm_p_norm", "2");
    const auto params = float_adm_params(options_of(powers), {128, 96, 8, Chroma::k420});
    for (int s = 0; s < kAdmScales; s++) {
      const FloatAdmScale& scale = params.value().scale[s];
      const double most = 128 * std::pow(1.673032607 * 1.673032607, s + 1) * std::max(scale.weight[0], scale.weight[2]);
      ck_assert_double_lt(most, 1 << kFloatAdmMostExponent);
      if (most > 0) ck_assert_double_gt(most, (1 << kFloatAdmMostExponent) * 0.49);
    }
  }
}
END_TEST

START_TEST(sensitivities_by_hand) {
  /* 1080 lines from 3 heights have 56.55 pixels per degree: scale 0 is at 28.27 cycles. */
  const double f = 3 * 1080 * M_PI / 180 / 2;
  ck_assert_float_eq_tol(adm_paper_sensitivity({}, 0).straight, (0.31 + 0.69 * f) * std::exp(-0.29 * f), 1e-7);
  ck_assert_float_eq_tol(adm_paper_sensitivity({}, 1).diagonal, (0.31 + 0.69 * f / 1.4) * std::exp(-0.29 * f / 1.4),
                         1e-6);
  /* The integer adm has these as constants, 1.3 and 2.3 above the formula. */
  ck_assert_double_eq_tol(watson_sensitivity({}, 0).straight * std::ldexp(1, 21), 36453, 3);
  ck_assert_double_eq_tol(watson_sensitivity({}, 0).diagonal * std::ldexp(1, 23), 49417, 3);
}
END_TEST

START_TEST(identical_pictures_keep_all_and_add_nothing) {
  Pair<uint8_t> pair(128, 96);
  pair.ref.fill(Fill::kRandom, 8, 1);
  pair.dist.fill(Fill::kRandom, 8, 1);
  for (const char* p : {"1", "3", "20"}) {
    const auto scores = score(pair, 8, {{"adm_p_norm", p}});
    ck_assert_double_eq(scores[kAdm2], 1);
    ck_assert_double_eq(scores[kAim], 0);
    ck_assert_double_eq(scores[kAdm3], 1);
    for (int s = 0; s < kAdmScales; s++) ck_assert_double_eq(scores[of_scale("adm", s)], 1);
  }
}
END_TEST

START_TEST(nothing_to_see_scores_one) {
  Pair<uint8_t> pair(64, 64);
  pair.ref.fill(Fill::kMax, 8, 1);
  pair.dist.fill(Fill::kMax, 8, 1);
  for (const char* masked : {"0", "1"}) {
    const auto scores = score(pair, 8,
                              {{"adm_noise_weight", "0"},
                               {"adm_bypass_cm", masked},
                               {"adm_csf_mode", "1"},
                               {"adm_csf_scale", "0"},
                               {"adm_csf_diag_scale", "0"}});
    ck_assert_double_eq(scores[kAdm2], 1);
    ck_assert_double_eq(scores[kAim], 0);
    ck_assert_double_eq(scores[kAdm3], 1);
    for (int s = 0; s < kAdmScales; s++) ck_assert_double_eq(scores[of_scale("adm", s)], 1);
  }
}
END_TEST

/* A picture at twice the depth has the scores that it has at its own. */
START_TEST(every_depth_is_scaled) {
  auto bytes = impaired();
  const auto want = score(bytes, 8, {});
  for (int bpc = 9; bpc <= 16; bpc++) {
    Pair<uint16_t> pair(bytes.w, bytes.h);
    for (int y = 0; y < pair.h; y++)
      for (int x = 0; x < pair.w; x++) {
        pair.ref.at(x, y) = static_cast<uint16_t>(bytes.ref.at(x, y) << (bpc - 8));
        pair.dist.at(x, y) = static_cast<uint16_t>(bytes.dist.at(x, y) << (bpc - 8));
      }
    const auto got = score(pair, bpc, {});
    ck_assert(got.of == want.of);
  }
}
END_TEST

START_TEST(options_change_the_scores) {
  auto pair = impaired();
  const auto plain = score(pair, 8, {{"debug", "true"}});
  ck_assert_double_gt(plain[kAim], 0.01);
  ck_assert_double_eq(plain[kAdm3], plain[kAdm2] * 0.5 + (1 - plain[kAim]) * 0.5);
  ck_assert_double_eq(plain[kAdm2], plain["adm_num"] / plain["adm_den"]);
  ck_assert_double_eq(plain["adm_scale1"], plain["adm_num_scale1"] / plain["adm_den_scale1"]);

  ck_assert_double_eq(score(pair, 8, {{"adm_adm3_apply_hm", "true"}})[kAdm3],
                      2 * plain[kAdm2] * plain[kAim] / (plain[kAdm2] + plain[kAim]));
  ck_assert_double_eq(score(pair, 8, {{"adm_dlm_weight", "1"}})[kAdm3], plain[kAdm2]);
  ck_assert_double_eq(score(pair, 8, {{"adm_min_val", "1"}})[kAdm3], 1);
  ck_assert_double_gt(score(pair, 8, {{"adm_bypass_cm", "1"}})[kAim], plain[kAim]);

  const auto without = score(pair, 8, {{"adm_skip_aim_scale", "0"}});
  ck_assert_double_eq(without[kAdm2], plain[kAdm2]);
  ck_assert_double_ne(without[kAim], plain[kAim]);

  const auto coarse = score(pair, 8, {{"adm_skip_scale0", "true"}});
  ck_assert_double_eq(coarse["adm_scale0"], 0);
  for (int s = 1; s < kAdmScales; s++) ck_assert_double_eq(coarse[of_scale("adm", s)], plain[of_scale("adm", s)]);
  ck_assert_double_eq_tol(coarse[kAim], without[kAim], 1e-9);

  /* Powers by way of logarithms are near those by multiplication. */
  const auto near = score(pair, 8, {{"adm_p_norm", "3.0001"}});
  for (const auto& [key, value] : near.of) ck_assert_double_eq_tol(value, plain.of.at(key), 1e-4);
}
END_TEST

/* A sensitivity only scales, where there is no noise floor and masking is linear. */
START_TEST(sums_do_not_depend_on_units) {
  auto pair = impaired();
  for (const char* p : {"1", "3", "12"}) {
    OptionTexts options = {{"adm_noise_weight", "0"}, {"adm_p_norm", p}};
    FrameScores want;
    for (const char* factor : {"0.002", "0.1", "9"}) {
      for (const char* name :
           {"adm_f1s0", "adm_f2s0", "adm_f1s1", "adm_f2s1", "adm_f1s2", "adm_f2s2", "adm_f1s3", "adm_f2s3"})
        options[name] = factor;
      const auto got = score(pair, 8, options);
      if (want.of.empty()) want = got;
      for (const auto& [key, value] : got.of) ck_assert_double_eq_tol(value, want.of.at(key), 2e-6);
    }
  }
}
END_TEST

START_TEST(refuses_what_it_cannot_score) {
  for (const auto& [w, h] : {std::pair(16, 64), std::pair(64, 16)}) {
    const std::string why = refusal(kFloatAdmExtractor, {w, h, 8, Chroma::k420});
    ck_assert_ptr_nonnull(strstr(why.c_str(), "17x17"));
  }
  make_extractor(kFloatAdmExtractor, {17, 17, 8, Chroma::k420});
}
END_TEST

START_TEST(report_keys_have_the_options) {
  const auto assert_suffix = [](const OptionTexts& given, const char* want) {
    const std::string got = options_of(given).key_suffix();
    ck_assert_str_eq(got.c_str(), want);
  };
  assert_suffix({{"adm_ref_display_height", "2160"}, {"adm_norm_view_dist", "1.5"}, {"debug", "true"}},
                "_nvd_1.5_rdf_2160");
  assert_suffix({{"adm_skip_aim_scale", "0"}, {"adm_f2s3", "0.5"}, {"adm_adm3_apply_hm", "true"}, {"adm_p_norm", "2"}},
                "_aah_f2s3_0.5_apn_2_sasc_0");
  /* All keys but this one, as in libvmaf. */
  for (const FeatureInfo& feature : kFloatAdmExtractor.features)
    ck_assert_msg(feature.bare == (std::string(feature.key) == "adm"), "%s", feature.key);
}
END_TEST

int main() {
  return run_suite("float_adm", {{"widths", twins_agree_at_every_width},
                                 {"heights", twins_agree_at_every_height},
                                 {"fills", twins_agree_on_every_fill_and_depth},
                                 {"options_of_twins", twins_agree_on_every_option},
                                 {"large", twins_agree_on_a_large_picture},
                                 {"decoupling", decoupling_by_hand},
                                 {"reciprocals", reciprocals_are_near},
                                 {"masking", masking_by_hand},
                                 {"powers", powers_by_hand},
                                 {"units", units_hold_the_largest_coefficients},
                                 {"sensitivities", sensitivities_by_hand},
                                 {"identical", identical_pictures_keep_all_and_add_nothing},
                                 {"nothing", nothing_to_see_scores_one},
                                 {"depths", every_depth_is_scaled},
                                 {"options", options_change_the_scores},
                                 {"scaling", sums_do_not_depend_on_units},
                                 {"refusals", refuses_what_it_cannot_score},
                                 {"keys", report_keys_have_the_options}});
}
