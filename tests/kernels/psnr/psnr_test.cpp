#include "kernels/psnr/psnr.h"

#include <check.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

void assert_twins_agree(const std::string& target, const SamplePlane& ref, const SamplePlane& dist, int bpc,
                        const std::string& what) {
  const uint64_t want = psnr_sse_plain(ref, dist, bpc), got = psnr_sse_simd(ref, dist, bpc);
  ck_assert_msg(got == want, "%s %dx%d %d bit %s: %llu, the definition says %llu", target.c_str(), ref.w, ref.h, bpc,
                what.c_str(), static_cast<unsigned long long>(got), static_cast<unsigned long long>(want));
}

template <class T>
void check_all_fills(const std::string& target, int w, int h, int bpc) {
  TestPlane<T> ref(w, h, w % 5, w % 3, w % 2), dist(w, h, w % 7, h % 4, h % 2);
  for (const Fill a : kFills) {
    ref.fill(a, bpc, w + 1);
    for (const Fill b : kFills) {
      dist.fill(b, bpc, w + 2);
      assert_twins_agree(target, ref.sample_plane(), dist.sample_plane(), bpc,
                         std::string(fill_name(a)) + " against " + fill_name(b));
    }
  }
}

/* -- Scores -------------------------------------------------------------------------------------------------------- */

VideoFormat format_of(int w, int h, int bpc, Chroma chroma) { return {.w = w, .h = h, .bpc = bpc, .chroma = chroma}; }

std::unique_ptr<Extractor> make(const OptionTexts& given, const VideoFormat& format) {
  return make_extractor(kPsnrExtractor, format, given);
}

/* The scores of a stream with these sums. */
Scores score(const Extractor& psnr, const std::vector<PsnrSums>& sums) {
  const auto scorer = psnr.make_scorer();
  Scores scores(psnr, kPsnrExtractor.stream_value);
  for (size_t n = 0; n < sums.size(); n++) scorer->finalize(n, &sums[n], scores);
  ck_assert(scorer->flush(scores).ok());
  return scores;
}

std::string names(const Extractor& psnr) {
  std::string line;
  for (const FeatureInfo& feature : psnr.features()) line += std::string(line.empty() ? "" : " ") + feature.name;
  return line;
}

}  // namespace

START_TEST(known_sums) {
  TestPlane<uint8_t> ref(5, 3), dist(5, 3);
  ref.fill(Fill::kZero, 8, 1);
  dist.fill(Fill::kZero, 8, 1);
  dist.at(0, 0) = 3;
  dist.at(4, 2) = 255;
  ck_assert_uint_eq(psnr_sse_plain(ref.sample_plane(), dist.sample_plane(), 8), 9 + 65025);

  TestPlane<uint16_t> low(5, 3), high(5, 3);
  low.fill(Fill::kZero, 16, 1);
  high.fill(Fill::kMax, 16, 1);
  ck_assert_uint_eq(psnr_sse_plain(low.sample_plane(), high.sample_plane(), 16), 15ull * 65535 * 65535);
  ck_assert_uint_eq(psnr_sse_plain(high.sample_plane(), low.sample_plane(), 16), 15ull * 65535 * 65535);
}
END_TEST

START_TEST(simd_equals_plain) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= 16; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 1; w <= 134; w++) check_all_fills<T>(target, w, 1 + w % 3, bpc);
      });
  });
}
END_TEST

/* Rows so long that 32-bit lanes would overflow, had they not been flushed. */
START_TEST(very_wide_rows) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= 16; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        const int w = bpc == 8 ? (1 << 20) + 75 : (1 << 16) + 75;
        TestPlane<T> ref(w, 2), dist(w, 2);
        ref.fill(Fill::kZero, bpc, 1);
        dist.fill(Fill::kMax, bpc, 1);
        assert_twins_agree(target, ref.sample_plane(), dist.sample_plane(), bpc, "zero against max");
      });
  });
}
END_TEST

/* Buffers of exactly the samples: the sanitizers see every step outside. */
START_TEST(reads_only_samples) {
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 12, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        for (int w = 1; w <= 134; w++) {
          const std::vector<T> ref(w * 2, 1), dist(w * 2, 77);
          const ptrdiff_t stride = w * sizeof(T);
          assert_twins_agree(target, {ref.data(), stride, w, 2}, {dist.data(), stride, w, 2}, bpc, "tight");
        }
      });
  });
}
END_TEST

START_TEST(features_follow_options_and_format) {
  const VideoFormat color = format_of(16, 16, 8, Chroma::k420);
  assert_text_eq(names(*make({}, color)), "psnr_y psnr_cb psnr_cr");
  assert_text_eq(names(*make({{"enable_mse", "true"}}, color)), "psnr_y mse_y psnr_cb mse_cb psnr_cr mse_cr");
  assert_text_eq(names(*make({{"enable_chroma", "false"}}, color)), "psnr_y");
  assert_text_eq(names(*make({}, format_of(16, 16, 8, Chroma::k400))), "psnr_y");
  assert_text_eq(names(*make({}, format_of(1, 16, 8, Chroma::k422))), "psnr_y");
  assert_text_eq(names(*make({}, format_of(1, 1, 8, Chroma::k444))), "psnr_y psnr_cb psnr_cr");

  ck_assert_uint_eq(make({}, color)->reads().ref, 7);
  ck_assert_uint_eq(make({}, color)->reads().dist, 7);
  ck_assert_uint_eq(make({{"enable_chroma", "false"}}, color)->reads().dist, 1);
  ck_assert(!make({}, color)->reads().every_frame);
  ck_assert(make({{"enable_apsnr", "true"}}, color)->reads().every_frame);
}
END_TEST

START_TEST(extract_reads_every_plane) {
  const auto psnr = make({}, format_of(8, 6, 8, Chroma::k422));
  TestPlane<uint8_t> luma(8, 6), chroma(4, 6), far_chroma(4, 6);
  luma.fill(Fill::kZero, 8, 1);
  chroma.fill(Fill::kZero, 8, 1);
  far_chroma.fill(Fill::kMax, 8, 1);
  FrameSet frames;
  frames.ref = {8, {luma.sample_plane(), chroma.sample_plane(), chroma.sample_plane()}};
  frames.dist = {8, {luma.sample_plane(), chroma.sample_plane(), far_chroma.sample_plane()}};
  PsnrSums sums = {};
  psnr->extract(frames, nullptr, &sums);
  ck_assert_uint_eq(sums.sse[0], 0);
  ck_assert_uint_eq(sums.sse[1], 0);
  ck_assert_uint_eq(sums.sse[2], 24 * 65025);
}
END_TEST

START_TEST(scores_in_decibels) {
  const auto psnr = make({{"enable_mse", "true"}}, format_of(10, 10, 8, Chroma::k420));
  Scores scores = score(*psnr, {{{65025 * 100, 25 * 650, 0}}});
  scores.expect("psnr_y 0", 0);  // an error of the whole range everywhere
  scores.expect("mse_y 0", 65025);
  scores.expect("mse_cb 0", 650);
  scores.expect("psnr_cb 0", 10 * std::log10(65025.0 / 650));
  scores.expect("psnr_cr 0", 60);  // 6 · 8 + 12
  scores.expect("mse_cr 0", 0);
}
END_TEST

START_TEST(limit_follows_depth_and_min_sse) {
  const auto perfect = [](const OptionTexts& options, int bpc) {
    return score(*make(options, format_of(10, 10, bpc, Chroma::k420)), {{{0, 0, 0}}});
  };
  perfect({}, 8).expect("psnr_y 0", 60);
  perfect({}, 9).expect("psnr_y 0", 66);
  perfect({}, 10).expect("psnr_cb 0", 72);
  perfect({}, 16).expect("psnr_cr 0", 108);
  /* ⌈10·log10(255²·100 / 0.5)⌉ = ⌈71.14⌉; chroma has a quarter of the samples: ⌈65.12⌉ */
  perfect({{"min_sse", "0.5"}}, 8).expect("psnr_y 0", 72);
  perfect({{"min_sse", "0.5"}}, 8).expect("psnr_cb 0", 66);
}
END_TEST

START_TEST(reduced_peak) {
  const VideoFormat ten_bits = format_of(10, 10, 10, Chroma::k400);
  /* An error of 4 everywhere at 10 bit is one of 1 at 8 bit. */
  const std::vector<PsnrSums> sums = {{{1600, 0, 0}}};
  score(*make({{"reduced_hbd_peak", "true"}}, ten_bits), sums).expect("psnr_y 0", 10 * std::log10(255.0 * 255.0));
  score(*make({}, ten_bits), sums).expect("psnr_y 0", 10 * std::log10(1023.0 * 1023.0 / 16));
}
END_TEST

START_TEST(psnr_of_the_stream) {
  const VideoFormat format = format_of(10, 10, 8, Chroma::k400);
  const OptionTexts options = {{"enable_apsnr", "true"}};
  Scores scores = score(*make(options, format), {{{100, 0, 0}}, {{300, 0, 0}}});
  scores.expect("apsnr_y", 10 * (std::log10(65025.0) + std::log10(200.0) - std::log10(400.0)));
  ck_assert(!scores.of.count("apsnr_cb"));

  /* A perfect stream: ⌈10·log10(2·255²·200)⌉ = ⌈74.15⌉ */
  score(*make(options, format), {{{0, 0, 0}}, {{0, 0, 0}}}).expect("apsnr_y", 75);
  ck_assert(score(*make(options, format), {}).of.empty());
  ck_assert(!score(*make({}, format), {{{100, 0, 0}}}).of.count("apsnr_y"));
}
END_TEST

/* 10 bit: a difference of 4 in one of 4x4 samples is 1 on the scale of 8 bit. */
START_TEST(float_psnr_scores) {
  TestPlane<uint16_t> ref(4, 4), dist(4, 4);
  ref.fill(Fill::kZero, 10, 1);
  dist.fill(Fill::kZero, 10, 1);
  const VideoFormat format = {.w = 4, .h = 4, .bpc = 10, .chroma = Chroma::k400};
  const auto float_psnr = make_extractor(kFloatPsnrExtractor, format);
  const Picture zero = {10, {ref.sample_plane()}}, other = {10, {dist.sample_plane()}};
  score_frame(*float_psnr, zero, other).expect("float_psnr 0", 72);
  dist.at(1, 2) = 4;
  score_frame(*float_psnr, zero, other).expect("float_psnr 0", 10 * std::log10(255.75 * 255.75 * 16), 1e-12);
}
END_TEST

int main() {
  return run_suite("psnr", {{"known_sums", known_sums},
                            {"simd_equals_plain", simd_equals_plain},
                            {"wide_rows", very_wide_rows},
                            {"reads_only_samples", reads_only_samples},
                            {"features", features_follow_options_and_format},
                            {"extract", extract_reads_every_plane},
                            {"scores", scores_in_decibels},
                            {"limit", limit_follows_depth_and_min_sse},
                            {"reduced_peak", reduced_peak},
                            {"stream", psnr_of_the_stream},
                            {"float_psnr", float_psnr_scores}});
}
