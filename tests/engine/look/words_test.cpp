/* Findings in words: each kind has a name, a text and a remedy, and numbers come to the right place in them. */
#include "engine/look/words.h"

#include <set>

#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::look;

namespace {

constexpr int kKinds = static_cast<int>(Kind::kFieldsDropped) + 1;

using Evidence = decltype(Finding::evidence);

PictureDoubt told(Kind kind, Evidence evidence = {}) {
  return in_words({kind, Certainty::kSure, 3, 8, std::move(evidence)});
}

void assert_told(Kind kind, Evidence evidence, const char* text, const char* remedy) {
  const PictureDoubt doubt = told(kind, std::move(evidence));
  ck_assert_str_eq(doubt.text.c_str(), text);
  ck_assert(!doubt.remedies.empty());
  ck_assert_str_eq(doubt.remedies.front().c_str(), remedy);
}

}  // namespace

/* 24 pictures a second that are played as 25, or the other way, look like frames that are repeated or left out. */
START_TEST(long_patterns_may_be_another_speed) {
  const auto mentions = [](const char* pattern, double of) {
    return told(Kind::kCadence, {{pattern, 1}, {"of", of}}).remedies.back().find("setpts=N/25/TB before both") == 0;
  };
  ck_assert(mentions("repeated", 25) && mentions("dropped", 24));
  ck_assert(!mentions("repeated", 5) && !mentions("dropped", 6));
}
END_TEST

START_TEST(each_kind_has_a_name_of_its_own) {
  std::set<std::string> names, texts;
  for (int kind = 0; kind < kKinds; kind++) {
    const PictureDoubt doubt = told(static_cast<Kind>(kind), {{"x", 1.1}, {"y", 1.1}});
    ck_assert(names.insert(doubt.kind).second && texts.insert(doubt.text).second);
    ck_assert(!doubt.text.ends_with('.') && !doubt.remedies.empty());
    ck_assert_str_eq(doubt.certainty.c_str(), "sure");
    ck_assert_int_eq(doubt.from, 3);
    ck_assert_int_eq(doubt.end, 8);
  }
}
END_TEST

START_TEST(numbers_stand_in_text_and_remedy) {
  assert_told(Kind::kOffset, {{"frames", 1}}, "main shows what the reference shows 1 frame later",
              "setpts=PTS+1/FRAME_RATE/TB before main");
  assert_told(Kind::kOffset, {{"frames", -3}}, "main shows what the reference shows 3 frames earlier",
              "setpts=PTS-3/FRAME_RATE/TB before main");
  assert_told(Kind::kRotated, {{"degrees", 90}}, "main is rotated by 90 degrees clockwise",
              "transpose=cclock before main");
  assert_told(Kind::kCropped, {{"left", 4}, {"top", 0}, {"right", 2}, {"bottom", 8}},
              "main lacks samples of the reference at its sides: 4 left, 2 right, 8 bottom",
              "crop=iw-6:ih-8:4:0 before the reference, then scale=W:H if main was scaled back");
  assert_told(Kind::kShifted, {{"x", 2}, {"y", -1}}, "main lies 2 samples right and -1 down of the reference",
              "crop=iw-2:ih-1:2:0 before main and crop=iw-2:ih-1:0:1 before the reference");
  assert_told(Kind::kRange, {{"gain", 255. / 219}},
              "main has full-range samples where the reference has limited range (gain 1.164)",
              "scale=in_range=full:out_range=limited before main");
  assert_told(Kind::kRange, {{"gain", 219. / 255}},
              "main has limited-range samples where the reference has full range (gain 0.8588)",
              "scale=in_range=limited:out_range=full before main");
  assert_told(Kind::kMatrix, {{"from", 1}, {"to", 6}},
              "main has the colors of matrix bt601 where the reference has bt709",
              "scale=in_color_matrix=bt601:out_color_matrix=bt709 before main");
  assert_told(Kind::kPrimaries, {{"from", 1}, {"to", 9}}, "main has the colors of other primaries than the reference",
              "zscale=primariesin=2020:primaries=709 before main");
  assert_told(Kind::kTransfer, {{"line_misfit", 5}},
              "the luma of main follows another transfer curve than the reference",
              "zscale=transferin=…:transfer=… before main");
  assert_told(Kind::kCadence, {{"repeated", 1}, {"of", 5}}, "main repeats 1 of 5 frames in a pattern",
              "decimate=cycle=5 before main");
  assert_told(Kind::kCadence, {{"dropped", 1}, {"of", 25}}, "main leaves out 1 of 25 frames in a pattern",
              "fps=R before the reference, with the frame rate R of main");
  assert_told(Kind::kGray, {{"plane", 1}}, "the plane Cb of main has no detail where the reference has",
              "encode again with color");
}
END_TEST

int main() {
  return vmafx::test::run_suite("words", {{"names", each_kind_has_a_name_of_its_own},
                                          {"speed", long_patterns_may_be_another_speed},
                                          {"numbers", numbers_stand_in_text_and_remedy}});
}
