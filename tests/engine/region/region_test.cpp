/* Regions: the texts that name them, masks, and how much of each block belongs to them. */
#include "engine/region/region_area.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>

#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr VideoFormat kFormat = {.w = 100, .h = 70};
constexpr MapInfo kMap = {"map", "unit", 7, 5, 16, 16};

/* A file that goes with its owner. */
class MaskFile {
 public:
  explicit MaskFile(const std::string& bytes) : path("/tmp/vmafx-region-test-" + std::to_string(getpid()) + ".pgm") {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  ~MaskFile() { std::remove(path.c_str()); }

  const std::string path;
};

Region one(const std::string& text) {
  const auto regions = parse_regions(text);
  ck_assert_msg(regions.ok(), "%s", regions.status().message().c_str());
  ck_assert_uint_eq(regions.value().size(), 1);
  return regions.value().front();
}

std::vector<double> shares(const std::string& text, const MapInfo& map = kMap, const Rectangle& active = {}) {
  const auto area = RegionArea::make(one(text), nullptr, kFormat);
  ck_assert_msg(area.ok(), "%s", area.status().message().c_str());
  return area.value().shares(map, active);
}

void assert_refused(const std::string& text, const char* why) {
  const auto regions = parse_regions(text);
  ck_assert_msg(!regions.ok() && regions.status().code() == EINVAL, "%s is taken", text.c_str());
  assert_contains(regions.status().message(), why);
}

void assert_no_mask(const std::string& bytes, const char* why) {
  const MaskFile file(bytes);
  const auto mask = read_mask(file.path);
  ck_assert_msg(!mask.ok(), "'%s' is taken", bytes.c_str());
  assert_contains(mask.status().message(), why);
}

}  // namespace

START_TEST(texts_name_regions) {
  const auto regions = parse_regions("face=640x360+100+50|1x2+0+3|logo=a=b.pgm|active|edge=center");
  ck_assert_uint_eq(regions.value().size(), 5);
  ck_assert(regions.value()[0].rectangle == (Rectangle{100, 50, 640, 360}));
  const char* const names[] = {"face", "roi", "logo", "active", "edge"};
  for (size_t i = 0; i < 5; i++) ck_assert_str_eq(regions.value()[i].name.c_str(), names[i]);
  ck_assert_str_eq(regions.value()[2].path.c_str(), "a=b.pgm");
  ck_assert(regions.value()[4].kind == Region::Kind::kCenter);
  ck_assert(parse_regions("").value().empty());

  for (const char* const text : {"640x360", "640x360+1", "-4x4+0+0", "4x4+-1+0", "4x4+0+0 ", "9999999999x1+0+0",
                                 "mask.png", "face=", "a|center", "4:4:0:0"})
    assert_refused(text, "it is no region");
  assert_refused("0x4+0+0", "it has no samples");
  assert_refused("1face=4x4+0+0", "a name has letters");
  assert_refused("a.b=4x4+0+0", "a name has letters");
  assert_refused("4x4+0+0|8x8+0+0", "two regions are called 'roi'");
}
END_TEST

START_TEST(blocks_have_the_share_that_lies_in_a_rectangle) {
  const std::vector<double> aligned = shares("32x16+16+32");
  for (size_t n = 0; n < aligned.size(); n++) ck_assert(aligned[n] == (n == 2 * 7 + 1 || n == 2 * 7 + 2));
  const std::vector<double> cut = shares("10x4+14+14");
  ck_assert(cut[0] == 4. / 256 && cut[1] == 16. / 256 && cut[7] == 4. / 256 && cut[8] == 16. / 256);
  /* The last column of blocks has 4 columns of samples, the last row 6 rows. */
  const std::vector<double> last = shares("2x3+98+67");
  ck_assert(last.back() == 6. / 24);
  ck_assert_double_eq(std::accumulate(last.begin(), last.end(), 0.), 6. / 24);
  /* Both parts of a picture make the whole, to the last bit. */
  const std::vector<double> left = shares("41x70+0+0"), right = shares("59x70+41+0");
  for (size_t n = 0; n < left.size(); n++) ck_assert(left[n] + right[n] == 1);
  /* Windows that begin at a block's samples have their middles further inside. */
  const MapInfo windows = {"map", "unit", 6, 4, 16, 16, 5, 5};
  const std::vector<double> middles = shares("21x21+0+0", windows);
  ck_assert(middles[0] == 1 && middles[1] == 0 && middles[6] == 0);
  /* The active area is that of each frame. */
  ck_assert(shares("active", kMap, {16, 32, 32, 16}) == aligned);
  for (const char* const text : {"101x1+0+0", "1x70+0+1", "1x1+100+0", "2147483647x1+2147483647+0"}) {
    const auto area = RegionArea::make(one(text), nullptr, kFormat);
    ck_assert(!area.ok());
    assert_contains(area.status().message(), "is not inside the picture, which has 100x70 samples");
  }
}
END_TEST

/* e^(-(x² / 0.22 + y² / 0.099) / 2), by the definition, sample by sample. */
START_TEST(the_center_counts_most) {
  const std::vector<double> center = shares("center");
  for (size_t n = 0; n < center.size(); n++) {
    double sum = 0;
    int count = 0;
    for (int y = static_cast<int>(n) / 7 * 16; y < std::min(static_cast<int>(n) / 7 * 16 + 16, 70); y++)
      for (int x = static_cast<int>(n) % 7 * 16; x < std::min(static_cast<int>(n) % 7 * 16 + 16, 100); x++, count++) {
        const double across = (x + 0.5 - 50) / 50, down = (y + 0.5 - 35) / 50;
        sum += std::exp(-(across * across / 0.22 + down * down / 0.099) / 2);
      }
    ck_assert_double_eq_tol(center[n], sum / count, 1e-12);
  }
  ck_assert(center[2 * 7 + 3] > 5 * center[0]);
}
END_TEST

START_TEST(masks_weigh_samples) {
  std::string samples(100 * 70, '\0');
  samples[0] = '\x33';        // 0.2
  samples[16] = '\xff';       // in the second block
  samples[100 * 70 - 1] = 1;  // in the last one
  const MaskFile file("P5\n# a comment\n100 70 255\n" + samples);
  auto mask = read_mask(file.path);
  ck_assert_msg(mask.ok(), "%s", mask.status().message().c_str());
  const auto area =
      RegionArea::make(one("a=" + file.path), std::make_shared<const Mask>(std::move(mask.value())), kFormat);
  const std::vector<double> got = area.value().shares(kMap, {});
  ck_assert(got[0] == 0.2 / 256 && got[1] == 1. / 256 && got[2] == 0 && got.back() == 1. / 255 / 24);

  const MaskFile deep("P5 1 2 1000\n" + std::string("\x03\xe8\x00\x01", 4));
  ck_assert(read_mask(deep.path).value().samples == (std::vector<uint16_t>{1000, 1}));
}
END_TEST

START_TEST(what_is_no_mask_is_refused) {
  ck_assert_int_eq(read_mask("/nowhere/mask.pgm").status().code(), ENOENT);
  assert_no_mask("P2 1 1 255\n7", "it is none; use a gray picture");
  assert_no_mask("P5 1 x 255\n7", "its header is broken");
  assert_no_mask("P5 1 1 70000\n77", "its header is broken");
  assert_no_mask("P5 99999999999 1 255\n7", "its header is broken");
  assert_no_mask("P5 2147483647 2147483647 255\n7", "it is cut short");
  assert_no_mask("P5 2 2 255\n777", "it is cut short");
  assert_no_mask("P5 1 1 255\n77", "it has more than one picture");
  assert_no_mask("P5 1 1 9\n7", "samples above its own maximum");
  assert_no_mask(std::string("P5 1 1 255\n\0", 12), "all samples are 0");
}
END_TEST

int main() {
  return run_suite("region",
                   {{"texts_name_regions", texts_name_regions},
                    {"blocks_have_the_share_that_lies_in_a_rectangle", blocks_have_the_share_that_lies_in_a_rectangle},
                    {"the_center_counts_most", the_center_counts_most},
                    {"masks_weigh_samples", masks_weigh_samples},
                    {"what_is_no_mask_is_refused", what_is_no_mask_is_refused}});
}
