#include "kernels/ssimulacra2/ssimulacra2.h"
#include "kernels/extractor.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/ssimulacra2/ssimulacra2_rows.h"
#include "kernels/steps/linear_light-inl.h"
#include "kernels/steps/linear_light_of.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"
#include "tests/support/test_picture.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

// -- Sums and scores -------------------------------------------------------------------------------------------------

Ssimulacra2Params params_of(const VideoFormat& format) {
  const auto params = ssimulacra2_params(format);
  ck_assert_msg(params.ok(), "%s", params.status().message().c_str());
  return params.value();
}

using Twin = decltype(&ssimulacra2_plain);

void simd_of_one(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist, std::byte* scratch,
                 Ssimulacra2Sums& sums) {
  const Picture* const dists[] = {&dist};
  Ssimulacra2Sums* const all[] = {&sums};
  ssimulacra2_simd(params, ref, dists, scratch, all);
}

/* The sums of a frame. */
Ssimulacra2Sums sums_of(Twin twin, size_t scratch_bytes, const Ssimulacra2Params& params, const Picture& ref,
                        const Picture& dist) {
  const TestScratch scratch(scratch_bytes);
  Ssimulacra2Sums sums = {};
  twin(params, ref, dist, scratch.get(), sums);
  return sums;
}

void assert_twins_agree(const VideoFormat& format, const Picture& ref, const Picture& dist, const std::string& what) {
  const Ssimulacra2Params params = params_of(format);
  const Ssimulacra2Sums want = sums_of(ssimulacra2_plain, ssimulacra2_scratch_bytes_plain(params), params, ref, dist);
  for_each_cpu_target([&](const std::string& target) {
    const Ssimulacra2Sums got = sums_of(simd_of_one, ssimulacra2_scratch_bytes_simd(params, 1), params, ref, dist);
    for (int i = 0; i < kSsimulacra2Scales * 9; i++) {
      const auto &a = (&got.map[0][0][0])[i], &b = (&want.map[0][0][0])[i];
      ck_assert_msg(!std::memcmp(&a, &b, sizeof a), "%s %dx%d %d bit %s: scale %d, channel %d, map %d: %.9g, not %.9g",
                    target.c_str(), format.w, format.h, format.bpc, what.c_str(), i / 9, i / 3 % 3, i % 3,
                    from_fixed<kSsimulacra2SumBits>(a.sum), from_fixed<kSsimulacra2SumBits>(b.sum));
    }
  });
}

void check_twins(const VideoFormat& format, Fill ref_fill, Fill dist_fill) {
  with_sample_type(format.bpc, [&]<class T>(T) {
    TestPicture<T> ref(format), dist(format);
    fill(ref, ref_fill, format.bpc, 1);
    fill(dist, dist_fill, format.bpc, 7);
    assert_twins_agree(format, ref.view(), dist.view(),
                       std::string(fill_name(ref_fill)) + " against " + fill_name(dist_fill));
  });
}

struct Score : ScoreSink {
  void put(int64_t, int feature, double score) override {
    ck_assert_int_eq(feature, 0);
    value = score;
  }
  void put_aggregate(const char* key, std::span<const vmafx::StreamSums>) override {
    ck_abort_msg("unexpected aggregate %s", key);
  }
  double value = -1e9;
};

std::unique_ptr<Extractor> make(const VideoFormat& format) {
  auto made = kSsimulacra2Extractor.create({}, format, Placement::kCpu);
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return std::move(made.value());
}

double score_of(const VideoFormat& format, const Picture& ref, const Picture& dist) {
  const auto metric = make(format);
  const TestScratch scratch(metric->scratch_bytes());
  Ssimulacra2Sums sums = {};
  FrameSet frames;
  frames.ref = ref;
  frames.dist = dist;
  metric->extract(frames, scratch.get(), &sums);
  const auto scorer = metric->make_scorer();
  Score score;
  scorer->finalize(0, &sums, score);
  return score.value;
}

double score_of_waves(const VideoFormat& format, bool same = false) {
  double score = 0;
  with_sample_type(format.bpc, [&]<class T>(T) {
    TestPicture<T> ref(format, false), dist(format, false);
    fill_waves(ref, dist, format);
    score = score_of(format, ref.view(), same ? ref.view() : dist.view());
  });
  return score;
}

}  // namespace

START_TEST(every_width) {
  const int most = 2 * 16 + 9;  // two vectors of AVX-512, and a bit
  for (int w = kSsimulacra2MinSize; w <= most; w++) {
    check_twins({.w = w, .h = 8 + w % 11, .bpc = 8, .chroma = w % 2 ? Chroma::k420 : Chroma::k444}, Fill::kRandom,
                Fill::kGradient);
    if (w % 2) /* chroma rounded up */
      check_twins(
          {.w = w, .h = 8 + w % 11, .bpc = 8, .chroma = w % 3 ? Chroma::k420 : Chroma::k422, .whole_chroma = true},
          Fill::kRandom, Fill::kGradient);
  }
}
END_TEST

/* Past a strip by less than the filter's radius, and by more; one that is full. */
START_TEST(across_strips) {
  for (const int beyond : {0, 1, 3, 6, 37})
    for (const Chroma chroma : {Chroma::k420, Chroma::k444})
      check_twins({.w = kSsimulacra2Strip + beyond, .h = 19 + beyond, .bpc = 8, .chroma = chroma}, Fill::kRandom,
                  Fill::kRandom);
  for (const bool whole_chroma : {false, true})
    check_twins(
        {.w = 2 * kSsimulacra2Strip + 3, .h = 17, .bpc = 10, .chroma = Chroma::k422, .whole_chroma = whole_chroma},
        Fill::kRandom, Fill::kRandom);
}
END_TEST

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++)
    for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444})
      check_twins({.w = 45, .h = 33, .bpc = bpc, .chroma = chroma}, Fill::kRandom, Fill::kSparse);
}
END_TEST

START_TEST(extremes) {
  for (const Fill ref : kFills)
    for (const Fill dist : kFills) check_twins({.w = 40, .h = 37, .bpc = 8, .chroma = Chroma::k420}, ref, dist);
}
END_TEST

/* The scores of the reference program (SSIMULACRA 2.1) for these pictures as sRGB of 16 bits; where that cannot hold
 * them, of its formulas in double, from which its floats are further away. */
START_TEST(reference_scores) {
  using Range = Color::Range;
  using ChromaLocation = Color::ChromaLocation;
  static const struct {
    VideoFormat format;
    double score, tolerance = 2e-6;
  } kCases[] = {
      {{.w = 8, .h = 8, .bpc = 8, .chroma = Chroma::k444}, 93.142378},
      {{.w = 64, .h = 48, .bpc = 8, .chroma = Chroma::k420}, 33.698857},
      {{.w = 96, .h = 70, .bpc = 10, .chroma = Chroma::k422}, 72.069601},
      {{.w = 97, .h = 61, .bpc = 12, .chroma = Chroma::k444}, 69.134318},
      {{.w = 63, .h = 45, .bpc = 8, .chroma = Chroma::k420}, 34.566931},
      {{.w = 128, .h = 96, .bpc = 16, .chroma = Chroma::k420}, 69.144932},
      {{.w = 150, .h = 120, .bpc = 9, .chroma = Chroma::k420}, 81.006894},
      {{.w = 72,
        .h = 60,
        .bpc = 8,
        .chroma = Chroma::k420,
        .color = {.matrix = 6, .transfer = 13, .range = Range::kFull, .chroma_location = ChromaLocation::kCenter}},
       75.051534},
      {{.w = 72,
        .h = 60,
        .bpc = 8,
        .chroma = Chroma::k420,
        .color = {.matrix = 5, .transfer = 5, .range = Range::kLimited}},
       66.327507},
      {{.w = 80,
        .h = 50,
        .bpc = 10,
        .chroma = Chroma::k420,
        .color = {.matrix = 9, .transfer = 14, .chroma_location = ChromaLocation::kTopLeft}},
       28.889595},
      {{.w = 80,
        .h = 50,
        .bpc = 10,
        .chroma = Chroma::k422,
        .color = {.matrix = 1,
                  .transfer = 4,
                  .primaries = 1,
                  .range = Range::kFull,
                  .chroma_location = ChromaLocation::kTop}},
       46.558442},
      {{.w = 80,
        .h = 50,
        .bpc = 10,
        .chroma = Chroma::k420,
        .color = {.matrix = 9, .transfer = 15, .primaries = 9, .chroma_location = ChromaLocation::kTopLeft}},
       19.562514,
       1e-2},
      {{.w = 66,
        .h = 70,
        .bpc = 12,
        .chroma = Chroma::k444,
        .color = {.matrix = 9, .transfer = 8, .range = Range::kFull}},
       73.045050},
  };
  for (const auto& c : kCases) {
    const double score = score_of_waves(c.format);
    ck_assert_msg(std::abs(score - c.score) < c.tolerance, "%dx%d %d bit: %.8f, not %.6f", c.format.w, c.format.h,
                  c.format.bpc, score, c.score);
  }
}
END_TEST

/* Codes of R'G'B' by each transfer, dark and bright. */
START_TEST(codes_of_light) {
  for (const auto& [transfer, gamma] : {std::pair(1, 2.4L), {4, 2.2L}, {5, 2.8L}, {8, 1.0L}, {13, 0.0L}, {17, 2.6L}}) {
    const auto light = linear_light_of({.w = 8, .h = 8, .bpc = 8, .color = {.matrix = 1, .transfer = transfer}});
    ck_assert(light.ok());
    for (double v = 1; v > 1e-6; v *= 0.99991) {
      const long double linear = std::pow(static_cast<long double>(v), gamma);
      const long double srgb = gamma == 0             ? v
                               : linear <= 0.0031308L ? 12.92L * linear
                                                      : 1.055L * std::pow(linear, 1 / 2.4L) - 0.055L;
      const double code = srgb_code(light.value().curve, v);
      ck_assert_msg(std::fabs(static_cast<double>(code - 65535 * srgb)) < 0.5 + 1e-9, "transfer %d, %.17g: %g",
                    transfer, v, code);
    }
    ck_assert(srgb_code(light.value().curve, -0.1) == 0 && srgb_code(light.value().curve, 1.1) == 65535);
  }
}
END_TEST

START_TEST(no_error_is_100) {
  for (const int bpc : {8, 11})
    ck_assert_double_eq(score_of_waves({.w = 71, .h = 50, .bpc = bpc, .chroma = Chroma::k420}, true), 100.0);
}
END_TEST

/* A gray picture is one with neutral chroma. */
START_TEST(gray) {
  const VideoFormat gray = {.w = 48, .h = 40, .bpc = 10, .chroma = Chroma::k400};
  VideoFormat neutral = gray;
  neutral.chroma = Chroma::k444;
  TestPicture<uint16_t> ref(neutral, false), dist(neutral, false);
  fill_waves(ref, dist, neutral);
  for (int p = 1; p < 3; p++)
    for (int y = 0; y < neutral.h; y++)
      for (int x = 0; x < neutral.w; x++) ref.plane(p).at(x, y) = dist.plane(p).at(x, y) = 512;
  ck_assert_double_eq(score_of(gray, ref.view(), dist.view()), score_of(neutral, ref.view(), dist.view()));
  ck_assert_uint_eq(make(gray)->reads().ref, 1);
  ck_assert_uint_eq(make(neutral)->reads().dist, 7);
}
END_TEST

/* Each scale halves the one before, if that one has 8 samples a side. */
START_TEST(scales) {
  ck_assert_int_eq(ssimulacra2_scales(7, 100), 0);
  ck_assert_int_eq(ssimulacra2_scales(8, 8), 2);
  ck_assert_int_eq(ssimulacra2_scales(15, 100), 3);
  ck_assert_int_eq(ssimulacra2_scales(113, 200), 6);
  ck_assert_int_eq(ssimulacra2_size(113, 5), 4);
}
END_TEST

START_TEST(refusals) {
  for (const auto& [w, h] : {std::pair(7, 8), std::pair(8, 7)}) {
    const auto made =
        kSsimulacra2Extractor.create({}, {.w = w, .h = h, .bpc = 8, .chroma = Chroma::k420}, Placement::kCpu);
    ck_assert(!made.ok());
    ck_assert_int_eq(made.status().code(), EINVAL);
    assert_contains(made.status().message(), "too small");
  }
  for (const auto& [color, why] : {std::pair(Color{.transfer = 16}, "transfer characteristics 16"),
                                   std::pair(Color{.matrix = 14}, "matrix coefficients 14"),
                                   std::pair(Color{.primaries = 10}, "color primaries 10")}) {
    const auto made = kSsimulacra2Extractor.create({}, {.w = 64, .h = 64, .bpc = 10, .color = color}, Placement::kCpu);
    ck_assert(!made.ok());
    assert_contains(made.status().message(), why);
  }
}
END_TEST

int main() {
  return run_suite("ssimulacra2", {{"widths", every_width},
                                   {"strips", across_strips},
                                   {"depths", every_depth},
                                   {"extremes", extremes},
                                   {"reference", reference_scores},
                                   {"codes", codes_of_light},
                                   {"same", no_error_is_100},
                                   {"gray", gray},
                                   {"scales", scales},
                                   {"refusals", refusals}});
}
