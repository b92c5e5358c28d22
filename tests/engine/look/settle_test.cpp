/* What findings of one part of the look make of those of another one. */
#include "engine/look/settle.h"

#include <string>

#include "tests/support/check_main.h"

using namespace vmafx;
using namespace vmafx::look;
using namespace vmafx::test;

namespace {

constexpr Certainty kPossible = Certainty::kPossible, kLikely = Certainty::kLikely, kSure = Certainty::kSure;

std::vector<Finding> settled(std::vector<Finding> findings) {
  settle(&findings);
  return findings;
}

Certainty certainty_of(Kind kind, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings)
    if (finding.kind == kind) return finding.certainty;
  ck_abort_msg("the kind is gone");
}

bool has(Kind kind, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings)
    if (finding.kind == kind) return true;
  return false;
}

Finding shifted(double fit = 1) { return {Kind::kShifted, kSure, 0, 200, {{"x", -3.5}, {"y", 1.1}, {"fit", fit}}}; }

Finding offset(double ratio, int64_t from = 0) {
  return {Kind::kOffset, kSure, from, 200, {{"frames", 5}, {"margin", 300}, {"ratio", ratio}}};
}

}  // namespace

/* A camera that pans shows a later frame as one that is shifted. */
START_TEST(an_offset_explains_a_shift) {
  ck_assert(!has(Kind::kShifted, settled({offset(0.006), shifted()})));
  ck_assert(certainty_of(Kind::kOffset, settled({offset(0.006), shifted()})) == kSure);
  /* So does a frame that is missing or added, where the picture is shifted after it. */
  for (const Kind kind : {Kind::kDropped, Kind::kDoubled}) {
    const Finding change{kind, kSure, 12, 200, {{"frames", 1}, {"ratio", 0.0}}};
    Finding shift = shifted();
    shift.from = 83;
    const std::vector<Finding> findings = settled({change, shift});
    ck_assert(!has(Kind::kShifted, findings) && certainty_of(kind, findings) == kSure);
  }
}
END_TEST

/* Rows of another moment lie elsewhere where a camera pans. */
START_TEST(combing_explains_a_shift) {
  for (const Kind kind : {Kind::kCombed, Kind::kReferenceCombed, Kind::kFieldOrder}) {
    ck_assert(!has(Kind::kShifted, settled({shifted(), {kind, kSure, 0, 200, {}}})));
    ck_assert(has(Kind::kShifted, settled({shifted(), {kind, kSure, 0, 100, {}}})));
    ck_assert(has(Kind::kShifted, settled({shifted(), {kind, kPossible, 0, 200, {}}})));
  }
}
END_TEST

START_TEST(a_shift_explains_offsets_that_do_not_fit_or_change) {
  for (const Finding& late : {offset(0.4), offset(0.006, 44)}) {
    const std::vector<Finding> findings = settled({late, shifted()});
    ck_assert(certainty_of(Kind::kOffset, findings) == kLikely);
    ck_assert(certainty_of(Kind::kShifted, findings) == kSure);
  }
}
END_TEST

/* Frames of which parts are gone fit their neighbors at random, whether or not their place is sure. */
START_TEST(time_is_not_sure_beside_a_likely_crop) {
  const Finding dropped{Kind::kDropped, kSure, 72, 92, {{"frames", 1}, {"ratio", 0.2}}};
  const auto cropped = [](Certainty certainty) {
    return Finding{Kind::kCropped, certainty, 0, 200, {{"right", 8}, {"fit", 1}}};
  };
  ck_assert(certainty_of(Kind::kDropped, settled({dropped, cropped(kLikely)})) == kLikely);
  ck_assert(certainty_of(Kind::kDropped, settled({dropped, cropped(kPossible)})) == kSure);
}
END_TEST

/* A picture that moves takes its planes along, by a whole number of samples in one of them alone. */
START_TEST(a_part_of_the_picture_explains_chroma) {
  const Finding chroma{Kind::kChromaShifted, kLikely, 0, 200, {{"x", 0.3}}};
  for (const Kind kind : {Kind::kCropped, Kind::kShifted, Kind::kFieldOrder, Kind::kFieldsDropped})
    ck_assert(!has(Kind::kChromaShifted, settled({{kind, kLikely, 0, 200, {{"left", 4}, {"fit", 1}}}, chroma})));
  ck_assert(!has(Kind::kChromaShifted, settled({{Kind::kChromaSwapped, kSure, 0, 200, {}}, chroma})));
  ck_assert(has(Kind::kChromaShifted, settled({chroma})));
  ck_assert(has(Kind::kChromaShifted, settled({{Kind::kMatrix, kLikely, 0, 200, {}}, chroma})));
}
END_TEST

/* Ranges of a stream have frame numbers of their own. */
START_TEST(a_range_has_its_own_beginning) {
  Finding late = offset(0.4), picture = shifted();
  late.from = picture.from = 100;
  ck_assert(certainty_of(Kind::kOffset, settled({late, picture})) == kLikely);
}
END_TEST

START_TEST(other_pictures_have_no_levels) {
  const Finding other{Kind::kOtherPictures, kLikely, 0, 200, {{"part", 1}}};
  const Finding gray{Kind::kGray, kSure, 0, 200, {{"plane", 1}}};
  ck_assert(certainty_of(Kind::kGray, settled({other, gray})) == kPossible);
  ck_assert(certainty_of(Kind::kGray, settled({gray})) == kSure);
  const Finding mirrored{Kind::kMirrored, kSure, 0, 200, {{"fit", 1}}};
  ck_assert(certainty_of(Kind::kGray, settled({other, mirrored, gray})) == kSure);
  ck_assert(!has(Kind::kOtherPictures, settled({other, mirrored})));
  ck_assert(certainty_of(Kind::kOffset, settled({other, offset(0.006)})) == kLikely);
  /* They say nothing of other pairs. */
  Finding later = gray;
  later.from = 200;
  later.end = 400;
  ck_assert(certainty_of(Kind::kGray, settled({other, later})) == kSure);
}
END_TEST

START_TEST(weak_fits_and_gains_are_not_sure) {
  const auto padded = [](double fit) { return Finding{Kind::kPadded, kSure, 0, 200, {{"bottom", 39}, {"fit", fit}}}; };
  ck_assert(certainty_of(Kind::kPadded, settled({padded(0.98)})) == kLikely);
  ck_assert(certainty_of(Kind::kPadded, settled({padded(0.99)})) == kSure);
  const auto cropped = [](double side) {
    return Finding{Kind::kCropped, kSure, 0, 200, {{"top", side}, {"fit", 0.99}}};
  };
  ck_assert(certainty_of(Kind::kCropped, settled({cropped(4)})) == kLikely);
  ck_assert(certainty_of(Kind::kCropped, settled({cropped(8)})) == kSure);
  const auto brighter = [](double gain) { return Finding{Kind::kBrightness, kSure, 0, 200, {{"gain", gain}}}; };
  ck_assert(certainty_of(Kind::kBrightness, settled({brighter(0.834)})) == kLikely);
  ck_assert(certainty_of(Kind::kBrightness, settled({brighter(1.13)})) == kLikely);
  ck_assert(certainty_of(Kind::kBrightness, settled({brighter(1.05)})) == kSure);
  Finding near = brighter(1.106);
  ck_assert(certainty_of(Kind::kBrightness, settled({near})) == kSure);
  near.evidence.emplace_back("range_error", 1.1);
  ck_assert(certainty_of(Kind::kBrightness, settled({near})) == kLikely);
}
END_TEST

START_TEST(encoders_that_are_short_of_bits_freeze_for_a_frame) {
  const auto frozen = [](double frames, double error) {
    return Finding{Kind::kFrozen, kSure, 20, 25, {{"frames", frames}, {"noise", 37}, {"error", error}}};
  };
  ck_assert(settled({frozen(1, 177)}).empty());
  ck_assert(certainty_of(Kind::kFrozen, settled({frozen(1, 230)})) == kLikely);
  ck_assert(certainty_of(Kind::kFrozen, settled({frozen(5, 177)})) == kSure);
}
END_TEST

START_TEST(changes_that_add_up_may_be_a_rhythm) {
  const auto doubled = [](double frames, int64_t from) {
    return Finding{Kind::kDoubled, kSure, from, from + 50, {{"frames", frames}, {"ratio", 0.1}}};
  };
  ck_assert(certainty_of(Kind::kDoubled, settled({doubled(2, 60), doubled(3, 139)})) == kLikely);
  ck_assert(certainty_of(Kind::kDoubled, settled({doubled(1, 60), doubled(1, 139)})) == kSure);
  ck_assert(certainty_of(Kind::kDoubled, settled({doubled(3, 139)})) == kSure);
}
END_TEST

START_TEST(numbers_of_good_encodes_are_nothing) {
  ck_assert(settled({{Kind::kRange, kLikely, 0, 200, {{"gain", 0.882}}}}).empty());
  ck_assert(!settled({{Kind::kRange, kLikely, 0, 200, {{"gain", 0.87}}}}).empty());
  ck_assert(settled({{Kind::kTransfer, kPossible, 0, 200, {{"line_misfit", 5.2}}}}).empty());
  ck_assert(settled({{Kind::kOffset, kPossible, 0, 200, {{"frames", -2}, {"ratio", 0.616}}}}).empty());
  ck_assert(settled({{Kind::kCropped, kLikely, 0, 200, {{"left", 1.54}, {"fit", 1}}}}).empty());
  ck_assert(!settled({{Kind::kCropped, kSure, 0, 200, {{"left", 1}, {"fit", 1}}}}).empty());
}
END_TEST

START_TEST(nothing_that_can_be_seen_is_nothing) {
  ck_assert(settled({{Kind::kScaled, kLikely, 0, 200, {{"x", 0.991}, {"y", 1.002}}}}).empty());
  ck_assert(!settled({{Kind::kScaled, kLikely, 0, 200, {{"x", 0.98}}}}).empty());
  ck_assert(settled({{Kind::kPadded, kPossible, 0, 200, {{"left", 1.05}}}}).empty());
  ck_assert(!settled({{Kind::kPadded, kPossible, 0, 200, {{"left", 1.05}, {"top", 2}}}}).empty());
}
END_TEST

int main() {
  return run_suite("settle", {{"late", an_offset_explains_a_shift},
                              {"combing", combing_explains_a_shift},
                              {"shifted", a_shift_explains_offsets_that_do_not_fit_or_change},
                              {"likely_crop", time_is_not_sure_beside_a_likely_crop},
                              {"chroma", a_part_of_the_picture_explains_chroma},
                              {"range", a_range_has_its_own_beginning},
                              {"other", other_pictures_have_no_levels},
                              {"weak", weak_fits_and_gains_are_not_sure},
                              {"freezes", encoders_that_are_short_of_bits_freeze_for_a_frame},
                              {"rhythm", changes_that_add_up_may_be_a_rhythm},
                              {"good", numbers_of_good_encodes_are_nothing},
                              {"trivial", nothing_that_can_be_seen_is_nothing}});
}
