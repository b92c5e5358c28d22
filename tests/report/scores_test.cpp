#include "report/scores.h"

#include <check.h>

#include "tests/support/check_main.h"

using namespace vmafx;

START_TEST(holds_what_was_put) {
  ScoreTable table({"a", "b", "c"});
  ck_assert_int_eq(table.frames(), 0);
  ck_assert(!table.get(0, 0) && !table.has_scores(0));
  for (int64_t frame = 0; frame < 1000; frame++)
    for (int column = 0; column < 3; column++)
      if ((frame + column) % 2) table.put(frame, column, frame * 3. + column);
  ck_assert_int_eq(table.frames(), 1000);
  for (int64_t frame = 0; frame < 1000; frame++)
    for (int column = 0; column < 3; column++) {
      const auto score = table.get(frame, column);
      ck_assert_int_eq(score.has_value(), (frame + column) % 2);
      if (score) ck_assert_double_eq(*score, frame * 3. + column);
    }
}
END_TEST

START_TEST(frames_may_come_late) {
  ScoreTable table({"a", "b"});
  table.put(700, 1, 7);
  table.put(3, 0, 3);
  ck_assert_int_eq(table.frames(), 701);
  ck_assert(table.has_scores(3) && table.has_scores(700) && !table.has_scores(4) && !table.has_scores(300));
  ck_assert(!table.get(300, 0) && !table.get(700, 0));
  ck_assert_double_eq(*table.get(700, 1), 7);
  table.put(3, 0, 4);
  ck_assert_double_eq(*table.get(3, 0), 4);
}
END_TEST

START_TEST(outside_there_is_nothing) {
  ScoreTable table({"a"});
  table.put(0, 0, 1);
  ck_assert(!table.get(-1, 0) && !table.get(1, 0) && !table.get(0, -1) && !table.get(0, 1));
  ck_assert(!table.has_scores(-1) && !table.has_scores(1));
}
END_TEST

START_TEST(aggregates_keep_their_order) {
  ScoreTable table({});
  table.set_aggregate("apsnr_y", 1);
  table.set_aggregate("apsnr_cb", 2);
  table.set_aggregate("apsnr_y", 3);
  ck_assert_int_eq(table.aggregates().size(), 2);
  assert_text_eq(table.aggregates()[0].first, "apsnr_y");
  ck_assert_double_eq(table.aggregates()[0].second, 3);
}
END_TEST

int main() {
  return vmafx::test::run_suite("scores", {{"put", holds_what_was_put},
                                           {"late", frames_may_come_late},
                                           {"outside", outside_there_is_nothing},
                                           {"aggregates", aggregates_keep_their_order}});
}
