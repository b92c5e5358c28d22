#include "kernels/butteraugli/butteraugli.h"
#include "kernels/butteraugli/butteraugli_params.h"
#include "kernels/extractor.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/butteraugli/butteraugli_rows.h"
#include "kernels/steps/hdr_light-inl.h"
#include "kernels/steps/linear_light_of.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"
#include "tests/support/test_picture.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

// -- Sums ------------------------------------------------------------------------------------------------------------

using Rows = std::vector<ButteraugliRow>;

ButteraugliParams params_of(const VideoFormat& format, const ButteraugliOptions& options = {}) {
  const auto params = butteraugli_params(options, format);
  ck_assert_msg(params.ok(), "%s", params.status().message().c_str());
  return params.value();
}

Rows rows_of_ref(const ButteraugliParams& params, const Picture& ref, const Picture& dist) {
  const TestScratch scratch(butteraugli_scratch_bytes_plain(params));
  Rows rows(static_cast<size_t>(params.h));
  butteraugli_plain(params, ref, dist, scratch.get(), rows.data());
  return rows;
}

std::vector<Rows> rows_of_simd(const ButteraugliParams& params, const Picture& ref,
                               const std::vector<const Picture*>& dists) {
  const TestScratch scratch(butteraugli_scratch_bytes_simd(params, static_cast<int>(dists.size())));
  std::vector<Rows> all(dists.size(), Rows(static_cast<size_t>(params.h)));
  std::vector<ButteraugliRow*> rows;
  for (Rows& of_one : all) rows.push_back(of_one.data());
  butteraugli_simd(params, ref, dists, scratch.get(), rows);
  return all;
}

void assert_equal(const ButteraugliParams& params, const Rows& got, const Rows& want, const std::string& what) {
  for (size_t y = 0; y < want.size(); y++)
    ck_assert_msg(!std::memcmp(&got[y], &want[y], sizeof want[y]),
                  "%s %dx%d %d bit, row %zu: %.17g and %.17g, not %.17g and %.17g", what.c_str(), params.w, params.h,
                  params.bpc, y, got[y].most, got[y].powers[0], want[y].most, want[y].powers[0]);
}

void check_twins(const VideoFormat& format, Fill ref_fill, Fill dist_fill, const ButteraugliOptions& options = {}) {
  with_sample_type(format.bpc, [&]<class T>(T) {
    TestPicture<T> ref(format), dist(format);
    fill(ref, ref_fill, format.bpc, 1);
    fill(dist, dist_fill, format.bpc, 7);
    const ButteraugliParams params = params_of(format, options);
    const Picture of_ref = ref.view(), of_dist = dist.view();
    const Rows want = rows_of_ref(params, of_ref, of_dist);
    for_each_cpu_target([&](const std::string& target) {
      assert_equal(params, rows_of_simd(params, of_ref, {&of_dist})[0], want,
                   target + " " + fill_name(ref_fill) + " against " + fill_name(dist_fill));
    });
  });
}

// -- Scores ----------------------------------------------------------------------------------------------------------

struct Scores : ScoreSink {
  void put(int64_t, int feature, double score) override { value[feature] = score; }
  void put_aggregate(const char* key, std::span<const vmafx::StreamSums>) override {
    ck_abort_msg("unexpected aggregate %s", key);
  }
  double value[2] = {-1, -1};
};

std::unique_ptr<Extractor> make(const VideoFormat& format, const OptionTexts& texts = {}) {
  const auto options = Options::resolve("butteraugli", kButteraugliExtractor.options, texts);
  ck_assert(options.ok());
  auto made = kButteraugliExtractor.create(options.value(), format, Placement::kCpu);
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return std::move(made.value());
}

Scores scores_of(const Extractor& metric, const Picture& ref, const Picture& dist, int64_t frame = 0) {
  const TestScratch scratch(metric.scratch_bytes());
  Rows sums(metric.sums_bytes() / sizeof(ButteraugliRow));
  FrameSet frames;
  frames.index = frames.place = frame;
  frames.ref = ref;
  frames.dist = dist;
  metric.extract(frames, scratch.get(), sums.data());
  const auto scorer = metric.make_scorer();
  Scores scores;
  scorer->finalize(frame, sums.data(), scores);
  return scores;
}

Scores scores_of_waves(const VideoFormat& format, const OptionTexts& texts = {}, bool same = false) {
  Scores scores;
  with_sample_type(format.bpc, [&]<class T>(T) {
    TestPicture<T> ref(format, false), dist(format, false);
    fill_waves(ref, dist, format);
    scores = scores_of(*make(format, texts), ref.view(), same ? ref.view() : dist.view());
  });
  return scores;
}

std::string refusal(const VideoFormat& format, const ButteraugliOptions& options = {}) {
  const auto made = butteraugli_params(options, format);
  ck_assert(!made.ok());
  ck_assert_int_eq(made.status().code(), EINVAL);
  return made.status().message();
}

}  // namespace

START_TEST(every_width) {
  for (int w = kButteraugliMinSize; w <= 2 * 16 + 9; w += every_under_sanitizers(3))
    check_twins({.w = w, .h = 8 + w % 11, .bpc = 8, .chroma = w % 2 ? Chroma::k420 : Chroma::k444}, Fill::kRandom,
                Fill::kGradient);
}
END_TEST

/* Bands that are not full, rings that turn, half a size that is there or not. */
START_TEST(every_height) {
  for (const int h : {8, 9, 14, 15, 16, 37, 38, 75, 78, 81, 113, 160})
    check_twins({.w = 17 + h % 3, .h = h, .bpc = 8, .chroma = h % 2 ? Chroma::k420 : Chroma::k444}, Fill::kRandom,
                Fill::kRandom);
}
END_TEST

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc += 2)
    for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444})
      check_twins({.w = 45, .h = 33, .bpc = bpc, .chroma = chroma}, Fill::kRandom, Fill::kSparse);
}
END_TEST

/* Chroma of odd sizes, rounded up. */
START_TEST(whole_chroma) {
  for (const Chroma chroma : {Chroma::k420, Chroma::k422})
    for (int w = 9; w < 60; w += 2)
      check_twins({.w = w, .h = 9 + w % 8, .bpc = 8, .chroma = chroma, .whole_chroma = true}, Fill::kRandom,
                  Fill::kGradient);
}
END_TEST

START_TEST(extremes) {
  for (const Fill ref : kFills)
    for (const Fill dist : kFills) check_twins({.w = 24, .h = 21, .bpc = 8, .chroma = Chroma::k420}, ref, dist);
}
END_TEST

START_TEST(hdr) {
  for (const int transfer : {16, 18})
    for (const Fill dist : {Fill::kRandom, Fill::kMax, Fill::kZero, Fill::kGradient})
      check_twins({.w = 45,
                   .h = 33,
                   .bpc = 10,
                   .chroma = Chroma::k420,
                   .color = {.matrix = 9, .transfer = transfer, .primaries = 9}},
                  Fill::kRandom, dist);
}
END_TEST

START_TEST(option_variants) {
  for (const ButteraugliOptions& options : {ButteraugliOptions{.norm = 1},
                                            {.norm = 2.5},
                                            {.norm = 16},
                                            {.norm = 3, .intensity_target = 250},
                                            {.version = "0.7"},
                                            {.norm = 6, .intensity_target = 1}})
    check_twins({.w = 37, .h = 30, .bpc = 8, .chroma = Chroma::k420}, Fill::kRandom, Fill::kGradient, options);
}
END_TEST

/* More than are taken at a time. */
START_TEST(several_encodes) {
  const VideoFormat format = {.w = 50, .h = 44, .bpc = 8, .chroma = Chroma::k420};
  const ButteraugliParams params = params_of(format);
  TestPicture<uint8_t> ref(format);
  fill(ref, Fill::kRandom, 8, 3);
  std::vector<TestPicture<uint8_t>> dists(kButteraugliEncodes + 2, TestPicture<uint8_t>(format));
  std::vector<Picture> views;
  std::vector<const Picture*> all;
  for (size_t i = 0; i < dists.size(); i++) {
    fill(dists[i], i % 2 ? Fill::kRandom : Fill::kGradient, 8, static_cast<uint32_t>(10 * i));
    views.push_back(dists[i].view());
  }
  for (const Picture& view : views) all.push_back(&view);
  const std::vector<Rows> got = rows_of_simd(params, ref.view(), all);
  for (size_t i = 0; i < dists.size(); i++)
    assert_equal(params, got[i], rows_of_ref(params, ref.view(), views[i]), "encode " + std::to_string(i));
}
END_TEST

/* The scores of butteraugli_main of libjxl 0.11.2 (Debian 13, 0.11.2-0.1~deb13u3) and of libjxl 0.7.0 (Debian 12,
 * 0.7.0-10+deb12u1), with AVX-512, for these pictures: sRGB of 16 bits as PNG, others as PFM of linear light with
 * --colorspace RGB_D65_SRG_Rel_Lin, all converted in double. These formulas in double, as a script that shares nothing
 * with vmafx has them, are within 1.3e-6 of both programs. */
START_TEST(reference_scores) {
  using Range = Color::Range;
  using Location = Color::ChromaLocation;
  static const struct {
    VideoFormat format;
    struct {
      double distance, norm;
    } current, of_07;
    OptionTexts options;
  } kCases[] = {
      {{.w = 8, .h = 8, .bpc = 8, .chroma = Chroma::k444}, {1.9486104250, 1.307896}, {1.9311606884, 1.296574}, {}},
      {{.w = 9, .h = 21, .bpc = 8, .chroma = Chroma::k444}, {2.8168547153, 1.865344}, {2.7996687889, 1.85169}, {}},
      {{.w = 64, .h = 48, .bpc = 8, .chroma = Chroma::k420}, {3.3077671528, 1.976237}, {3.2889392376, 1.959505}, {}},
      {{.w = 64, .h = 46, .bpc = 8, .chroma = Chroma::k420}, {3.3078401089, 1.962618}, {3.2890074253, 1.945864}, {}},
      {{.w = 64, .h = 48, .bpc = 8, .chroma = Chroma::k420},
       {3.3077671528, 2.236376},
       {3.2889392376, 2.218653},
       {{"norm", "6"}}},
      {{.w = 64, .h = 48, .bpc = 8, .chroma = Chroma::k420},
       {4.4072446823, 2.395168},
       {4.3837170601, 2.372872},
       {{"norm", "1.5"}, {"intensity_target", "250"}}},
      {{.w = 97, .h = 61, .bpc = 12, .chroma = Chroma::k444}, {3.5618493557, 2.113956}, {3.5322751999, 2.094396}, {}},
      {{.w = 96, .h = 70, .bpc = 10, .chroma = Chroma::k422}, {3.2980120182, 1.939664}, {3.2724263668, 1.922919}, {}},
      {{.w = 128, .h = 96, .bpc = 16, .chroma = Chroma::k420}, {3.3074176311, 1.979493}, {3.288620472, 1.963023}, {}},
      {{.w = 48, .h = 40, .bpc = 10, .chroma = Chroma::k400}, {3.3878369331, 1.977025}, {3.3695158958, 1.962201}, {}},
      {{.w = 72,
        .h = 60,
        .bpc = 8,
        .chroma = Chroma::k420,
        .color = {.matrix = 6, .transfer = 13, .range = Range::kFull, .chroma_location = Location::kCenter}},
       {2.9534261227, 1.859636},
       {2.9299640656, 1.845149},
       {}},
      {{.w = 80,
        .h = 50,
        .bpc = 10,
        .chroma = Chroma::k420,
        .color = {.matrix = 9, .transfer = 14, .chroma_location = Location::kTopLeft}},
       {4.3733062744, 2.537831},
       {4.3513917923, 2.515916},
       {{"intensity_target", "203"}}},
      {{.w = 80,
        .h = 50,
        .bpc = 10,
        .chroma = Chroma::k422,
        .color = {.matrix = 1, .transfer = 4, .range = Range::kFull, .chroma_location = Location::kTop}},
       {2.8711955547, 1.732103},
       {2.8497414589, 1.717701},
       {}},
      {{.w = 66,
        .h = 70,
        .bpc = 12,
        .chroma = Chroma::k444,
        .color = {.matrix = 9, .transfer = 8, .range = Range::kFull}},
       {2.5258545876, 1.441442},
       {2.5088939667, 1.429424},
       {}},
      {{.w = 80,
        .h = 50,
        .bpc = 10,
        .chroma = Chroma::k420,
        .color = {.matrix = 9, .transfer = 15, .primaries = 9, .chroma_location = Location::kTopLeft}},
       {3.3260548115, 2.031058},
       {3.305521965, 2.014143},
       {}},
      {{.w = 90,
        .h = 64,
        .bpc = 10,
        .chroma = Chroma::k420,
        .color = {.matrix = 9, .transfer = 16, .primaries = 9, .chroma_location = Location::kTopLeft}},
       {8.3139619827, 4.702800},
       {8.2929067612, 4.656814},
       {}},
      {{.w = 90,
        .h = 64,
        .bpc = 10,
        .chroma = Chroma::k420,
        .color = {.matrix = 9, .transfer = 18, .primaries = 9, .chroma_location = Location::kTopLeft}},
       {5.1956100464, 2.963147},
       {5.1378779411, 2.935093},
       {}},
      {{.w = 70, .h = 56, .bpc = 12, .chroma = Chroma::k444, .color = {.matrix = 9, .transfer = 18, .primaries = 9}},
       {5.3989915848, 2.886804},
       {5.3560786247, 2.858983},
       {{"intensity_target", "400"}}},
  };
  for (const auto& c : kCases)
    for (const bool is_07 : {false, true}) {
      OptionTexts options = c.options;
      if (is_07) options["version"] = "0.7";
      const Scores scores = scores_of_waves(c.format, options);
      const auto& want = is_07 ? c.of_07 : c.current;
      ck_assert_msg(
          std::abs(scores.value[0] / want.distance - 1) < 1e-5 && std::abs(scores.value[1] / want.norm - 1) < 1e-5,
          "%dx%d %d bit, transfer %d, libjxl %s: %.8f and %.8f, not %.8f and %.6f", c.format.w, c.format.h,
          c.format.bpc, c.format.color.transfer, is_07 ? "0.7" : "0.11", scores.value[0], scores.value[1],
          want.distance, want.norm);
    }
}
END_TEST

/* Flat pictures of saturated colors leave few of a float's digits (docs/butteraugli.md): the same formulas in double
 * have these distances; butteraugli_main 0.11.2 says 3.7936568, 0.0049067 and 2.6749310. */
START_TEST(flat_colors) {
  constexpr int kBt601 = 6, kBt709 = 1;
  static const struct {
    int matrix;
    uint8_t ref[3], dist[3];
    double distance;
  } kCases[] = {{kBt601, {83, 183, 78}, {83, 182, 76}, 3.7936697},
                {kBt601, {81, 90, 240}, {81, 92, 240}, 0.0046087},
                {kBt709, {83, 183, 78}, {83, 182, 76}, 2.6747122}};
  for (const auto& c : kCases) {
    const VideoFormat format = {.w = 32,
                                .h = 32,
                                .bpc = 8,
                                .chroma = Chroma::k444,
                                .color = {.matrix = c.matrix, .range = Color::Range::kLimited}};
    TestPicture<uint8_t> ref(format), dist(format);
    for (int p = 0; p < 3; p++)
      for (int y = 0; y < format.h; y++)
        for (int x = 0; x < format.w; x++) {
          ref.plane(p).at(x, y) = c.ref[p];
          dist.plane(p).at(x, y) = c.dist[p];
        }
    ck_assert_double_eq_tol(scores_of(*make(format), ref.view(), dist.view()).value[0], c.distance, 1e-3);
  }
}
END_TEST

START_TEST(no_error_is_0) {
  const Scores scores = scores_of_waves({.w = 71, .h = 50, .bpc = 11, .chroma = Chroma::k420}, {}, true);
  ck_assert_double_eq(scores.value[0], 0);
  ck_assert_double_eq(scores.value[1], 0);
}
END_TEST

/* Norms of 8x10 distances, 40 of them 2, the others 0. */
START_TEST(norms) {
  Rows rows(10);
  for (size_t y = 0; y < rows.size(); y += 2) rows[y] = {2, {8 * 4., 8 * 16., 8 * 256.}};
  Scores scores;
  const auto metric = make({.w = 8, .h = 10, .bpc = 8, .chroma = Chroma::k444}, {{"norm", "2"}});
  metric->make_scorer()->finalize(0, rows.data(), scores);
  ck_assert_double_eq(scores.value[0], 2);
  ck_assert_double_eq_tol(scores.value[1],
                          2 * (std::pow(0.5, 1 / 2.) + std::pow(0.5, 1 / 4.) + std::pow(0.5, 1 / 8.)) / 3, 1e-12);
}
END_TEST

/* Heat maps of frames 1 and 0, in this order: each lies at its place, and has the distances in thousandths. */
START_TEST(heatmaps) {
  constexpr int kW = 41, kH = 34;
  const VideoFormat format = {.w = kW, .h = kH, .bpc = 8, .chroma = Chroma::k420};
  char folder[] = "/tmp/vmafx_butteraugli_XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  const std::string inner = std::string(folder) + "/a/b", path = inner + "/butteraugli_heatmap_41x34_16b.gray";
  TestPicture<uint8_t> ref(format, false), dist(format, false);
  fill_waves(ref, dist, format);
  const auto metric = make(format, {{"heatmaps_path", inner}});
  const double distance = scores_of(*metric, ref.view(), dist.view(), 1).value[0];
  scores_of(*metric, ref.view(), ref.view(), 0);
  const auto scorer = metric->make_scorer();
  Scores none;
  ck_assert(scorer->flush(none).ok());
  std::ifstream file(path, std::ios::binary);
  std::vector<uint16_t> samples(2 * kW * kH + 1);
  file.read(reinterpret_cast<char*>(samples.data()), static_cast<std::streamsize>(samples.size() * 2));
  ck_assert_int_eq(file.gcount(), 2 * 2 * kW * kH);
  const auto middle = samples.begin() + kW * kH, end = samples.end() - 1;
  ck_assert_int_eq(*std::max_element(samples.begin(), middle), 0);
  ck_assert_int_eq(*std::max_element(middle, end), static_cast<int>(std::lround(distance * 1000)));
  ck_assert_int_gt(*std::min_element(middle, end), 0);
  unlink(path.c_str());
  for (const std::string& part : {inner, std::string(folder) + "/a", std::string(folder)}) rmdir(part.c_str());
}
END_TEST

START_TEST(heatmaps_are_left_to_the_cpu) {
  const auto fits = [](const OptionTexts& texts) {
    const auto options = Options::resolve("butteraugli", kButteraugliExtractor.options, texts);
    return kButteraugliExtractor.fits_device(options.value(), {});
  };
  ck_assert(fits({}).ok());
  assert_contains(fits({{"heatmaps_path", "/tmp"}}).message(), "heatmaps");
}
END_TEST

/* By the formulas of BT.2100. */
START_TEST(light_of_hdr) {
  const double m1 = 2610. / 16384, m2 = 2523. / 32, c1 = 3424. / 4096, c2 = 2413. / 128, c3 = 2392. / 128;
  const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * std::log(4 * a);
  for (int i = 1; i <= 4096; i++) {
    const double v = i / 4096., power = std::pow(v, 1 / m2);
    const double pq = std::pow(std::max(power - c1, 0.) / (c2 - c3 * power), 1 / m1);
    const double hlg = v <= 0.5 ? v * v / 3 : (std::exp((v - c) / a) + b) / 12;
    ck_assert_double_eq_tol(pq_light(static_cast<float>(v)), pq, 1e-5 * pq + 1e-10);
    ck_assert_double_eq_tol(hlg_scene(static_cast<float>(v)), hlg, 1e-6 * hlg);
  }
}
END_TEST

/* Near the system gamma of BT.2100 from 400 to 2000 cd/m2. */
START_TEST(gamma_of_hlg) {
  for (const double peak : {400., 1000., 2000.}) {
    const auto light = linear_light_of({.w = 8, .h = 8, .bpc = 10, .color = {.matrix = 9, .transfer = 18}}, peak);
    ck_assert(light.ok());
    ck_assert_double_eq_tol(static_cast<double>(light.value().hlg_power), 0.2 + 0.42 * std::log10(peak / 1000), 0.012);
  }
}
END_TEST

START_TEST(reads_chroma) {
  ck_assert_uint_eq(make({.w = 8, .h = 8, .bpc = 8, .chroma = Chroma::k400})->reads().ref, 1);
  ck_assert_uint_eq(make({.w = 8, .h = 8, .bpc = 8, .chroma = Chroma::k444})->reads().dist, 7);
}
END_TEST

START_TEST(refusals) {
  assert_contains(refusal({.w = 7, .h = 8}), "7x8 is too small");
  assert_contains(refusal({.w = 8, .h = 7}), "too small");
  assert_contains(refusal({.w = 64, .h = 64, .color = {.transfer = 10}}), "transfer characteristics 10");
  assert_contains(refusal({.w = 64, .h = 64, .color = {.matrix = 14}}), "matrix coefficients 14");
  assert_contains(refusal({.w = 64, .h = 64, .color = {.matrix = 1, .primaries = 10}}), "color primaries 10");
  assert_contains(refusal({.w = 64, .h = 64, .color = {.matrix = 9, .transfer = 16}}, {.intensity_target = 100}),
                  "leave it out");
  assert_contains(refusal({.w = 64, .h = 64}, {.version = "0.11"}), "use 0.8");
}
END_TEST

int main() {
  return run_suite("butteraugli", {{"widths", every_width},
                                   {"heights", every_height},
                                   {"depths", every_depth},
                                   {"whole_chroma", whole_chroma},
                                   {"extremes", extremes},
                                   {"hdr", hdr},
                                   {"options", option_variants},
                                   {"encodes", several_encodes},
                                   {"reference", reference_scores},
                                   {"flat", flat_colors},
                                   {"same", no_error_is_0},
                                   {"norms", norms},
                                   {"heatmaps", heatmaps},
                                   {"heatmaps_on_cpu", heatmaps_are_left_to_the_cpu},
                                   {"light", light_of_hdr},
                                   {"gamma", gamma_of_hlg},
                                   {"chroma", reads_chroma},
                                   {"refusals", refusals}});
}
