#include "kernels/ssim/ssim.h"

#include <check.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/arithmetic/fixed.h"
#include "kernels/ssim/ssim_math-inl.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

using Twin = decltype(&ssim_plain);

std::vector<SsimSums> sums_of(Twin twin, size_t scratch_bytes, const SsimParams& params, const SamplePlane& ref,
                              const SamplePlane& dist) {
  const TestScratch scratch(scratch_bytes, kRubbishNan);
  std::vector<SsimSums> sums(params.scales);
  twin(params, ref, dist, scratch.get(), sums.front());
  return sums;
}

std::vector<SsimSums> ref_sums(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist) {
  return sums_of(ssim_plain, ssim_scratch_bytes_plain(params), params, ref, dist);
}

std::string text_of(const SsimSums& sums) {
  return format_text("l %lld c %lld s %lld lcs %lld different %lld", static_cast<long long>(sums.l),
                     static_cast<long long>(sums.c), static_cast<long long>(sums.s), static_cast<long long>(sums.lcs),
                     static_cast<long long>(sums.different));
}

void assert_twins_agree(const SsimParams& params, const SamplePlane& ref, const SamplePlane& dist,
                        const std::string& what) {
  const auto want = ref_sums(params, ref, dist);
  for_each_cpu_target([&](const std::string& target) {
    const auto got = sums_of(ssim_simd, ssim_scratch_bytes_simd(params), params, ref, dist);
    for (int s = 0; s < params.scales; s++) {
      ck_assert_msg(text_of(got[s]) == text_of(want[s]),
                    "%s, %dx%d %d bit, factor %d, scale %d of %d, %s: %s, the definition says %s", target.c_str(),
                    params.w, params.h, params.bpc, params.factor, s, params.scales, what.c_str(),
                    text_of(got[s]).c_str(), text_of(want[s]).c_str());
    }
  });
}

void check(const SsimParams& params, Fill ref_fill = Fill::kRandom, Fill dist_fill = Fill::kGradient) {
  with_sample_type(params.bpc, [&]<class T>(T) {
    const int w = params.w, h = params.h;
    TestPlane<T> ref(w, h, w % 5, w % 3, w % 2), dist(w, h, w % 7, h % 4, h % 2);
    ref.fill(ref_fill, params.bpc, w + 1);
    dist.fill(dist_fill, params.bpc, w + 2);
    assert_twins_agree(params, ref.sample_plane(), dist.sample_plane(),
                       std::string(fill_name(ref_fill)) + " against " + fill_name(dist_fill));
  });
}

/* -- Scores -------------------------------------------------------------------------------------------------------- */

constexpr VideoFormat kSquare = {.w = 200, .h = 200, .bpc = 8, .chroma = Chroma::k400};

template <class T>
TestPlane<T> flat(const VideoFormat& format, int value) {
  TestPlane<T> plane(format.w, format.h);
  for (int y = 0; y < format.h; y++)
    for (int x = 0; x < format.w; x++) plane.at(x, y) = static_cast<T>(value);
  return plane;
}

/* Waves of a height around 128, of two pixels' width. */
TestPlane<uint8_t> waves(const VideoFormat& format, int height) {
  TestPlane<uint8_t> plane(format.w, format.h);
  for (int y = 0; y < format.h; y++)
    for (int x = 0; x < format.w; x++) plane.at(x, y) = static_cast<uint8_t>(128 + ((x ^ y) & 2 ? height : -height));
  return plane;
}

template <class T>
Scores score(const ExtractorInfo& info, const VideoFormat& format, TestPlane<T> ref, TestPlane<T> dist,
             const OptionTexts& options = {}) {
  const auto extractor = make_extractor(info, format, options);
  Scores scores = score_frame(*extractor, {format.bpc, {ref.sample_plane()}}, {format.bpc, {dist.sample_plane()}});
  scores.features = {}; /* they go with the extractor */
  return scores;
}

}  // namespace

START_TEST(widths) {
  for (int w = 11; w <= 80; w++) check({.w = w, .h = 11 + w % 5, .bpc = w % 3 ? 8 : 10});
  check({.w = 331, .h = 40, .bpc = 8});
}
END_TEST

START_TEST(depths) {
  for (int bpc = 8; bpc <= 16; bpc++) {
    check({.w = 45, .h = 23, .bpc = bpc});
    check({.w = 45, .h = 46, .bpc = bpc, .factor = 2});
  }
}
END_TEST

START_TEST(fills) {
  for (const Fill ref : kFills)
    for (const Fill dist : kFills) {
      check({.w = 37, .h = 21, .bpc = 8}, ref, dist);
      check({.w = 37, .h = 21, .bpc = 16}, ref, dist);
    }
}
END_TEST

START_TEST(factors) {
  for (int factor = 1; factor <= 10; factor++)
    for (int more = 0; more < factor + 2; more++) {
      check({.w = 11 * factor + 7 * more, .h = 12 * factor + more, .bpc = 8, .factor = factor});
      check({.w = 11 * factor + more, .h = 11 * factor + 2, .bpc = 16, .factor = factor});
    }
}
END_TEST

START_TEST(five_scales) {
  for (int i = 0; i < 17; i++)
    check({.w = 176 + i, .h = 192 - i, .bpc = i % 2 ? 8 : 12, .scales = kMsSsimScales, .every_l = i % 3 == 0});
  for (const Fill fill : kFills) check({.w = 179, .h = 177, .bpc = 8, .scales = kMsSsimScales}, fill);
}
END_TEST

/* Buffers of exactly the samples: the sanitizers see every step outside. */
START_TEST(reads_only_samples) {
  const auto check_tight = [](const SsimParams& params) {
    with_sample_type(params.bpc, [&]<class T>(T) {
      const std::vector<T> ref(params.w * params.h, 1), dist(params.w * params.h, 77);
      const ptrdiff_t stride = params.w * static_cast<ptrdiff_t>(sizeof(T));
      assert_twins_agree(params, {ref.data(), stride, params.w, params.h}, {dist.data(), stride, params.w, params.h},
                         "tight");
    });
  };
  for (int w = 11; w < 60; w++) check_tight({.w = w, .h = 11, .bpc = w % 2 ? 8 : 10});
  for (int w = 44; w < 90; w++) check_tight({.w = w, .h = 44, .bpc = w % 2 ? 8 : 10, .factor = 4});
  check_tight({.w = 177, .h = 176, .bpc = 8, .scales = kMsSsimScales});
}
END_TEST

/* The mean as a sum in double of products in float makes it. */
template <int bits, class Values>
void assert_mean(const Values& values) {
  double sum = 0;
  for (int k = -SsimWindow::kRadius; k <= SsimWindow::kRadius; k++) sum += values(k) * SsimWindow::tap(std::abs(k));
  const float got = ssim_mean<bits>(values), want = static_cast<float>(sum);
  ck_assert_msg(got == want, "%.9g, not %.9g", got, want);
}

/* Whatever lies beside each other. */
START_TEST(sums_are_rounded_once) {
  constexpr int kRadius = SsimWindow::kRadius;
  for (int level = 1; level < 256; level++) {
    const float sample = static_cast<float>(level);
    for (int mark = -kRadius; mark <= kRadius; mark++)
      for (const float other : {0.f, 16.f, 235.f}) {
        assert_mean<kSsimSampleBits>([&](int k) { return k == mark ? sample : other; });
        assert_mean<kSsimSampleBits>([&](int k) { return k == mark ? other : sample; });
      }
    if (level < 16) continue; /* squares of darker ones may be off by a place: no variance shows it */
    assert_mean<kSsimProductBits>([&](int) { return sample * sample; });
    assert_mean<kSsimProductBits>([&](int k) { return sample * (sample + 0.25f * static_cast<float>(k)); });
    assert_mean<kSsimProductBits>([&](int k) { return sample * sample * (k & 1 ? 1.1f : 0.9f); });
    for (int mark = -kRadius; mark <= kRadius; mark++)
      assert_mean<kSsimProductBits>([&](int k) { return k == mark ? sample * sample : 235.f * 235.f; });
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20000; i++) {
    float samples[SsimWindow::kLength];
    for (float& sample : samples) sample = static_cast<float>(random() % 256);
    const auto at = [&](int k) { return samples[kRadius + k]; };
    assert_mean<kSsimSampleBits>(at);
    assert_mean<kSsimSampleBits>([&](int k) { return at(k) < 128 ? 16.f : 235.f; });
    assert_mean<kSsimProductBits>([&](int k) { return at(k) * at(k); });
  }
}
END_TEST

START_TEST(halved_samples_are_rounded_once) {
  constexpr int kRadius = SsimHalving::kRadius, kLength = 2 * kRadius + 1;
  std::mt19937 random(1);
  for (int i = 0; i < 5000; i++) {
    float samples[kLength][kLength], high[kLength], low[kLength];
    double sum = 0;
    for (int y = -kRadius; y <= kRadius; y++) {
      float* const row = samples[kRadius + y];
      for (int x = -kRadius; x <= kRadius; x++) {
        row[kRadius + x] = static_cast<float>(i % 2 ? random() % 256 : random() % 9 ? 40 : 220);
        sum += row[kRadius + x] * SsimHalving::tap(y, std::abs(x));
      }
      const SsimSampleSum of_row = ssim_halving_row(y, [&](int x) { return row[kRadius + x]; });
      high[kRadius + y] = of_row.high();
      low[kRadius + y] = of_row.low();
    }
    const float got =
        ssim_halving_sum([&](int y) { return high[kRadius + y]; }, [&](int y) { return low[kRadius + y]; });
    ck_assert_msg(got == static_cast<float>(sum), "%.9g, not %.9g", got, sum);
  }
}
END_TEST

/* Equal pictures are off 1 by no more than rounded denominators are; windows are those within the picture. */
START_TEST(known_sums) {
  const SsimParams params = {.w = 13, .h = 12, .bpc = 8};
  ck_assert_int_eq(SsimSize(params, 0).windows(), 3 * 2);
  ck_assert_int_eq(SsimSize({.w = 177, .h = 176, .bpc = 8, .scales = 5}, 4).windows(), 2 * 1);
  ck_assert_int_eq(SsimSize({.w = 101, .h = 100, .bpc = 8, .factor = 4}, 0).windows(), 16 * 15); /* 26x25 */

  const auto mean = [](int64_t sum) { return from_fixed<kSsimBits>(sum) / 6; };
  const double noise = 0x1p-22;
  TestPlane<uint8_t> picture(13, 12), other(13, 12);
  picture.fill(Fill::kRandom, 8, 1);
  other.fill(Fill::kRandom, 8, 1);
  const SsimSums same = ref_sums(params, picture.sample_plane(), other.sample_plane())[0];
  ck_assert(std::fabs(mean(same.l) - 1) <= noise && std::fabs(mean(same.c) - 1) <= noise && mean(same.s) == 1 &&
            std::fabs(mean(same.lcs) - 1) <= noise && same.different == 0);
  /* The first corner is in one of three by two windows, the middle in all. */
  other.at(0, 0) ^= 128;
  ck_assert_int_eq(ref_sums(params, picture.sample_plane(), other.sample_plane())[0].different, 1);
  other.at(6, 6) ^= 128;
  ck_assert_int_eq(ref_sums(params, picture.sample_plane(), other.sample_plane())[0].different, 6);

  const VideoFormat format = {.w = 13, .h = 12};
  const SsimSums flat_sums =
      ref_sums(params, flat<uint8_t>(format, 100).sample_plane(), flat<uint8_t>(format, 50).sample_plane())[0];
  const double l = 1 - 2500 / (10000 + 2500 + 6.5025);
  ck_assert(std::fabs(mean(flat_sums.l) - l) < 1e-6 && std::fabs(mean(flat_sums.lcs) - l) < 1e-6);
  ck_assert(std::fabs(mean(flat_sums.c) - 1) <= noise && mean(flat_sums.s) == 1 && flat_sums.different == 6);
}
END_TEST

START_TEST(features_follow_options) {
  ck_assert_uint_eq(make_extractor(kFloatSsimExtractor, kSquare)->features().size(), 1);
  ck_assert_uint_eq(make_extractor(kFloatSsimExtractor, kSquare, {{"enable_lcs", "true"}})->features().size(), 4);
  ck_assert_uint_eq(make_extractor(kFloatMsSsimExtractor, kSquare)->features().size(), 1);
  ck_assert_uint_eq(make_extractor(kFloatMsSsimExtractor, kSquare, {{"enable_lcs", "true"}})->features().size(), 16);
}
END_TEST

START_TEST(known_scores) {
  const OptionTexts lcs = {{"enable_lcs", "true"}};
  Scores same = score(kFloatSsimExtractor, kSquare, waves(kSquare, 20), waves(kSquare, 20), lcs);
  for (const char* key : {"float_ssim 0", "float_ssim_l 0", "float_ssim_c 0", "float_ssim_s 0"}) same.expect(key, 1);
  score(kFloatMsSsimExtractor, kSquare, waves(kSquare, 20), waves(kSquare, 20)).expect("float_ms_ssim 0", 1);

  Scores dark = score(kFloatSsimExtractor, kSquare, flat<uint8_t>(kSquare, 100), flat<uint8_t>(kSquare, 50), lcs);
  const double l = (2 * 100 * 50 + 6.5025) / (10000 + 2500 + 6.5025);
  dark.expect("float_ssim 0", l, 1e-6);
  dark.expect("float_ssim_l 0", l, 1e-6);
  dark.expect("float_ssim_c 0", 1);
  score(kFloatMsSsimExtractor, kSquare, flat<uint8_t>(kSquare, 100), flat<uint8_t>(kSquare, 50))
      .expect("float_ms_ssim 0", std::pow(l, 0.1333f), 1e-6);

  /* Waves of half the height have a quarter of the variance. That depends a little on where a window lies. */
  Scores weak = score(kFloatSsimExtractor, kSquare, waves(kSquare, 40), waves(kSquare, 20), lcs);
  const double variance = 1600, c = (2 * variance / 2 + 58.5225) / (variance * 1.25 + 58.5225);
  weak.expect("float_ssim_c 0", c, 2e-3);
  weak.expect("float_ssim_s 0", 1, 1e-4);

  /* The opposite picture: s is nearly -1, of which no root is taken. */
  Scores opposite = score(kFloatSsimExtractor, kSquare, waves(kSquare, 40), waves(kSquare, -40), lcs);
  opposite.expect("float_ssim_s 0", (29.26125 - variance) / (29.26125 + variance), 2e-3);
  score(kFloatMsSsimExtractor, kSquare, waves(kSquare, 40), waves(kSquare, -40)).expect("float_ms_ssim 0", 0);
}
END_TEST

/* Rounding does not show. */
/* Means are floats, as in libvmaf. */
START_TEST(means_are_floats) {
  const VideoFormat format = {.w = 200, .h = 190, .bpc = 8};
  TestPlane<uint8_t> ref(format.w, format.h), dist(format.w, format.h);
  ref.fill(Fill::kRandom, 8, 1);
  dist.fill(Fill::kGradient, 8, 2);
  for (const ExtractorInfo* info : {&kFloatSsimExtractor, &kFloatMsSsimExtractor}) {
    Scores scores = score(*info, format, ref, dist, {{"enable_lcs", "true"}});
    int seen = 0;
    for (const auto& [key, value] : scores.of)
      if (key != "float_ms_ssim 0")
        ck_assert_msg(++seen && value == static_cast<float>(value), "%s is %.17g", key.c_str(), value);
    ck_assert_int_gt(seen, 3);
  }
}
END_TEST

START_TEST(equal_pictures_score_1) {
  const VideoFormat format = {.w = 16, .h = 16, .chroma = Chroma::k400};
  for (int level = 0; level < 256; level++)
    score(kFloatSsimExtractor, format, flat<uint8_t>(format, level), flat<uint8_t>(format, level))
        .expect("float_ssim 0", 1);
}
END_TEST

START_TEST(depth_does_not_matter) {
  for (int bpc = 9; bpc <= 16; bpc++) {
    const VideoFormat format = {.w = 200, .h = 200, .bpc = bpc, .chroma = Chroma::k400};
    const int unit = 1 << (bpc - 8);
    score(kFloatSsimExtractor, format, flat<uint16_t>(format, 100 * unit), flat<uint16_t>(format, 50 * unit))
        .expect("float_ssim 0", (2 * 100 * 50 + 6.5025) / (10000 + 2500 + 6.5025), 1e-6);
  }
}
END_TEST

START_TEST(decibels) {
  const double l = (2 * 100 * 50 + 6.5025) / (10000 + 2500 + 6.5025), inf = std::numeric_limits<double>::infinity();
  const auto of = [](const ExtractorInfo& info, int dist, const OptionTexts& options) {
    return score(info, kSquare, flat<uint8_t>(kSquare, 100), flat<uint8_t>(kSquare, dist), options);
  };
  for (const auto& [info, key] :
       {std::pair(&kFloatSsimExtractor, "float_ssim 0"), std::pair(&kFloatMsSsimExtractor, "float_ms_ssim 0")}) {
    of(*info, 100, {{"enable_db", "true"}}).expect(key, inf);
    /* ⌈10·log10(255²·200²·2)⌉ = ⌈97.16⌉ */
    of(*info, 100, {{"enable_db", "true"}, {"clip_db", "true"}}).expect(key, 98);
    of(*info, 100, {{"clip_db", "true"}}).expect(key, 1);
  }
  of(kFloatSsimExtractor, 50, {{"enable_db", "true"}, {"clip_db", "true"}})
      .expect("float_ssim 0", -10 * std::log10(1 - l), 1e-4);
}
END_TEST

/* min(w, h) / 256, rounded, is what the sides are divided by. */
START_TEST(automatic_scale) {
  const auto sums = [](int w, int h, const OptionTexts& options) {
    const VideoFormat format = {.w = w, .h = h, .chroma = Chroma::k400};
    TestPlane<uint8_t> ref(w, h), dist(w, h);
    ref.fill(Fill::kRandom, 8, 1);
    dist.fill(Fill::kRandom, 8, 2);
    return score(kFloatSsimExtractor, format, ref, dist, options).of["float_ssim 0"];
  };
  ck_assert(sums(500, 383, {}) == sums(500, 383, {{"scale", "1"}}));
  ck_assert(sums(500, 384, {}) == sums(500, 384, {{"scale", "2"}}));
  ck_assert(sums(640, 700, {}) == sums(640, 700, {{"scale", "3"}}));
  ck_assert(sums(12, 12, {}) == sums(12, 12, {{"scale", "1"}}));
}
END_TEST

START_TEST(refusals) {
  assert_text_eq(refusal(kFloatSsimExtractor, {.w = 64, .h = 10}),
                 "float_ssim needs at least 11x11 samples after dividing by its scale, 1; here are 64x10");
  assert_text_eq(refusal(kFloatSsimExtractor, {.w = 64, .h = 108}, {{"scale", "10"}}),
                 "float_ssim needs at least 11x11 samples after dividing by its scale, 10; here are 6x10");
  assert_text_eq(refusal(kFloatMsSsimExtractor, {.w = 176, .h = 175}),
                 "float_ms_ssim needs at least 176x176 samples, for its five scales; here are 176x175");
  ck_assert(!refusal(kFloatSsimExtractor, kSquare, {{"scale", "11"}}).empty());
  ck_assert(!refusal(kFloatMsSsimExtractor, kSquare, {{"scale", "1"}}).empty());
}
END_TEST

int main() {
  return run_suite("ssim", {{"widths", widths},
                            {"depths", depths},
                            {"fills", fills},
                            {"factors", factors},
                            {"five_scales", five_scales},
                            {"reads_only_samples", reads_only_samples},
                            {"sums_are_rounded_once", sums_are_rounded_once},
                            {"halved_samples", halved_samples_are_rounded_once},
                            {"known_sums", known_sums},
                            {"features", features_follow_options},
                            {"scores", known_scores},
                            {"floats", means_are_floats},
                            {"equal_pictures_score_1", equal_pictures_score_1},
                            {"depth_does_not_matter", depth_does_not_matter},
                            {"decibels", decibels},
                            {"automatic_scale", automatic_scale},
                            {"refusals", refusals}});
}
