#include "kernels/vif/vif.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/vif/vif_rows.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

// -- Sums ------------------------------------------------------------------------------------------------------------

using Twin = decltype(&vif_plain);

/* The sums of a frame. */
VifSums sums_of(Twin twin, size_t scratch_bytes, const VifParams& params, const SamplePlane& ref,
                const SamplePlane& dist) {
  const TestScratch scratch(scratch_bytes);
  VifSums sums = {};
  twin(params, ref, dist, scratch.get(), sums);
  return sums;
}

VifSums sums_of_plain(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist) {
  return sums_of(vif_plain, vif_scratch_bytes_plain(params), params, ref, dist);
}

VifSums sums_of_simd(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist) {
  return sums_of(vif_simd, vif_scratch_bytes_simd(params), params, ref, dist);
}

std::string text_of(const VifSums& sums) {
  std::string text;
  for (const VifScaleSums& s : sums.scale)
    text += format_text("[%lld %lld %lld %lld]", static_cast<long long>(s.num_log), static_cast<long long>(s.den_log),
                        static_cast<long long>(s.num_non_log), static_cast<long long>(s.den_non_log));
  return text;
}

void assert_twins_agree(const VifParams& params, const SamplePlane& ref, const SamplePlane& dist,
                        const std::string& what) {
  const std::string want = text_of(sums_of_plain(params, ref, dist));
  for_each_cpu_level([&](const std::string& target) {
    const std::string got = text_of(sums_of_simd(params, ref, dist));
    ck_assert_msg(got == want, "%s %dx%d %d bit %s: %s, the definition says %s", target.c_str(), params.w, params.h,
                  params.bpc, what.c_str(), got.c_str(), want.c_str());
  });
}

/* Makes `dist` what codecs make of `ref`: contrast times gain / 16, and grain of up to +-noise in 256ths of the range.
 */
template <class T>
void distort(TestPlane<T>& dist, TestPlane<T>& ref, int w, int h, int bpc, int gain, int noise) {
  std::mt19937 random(w * 131 + h);
  const int max = (1 << bpc) - 1;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      const int grain = static_cast<int>(random() % (2 * noise + 1)) - noise;
      const int value = (ref.at(x, y) - max / 2) * gain / 16 + max / 2 + grain * (max + 1) / 256;
      dist.at(x, y) = static_cast<T>(std::clamp(value, 0, max));
    }
}

/* One size and depth: a clean, a softened and an enhanced picture, each with other strides, offsets and directions. */
template <class T>
void check_size(int w, int h, int bpc) {
  const Fill fill = w % 3 ? Fill::kRandom : Fill::kGradient;
  for (const int gain : {16, 10, 24}) {
    TestPlane<T> ref(w, h, w % 5 + gain, w % 3, w % 2), dist(w, h, h % 7, gain % 5, gain == 24);
    ref.fill(fill, bpc, w + h);
    distort(dist, ref, w, h, bpc, gain, gain == 16 ? 0 : 6);
    const VifParams params = {w, h, bpc, gain == 24 && w % 2 ? 1.0 : 100.0, gain == 10 && w % 4 == 1};
    assert_twins_agree(params, ref.sample_plane(), dist.sample_plane(), format_text("gain %d/16", gain));
  }
}

void check_size(int w, int h, int bpc) {
  with_sample_type(bpc, [&]<class T>(T) { check_size<T>(w, h, bpc); });
}

// -- Scores ----------------------------------------------------------------------------------------------------------

constexpr VideoFormat kSmall = {.w = 16, .h = 16, .bpc = 8, .chroma = Chroma::k400};

std::unique_ptr<Extractor> make(const OptionTexts& given, const VideoFormat& format = kSmall) {
  return make_extractor(kVifExtractor, format, given);
}

Scores scores_of(const OptionTexts& options, const VifSums& sums) {
  const auto vif = make(options);
  const auto scorer = vif->make_scorer();
  Scores scores(*vif);
  scorer->finalize(0, &sums, scores);
  ck_assert(scorer->flush(scores).ok());
  return scores;
}

/* num 1, 2, 3, 4 and den 3, 6, 12, 24. */
const VifSums kSums = {
    {{2048, 2 * 2048, 0, 0}, {2 * 2048, 6 * 2048, 0, 0}, {3 * 2048, 12 * 2048, 0, 0}, {4 * 2048, 24 * 2048, 0, 0}}};

}  // namespace

START_TEST(log2_of_every_entry) {
  for (int i = 32768; i < 65536; i++)
    ck_assert_int_eq(vif_log2_entry(i), static_cast<int>(std::round(std::log2(static_cast<float>(i)) * 2048)));
}
END_TEST

/* The polynomial as the SIMD twin and devices may evaluate it. */
START_TEST(log2_with_fused_multiply_add) {
  for (int i = 32768; i < 65536; i++) {
    const int m = i - 32768;
    float bulge = kVifLog2Poly[kVifLog2Degree];
    for (int k = kVifLog2Degree - 1; k >= 0; k--)
      bulge = std::fma(bulge, static_cast<float>(m) / 32768 - 0.5f, kVifLog2Poly[k]);
    ck_assert_int_eq(30720 + (((m << 11) + static_cast<int>(bulge) - (1 << 23)) >> 15), vif_log2_entry(i));
  }
}
END_TEST

START_TEST(log2_uses_16_leading_bits) {
  for (int bit = 17; bit < 63; bit++) {
    ck_assert_int_eq(vif_log2(uint64_t{1} << bit), bit * 2048);
    ck_assert_int_eq(vif_log2((uint64_t{1} << bit) + (uint64_t{1} << (bit - 16))), bit * 2048);
    ck_assert_int_eq(vif_log2((uint64_t{2} << bit) - 1), (bit + 1) * 2048);
  }
}
END_TEST

START_TEST(windows_add_up_to_one) {
  for (int s = 0; s < kVifScales; s++) {
    int sum = kVifTaps[s][0];
    for (int k = 1; k <= kVifHalfWidth[s]; k++) sum += 2 * kVifTaps[s][k];
    ck_assert_int_eq(sum, 65536);
  }
  const auto check_pairs = []<size_t n>(const std::array<VifPairTaps, n>& taps) {
    int even = 0, odd = 0;
    for (const VifPairTaps& t : taps) {
      even += static_cast<int16_t>(t.even) + (t.even >> 16);
      odd += static_cast<int16_t>(t.odd) + (t.odd >> 16);
    }
    ck_assert_int_eq(even, 65536);
    ck_assert_int_eq(odd, 65536);
  };
  check_pairs(vif_pair_taps<0>());
  check_pairs(vif_pair_taps<1>());
  check_pairs(vif_pair_taps<2>());
  check_pairs(vif_pair_taps<3>());
}
END_TEST

/* Flat pictures have no variance: every sample only counts. */
START_TEST(flat_pictures) {
  TestPlane<uint8_t> ref(40, 24), dist(40, 24);
  ref.fill(Fill::kMax, 8, 1);
  dist.fill(Fill::kZero, 8, 1);
  const VifParams params = {.w = 40, .h = 24};
  assert_text_eq(text_of(sums_of_plain(params, ref.sample_plane(), dist.sample_plane())),
                 "[0 0 0 960][0 0 0 240][0 0 0 60][0 0 0 15]");
  assert_twins_agree(params, ref.sample_plane(), dist.sample_plane(), "flat");
}
END_TEST

/* One sample worked out on paper: mu1 = mu2 = 128 and sigma1_sq = sigma2_sq = sigma12 = 6. Then g is just below 1, sv =
 * 0, sv + n = 2, sigma1_sq + n = 8, and the total 2 + 6 g^2 is 2^19 - 1 in Q16, whose 16 leading bits count as 8, too.
 */
START_TEST(one_sample) {
  const uint32_t mu = 128u << 24, square = (128u * 128 + 6) << 16;
  VifScaleSums sums = {};
  vif_add_sample({mu, mu, square, square, square}, 100, sums);
  ck_assert_int_eq(sums.den_log, 2 * 2048);
  ck_assert_int_eq(sums.num_log, 2 * 2048);
  /* A limit of g at 1/2: total = 2 + 6 / 4 = 3.5. */
  sums = {};
  vif_add_sample({mu, mu, square, square, square}, 0.5, sums);
  ck_assert_int_eq(sums.num_log, std::lround(std::log2(1.75) * 2048));
  /* No variance in the reference: the variance of the distorted picture counts. */
  sums = {};
  vif_add_sample({mu, mu, 128u * 128 << 16, square, 128u * 128 << 16}, 100, sums);
  ck_assert_int_eq(sums.num_non_log, 6 << 16);
  ck_assert_int_eq(sums.den_non_log, 1);
}
END_TEST

START_TEST(simd_equals_plain_at_every_width) {
  for (int w = kVifMinSize; w <= 100; w++)
    for (const int bpc : {8, 10, 16}) check_size(w, kVifMinSize + w * 7 % 19, bpc);
}
END_TEST

START_TEST(simd_equals_plain_at_every_height) {
  for (int h = kVifMinSize; h <= 45; h++)
    for (const int bpc : {8, 12}) check_size(kVifMinSize + h * 5 % 23, h, bpc);
}
END_TEST

/* Around the ends of the strips that the SIMD twin works in, at each scale. */
START_TEST(simd_equals_plain_across_strips) {
  for (const int beyond : {-1, 0, 1, 2, 7, 8, 9, 17, 32, 480})
    for (const int bpc : {8, 10}) check_size(kVifStripColumns + beyond, 18, bpc);
  for (const int w :
       {2 * kVifStripColumns - 1, 2 * kVifStripColumns + 10, 3 * kVifStripColumns + 1, 4 * kVifStripColumns + 10})
    for (const int bpc : {8, 10}) check_size(w, 18, bpc);
}
END_TEST

START_TEST(simd_equals_plain_at_every_depth) {
  constexpr int kW = 51, kH = 37;
  int turn = 0;
  for (int bpc = 8; bpc <= 16; bpc++) {
    check_size(kW, kH, bpc);
    with_sample_type(bpc, [&]<class T>(T) {
      for (const Fill a : kFills)
        for (const Fill b : kFills) {
          if (turn++ % every_under_sanitizers(5)) continue;
          TestPlane<T> ref(kW, kH), dist(kW, kH);
          ref.fill(a, bpc, 1);
          dist.fill(b, bpc, 2);
          assert_twins_agree({.w = kW, .h = kH, .bpc = bpc}, ref.sample_plane(), dist.sample_plane(),
                             std::string(fill_name(a)) + " against " + fill_name(b));
        }
    });
  }
}
END_TEST

/* Buffers of exactly the samples: the sanitizers see every step outside. */
START_TEST(reads_only_samples) {
  for (const int bpc : {8, 16})
    with_sample_type(bpc, [&]<class T>(T) {
      for (const int w : {16, 17, 31, 32, 33, 63, 64, 65, 95, 97, 129, kVifStripColumns, kVifStripColumns + 3}) {
        std::vector<T> ref(w * 16), dist(w * 16);
        for (size_t i = 0; i < ref.size(); i++) ref[i] = static_cast<T>(i * i * 31), dist[i] = static_cast<T>(i * 77);
        const ptrdiff_t stride = w * sizeof(T);
        assert_twins_agree({.w = w, .h = 16, .bpc = bpc}, {ref.data(), stride, w, 16}, {dist.data(), stride, w, 16},
                           "tight");
      }
    });
}
END_TEST

START_TEST(scores_are_quotients_of_floats) {
  Scores scores = scores_of({}, kSums);
  ck_assert_uint_eq(scores.of.size(), 4);
  scores.expect("integer_vif_scale0 0", 0.5);
  scores.expect("integer_vif_scale1 0", 1.0f / 3.0f);
  ck_assert_double_ne(scores.of["integer_vif_scale1 0"], 1.0 / 3.0);
  scores.expect("integer_vif_scale2 0", 0.25);
  scores.expect("integer_vif_scale3 0", 1.0f / 6.0f);
}
END_TEST

/* 10 samples without the log form, whose variances in the distorted picture add up to 2 * (2 * 255)^2, count 10 and 8.
 */
START_TEST(scores_of_samples_without_logs) {
  VifSums sums = kSums;
  sums.scale[0] = {0, 0, int64_t{2} * 16384 * 65025, 10};
  scores_of({}, sums).expect("integer_vif_scale0 0", 0.8f);
}
END_TEST

START_TEST(debug_adds_parts) {
  Scores scores = scores_of({{"debug", "true"}}, kSums);
  ck_assert_uint_eq(scores.of.size(), 15);
  scores.expect("integer_vif_num 0", 10);
  scores.expect("integer_vif_den 0", 44);
  scores.expect("integer_vif 0", 10.0 / 44);
  scores.expect("integer_vif_num_scale2 0", 3);
  scores.expect("integer_vif_den_scale3 0", 24);
}
END_TEST

/* Numerators, denominators and their quotients are floats, as in libvmaf. */
START_TEST(parts_are_floats) {
  VifSums sums = kSums;
  for (int s = 0; s < kVifScales; s++) sums.scale[s] = {1234567891 + s, 2345678911 + s, 345678923 + s, 12345 + s};
  Scores scores = scores_of({{"debug", "true"}}, sums);
  for (const auto& [key, score] : scores.of)
    if (key.find("scale") != key.npos)
      ck_assert_msg(score == static_cast<float>(score), "%s is %.17g", key.c_str(), score);
  ck_assert_double_ne(scores.of["integer_vif_num_scale0 0"], 0);
}
END_TEST

START_TEST(skipped_scale) {
  scores_of({{"vif_skip_scale0", "true"}}, kSums).expect("integer_vif_scale0 0", 0);
  Scores scores = scores_of({{"vif_skip_scale0", "true"}, {"debug", "true"}}, kSums);
  scores.expect("integer_vif_num 0", 9);
  scores.expect("integer_vif_den 0", 42);
  scores.expect("integer_vif_num_scale0 0", 0);
  scores.expect("integer_vif_den_scale0 0", -1);
  scores.expect("integer_vif_scale1 0", 1.0f / 3.0f);

  TestPlane<uint8_t> ref(40, 40), dist(40, 40);
  ref.fill(Fill::kRandom, 8, 1);
  dist.fill(Fill::kSparse, 8, 2);
  VifParams params = {.w = 40, .h = 40};
  VifSums whole = sums_of_plain(params, ref.sample_plane(), dist.sample_plane());
  params.skip_scale0 = true;
  whole.scale[0] = {};
  assert_text_eq(text_of(sums_of_plain(params, ref.sample_plane(), dist.sample_plane())), text_of(whole));
}
END_TEST

/* From options to scores: equal pictures score 1 but for the fixed point; no gain, no credit. */
START_TEST(extract_takes_the_luma_planes) {
  constexpr VideoFormat kFormat = {.w = 64, .h = 48, .bpc = 10, .chroma = Chroma::k400};
  TestPlane<uint16_t> ref(64, 48), dist(64, 48);
  ref.fill(Fill::kRandom, 9, 3);  // half the range, around its middle, to leave room for gain
  for (int y = 0; y < 48; y++)
    for (int x = 0; x < 64; x++) ref.at(x, y) += 256;
  distort(dist, ref, 64, 48, 10, 24, 0);
  const auto score = [&](const OptionTexts& options, TestPlane<uint16_t>& plane) {
    const auto vif = make(options, kFormat);
    ck_assert_uint_eq(vif->sums_bytes(), sizeof(VifSums));
    return score_frame(*vif, {10, {ref.sample_plane()}}, {10, {plane.sample_plane()}}).of["integer_vif_scale1 0"];
  };
  ck_assert_double_eq_tol(score({}, ref), 1, 1e-5);
  ck_assert_double_gt(score({}, dist), 1.01);
  ck_assert_double_lt(score({{"vif_enhn_gain_limit", "1"}}, dist), 1.01);
}
END_TEST

START_TEST(small_pictures_are_refused) {
  for (const auto& [w, h] : {std::pair(15, 64), std::pair(64, 15), std::pair(1, 1)}) {
    const VideoFormat format = {.w = w, .h = h, .bpc = 8, .chroma = Chroma::k400};
    assert_contains(refusal(kVifExtractor, format), "at least 16x16");
  }
  make({});
}
END_TEST

START_TEST(gain_limit_has_a_range) {
  for (const char* limit : {"0.99", "101", "x"})
    ck_assert(!Options::resolve("vif", kVifExtractor.options, {{"vif_enhn_gain_limit", limit}}).ok());
  const auto options = Options::resolve(
      "vif", kVifExtractor.options, {{"vif_enhn_gain_limit", "1.0"}, {"vif_skip_scale0", "true"}, {"debug", "true"}});
  assert_text_eq(const_cast<StatusOr<Options>&>(options).value().key_suffix(), "_egl_1_ssclz");
}
END_TEST

int main() {
  return run_suite("vif", {{"log2", log2_of_every_entry},
                           {"log2_fused", log2_with_fused_multiply_add},
                           {"log2_leading_bits", log2_uses_16_leading_bits},
                           {"windows", windows_add_up_to_one},
                           {"flat", flat_pictures},
                           {"one_sample", one_sample},
                           {"widths", simd_equals_plain_at_every_width},
                           {"heights", simd_equals_plain_at_every_height},
                           {"strips", simd_equals_plain_across_strips},
                           {"depths", simd_equals_plain_at_every_depth},
                           {"reads_only_samples", reads_only_samples},
                           {"scores", scores_are_quotients_of_floats},
                           {"non_log", scores_of_samples_without_logs},
                           {"debug", debug_adds_parts},
                           {"floats", parts_are_floats},
                           {"skip", skipped_scale},
                           {"extract", extract_takes_the_luma_planes},
                           {"too_small", small_pictures_are_refused},
                           {"options", gain_limit_has_a_range}});
}
