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

void assert_joined(std::vector<Finding> given, const std::vector<Finding>& want) {
  for (const bool reversed : {false, true}) {
    if (reversed) std::ranges::reverse(given);
    const std::vector<Finding> got = join(given);
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

int main() {
  return vmafx::test::run_suite(
      "join",
      {{"adjoin", parts_that_adjoin_become_one}, {"apart", others_stay_apart}, {"events", events_are_counted_each}});
}
