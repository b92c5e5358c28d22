/* Breaks: where an encode begins to follow its reference in another way, in one run and in parts that are joined. */
#include "engine/look/breaks.h"

#include <vector>

#include "tests/support/check_main.h"

using namespace vmafx::look;

namespace {

constexpr int64_t kPairs = 300;

/* An encode that is brighter from pair `at` on, and that fits a little worse in each tenth pair. */
PairFit fit_of(int64_t pair, int64_t at) {
  return {.frame = pair, .gain = 1, .offset = pair < at ? 0.0 : 8.0, .left = pair % 10 ? 0.02 : 0.03};
}

Breaks seen(int64_t from, int64_t end, int64_t at) {
  Breaks breaks;
  for (int64_t pair = from; pair < end; pair++) breaks.add(fit_of(pair, at));
  return breaks;
}

}  // namespace

START_TEST(the_first_pair_of_a_break_is_told) {
  const Breaks breaks = seen(0, kPairs, 120);
  ck_assert_int_eq(breaks.largest(60, 180).value(), 120);
  ck_assert_int_eq(breaks.largest(120, 120).value(), 120);
  ck_assert(!breaks.largest(0, 100) && !breaks.largest(140, kPairs));
}
END_TEST

/* Wherever they are divided: within a part, at its ends, where no part sees the break, and in parts of a few pairs. */
START_TEST(parts_have_the_breaks_of_one_run) {
  for (const std::vector<int64_t>& borders :
       {std::vector<int64_t>{100, 200}, {117, 123}, {118, 122}, {120}, {121}, {119}, {116}, {124}, {5, 120, 126}}) {
    std::vector<Break> breaks;
    std::vector<PairFit> ends;
    for (size_t i = 0; i <= borders.size(); i++) {
      const Breaks part = seen(i ? borders[i - 1] : 0, i < borders.size() ? borders[i] : kPairs, 120);
      breaks.insert(breaks.end(), part.all().begin(), part.all().end());
      const std::vector<PairFit> both = part.ends();
      ck_assert_uint_le(both.size(), 2 * (2 * Breaks::kReach - 1));
      ends.insert(ends.end(), both.begin(), both.end());
    }
    const Breaks joined = join_breaks(breaks, ends, borders);
    ck_assert_msg(joined.largest(60, 180) == 120, "borders from %d on", static_cast<int>(borders[0]));
  }
}
END_TEST

START_TEST(ends_are_all_pairs_of_a_short_part) {
  for (const int64_t pairs : {0, 1, 7, 10, 14, 15, 40}) {
    const std::vector<PairFit> ends = seen(0, pairs, 0).ends();
    ck_assert_int_eq(static_cast<int64_t>(ends.size()), std::min<int64_t>(pairs, 14));
    for (size_t i = 1; i < ends.size(); i++) ck_assert(ends[i - 1].frame < ends[i].frame);
    if (pairs) ck_assert(ends.front().frame == 0 && ends.back().frame == pairs - 1);
  }
}
END_TEST

int main() {
  return vmafx::test::run_suite("breaks", {{"first_pair", the_first_pair_of_a_break_is_told},
                                           {"parts", parts_have_the_breaks_of_one_run},
                                           {"ends", ends_are_all_pairs_of_a_short_part}});
}
