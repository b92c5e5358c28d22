/* Conversions between color spaces: curves against numbers of their standards, twins against each other. */
#include "kernels/recolor/recolor.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/status.h"
#include "kernels/recolor/recolor_curves.h"
#include "tests/kernels/recolor/recolor_picture.h"
#include "tests/support/check_main.h"
#include "tests/support/scratch.h"
#include "tests/support/targets.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

std::shared_ptr<const Recolorer> recolorer(const VideoFormat& from, const VideoFormat& to,
                                           const ColorRules& rules = {}) {
  auto made = Recolorer::create(from, to, rules);
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return made.value();
}

/* One sample of luma, and neutral chroma, converted. */
int converted_luma(const VideoFormat& from, const VideoFormat& to, double number, const ColorRules& rules = {}) {
  ColorPicture in(from), out(to);
  for (int p = 0; p < 3; p++) in.set(p, 0, 0, code_of_number(from, p, p ? 0 : number));
  const auto made = recolorer(from, to, rules);
  const TestScratch scratch(made->scratch_bytes());
  made->plain(in.picture(), out.output(), {0, 1}, scratch.get());
  for (int p = 1; p < 3; p++) ck_assert_int_eq(out.at(p, 0, 0), 1 << (to.bpc - 1));
  return out.at(0, 0, 0);
}

void check_twins(const VideoFormat& from, const VideoFormat& to) {
  const ColorPicture in = random_picture(from, static_cast<uint32_t>(from.w * 131 + from.h));
  const auto made = recolorer(from, to);
  const TestScratch scratch(made->scratch_bytes(), kRubbishNan);
  ColorPicture want(to);
  made->plain(in.picture(), want.output(), {0, from.h}, scratch.get());
  for_each_cpu_target([&](const std::string& target) {
    for (const int strip : {2, 4, 1 << 16}) {
      ColorPicture got(to);
      for (int y = 0; y < from.h; y += strip)
        made->simd(in.picture(), got.output(), {y, std::min(y + strip, from.h)}, scratch.get());
      ck_assert_msg(got == want, "%s: %dx%d, %d to %d bits, chroma %d to %d, transfer %d to %d, strips of %d rows",
                    target.c_str(), from.w, from.h, from.bpc, to.bpc, static_cast<int>(from.chroma),
                    static_cast<int>(to.chroma), from.color.transfer, to.color.transfer, strip);
    }
  });
}

}  // namespace

/* ST 2084 and BT.2408 say where 100 and 203 cd/m2 lie. */
START_TEST(curves) {
  const TransferCurve pq = transfer_curve_of(16).value(), hlg = transfer_curve_of(18).value();
  ck_assert_double_eq_tol(pq.signal(0.01), 0.508078, 1e-6);
  ck_assert_double_eq_tol(pq.signal(0.0203), 0.5807, 1e-4);
  ck_assert_double_eq_tol(pq.signal(1), 1, 1e-12);
  ck_assert_double_eq_tol(std::pow(hlg.light(0.75), 1.2) * 1000, 203, 0.5);
  ck_assert_double_eq_tol(hlg.light(1), 1, 1e-7);
  for (const int transfer : {1, 4, 5, 8, 13, 16, 18}) {
    const TransferCurve curve = transfer_curve_of(transfer).value();
    for (double signal = 0.001; signal < 1.2; signal += 0.013)
      ck_assert_double_eq_tol(curve.signal(curve.light(signal)), signal, 1e-6);
  }
  for (const int transfer : {0, 2, 9, 10, 17, 99}) ck_assert(!transfer_curve_of(transfer).ok());
}
END_TEST

/* BT.2390, 5.4: equal below the knee, the peak becomes the display's, and nothing is darker than what was darker. */
START_TEST(tone_mapping) {
  ck_assert_double_eq_tol(tone_mapped(50, 1000, 203), 50, 1e-9);
  ck_assert_double_eq_tol(tone_mapped(1000, 1000, 203), 203, 1e-6);
  ck_assert_double_eq_tol(tone_mapped(4000, 1000, 203), 203, 1e-6);
  ck_assert_double_eq_tol(tone_mapped(500, 1000, 1000), 500, 1e-9);
  for (double light = 1, last = 0; light < 1200; light *= 1.01) {
    const double mapped = tone_mapped(light, 1000, 203);
    ck_assert(mapped >= last && mapped <= light + 1e-9);
    last = mapped;
  }
}
END_TEST

/* Gray of known luminance. */
START_TEST(levels) {
  const VideoFormat sdr = format_of(kBt709, 1, 1, 10, Chroma::k444), pq = format_of(kPq, 1, 1, 10, Chroma::k444),
                    hlg = format_of(kHlg, 1, 1, 10, Chroma::k444);
  ck_assert_int_eq(converted_luma(sdr, pq, 1), 573);   // 64 + 876 · 0.5807
  ck_assert_int_eq(converted_luma(sdr, hlg, 1), 721);  // 75 %
  ck_assert_int_eq(converted_luma(pq, hlg, 0.5807), 721);
  ck_assert_int_eq(converted_luma(hlg, pq, 0.75), 573);
  ck_assert_int_eq(converted_luma(pq, sdr, 0), 64);
  ck_assert_int_eq(converted_luma(pq, sdr, 0.751827), 940);  // 1000 cd/m2, mapped to white
  const VideoFormat fine = format_of(kPq, 1, 1, 16, Chroma::k444);
  ck_assert_int_eq(converted_luma(fine, sdr, transfer_curve_of(16).value().signal(0.0203), {.maps_tones = false}), 940);
  ck_assert(converted_luma(pq, sdr, 0.5807) < 930);
  ck_assert_int_eq(converted_luma(hlg, format_of(kIctcpOfHlg, 1, 1, 10, Chroma::k444), 0.75), 721);
  ck_assert_int_eq(converted_luma(pq, format_of(kIctcpOfPq, 1, 1, 10, Chroma::k444), 0.5807), 573);
  ck_assert_int_eq(converted_luma(sdr, format_of(kBt709Full, 1, 1, 10, Chroma::k444), 1), 1023);
}
END_TEST

/* A video that has the target's format already. */
START_TEST(equal_formats_stay) {
  for (const Color& color : {kBt709, kBt709Full, kPq, kHlg, kIctcpOfPq})
    for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444}) {
      const VideoFormat format = format_of(color, 37, 9, color.transfer == 1 ? 8 : 16, chroma);
      const ColorPicture in = random_picture(format, 7);
      const auto made = recolorer(format, format);
      const TestScratch scratch(made->scratch_bytes());
      ColorPicture out(format);
      made->plain(in.picture(), out.output(), {0, format.h}, scratch.get());
      ck_assert(in == out);
    }
}
END_TEST

START_TEST(simd_equals_plain) { for_each_conversion(check_twins); }
END_TEST

START_TEST(refused) {
  const VideoFormat good = format_of(kPq, 16, 16, 10, Chroma::k420);
  const auto message = [&](const Color& color) {
    VideoFormat bad = good;
    bad.color = color;
    return Recolorer::create(bad, good, {}).status().message();
  };
  assert_contains(message({.matrix = 9, .transfer = 2, .primaries = 9}), "its transfer is not known");
  assert_contains(message({.matrix = 2, .transfer = 16, .primaries = 9}), "its matrix is not known");
  assert_contains(message({.matrix = 10, .transfer = 16, .primaries = 9}), "matrix coefficients 10");
  assert_contains(message({.matrix = 9, .transfer = 16}), "its primaries is not known");
  assert_contains(message({.matrix = 9, .transfer = 9, .primaries = 9}), "transfer characteristics 9");
  assert_contains(message({.matrix = 9, .transfer = 16, .primaries = 99}), "color primaries 99");
  assert_contains(message({.matrix = 14, .transfer = 1, .primaries = 9}), "ICtCp is defined for");
  assert_contains(message({.matrix = 14, .transfer = 16, .primaries = 1}), "ICtCp is defined for");
}
END_TEST

int main() {
  return run_suite("recolor", {{"curves", curves},
                               {"tone_mapping", tone_mapping},
                               {"levels", levels},
                               {"equal_formats_stay", equal_formats_stay},
                               {"simd_equals_plain", simd_equals_plain},
                               {"refused", refused}});
}
