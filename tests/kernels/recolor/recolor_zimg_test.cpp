/* Conversions between color spaces against zimg, which libvmaf takes. Without zimg (libzimg-dev) this is skipped.
 * VMAFX_TEST_ALL=1 prints the table of the largest differences. */
#include <cstdio>

#include "kernels/recolor/recolor.h"

#ifdef HAVE_ZIMG

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include <zimg.h>

#include "base/status.h"
#include "tests/kernels/recolor/recolor_picture.h"
#include "tests/support/check_main.h"
#include "tests/support/scratch.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

struct NamedColor {
  const char* name;
  Color color;
};

constexpr auto kLimited = Color::Range::kLimited;
constexpr NamedColor kBt709 = {"bt709", {.matrix = 1, .transfer = 1, .primaries = 1, .range = kLimited}};
constexpr NamedColor kBt709Full = {"bt709 full",
                                   {.matrix = 1, .transfer = 1, .primaries = 1, .range = Color::Range::kFull}};
constexpr NamedColor kBt601 = {"bt601", {.matrix = 6, .transfer = 6, .primaries = 6, .range = kLimited}};
constexpr NamedColor kBt2020 = {"bt2020", {.matrix = 9, .transfer = 14, .primaries = 9, .range = kLimited}};
constexpr NamedColor kPq = {"bt2020-pq", {.matrix = 9, .transfer = 16, .primaries = 9, .range = kLimited}};
constexpr NamedColor kHlg = {"bt2020-hlg", {.matrix = 9, .transfer = 18, .primaries = 9, .range = kLimited}};
constexpr NamedColor kP3 = {"p3-pq", {.matrix = 9, .transfer = 16, .primaries = 12, .range = kLimited}};
constexpr NamedColor kIctcp = {"ictcp-pq", {.matrix = 14, .transfer = 16, .primaries = 9, .range = kLimited}};

zimg_image_format zimg_format(const VideoFormat& format) {
  zimg_image_format out;
  zimg_image_format_default(&out, ZIMG_API_VERSION);
  out.width = static_cast<unsigned>(format.w);
  out.height = static_cast<unsigned>(format.h);
  out.pixel_type = format.bpc > 8 ? ZIMG_PIXEL_WORD : ZIMG_PIXEL_BYTE;
  out.subsample_w = format.chroma != Chroma::k444;
  out.subsample_h = format.chroma == Chroma::k420;
  out.color_family = ZIMG_COLOR_YUV;
  out.matrix_coefficients = static_cast<zimg_matrix_coefficients_e>(format.color.matrix);
  out.transfer_characteristics = static_cast<zimg_transfer_characteristics_e>(format.color.transfer);
  out.color_primaries = static_cast<zimg_color_primaries_e>(format.color.primaries);
  out.depth = static_cast<unsigned>(format.bpc);
  out.pixel_range = format.color.range == Color::Range::kFull ? ZIMG_RANGE_FULL : ZIMG_RANGE_LIMITED;
  return out;
}

ColorPicture by_zimg(const ColorPicture& in, const VideoFormat& to, double white) {
  const zimg_image_format source = zimg_format(in.format()), target = zimg_format(to);
  zimg_graph_builder_params params;
  zimg_graph_builder_params_default(&params, ZIMG_API_VERSION);
  params.nominal_peak_luminance = white;
  zimg_filter_graph* graph = zimg_filter_graph_build(&source, &target, &params);
  char message[256] = "";
  if (!graph) zimg_get_last_error(message, sizeof message);
  ck_assert_msg(graph, "zimg: %s", message);
  size_t bytes = 0;
  zimg_filter_graph_get_tmp_size(graph, &bytes);
  const AlignedBytes memory = allocate_aligned(bytes + 64);
  ColorPicture out(to);
  zimg_image_buffer_const from{};
  zimg_image_buffer into{};
  from.version = into.version = ZIMG_API_VERSION;
  for (int p = 0; p < 3; p++) {
    from.plane[p] = {in.data(p), in.stride(p), ZIMG_BUFFER_MAX};
    into.plane[p] = {out.data(p), out.stride(p), ZIMG_BUFFER_MAX};
  }
  ck_assert_int_eq(zimg_filter_graph_process(graph, &from, &into, memory.get(), nullptr, nullptr, nullptr, nullptr), 0);
  zimg_filter_graph_free(graph);
  return out;
}

/* Colors inside the gamut: signals between 0.02 and 0.98, in waves of all lengths, put into the source's matrix. */
ColorPicture waves(const VideoFormat& format) {
  ColorPicture picture(format);
  const double kr = format.color.matrix == 9 ? 0.2627 : 0.2126, kb = format.color.matrix == 9 ? 0.0593 : 0.0722;
  const bool ictcp = format.color.matrix == 14;
  for (int p = 0; p < 3; p++)
    for (int y = 0; y < format.plane_h(p); y++)
      for (int x = 0; x < format.plane_w(p); x++) {
        const double u = double(x) / format.plane_w(p), v = double(y) / format.plane_h(p);
        const double r = 0.5 + 0.48 * std::sin(7 * u + 3 * v), g = 0.5 + 0.48 * std::sin(5 * v + 40 * u * v),
                     b = 0.5 + 0.48 * std::cos(9 * u * u + 11 * v);
        const double luma = kr * r + (1 - kr - kb) * g + kb * b;
        double number = p == 0 ? luma : p == 1 ? (b - luma) / 2 / (1 - kb) : (r - luma) / 2 / (1 - kr);
        if (ictcp && p) number *= 0.1;  // its chroma is small inside the gamut of BT.2020
        picture.set(p, x, y, code_of_number(format, p, number));
      }
  return picture;
}

/* The largest difference of each plane, in codes of the target. */
std::array<int, 3> differences_of(const VideoFormat& from, const VideoFormat& to, double white) {
  const ColorPicture in = waves(from), want = by_zimg(in, to, white);
  const auto made = Recolorer::create(from, to, {.white = white, .maps_tones = false});
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  const TestScratch scratch(made.value()->scratch_bytes());
  ColorPicture got(to);
  made.value()->simd(in.picture(), got.output(), {0, from.h}, scratch.get());
  std::array<int, 3> most = {};
  for (int p = 0; p < 3; p++)
    for (int y = 0; y < to.plane_h(p); y++)
      for (int x = 0; x < to.plane_w(p); x++)
        most[static_cast<size_t>(p)] =
            std::max(most[static_cast<size_t>(p)], std::abs(got.at(p, x, y) - want.at(p, x, y)));
  return most;
}

const char* name_of(Chroma chroma) {
  return chroma == Chroma::k420 ? "4:2:0" : chroma == Chroma::k422 ? "4:2:2" : "4:4:4";
}

/* zimg's ICtCp of HLG is of the display's light, not of the scene's, as BT.2100 has it, and is not compared. */
struct Case {
  NamedColor from, to;
};

/* Light of colors that the target's primaries do not reach comes out near 0 as a difference of larger numbers, which
 * float rounds; the curves are steepest there. Then both are off by less than a code of 10 bits. */
int most_allowed(int bits) { return bits == 16 ? 64 : 2; }

constexpr Case kCases[] = {{kPq, kBt709},    {kPq, kHlg},          {kPq, kP3},        {kPq, kIctcp},
                           {kP3, kIctcp},    {kP3, kBt709},        {kHlg, kPq},       {kHlg, kBt709},
                           {kBt709, kPq},    {kBt709, kHlg},       {kBt709, kBt2020}, {kBt2020, kBt709},
                           {kBt601, kBt709}, {kBt709, kBt709Full}, {kIctcp, kPq},     {kIctcp, kBt709}};

void check_case(const Case& c, int from_bits, Chroma from_chroma, int to_bits, Chroma to_chroma) {
  const VideoFormat from = {.w = 192, .h = 108, .bpc = from_bits, .chroma = from_chroma, .color = c.from.color};
  const VideoFormat to = {.w = 192, .h = 108, .bpc = to_bits, .chroma = to_chroma, .color = c.to.color};
  const auto most = differences_of(from, to, 203);
  if (test_all() || std::getenv("VMAFX_ZIMG_TABLE"))
    std::printf("| %s | %s | %d, %s | %d, %s | %d, %d, %d |\n", c.from.name, c.to.name, from_bits, name_of(from_chroma),
                to_bits, name_of(to_chroma), most[0], most[1], most[2]);
  for (const int difference : most)
    ck_assert_msg(difference <= most_allowed(to_bits), "%s to %s, %d to %d bits, %s to %s: %d codes", c.from.name,
                  c.to.name, from_bits, to_bits, name_of(from_chroma), name_of(to_chroma), difference);
}

}  // namespace

START_TEST(equals_zimg) {
  for (const Case& c : kCases) {
    check_case(c, 10, Chroma::k420, 8, Chroma::k420);
    check_case(c, 10, Chroma::k420, 10, Chroma::k444);
    check_case(c, 8, Chroma::k422, 12, Chroma::k422);
    check_case(c, 12, Chroma::k444, 10, Chroma::k420);
    check_case(c, 16, Chroma::k444, 16, Chroma::k444);
    check_case(c, 16, Chroma::k420, 16, Chroma::k420);
  }
}
END_TEST

int main() { return run_suite("recolor_zimg", {{"equals_zimg", equals_zimg}}); }

#else

int main() {
  std::puts("skipped: recolor_zimg_test needs zimg (libzimg-dev)");
  return 77;
}

#endif
