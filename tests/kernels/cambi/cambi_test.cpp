#include "kernels/cambi/cambi.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/cambi/cambi_math-inl.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

VideoFormat format_of(int w, int h, int bpc) { return {.w = w, .h = h, .bpc = bpc, .chroma = Chroma::k400}; }

std::unique_ptr<Extractor> make(const OptionTexts& given, const VideoFormat& format) {
  return make_extractor(kCambiExtractor, format, given);
}

std::string complaint(const OptionTexts& given, const VideoFormat& format, int code = EINVAL) {
  return refusal(kCambiExtractor, format, given, code);
}

CambiSums sums_of(const Extractor& cambi, int64_t index, const SamplePlane& ref, const SamplePlane& dist) {
  const TestScratch scratch(cambi.scratch_bytes());
  CambiSums sums = {};
  FrameSet frames;
  frames.index = frames.place = index;
  frames.ref.plane[0] = ref;
  frames.dist.plane[0] = dist;
  cambi.extract(frames, scratch.get(), &sums);
  return sums;
}

std::vector<double> score(const Extractor& cambi, const SamplePlane& ref, const SamplePlane& dist) {
  const CambiSums sums = sums_of(cambi, 0, ref, dist);
  const auto scorer = cambi.make_scorer();
  Scores scores(cambi);
  scorer->finalize(0, &sums, scores);
  return scores.first();
}

/* Levels `left` and `right`, each in one half of the picture. */
template <class T>
void fill_halves(TestPlane<T>& plane, int w, int h, int left, int right) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) plane.at(x, y) = static_cast<T>(x < w / 2 ? left : right);
}

/* Bands of some width that step by up to `step`, and grain in places. */
template <class T>
void fill_bands(TestPlane<T>& plane, int w, int h, int bpc, int band, int step, uint32_t seed) {
  std::mt19937 random(seed);
  const int base = static_cast<int>(random() % 40) << (bpc - 8), grain_every = 3 + static_cast<int>(random() % 40);
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      const int grain = random() % grain_every == 0 ? static_cast<int>(random() % 3) : 0;
      const int value = base + (x + y / 3) / band * step + (y / (2 * band)) * step + grain;
      plane.at(x, y) = static_cast<T>(std::min(value, (1 << bpc) - 1));
    }
}

struct Setup {
  CambiParams params;
  CambiView view;
};

/* A view as no option would give it, of whatever size. */
Setup setup_of(int w, int h, int bpc, int window, int diffs, bool anti_dither, bool halved) {
  Setup setup = {{bpc, anti_dither, halved, 0.6, cambi_levels(bt1886_luminance, 0.019, 0.06, diffs)},
                 {w, h, window, 14, {}, {}}};
  return setup;
}

/* Equal sums, and equal keys of every sample; the sums are equal also where nobody asks for those. */
void assert_twins_agree(const Setup& setup, const SamplePlane& plane, const std::string& what) {
  TestScratch scratch(cambi_scratch_bytes(setup.params, setup.view));
  std::vector<int32_t> want_keys;
  const auto add_to = [](std::vector<int32_t>& all) {
    return [&](int, int, std::span<const int32_t> keys) { all.insert(all.end(), keys.begin(), keys.end()); };
  };
  CambiScaleSums want[kCambiScales];
  cambi_plain(setup.params, setup.view, plane, scratch.get(), add_to(want_keys), want);
  for_each_cpu_target([&](const std::string& target) {
    std::vector<int32_t> got_keys;
    CambiScaleSums got[kCambiScales], alone[kCambiScales];
    cambi_simd(setup.params, setup.view, plane, scratch.get(), add_to(got_keys), got);
    scratch.spoil();
    cambi_simd(setup.params, setup.view, plane, scratch.get(), {}, alone);
    const bool equal = !std::memcmp(want, got, sizeof want) && !std::memcmp(want, alone, sizeof want);
    ck_assert_msg(equal && want_keys == got_keys, "%s %dx%d %d bit, window %d, %d steps, %s", target.c_str(),
                  setup.view.w, setup.view.h, setup.params.bpc, setup.view.window, setup.params.levels.diffs,
                  what.c_str());
  });
}

template <class T>
void check_fills(const Setup& setup) {
  const int w = setup.view.w, h = setup.view.h, bpc = setup.params.bpc;
  TestPlane<T> plane(w, h, w % 5, w % 3, w % 2);
  for (const auto& [band, step] : {std::pair{3, 1}, {11, 2}, {40, 3}}) {
    fill_bands(plane, w, h, bpc, band, step << (bpc > 10 ? bpc - 10 : 0), w + h);
    assert_twins_agree(setup, plane.sample_plane(), format_text("bands of %d", band));
  }
  for (const Fill fill : {Fill::kRandom, Fill::kMax, Fill::kSparse, Fill::kGradient}) {
    plane.fill(fill, bpc, w);
    assert_twins_agree(setup, plane.sample_plane(), fill_name(fill));
  }
}

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder ? folder : "/tmp") + "/vmafx-cambi-XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(path.data()));
  return path;
}

}  // namespace

/* An edge of one level between flat halves, in a window of 5x5: next to it p are 15 and 10, then 20 and 5, and less at
 * the upper and lower borders. All other samples are 0. */
START_TEST(known_score) {
  constexpr int kSize = 216;
  TestPlane<uint16_t> plane(kSize, kSize);
  fill_halves(plane, kSize, kSize, 100, 101);
  double want = 0;
  for (int scale = 0, size = kSize; scale < kCambiScales; scale++, size = (size + 1) / 2) {
    const double inside = 2 * (15. * 10 / 25 + 20. * 5 / 25), second = 2 * (12. * 8 / 20 + 16. * 4 / 20),
                 first = 2 * (9. * 6 / 15 + 12. * 3 / 15);
    want += (16 >> scale) * ((size - 4) * inside + 2 * second + 2 * first) / std::floor(0.6 * size * size);
  }
  const auto cambi = make({}, format_of(kSize, kSize, 10));
  ck_assert_double_eq_tol(score(*cambi, {}, plane.sample_plane())[0], want / 25, 1e-6); /* c in float */
}
END_TEST

START_TEST(flat_pictures_have_no_bands) {
  for (const int bpc : {8, 10, 16})
    with_sample_type(bpc, [&]<class T>(T) {
      TestPlane<T> plane(230, 219);
      for (const Fill fill : {Fill::kZero, Fill::kMax, Fill::kRandom, Fill::kCheckerboard}) {
        plane.fill(fill, bpc, 1);
        ck_assert_double_eq(score(*make({}, format_of(230, 219, bpc)), {}, plane.sample_plane())[0], 0);
      }
    });
}
END_TEST

/* Levels where steps of 1 to 4 are seen, at 300 cd/m2: as in the paper's Table. */
START_TEST(visible_levels) {
  const CambiLevels levels = cambi_levels(bt1886_luminance, 0.019, 0, 4);
  const int want[] = {178, 305, 432, 559};
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(levels.highest[i], want[i]);
    ck_assert_int_le(levels.lowest[i], 0);
  }
  ck_assert_int_eq(levels.last, 563);
  const CambiLevels dark = cambi_levels(bt1886_luminance, 0.019, 0.06, 4);
  for (int i = 0; i < 4; i++) ck_assert_int_eq(dark.lowest[i], 74 - i);
  ck_assert_double_eq_tol(bt1886_luminance(1), 300, 1e-9);
  ck_assert_double_eq_tol(bt1886_luminance(0), 0.01, 1e-12);
  ck_assert_double_eq_tol(pq_luminance(1), 10000, 1e-6);
  ck_assert_double_eq(pq_luminance(0), 0);
}
END_TEST

/* No level is that bright: nothing is seen. (libvmaf does not come back.) */
START_TEST(unreachable_luminance) {
  const CambiLevels levels = cambi_levels(bt1886_luminance, 0.019, 301, 4);
  for (int i = 0; i < 4; i++) ck_assert_int_gt(levels.lowest[i], kCambiMostLevel);
}
END_TEST

/* The sums against those of all keys in order. */
START_TEST(largest_keys) {
  std::mt19937 random(1);
  for (const int nonzero : {0, 1, 5, 60, 61, 100})
    for (const uint32_t range : {2u, 500u, 1u << 20, 0x9ffffffu})
      for (const int window : {5, 255}) {
        std::vector<uint32_t> keys, sorted(100);
        for (int i = 0; i < nonzero; i++) keys.push_back(sorted[i] = 0x800000 + random() % (range - 0x800000 % range));
        std::ranges::sort(sorted, std::greater());
        CambiScaleSums want = {};
        for (int i = 0; i < 100; i++) {
          const uint64_t c = cambi_counted(sorted[i], cambi_sum_bits(window));
          if (sorted[i] > sorted[59]) want.above += c, want.above_count++;
          if (sorted[i] == sorted[59]) want.at += c, want.at_count++;
        }
        const CambiScaleSums got = cambi_largest(keys, 100, 0.6, window, cambi_split);
        ck_assert_int_eq(std::memcmp(&got, &want, sizeof got), 0);
      }
  ck_assert_int_eq(cambi_wanted(5, 0.0001), 1);
  ck_assert_int_eq(cambi_wanted(5, 1), 5);
}
END_TEST

/* A sum counts c exactly, from 1/2 to the largest there is in a window of libvmaf's. */
START_TEST(counted_contrasts) {
  for (const float c : {0.5f, 0.6666667f, 1.f, 3.1415927f, 9506.25f})
    ck_assert_double_eq(std::ldexp(static_cast<double>(cambi_counted(static_cast<uint32_t>(cambi_key(c)), 24)), -24),
                        c);
  ck_assert_uint_eq(cambi_counted(static_cast<uint32_t>(cambi_key(0)), 24), 0);
  ck_assert_uint_eq(cambi_counted(static_cast<uint32_t>(cambi_key(0.75f)), 20), 3 << 18);
  const uint32_t most = static_cast<uint32_t>(cambi_key(9 / 4.f * 255 * 255));
  ck_assert(most < 1u << kCambiKeyBits);
  ck_assert(cambi_counted(most, cambi_sum_bits(255)) <= UINT64_MAX >> 25);
  ck_assert(cambi_counted(static_cast<uint32_t>(cambi_key(9 / 4.f * 89 * 89)), cambi_sum_bits(89)) <= UINT64_MAX >> 25);
}
END_TEST

/* Reciprocals have nine decimals, as in libvmaf: the nearest float but for few. */
START_TEST(reciprocals) {
  int others = 0;
  for (int n = 1; n < kCambiReciprocals; n++) {
    const float exact = 1 / static_cast<float>(n), got = cambi_reciprocal(static_cast<float>(n), true);
    others += got != exact;
    ck_assert(std::fabs(got - exact) <= std::ldexp(exact, -23));
  }
  ck_assert_int_eq(others, 42);
  ck_assert(cambi_reciprocal(82, true) == 0.012195122f && cambi_reciprocal(4224, true) == 0.000236742424f);
  ck_assert(cambi_reciprocal(82, false) == 1 / 82.f);
}
END_TEST

START_TEST(simd_equals_plain) {
  for (int w = 1; w <= 134; w += w < 70 ? 1 : 3) {
    const int bpc = 8 + w % 9, window = 2 * (w % 7) + 1, diffs = 1 << w % 6;
    with_sample_type(
        bpc, [&]<class T>(T) { check_fills<T>(setup_of(w, 1 + w % 37, bpc, window, diffs, w % 2, w % 3 == 0)); });
  }
}
END_TEST

/* Several cells in each vector, larger windows than planes of the last scales, all depths. */
START_TEST(simd_equals_plain_at_larger_sizes) {
  for (int bpc = 8; bpc <= 16; bpc += every_under_sanitizers(2))
    for (const int window : {5, 33, 71, 255})
      with_sample_type(bpc, [&]<class T>(T) {
        check_fills<T>(setup_of(203 + bpc, 97, bpc, window, 4, bpc / 2 % 2 == 0, window == 33));
      });
}
END_TEST

START_TEST(simd_equals_plain_resampled) {
  Setup setup = setup_of(120, 50, 10, 9, 4, true, false);
  for (int x = 0; x < 120; x++) setup.view.columns.push_back(x * 77 / 120);
  for (int y = 0; y < 50; y++) setup.view.rows.push_back(y * 66 / 50);
  TestPlane<uint16_t> plane(77, 66);
  fill_bands(plane, 77, 66, 10, 5, 2, 1);
  assert_twins_agree(setup, plane.sample_plane(), "resampled");
}
END_TEST

START_TEST(full_reference) {
  constexpr int kW = 240, kH = 220;
  TestPlane<uint16_t> banded(kW, kH), flat(kW, kH);
  fill_halves(banded, kW, kH, 100, 102);
  fill_halves(flat, kW, kH, 100, 100);
  const auto cambi = make({{"full_ref", "true"}}, format_of(kW, kH, 10));
  ck_assert_uint_eq(cambi->features().size(), 3);
  ck_assert_uint_eq(cambi->reads().ref, 1);
  const auto worse = score(*cambi, flat.sample_plane(), banded.sample_plane());
  ck_assert(worse[0] > 0 && worse[1] == 0 && worse[2] == worse[0]);
  const auto better = score(*cambi, banded.sample_plane(), flat.sample_plane());
  ck_assert(better[0] == 0 && better[1] == worse[0] && better[2] == 0);

  const auto alone = make({}, format_of(kW, kH, 10));
  ck_assert_uint_eq(alone->features().size(), 1);
  ck_assert_uint_eq(alone->reads().ref, 0);
  const auto clipped = make({{"full_ref", "true"}, {"cambi_max_val", "0.01"}}, format_of(kW, kH, 10));
  ck_assert_double_eq(score(*clipped, flat.sample_plane(), banded.sample_plane())[2], 0.01);
}
END_TEST

/* Rows may lie apart, and windows reach over the upper and the lower end: libvmaf's master copied 10-bit pictures for
 * some time as if rows adjoined, and up to release 3.2.1 it reads samples around pictures lower than half a window. */
START_TEST(rows_lie_apart) {
  constexpr int kW = 216, kH = 16;
  const auto cambi = make({}, format_of(kW, kH, 10));
  std::vector<double> first;
  for (const int pad : {0, 8, 41}) {
    TestPlane<uint16_t> plane(kW, kH, pad, pad / 2, pad == 8);
    for (int y = 0; y < kH; y++)
      for (int x = 0; x < kW; x++)
        plane.at(x, pad == 8 ? kH - 1 - y : y) = static_cast<uint16_t>(400 + 2 * (x / 27) + y / 6);
    const auto got = score(*cambi, {}, plane.sample_plane());
    if (first.empty()) first = got;
    ck_assert_double_eq(got[0], first[0]);
    ck_assert_double_gt(got[0], 0);
  }
}
END_TEST

/* Samples above their depth count as its largest. */
START_TEST(samples_above_their_depth) {
  TestPlane<uint16_t> wild(220, 217), tame(220, 217);
  fill_bands(wild, 220, 217, 10, 9, 2, 3);
  fill_bands(tame, 220, 217, 10, 9, 2, 3);
  for (int x = 50; x < 90; x++) {
    wild.at(x, 40) = static_cast<uint16_t>(1024 + 700 * x);
    tame.at(x, 40) = 1023;
  }
  const auto cambi = make({}, format_of(220, 217, 10));
  const CambiSums a = sums_of(*cambi, 0, {}, wild.sample_plane()), b = sums_of(*cambi, 0, {}, tame.sample_plane());
  ck_assert_int_eq(std::memcmp(&a, &b, sizeof a), 0);
}
END_TEST

START_TEST(options) {
  const VideoFormat format = format_of(320, 240, 10);
  assert_contains(complaint({{"eotf", "srgb"}}, format), "srgb");
  assert_contains(complaint({{"cambi_eotf", "x"}}, format), "'x'");
  assert_contains(complaint({}, format_of(215, 215, 8)), "216");
  assert_contains(complaint({{"enc_width", "180"}, {"enc_height", "160"}}, format), "180x160");
  make({{"enc_width", "256"}, {"enc_height", "144"}}, format);  // libvmaf's limits were 180 and 150 up to f85a853
  make({{"enc_width", "144"}, {"enc_height", "256"}}, format_of(240, 320, 10));
  assert_contains(complaint({{"enc_width", "143"}}, format),
                  "'143' is not a value for enc_width, which takes a whole number from 144 to");
  assert_contains(complaint({{"enc_height", "143"}}, format),
                  "'143' is not a value for enc_height, which takes a whole number from 144 to");
  assert_contains(complaint({{"src_width", "400"}, {"src_height", "200"}}, format), "400x200");
  assert_contains(complaint({{"window_size", "14"}}, format), "15");
  assert_contains(complaint({{"window_size", "127"}}, format_of(10000, 8000, 8)), "up to 255");
  make({}, format_of(216, 16, 8));
  make({{"window_size", "65"}}, format_of(7680, 4320, 8));
  const auto key = [](const OptionTexts& given) {
    return Options::resolve("cambi", kCambiExtractor.options, given).value().key_suffix();
  };
  assert_text_eq(
      key({{"cambi_high_res_speedup", "1080"}, {"cambi_vis_lum_threshold", "0.06"}, {"cambi_max_val", "17"}}),
      "_hrs_1080_cmxv_17_vlt_0.06");
  assert_text_eq(key({{"full_ref", "true"}, {"heatmaps_path", "x"}}), "");
}
END_TEST

/* Heatmaps of frames 1 and 0, in this order: each lies at its place. */
START_TEST(heatmaps) {
  constexpr int kSize = 216;
  const std::string folder = temporary_folder(), inner = folder + "/a/b";
  TestPlane<uint16_t> banded(kSize, kSize), flat(kSize, kSize);
  fill_halves(banded, kSize, kSize, 100, 101);
  fill_halves(flat, kSize, kSize, 100, 100);
  {
    const auto cambi = make({{"heatmaps_path", inner}}, format_of(kSize, kSize, 10));
    sums_of(*cambi, 1, {}, banded.sample_plane());
    sums_of(*cambi, 0, {}, flat.sample_plane());
    const auto scorer = cambi->make_scorer();
    Scores scores(*cambi);
    ck_assert(scorer->flush(scores).ok());
  }
  for (int scale = 0, size = kSize; scale < kCambiScales; scale++, size = (size + 1) / 2) {
    const std::string path = inner + format_text("/cambi_heatmap_scale_%d_%dx%d_16b.gray", scale, size, size);
    std::ifstream file(path, std::ios::binary);
    std::vector<uint16_t> samples(2 * size * size + 1);
    file.read(reinterpret_cast<char*>(samples.data()), 2 * samples.size());
    ck_assert_int_eq(file.gcount(), 4 * size * size);
    for (int i = 0; i < size * size; i++) ck_assert_int_eq(samples[i], 0);
    /* c = 6 of 4 · 25 / 4 */
    ck_assert_int_eq(samples[size * size + size / 2 * size + (size + 1) / 2], 65535 * 6 / 25);
    ck_assert_int_eq(samples[size * size + size / 2 * size], 0);
    unlink(path.c_str());
  }
  rmdir(inner.c_str());
  rmdir((folder + "/a").c_str());
  rmdir(folder.c_str());
}
END_TEST

START_TEST(heatmaps_that_cannot_be_written) {
  const VideoFormat format = format_of(216, 216, 8);
  assert_contains(complaint({{"heatmaps_path", "/dev/null/x"}}, format, ENOTDIR), "/dev/null/x");
  /* A full disk. */
  const std::string folder = temporary_folder();
  const std::string path = folder + "/cambi_heatmap_scale_0_216x216_16b.gray";
  ck_assert_int_eq(symlink("/dev/full", path.c_str()), 0);
  const auto cambi = make({{"heatmaps_path", folder}}, format);
  TestPlane<uint8_t> plane(216, 216);
  plane.fill(Fill::kGradient, 8, 1);
  sums_of(*cambi, 0, {}, plane.sample_plane());
  const auto scorer = cambi->make_scorer();
  Scores scores(*cambi);
  const Status status = scorer->flush(scores);
  ck_assert_int_eq(status.code(), ENOSPC);
  assert_contains(status.message(), "scale_0");
  for (int scale = 0, size = 216; scale < kCambiScales; scale++, size = (size + 1) / 2)
    unlink((folder + format_text("/cambi_heatmap_scale_%d_%dx%d_16b.gray", scale, size, size)).c_str());
  rmdir(folder.c_str());
}
END_TEST

START_TEST(heatmaps_are_left_to_the_cpu) {
  const auto fits = [](const OptionTexts& given) {
    return kCambiExtractor.fits_device(Options::resolve("cambi", kCambiExtractor.options, given).value(),
                                       format_of(216, 216, 8));
  };
  ck_assert(fits({}).ok());
  assert_contains(fits({{"heatmaps_path", "/tmp"}}).message(), "heatmaps");
}
END_TEST

int main() {
  return run_suite("cambi", {{"known_score", known_score},
                             {"flat_pictures_have_no_bands", flat_pictures_have_no_bands},
                             {"visible_levels", visible_levels},
                             {"unreachable_luminance", unreachable_luminance},
                             {"largest_keys", largest_keys},
                             {"counted_contrasts", counted_contrasts},
                             {"reciprocals", reciprocals},
                             {"simd_equals_plain", simd_equals_plain},
                             {"simd_equals_plain_at_larger_sizes", simd_equals_plain_at_larger_sizes},
                             {"simd_equals_plain_resampled", simd_equals_plain_resampled},
                             {"full_reference", full_reference},
                             {"samples_above_their_depth", samples_above_their_depth},
                             {"rows", rows_lie_apart},
                             {"options", options},
                             {"heatmaps", heatmaps},
                             {"heatmaps_that_cannot_be_written", heatmaps_that_cannot_be_written},
                             {"heatmaps_are_left_to_the_cpu", heatmaps_are_left_to_the_cpu}});
}
