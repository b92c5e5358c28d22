#include "report/scores.h"

#include <check.h>

#include <cmath>
#include <limits>

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
  ck_assert_int_eq(table.next_kept(3), 3);
  ck_assert_int_eq(table.next_kept(255), 255);
  ck_assert_int_eq(table.next_kept(256), 512);  // the chunk of frame 700
  ck_assert_int_eq(table.next_kept(600), 600);
  ck_assert_int_eq(table.next_kept(600, 7), 602);
  ck_assert_int_eq(table.next_kept(256, 7), 518);
  ck_assert(table.next_kept(768) >= table.frames());

  /* A gap takes neither memory nor time, however long it is; what comes late is found, too. */
  const int64_t far = int64_t{1} << 50;
  table.put(far + 5, 0, 7);
  table.put(5000, 0, 8);
  ck_assert_int_eq(table.next_kept(768), 5000 / 256 * 256);
  ck_assert_int_eq(table.next_kept(5120), far);
  ck_assert(table.get(far + 5, 0) == 7 && table.get(5000, 0) == 8 && !table.get(far, 0) && !table.get(6000, 0));
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

/* In chunks of 256 frames, and what they were is summed up. */
START_TEST(what_is_forgotten_is_summed_up) {
  ScoreTable table({"a", "b"});
  for (int64_t frame = 0; frame < 600; frame++) {
    if (frame % 2) table.put(frame, 0, static_cast<double>(frame));
    table.set_time(frame, static_cast<double>(frame) / 25);
  }
  table.put(100, 1, std::numeric_limits<double>::infinity());
  table.forget_before(255, 1);
  ck_assert_int_eq(table.kept_from(), 0);
  ck_assert_double_eq(*table.get(1, 0), 1);
  table.forget_before(599, 1);
  ck_assert_int_eq(table.kept_from(), 512);
  ck_assert_int_eq(table.frames(), 600);
  ck_assert(!table.get(511, 0) && !table.has_scores(511) && !table.time(511) && table.has_times());
  ck_assert_double_eq(*table.get(513, 0), 513);
  ck_assert_double_eq(*table.time(512), 512. / 25);
  const ScoreSums &a = table.forgotten(0), &b = table.forgotten(1);
  ck_assert(a.count == 256 && a.not_finite == 0 && b.count == 0 && b.not_finite == 1 && std::isinf(b.infinity));
  ck_assert(a.least == 1 && a.most == 511);
  ck_assert_double_eq(a.sum, 256 * 256);
  double inverses = 0;
  for (int frame = 1; frame < 512; frame += 2) inverses += 1. / (frame + 1.);
  ck_assert_double_eq(a.inverses, inverses);
  table.put(514, 0, 1);   // neither this one nor any other but each third is scored from here on
  table.put(5000, 0, 1);  // behind a gap without any frame
  table.forget_before(4990, 3);
  ck_assert_int_eq(table.kept_from(), 4864);
  ck_assert_int_eq(table.forgotten(0).count, 256 + 15);
  ck_assert_double_eq(*table.get(5000, 0), 1);
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
                                           {"forget", what_is_forgotten_is_summed_up},
                                           {"aggregates", aggregates_keep_their_order}});
}
