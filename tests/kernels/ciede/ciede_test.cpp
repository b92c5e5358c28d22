#include "kernels/ciede/ciede.h"

#include <check.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/ciede/ciede_math-inl.h"
#include "tests/support/check_main.h"
#include "tests/support/planes.h"
#include "tests/support/scores.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* -- The formula as the paper has it, with angles, in double ------------------------------------------------------- */

constexpr double kPi = 3.14159265358979323846;
double radians(double degrees) { return degrees * kPi / 180; }
double saturation(double c) { return std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + std::pow(25, 7))); }
double hue_of(double a, double b) { return a == 0 && b == 0 ? 0 : std::fmod(std::atan2(b, a) * 180 / kPi + 360, 360); }

struct Lab {
  double l, a, b;
};

double paper_difference(Lab p, Lab q, double kl, double kc, double kh) {
  const double g = 0.5 * (1 - saturation((std::hypot(p.a, p.b) + std::hypot(q.a, q.b)) / 2));
  const double a1 = (1 + g) * p.a, a2 = (1 + g) * q.a, c1 = std::hypot(a1, p.b), c2 = std::hypot(a2, q.b);
  const double h1 = hue_of(a1, p.b), h2 = hue_of(a2, q.b), c = (c1 + c2) / 2;
  double dh = h2 - h1, h = (h1 + h2) / 2;
  if (dh > 180) dh -= 360, h += h1 + h2 < 360 ? 180 : -180;
  else if (dh < -180) dh += 360, h += h1 + h2 < 360 ? 180 : -180;
  if (c1 * c2 == 0) dh = 0, h = h1 + h2;
  const double t = 1 - 0.17 * std::cos(radians(h - 30)) + 0.24 * std::cos(radians(2 * h)) +
                   0.32 * std::cos(radians(3 * h + 6)) - 0.2 * std::cos(radians(4 * h - 63));
  const double l2 = std::pow((p.l + q.l) / 2 - 50, 2);
  const double dl = (q.l - p.l) / (kl * (1 + 0.015 * l2 / std::sqrt(20 + l2)));
  const double dc = (c2 - c1) / (kc * (1 + 0.045 * c));
  const double dH = 2 * std::sqrt(c1 * c2) * std::sin(radians(dh / 2)) / (kh * (1 + 0.015 * c * t));
  const double turn = -2 * saturation(c) * std::sin(radians(60 * std::exp(-std::pow((h - 275) / 25, 2))));
  return std::sqrt(dl * dl + dc * dc + dH * dH + turn * dc * dH);
}

double our_difference(Lab p, Lab q) {
  const auto to_float = [](Lab v) {
    return CiedeLab{static_cast<float>(v.l), static_cast<float>(v.a), static_cast<float>(v.b)};
  };
  return ciede_difference(to_float(p), to_float(q));
}

/* -- Frames -------------------------------------------------------------------------------------------------------- */

VideoFormat format_of(int w, int h, int bpc, Chroma chroma) { return {.w = w, .h = h, .bpc = bpc, .chroma = chroma}; }

CiedeParams params_of(const VideoFormat& format) {
  const int bpc = format.bpc;
  const float unit = static_cast<float>(1 << (bpc - 8));
  return {.column_shift = format.chroma != Chroma::k444,
          .row_shift = format.chroma == Chroma::k420,
          .bpc = bpc,
          .w = format.w,
          .h = format.h,
          .chroma_w = format.plane_w(1),
          .chroma_h = format.plane_h(1),
          .luma_zero = 16 * unit,
          .chroma_zero = 128 * unit,
          .luma_scale = 1. / (219 * unit) / 1.055,
          .chroma_scale = 1. / (224 * unit) / 1.055};
}

using Yuv = std::array<uint8_t, 3>;  // Y, Cb, Cr

template <class T>
struct TestPicture {
  TestPicture(const VideoFormat& format, Fill fill, uint32_t seed) {
    planes.reserve(3);
    for (int p = 0; p < 3; p++) {
      planes.emplace_back(format.plane_w(p), format.plane_h(p), seed % 3, seed % 5, seed % 2);
      planes[p].fill(fill, format.bpc, seed + p);
      picture.plane[p] = planes[p].sample_plane();
    }
    picture.bpc = format.bpc;
  }
  void fill(const Yuv& color) {
    for (int p = 0; p < 3; p++)
      for (int y = 0; y < picture.plane[p].h; y++)
        for (int x = 0; x < picture.plane[p].w; x++) planes[p].at(x, y) = color[p];
  }
  std::vector<TestPlane<T>> planes;
  Picture picture;
};

template <class T>
void check_twins(const std::string& target, const VideoFormat& format, Fill a, Fill b) {
  const TestPicture<T> ref(format, a, format.w + 1), dist(format, b, format.w + 2);
  const CiedeParams params = params_of(format);
  const TestScratch scratch(ciede_scratch_bytes(format.w), kRubbishNan);
  const int64_t want = ciede_plain(params, ref.picture, dist.picture, nullptr);
  const int64_t got = ciede_simd(params, ref.picture, dist.picture, scratch.get());
  ck_assert_msg(got == want, "%s %dx%d %d bit chroma %d, %s against %s: %lld, the definition says %lld", target.c_str(),
                format.w, format.h, format.bpc, static_cast<int>(format.chroma), fill_name(a), fill_name(b),
                static_cast<long long>(got), static_cast<long long>(want));
  ck_assert_int_ge(want, 0);
}

/* Y'CbCr to Lab by the equations, in double. */
Lab exact_lab(const Yuv& color) {
  const double y = (color[0] - 16) / 219., u = (color[1] - 128) / 224., v = (color[2] - 128) / 224.;
  const auto linear = [](double c) { return c > 10 / 255. ? std::pow((c + 0.055) / 1.055, 2.4) : c / 12.92; };
  const auto f = [](double t) { return t > 216 / 24389. ? std::cbrt(t) : (24389 / 27. * t + 16) / 116; };
  const double r = linear(y + 1.28033 * v), g = linear(y - 0.21482 * u - 0.38059 * v), b = linear(y + 2.12798 * u);
  const double x = f((0.4124564390896921 * r + 0.357576077643909 * g + 0.18043748326639894 * b) / 0.95047);
  const double m = f(0.21267285140562248 * r + 0.715152155287818 * g + 0.07217499330655958 * b);
  const double z = f((0.019333895582329317 * r + 0.119192025881303 * g + 0.9503040785363677 * b) / 1.08883);
  return {116 * m - 16, 500 * (x - m), 200 * (m - z)};
}

/* The score of two pictures of one color each. */
double score_of(const VideoFormat& format, const Yuv& color, const Yuv& other) {
  TestPicture<uint8_t> ref(format, Fill::kZero, 0), dist(format, Fill::kZero, 0);
  ref.fill(color);
  dist.fill(other);
  return score_frame(*make_extractor(kCiedeExtractor, format), ref.picture, dist.picture).of["ciede2000 0"];
}

}  // namespace

/* Pairs 1, 4, 7, 11, 13, 16, 17, 25 and 34 of Sharma, Wu and Dalal's table 1. */
START_TEST(pairs_of_the_paper) {
  const struct {
    Lab p, q;
    double difference;
  } pairs[] = {{{50, 2.6772, -79.7751}, {50, 0, -82.7485}, 2.0425},
               {{50, -1.3802, -84.2814}, {50, 0, -82.7485}, 1.0000},
               {{50, 0, 0}, {50, -1, 2}, 2.3669},
               {{50, 2.49, -0.001}, {50, -2.49, 0.0011}, 7.2195},
               {{50, -0.001, 2.49}, {50, 0.0009, -2.49}, 4.8045},
               {{50, 2.5, 0}, {50, 0, -2.5}, 4.3065},
               {{50, 2.5, 0}, {73, 25, -18}, 27.1492},
               {{60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}, 1.2644},
               {{2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}, 0.9082}};
  for (const auto& pair : pairs) {
    const double paper = paper_difference(pair.p, pair.q, 1, 1, 1);
    ck_assert_msg(std::fabs(paper - pair.difference) < 6e-5, "%g, not %g", paper, pair.difference);
    const double want = paper_difference(pair.p, pair.q, 0.65, 1, 4), got = our_difference(pair.p, pair.q);
    ck_assert_msg(std::fabs(got - want) < 2e-5 * want, "%.9g, not %.9g", got, want);
  }
}
END_TEST

/* Floats that lie nearest to the cube roots, all over the range of samples, the same for bright colors without the
 * curves' lines; gray has no color at all. */
START_TEST(lab_of_samples) {
  const CiedeParams params = params_of(format_of(16, 16, 8, Chroma::k444));
  int bright = 0;
  for (int y = 0; y < 256; y += 5)
    for (int cb = 0; cb < 256; cb += 17)
      for (int cr = 0; cr < 256; cr += 15) {
        const Yuv color = {static_cast<uint8_t>(y), static_cast<uint8_t>(cb), static_cast<uint8_t>(cr)};
        const Lab want = exact_lab(color);
        const CiedeRgb offsets = ciede_offsets(params, static_cast<float>(cb - 128), static_cast<float>(cr - 128));
        const CiedeLab got = ciede_lab(params, static_cast<float>(y - 16), offsets);
        ck_assert_msg(
            std::fabs(got.l - want.l) < 1.2e-5 && std::fabs(got.a - want.a) < 7e-5 && std::fabs(got.b - want.b) < 3e-5,
            "(%d %d %d): (%.9g %.9g %.9g), not (%.9g %.9g %.9g)", y, cb, cr, got.l, got.a, got.b, want.l, want.a,
            want.b);
        const CiedeRgb rgb = ciede_rgb(params, static_cast<float>(y - 16), offsets);
        if (!ciede_is_bright(rgb)) continue;
        const CiedeLab without_lines = ciede_lab_of<true>(rgb);
        ck_assert(without_lines.l == got.l && without_lines.a == got.a && without_lines.b == got.b);
        bright++;
      }
  ck_assert_int_gt(bright, 1000);
  for (int y = 0; y < 256; y++) {
    const CiedeLab gray = ciede_lab(params, static_cast<float>(y - 16), {0, 0, 0});
    ck_assert_msg(gray.a == 0 && gray.b == 0, "%d: a %g, b %g", y, gray.a, gray.b);
  }
}
END_TEST

/* All over the range, near and far, bright and gray. */
START_TEST(any_pair) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> lightness(-5, 130), color(-1, 1), logarithm(-3, 2.3);
  for (int i = 0; i < 100000; i++) {
    const double size = std::pow(10, logarithm(random)), step = std::pow(10, logarithm(random));
    const auto to_float = [](double v) { return static_cast<double>(static_cast<float>(v)); };
    const Lab p = {to_float(lightness(random)), to_float(size * color(random)), to_float(size * color(random))};
    const Lab q = {to_float(p.l + step * color(random) / 4), to_float(p.a + step * color(random)),
                   to_float(p.b + step * color(random))};
    const double want = paper_difference(p, q, 0.65, 1, 4), got = our_difference(p, q);
    ck_assert_msg(std::fabs(got - want) < 2e-5 * want + 2e-5, "(%g %g %g) and (%g %g %g): %.9g, not %.9g", p.l, p.a,
                  p.b, q.l, q.a, q.b, got, want);
  }
  ck_assert(our_difference({50, 10, 20}, {50, 10, 20}) == 0 && our_difference({50, 0, 0}, {50, 0, 0}) == 0);
}
END_TEST

START_TEST(simd_equals_plain) {
  for_each_cpu_target([](const std::string& target) {
    for (const Chroma chroma : {Chroma::k420, Chroma::k422, Chroma::k444})
      for (int w = 2; w <= 37; w++) {
        const int bpc = 8 + w % 9;
        with_sample_type(bpc, [&]<class T>(T) {
          check_twins<T>(target, format_of(w, 2 + w % 3, bpc, chroma), Fill::kRandom, Fill::kRandom);
        });
        check_twins<uint8_t>(target, format_of(w, 2 + w % 4, 8, chroma), Fill::kRandom, Fill::kGradient);
      }
  });
}
END_TEST

START_TEST(all_fills) {
  for_each_cpu_target([](const std::string& target) {
    for (const int bpc : {8, 9, 12, 16})
      with_sample_type(bpc, [&]<class T>(T) {
        for (const Fill a : kFills)
          for (const Fill b : kFills) check_twins<T>(target, format_of(21, 6, bpc, Chroma::k420), a, b);
      });
  });
}
END_TEST

START_TEST(chroma_sites) {
  const auto check = [](int w, int h, Chroma chroma, int x, int y, int want_x, int want_y) {
    const CiedeSite site = ciede_chroma_site(params_of(format_of(w, h, 8, chroma)), x, y);
    ck_assert_msg(site.x == want_x && site.y == want_y, "%dx%d, (%d, %d): (%d, %d), not (%d, %d)", w, h, x, y, site.x,
                  site.y, want_x, want_y);
  };
  check(7, 5, Chroma::k444, 6, 4, 6, 4);
  check(7, 5, Chroma::k420, 5, 3, 2, 1);
  check(7, 5, Chroma::k420, 6, 4, 2, 1); /* the last column and row have their neighbor's */
  check(7, 5, Chroma::k422, 5, 3, 2, 3);
  check(7, 5, Chroma::k422, 6, 4, 2, 4);
  check(80, 5, Chroma::k422, 79, 3, 39, 3);
}
END_TEST

/* The score is that of the mean of the paper's differences, in double; luma has the chroma of its pair or square. */
START_TEST(subsampled_chroma) {
  for (const Chroma chroma : {Chroma::k420, Chroma::k422, Chroma::k444})
    for (const auto& [w, h] : {std::pair(12, 8), {13, 7}, {80, 6}, {67, 3}}) {
      const VideoFormat format = format_of(w, h, 8, chroma);
      TestPicture<uint8_t> ref(format, Fill::kRandom, 2), dist(format, Fill::kRandom, 4); /* not upside down */
      const auto lab = [&](TestPicture<uint8_t>& of, int x, int y) {
        const int cx = std::min(chroma == Chroma::k444 ? x : x / 2, format.plane_w(1) - 1);
        const int cy = std::min(chroma == Chroma::k420 ? y / 2 : y, format.plane_h(1) - 1);
        return exact_lab({of.planes[0].at(x, y), of.planes[1].at(cx, cy), of.planes[2].at(cx, cy)});
      };
      for (TestPicture<uint8_t>* picture : {&ref, &dist}) /* colors that a display has */
        for (int p = 0; p < 3; p++)
          for (int y = 0; y < format.plane_h(p); y++)
            for (int x = 0; x < format.plane_w(p); x++) {
              uint8_t& sample = picture->planes[p].at(x, y);
              sample = static_cast<uint8_t>(p ? 100 + sample % 56 : 60 + sample % 140);
            }
      double sum = 0;
      for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) sum += paper_difference(lab(ref, x, y), lab(dist, x, y), 0.65, 1, 4);
      const double want = 45 - 20 * std::log10(sum / w / h);
      score_frame(*make_extractor(kCiedeExtractor, format), ref.picture, dist.picture)
          .expect("ciede2000 0", want, 1e-5);
    }
}
END_TEST

START_TEST(scores) {
  const VideoFormat format = format_of(12, 8, 8, Chroma::k420);
  const Yuv black = {16, 128, 128}, gray = {141, 128, 128}, white = {235, 128, 128};
  ck_assert(std::isinf(score_of(format, {100, 90, 140}, {100, 90, 140})));
  /* L* 0 and 100: ΔE = 100 / 0.65, as the middle has a weight of 1. */
  ck_assert_double_eq_tol(score_of(format, black, white), 45 - 20 * std::log10(100 / 0.65), 1e-5);
  const double lightness = 116 * std::cbrt(std::pow((125 / 219. + 0.055) / 1.055, 2.4)) - 16;
  const double difference = paper_difference({lightness, 0, 0}, {100, 0, 0}, 0.65, 1, 4);
  ck_assert_double_eq_tol(score_of(format, gray, white), 45 - 20 * std::log10(difference), 1e-5);
  ck_assert_double_eq_tol(score_of(format, gray, white), score_of(format, white, gray), 1e-6);
  ck_assert_double_eq_tol(score_of(format, white, {235, 128, 129}), 44.79642558, 2e-6); /* libvmaf's */
}
END_TEST

START_TEST(needs_chroma) {
  for (const VideoFormat& format : {format_of(16, 16, 8, Chroma::k400), format_of(1, 16, 8, Chroma::k422)})
    assert_contains(refusal(kCiedeExtractor, format), "has no chroma planes");
  ck_assert_uint_eq(make_extractor(kCiedeExtractor, format_of(16, 16, 8, Chroma::k420))->reads().dist, 7);
}
END_TEST

int main() {
  return run_suite("ciede", {{"paper", pairs_of_the_paper},
                             {"any_pair", any_pair},
                             {"lab_of_samples", lab_of_samples},
                             {"simd_equals_plain", simd_equals_plain},
                             {"fills", all_fills},
                             {"sites", chroma_sites},
                             {"subsampled", subsampled_chroma},
                             {"scores", scores},
                             {"needs_chroma", needs_chroma}});
}
