/* Findings of parts of a stream, joined. */
#include "engine/look/join.h"

#include <algorithm>

#include "tests/support/check_main.h"

using namespace vmafx::look;

namespace {

using Evidence = decltype(Finding::evidence);

Finding finding(Kind kind, int64_t from, int64_t end, Evidence evidence = {},
                Certainty certainty = Certainty::kLikely) {
  return {kind, certainty, from, end, std::move(evidence)};
}

void assert_joined(std::vector<Finding> given, const std::vector<Finding>& want, const Parts& parts = {}) {
  for (const bool reversed : {false, true}) {
    if (reversed) std::ranges::reverse(given);
    const std::vector<Finding> got = join(given, parts);
    ck_assert_uint_eq(got.size(), want.size());
    for (size_t i = 0; i < want.size(); i++) {
      ck_assert(got[i].kind == want[i].kind && got[i].certainty == want[i].certainty);
      ck_assert_int_eq(got[i].from, want[i].from);
      ck_assert_int_eq(got[i].end, want[i].end);
      ck_assert(got[i].evidence == want[i].evidence);
    }
  }
}

}  // namespace

START_TEST(parts_that_adjoin_become_one) {
  assert_joined({finding(Kind::kMirrored, 0, 100), finding(Kind::kMirrored, 100, 200, {}, Certainty::kSure),
                 finding(Kind::kMirrored, 230, 300)},
                {finding(Kind::kMirrored, 0, 300, {}, Certainty::kSure)});
  assert_joined({finding(Kind::kRange, 0, 100, {{"gain", 1.164}}), finding(Kind::kRange, 100, 300, {{"gain", 1.166}})},
                {finding(Kind::kRange, 0, 300, {{"gain", 1.166}})});
  assert_joined(
      {finding(Kind::kChromaSwapped, 0, 75, {{"left", 3}}), finding(Kind::kChromaSwapped, 75, 200, {{"left", 0.5}})},
      {finding(Kind::kChromaSwapped, 0, 200, {{"left", 0.5}})});
}
END_TEST

/* Crops are measured to a fraction of a sample, in short parts less well. */
START_TEST(places_differ_by_half_a_sample) {
  const auto cropped = [](int64_t from, int64_t end, double left) {
    return finding(Kind::kCropped, from, end, {{"left", left}, {"top", 2.0}});
  };
  assert_joined({cropped(0, 200, 4.01), cropped(200, 250, 4.3)}, {cropped(0, 250, 4.01)});
  assert_joined({cropped(0, 200, 4.01), cropped(200, 250, 5)}, {cropped(0, 200, 4.01), cropped(200, 250, 5)});
}
END_TEST

START_TEST(others_stay_apart) {
  const std::vector<Finding> apart = {finding(Kind::kOffset, 0, 100, {{"frames", 1}}),
                                      finding(Kind::kOffset, 100, 200, {{"frames", 2}}),
                                      finding(Kind::kRotated, 0, 100, {{"degrees", 90}}),
                                      finding(Kind::kRotated, 100, 200, {{"degrees", 270}}),
                                      finding(Kind::kCombed, 0, 100),
                                      finding(Kind::kCombed, 500, 600)};
  assert_joined(apart, apart);
}
END_TEST

START_TEST(events_are_counted_each) {
  const std::vector<Finding> events = {finding(Kind::kDropped, 10, 11, {{"frames", 1}}),
                                       finding(Kind::kDropped, 11, 12, {{"frames", 1}})};
  assert_joined(events, events);
}
END_TEST

/* One run follows frames that were dropped to the end; the next part sees an offset from its beginning on. */
START_TEST(offsets_after_a_change_belong_to_it) {
  const auto dropped = [](int64_t from, int64_t end, double frames, Certainty certainty = Certainty::kSure) {
    return finding(Kind::kDropped, from, end, {{"frames", frames}}, certainty);
  };
  const auto offset = [](int64_t from, int64_t end, double frames, Certainty certainty = Certainty::kSure) {
    return finding(Kind::kOffset, from, end, {{"frames", frames}}, certainty);
  };
  const auto doubled = [](int64_t from, int64_t end, double frames, Certainty certainty = Certainty::kSure) {
    return finding(Kind::kDoubled, from, end, {{"frames", frames}}, certainty);
  };
  const Parts parts{.begins = {0, 100, 200}};
  assert_joined({dropped(40, 100, 1), offset(100, 200, 1), offset(200, 300, 1)}, {dropped(40, 300, 1)}, parts);
  assert_joined({dropped(40, 100, 1, Certainty::kLikely), offset(100, 300, 1)},
                {dropped(40, 300, 1, Certainty::kLikely)}, parts);
  assert_joined({dropped(40, 100, 1), offset(100, 150, 1), doubled(150, 151, 1), dropped(250, 300, 2)},
                {dropped(40, 150, 1), dropped(250, 300, 2), doubled(150, 151, 1)}, parts);
  assert_joined({offset(0, 100, -3), offset(102, 200, -3, Certainty::kLikely)}, {offset(0, 200, -3)}, parts);
  // Changes near a border, which no part has seen.
  assert_joined({offset(100, 200, 1)}, {dropped(100, 200, 1, Certainty::kLikely)}, parts);
  assert_joined({offset(0, 100, 1), offset(100, 200, -1), offset(200, 300, -1)},
                {offset(0, 100, 1), doubled(100, 300, 2, Certainty::kLikely)}, parts);
  assert_joined({offset(140, 200, 1)}, {offset(140, 200, 1)}, parts);
}
END_TEST

/* A part finds nothing of what it has too few pairs of. */
START_TEST(what_goes_on_beyond_a_border_reaches_a_break) {
  const std::vector<Break> breaks = {{20, 9}, {130, 4}, {170, 40}, {215, 12}, {260, 2}, {395, 50}};
  const Parts parts{.begins = {0, 200, 400}, .breaks = join_breaks(breaks, {}, {})};
  const auto mirrored = [](int64_t from, int64_t end) { return finding(Kind::kMirrored, from, end); };
  assert_joined({mirrored(200, 400)}, {mirrored(170, 400)}, parts);
  assert_joined({mirrored(0, 200)}, {mirrored(0, 215)}, parts);
  assert_joined({mirrored(200, 400), mirrored(400, 500)}, {mirrored(170, 500)}, parts);
  assert_joined({mirrored(180, 230)}, {mirrored(180, 230)}, parts);
  assert_joined({mirrored(0, 400)}, {mirrored(0, 400)}, parts);  // no break after the border
  /* Luma shows no breaks of chroma. */
  const Finding swapped = finding(Kind::kChromaSwapped, 200, 400);
  assert_joined({swapped}, {swapped}, parts);
  /* A long part may have more pairs that it does not find. */
  const Parts longer{.begins = {0, 4000}, .breaks = join_breaks(std::vector<Break>{{3760, 40}, {3740, 90}}, {}, {})};
  assert_joined({mirrored(4000, 5000)}, {mirrored(3760, 5000)}, longer);
}
END_TEST

/* Brief findings count if a neighbor goes on with them, or if both have enough pairs together. */
START_TEST(brief_findings_count_with_their_neighbors) {
  const auto swapped = [](int64_t from, int64_t end, bool brief, Certainty certainty = Certainty::kSure) {
    Finding f = finding(Kind::kChromaSwapped, from, end, {}, certainty);
    f.brief = brief;
    return f;
  };
  const auto parts = [](std::vector<Finding> brief) {
    return Parts{.begins = {0, 200, 400}, .end = 600, .breaks = {}, .brief = std::move(brief)};
  };
  assert_joined({}, {}, parts({swapped(150, 200, true)}));
  assert_joined({swapped(200, 400, false)}, {swapped(150, 400, false)}, parts({swapped(150, 200, true)}));
  assert_joined({}, {swapped(140, 250, true, Certainty::kLikely)},
                parts({swapped(140, 200, true), swapped(200, 250, true)}));
  assert_joined({}, {swapped(110, 290, true)}, parts({swapped(110, 200, true), swapped(200, 290, true)}));
  /* In a longer stream they are too short. */
  Parts longer = parts({swapped(110, 200, true), swapped(200, 290, true)});
  longer.end = 4000;
  assert_joined({}, {}, longer);
}
END_TEST

int main() {
  return vmafx::test::run_suite("join", {{"adjoin", parts_that_adjoin_become_one},
                                         {"apart", others_stay_apart},
                                         {"events", events_are_counted_each},
                                         {"brief", brief_findings_count_with_their_neighbors},
                                         {"beyond", what_goes_on_beyond_a_border_reaches_a_break},
                                         {"places", places_differ_by_half_a_sample},
                                         {"offsets", offsets_after_a_change_belong_to_it}});
}
