/* The plan: which twin runs, whether models suit the pictures, and what a session makes of the colours that its inputs say
 * they have. */
#include "engine/plan.h"

#include <cerrno>

#include <check.h>

#include "engine/colour.h"
#include "engine/model_builtin.h"
#include "engine/model_check.h"
#include "engine/model_file.h"
#include "kernels/registry.h"
#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

Status only_small(const Options&, const VideoFormat& format) {
  return format.w > 64 ? error(EINVAL, "rows of %d samples do not fit shared memory", format.w) : Status();
}

/* psnr's HIP twin, if it were choosy. */
ExtractorInfo choosy() {
  ExtractorInfo info = *find_extractor("psnr_hip");
  info.fits = only_small;
  return info;
}

PlannedExtractor planned(const ExtractorInfo& info, bool by_name) {
  PlannedExtractor planned{.info = &info, .given = {{"enable_mse", "true"}}, .by_name = by_name};
  planned.options = Options::resolve(info.name, info.options, planned.given).value();
  return planned;
}

constexpr VideoFormat kSmall = {.w = 64, .h = 48}, kWide = {.w = 65, .h = 48};

struct LogText {
  std::string text;
  Log log{[this](VmafxLogLevel, const char* message) { text += std::string(message) + "\n"; }};
};

Colour said(int matrix, Colour::Range range) { return {.matrix = matrix, .range = range}; }

}  // namespace

START_TEST(hip_twins_leave_what_does_not_fit) {
  const ExtractorInfo info = choosy();
  LogText log;
  PlannedExtractor psnr = planned(info, false);
  ck_assert(choose_twin(psnr, kSmall, log.log).ok());
  ck_assert_ptr_eq(psnr.info, &info);
  assert_text_eq(log.text, "");

  ck_assert(choose_twin(psnr, kWide, log.log).ok());
  ck_assert_ptr_eq(psnr.info, find_extractor("psnr"));
  ck_assert(psnr.options.flag("enable_mse"));
  assert_text_eq(log.text, "psnr runs on the CPU: rows of 65 samples do not fit shared memory\n");
}
END_TEST

START_TEST(hip_twins_asked_for_must_fit) {
  const ExtractorInfo info = choosy();
  LogText log;
  PlannedExtractor psnr = planned(info, true);
  ck_assert(choose_twin(psnr, kSmall, log.log).ok());
  const Status refused = choose_twin(psnr, kWide, log.log);
  ck_assert_int_eq(refused.code(), EINVAL);
  assert_text_eq(refused.message(),
                 "could not initialize feature extractor psnr_hip: rows of 65 samples do not fit shared memory");
}
END_TEST

/* What is said of a model and pictures of w x h. */
std::string said_of(const char* version, int w, int h, int bpc = 10, bool encode_depth_known = false) {
  ModelSpec spec;
  spec.version = version;
  const auto model = load_model(spec);
  ck_assert(model.ok());
  LogText log;
  ck_assert(check_model(model.value(), version_of(spec), encode_depth_known, {.w = w, .h = h, .bpc = bpc}, log.log).ok());
  return log.text;
}

START_TEST(models_are_for_a_size) {
  assert_text_eq(said_of("vmaf_v0.6.1", 3840, 2160),
                 "model vmaf_v0.6.1 is made for 1080p and these pictures are 3840x2160: "
                 "vmaf_4k_v0.6.1 would suit them better\n");
  assert_contains(said_of("vmaf_v1.0.16_hfr_5d0h", 2160, 3840), "vmaf_v1.0.16_hfr_3d0h_2160 would");
  assert_contains(said_of("vmaf_4k_v0.6.1neg", 1920, 1088),
                  "made for 2160p and these pictures are 1920x1088: vmaf_v0.6.1neg");
  for (const char* version : {"vmaf_v0.6.1", "vmaf_4k_v0.6.1"}) assert_text_eq(said_of(version, 2560, 1440), "");
  assert_text_eq(said_of("vmaf_v0.6.1", 1920, 1080) + said_of("vmaf_float_v0.6.1", 64, 48), "");
  assert_text_eq(said_of("vmaf_v1.0.16_1d5h_2160", 3840, 2160) + said_of("vmaf_float_4k_v0.6.1", 4096, 2160), "");
  for (int i = 0; i < static_cast<int>(builtin_model_names().size()); i++) {
    const char* name = builtin_model_names()[i];
    const bool large = std::string(name).find("4k") != std::string::npos || std::string(name).ends_with("_2160");
    assert_contains(large ? said_of(name, 1280, 720) : said_of(name, 3840, 2160), "would suit them better");
  }
  ModelSpec file;
  file.path = "some/where/vmaf_4k_v0.6.1.json";
  assert_text_eq(version_of(file), "vmaf_4k_v0.6.1");
}
END_TEST

START_TEST(models_of_ten_bits) {
  assert_contains(said_of("vmaf_v1.0.16_3d0h", 1920, 1080, 8), "made for 10 bits per sample and these pictures have 8");
  assert_text_eq(said_of("vmaf_v1.0.16_3d0h", 1920, 1080, 8, true) + said_of("vmaf_v0.6.1", 1920, 1080, 8), "");
}
END_TEST

START_TEST(models_of_chroma_refuse_gray) {
  ModelSpec spec;
  spec.version = "vmaf_v1.0.16_3d0h";
  LogText log;
  const VideoFormat gray = {.w = 64, .h = 48, .bpc = 10, .chroma = Chroma::k400};
  const Status refused = check_model(load_model(spec).value(), version_of(spec), false, gray, log.log);
  ck_assert_int_eq(refused.code(), EINVAL);
  assert_contains(refused.message(),
                  "model vmaf_v1.0.16_3d0h scores chroma, and these pictures are gray: use vmaf_v0.6.1");
  spec.version = "vmaf_v0.6.1";
  ck_assert(check_model(load_model(spec).value(), version_of(spec), false, gray, log.log).ok());
  assert_text_eq(log.text, "");
}
END_TEST

START_TEST(colours_are_common_to_both_inputs) {
  using Range = Colour::Range;
  std::string differ;
  ck_assert(common_colour(said(1, Range::kFull), said(1, Range::kFull), &differ) == said(1, Range::kFull));
  ck_assert(common_colour(said(2, Range::kFull), said(9, Range::kUnspecified), &differ) == said(9, Range::kFull));
  assert_text_eq(differ, "");
  ck_assert(common_colour(said(5, Range::kLimited), said(1, Range::kFull), &differ) == said(5, Range::kLimited));
  assert_text_eq(differ, "range, matrix");
}
END_TEST

START_TEST(colours_left_open_are_assumed) {
  VideoFormat format = {.w = 720, .h = 576};
  assert_text_eq(assume_colour(format), "the matrix of BT.601 and limited range");
  ck_assert_int_eq(format.colour.matrix, 6);
  ck_assert(format.colour.range == Colour::Range::kLimited);
  assert_text_eq(assume_colour(format), "");

  format = {.w = 1280, .h = 720, .colour = {.range = Colour::Range::kFull}};
  assert_text_eq(assume_colour(format), "the matrix of BT.709");
  ck_assert_int_eq(format.colour.matrix, 1);
  ck_assert(format.colour.range == Colour::Range::kFull);
}
END_TEST

START_TEST(colours_of_the_api) {
  ck_assert(described_colour({}) == Colour());
  ck_assert(described_colour({2, 0, 2, 2, 0}) == Colour());
  ck_assert(described_colour({-1, 7, -3, 0, -1}) == Colour());
  const Colour colour = described_colour({9, 2, 14, 9, 3});
  ck_assert_int_eq(colour.matrix, 9);
  ck_assert(colour.range == Colour::Range::kFull);
  ck_assert_int_eq(colour.transfer, 14);
  ck_assert_int_eq(colour.primaries, 9);
  ck_assert(colour.chroma_location == Colour::ChromaLocation::kTopLeft);
}
END_TEST

int main() {
  return vmafx::test::run_suite("plan", {{"fits", hip_twins_leave_what_does_not_fit},
                                         {"by_name", hip_twins_asked_for_must_fit},
                                         {"size", models_are_for_a_size},
                                         {"depth", models_of_ten_bits},
                                         {"gray", models_of_chroma_refuse_gray},
                                         {"common", colours_are_common_to_both_inputs},
                                         {"assumed", colours_left_open_are_assumed},
                                         {"described", colours_of_the_api}});
}
