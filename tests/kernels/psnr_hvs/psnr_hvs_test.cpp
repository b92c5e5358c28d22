#include "kernels/psnr_hvs/psnr_hvs.h"

#include <check.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/psnr_hvs/psnr_hvs_math-inl.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

VideoFormat format_of(int w, int h, int bpc, Chroma chroma) { return {.w = w, .h = h, .bpc = bpc, .chroma = chroma}; }

void assert_twins_agree(const std::string& target, int plane, const SamplePlane& ref, const SamplePlane& dist, int bpc,
                        const std::string& what) {
  const TestScratch scratch(psnr_hvs_scratch_bytes(ref.w));
  const PsnrHvsSum want = psnr_hvs_plain(plane, ref, dist, bpc, nullptr);
  const PsnrHvsSum got = psnr_hvs_simd(plane, ref, dist, bpc, scratch.get());
  ck_assert_msg(got.coarse == want.coarse && got.fine == want.fine, "%s plane %d %dx%d %d bit, %s: %.17g, not %.17g",
                target.c_str(), plane, ref.w, ref.h, bpc, what.c_str(), got.value(), want.value());
  ck_assert(want.value() >= 0);
}

template <class T>
void check_all_fills(const std::string& target, int w, int h, int bpc) {
  TestPlane<T> ref(w, h, w % 5, w % 3, w % 2), dist(w, h, w % 7, h % 4, h % 2);
  for (const Fill a : kFills) {
    ref.fill(a, bpc, w + 1);
    for (const Fill b : kFills) {
      dist.fill(b, bpc, w + 2);
      assert_twins_agree(target, w % 3, ref.sample_plane(), dist.sample_plane(), bpc,
                         std::string(fill_name(a)) + " against " + fill_name(b));
    }
  }
}

constexpr double kPi = 3.14159265358979323846;

/* The transform of a row, orthonormal, in double. */
void exact_dct(const int32_t (&in)[8], double (&out)[8]) {
  for (int k = 0; k < 8; k++) {
    out[k] = 0;
    for (int n = 0; n < 8; n++) out[k] += in[n] * std::cos(kPi * (2 * n + 1) * k / 16);
    out[k] *= k ? 0.5 : std::sqrt(0.125);
  }
}

/* Pictures of planes of one value, at first 0. */
struct FlatPictures {
  explicit FlatPictures(const VideoFormat& format) {
    planes.reserve(6);
    for (Picture* picture : {&ref, &dist}) {
      picture->bpc = format.bpc;
      for (int p = 0; p < 3; p++) {
        planes.emplace_back(format.plane_w(p), format.plane_h(p)).fill(Fill::kZero, 8, 0);
        picture->plane[p] = planes.back().sample_plane();
      }
    }
  }
  void raise_dist(int p, int to) {
    for (int y = 0; y < dist.plane[p].h; y++)
      for (int x = 0; x < dist.plane[p].w; x++) planes[3 + p].at(x, y) = static_cast<uint8_t>(to);
  }
  std::vector<TestPlane<uint8_t>> planes;
  Picture ref, dist;
};

}  // namespace

START_TEST(transform_is_a_dct) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000; round++) {
    int32_t v[8], in[8];
    for (int i = 0; i < 8; i++) in[i] = v[i] = static_cast<int32_t>(random() % 4096);
    double exact[8];
    exact_dct(in, exact);
    psnr_hvs_dct(v);
    for (int k = 0; k < 8; k++) ck_assert_msg(std::fabs(v[k] - exact[k]) < 2.5, "%d, not %g", v[k], exact[k]);
  }
  int32_t zero[8] = {};
  psnr_hvs_dct(zero);
  for (const int32_t v : zero) ck_assert_int_eq(v, 0);
}
END_TEST

/* The variance of a block within its quarters, both as libvmaf has them. */
START_TEST(texture) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; round++) {
    double samples[8][8], mean = 0, means[4] = {};
    PsnrHvsMoments quarters[4] = {};
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++) {
        const int32_t off = static_cast<int32_t>(random() % 4096) % (1 + round * 40) - 2048, q = i / 4 * 2 + j / 4;
        samples[i][j] = off;
        mean += off / 64.;
        means[q] += off / 16.;
        quarters[q].sum += off;
        quarters[q].squares += off * off;
      }
    double all = 0, within = 0;
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++) {
        all += std::pow(samples[i][j] - mean, 2) / 63 * 64;
        within += std::pow(samples[i][j] - means[i / 4 * 2 + j / 4], 2) / 15 * 16;
      }
    ck_assert_double_eq_tol(psnr_hvs_texture(quarters), all > 0 ? within / all : 0, 1e-6);
  }
}
END_TEST

START_TEST(simd_equals_plain) {
  for_each_cpu_target([](const std::string& target) {
    for (int bpc = 8; bpc <= kPsnrHvsMostBits; bpc++)
      with_sample_type(bpc, [&]<class T>(T) {
        for (const int w : {8, 14, 15, 64, 113, 121, 239}) check_all_fills<T>(target, w, 8 + w % 15, bpc);
      });
    for (int w = 8; w <= 250; w++) { /* every number of blocks to past two vectors */
      TestPlane<uint8_t> ref(w, 16), dist(w, 16);
      ref.fill(Fill::kRandom, 8, w);
      dist.fill(Fill::kRandom, 8, w + 1);
      assert_twins_agree(target, 0, ref.sample_plane(), dist.sample_plane(), 8, "random");
    }
  });
}
END_TEST

/* Buffers of exactly the samples: the sanitizers see every step outside. */
START_TEST(reads_only_samples) {
  for_each_cpu_target([](const std::string& target) {
    for (int w = 8; w <= 30; w++) {
      const std::vector<uint8_t> ref(w * 9, 1), dist(w * 9, 77);
      assert_twins_agree(target, 1, {ref.data(), w, w, 9}, {dist.data(), w, w, 9}, 8, "tight");
    }
  });
}
END_TEST

/* Squares that a float of the rows above would not take do not count, as those of libvmaf. */
START_TEST(large_sums_swallow_small_squares) {
  const Integer ref[8] = {3, 0, 0, 0, 0, 0, 0, 0}, dist[8] = {};
  PsnrHvsWeights weights = {};
  weights.csf[0] = 1;
  ck_assert(psnr_hvs_errors(ref, dist, weights, 0, 0).counted == 9);
  ck_assert(psnr_hvs_errors(ref, dist, weights, 0, 0x1p26f).counted == 8);
  ck_assert(psnr_hvs_errors(ref, dist, weights, 0, 0x1p30f).counted == 0);
  ck_assert(psnr_hvs_errors(ref, dist, weights, 0, 0x1p30f).exact == 9);
}
END_TEST

/* Flat planes: only the means of blocks differ, which nothing masks. They are 8 times the samples, rounded by up to 1,
 * and weigh 1.6193873005, 1.91113096927 or 2.03871978502. */
START_TEST(scores) {
  const VideoFormat format = format_of(64, 48, 8, Chroma::k420);
  const auto psnr_hvs = make_extractor(kPsnrHvsExtractor, format);
  FlatPictures pictures(format);
  Scores equal = score_frame(*psnr_hvs, pictures.ref, pictures.dist);
  for (const char* name : {"psnr_hvs_y 0", "psnr_hvs_cb 0", "psnr_hvs_cr 0", "psnr_hvs 0"})
    ck_assert(std::isinf(equal.of[name]));

  pictures.raise_dist(0, 200);
  pictures.raise_dist(1, 180);
  pictures.raise_dist(2, 160);
  const double peak = 255 * 255 * 64, y = std::pow(1600 * 1.6193873005, 2) / peak;
  const double cb = std::pow(1440 * 1.91113096927, 2) / peak, cr = std::pow(1280 * 2.03871978502, 2) / peak;
  Scores scores = score_frame(*psnr_hvs, pictures.ref, pictures.dist);
  scores.expect("psnr_hvs_y 0", -10 * std::log10(y), 0.01);
  scores.expect("psnr_hvs_cb 0", -10 * std::log10(cb), 0.01);
  scores.expect("psnr_hvs_cr 0", -10 * std::log10(cr), 0.01);
  scores.expect("psnr_hvs 0", -10 * std::log10(0.8 * y + 0.1 * (cb + cr)), 0.01);
}
END_TEST

START_TEST(refusals) {
  assert_contains(refusal(kPsnrHvsExtractor, format_of(64, 64, 13, Chroma::k420)), "up to 12 bits");
  assert_contains(refusal(kPsnrHvsExtractor, format_of(64, 64, 8, Chroma::k400)), "chroma");
  assert_contains(refusal(kPsnrHvsExtractor, format_of(15, 64, 8, Chroma::k420)), "15x64 is too small");
  ck_assert_uint_eq(make_extractor(kPsnrHvsExtractor, format_of(16, 8, 12, Chroma::k422))->reads().ref, 7);
}
END_TEST

int main() {
  return run_suite("psnr_hvs", {{"transform", transform_is_a_dct},
                                {"texture", texture},
                                {"simd_equals_plain", simd_equals_plain},
                                {"reads_only_samples", reads_only_samples},
                                {"large_sums", large_sums_swallow_small_squares},
                                {"scores", scores},
                                {"refusals", refusals}});
}
