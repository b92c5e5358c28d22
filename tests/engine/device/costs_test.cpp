/* When a GPU is opened beside a stream, and when the CPU scores beside it: streams are played with known costs, and
 * what they take is compared with what the CPU and the GPU take alone. */
#include "engine/device/costs.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

constexpr double kLight = 0.001, kHeavy = 0.025;  // seconds for a pair on 16 processors

StreamCosts costs_of(double cpu_pair, double gpu_pair, std::optional<int64_t> expected) {
  return {.cpu_pair = cpu_pair, .gpu_pair = gpu_pair, .expected = expected};
}

struct Played {
  double seconds;
  bool opened;
};

/* Plays a stream of so many pairs: the CPU scores them until the GPU is open. A GPU that opens at the end is waited
 * for. */
Played play(StreamCosts costs, int64_t pairs) {
  double now = 0;
  for (costs.seen = 0; costs.seen < pairs; costs.seen++, now += costs.cpu_pair) {
    if (!pays_to_open(costs)) continue;
    const double open = now + costs.opening;
    const int64_t meanwhile = std::min<int64_t>(pairs - costs.seen, std::llround(costs.opening / costs.cpu_pair));
    const double scored = now + static_cast<double>(meanwhile) * costs.cpu_pair;
    const double rest = static_cast<double>(pairs - costs.seen - meanwhile) * time_on_gpu(costs);
    return {std::max(open, scored) + rest + costs.closing, true};
  }
  return {now, false};
}

double on_gpu(const StreamCosts& costs, int64_t pairs) {
  return costs.opening + static_cast<double>(pairs) * time_on_gpu(costs) + costs.closing;
}

}  // namespace

/* With the length and the costs known, `auto` takes what the better of both takes, and is faster where both share. */
START_TEST(known_streams_take_the_better_time) {
  for (const double cpu_pair : {0.0002, kLight, 0.004, kHeavy, 0.4})
    for (const double factor : {0.9, 0.5, 0.12, 0.01})
      for (int64_t pairs = 2; pairs <= 100000; pairs += pairs / 2) {
        const StreamCosts costs = costs_of(cpu_pair, factor * cpu_pair, pairs);
        const double best = std::min(static_cast<double>(pairs) * cpu_pair, on_gpu(costs, pairs));
        const Played played = play(costs, pairs);
        ck_assert_msg(played.seconds <= 1.03 * best + cpu_pair, "%lld pairs of %g s, %g times on the GPU: %g of %g s",
                      static_cast<long long>(pairs), cpu_pair, factor, played.seconds, best);
      }
}
END_TEST

/* Without the length, opening is a bet that the stream goes on as long again. */
START_TEST(unknown_streams_take_twice_as_long_at_most) {
  for (const double cpu_pair : {kLight, kHeavy, 0.4})
    for (int64_t pairs = 2; pairs <= 100000; pairs += pairs / 2) {
      const StreamCosts costs = costs_of(cpu_pair, 0.12 * cpu_pair, std::nullopt);
      const double best = std::min(static_cast<double>(pairs) * cpu_pair, on_gpu(costs, pairs));
      ck_assert_double_le(play(costs, pairs).seconds, 2.2 * best + cpu_pair);
      if (best > 100) ck_assert_double_le(play(costs, pairs).seconds, 1.03 * best);
    }
}
END_TEST

START_TEST(short_streams_do_not_start_a_driver) {
  ck_assert(!play(costs_of(kLight, kLight / 8, 300), 300).opened);
  ck_assert(!play(costs_of(kLight, kLight / 8, std::nullopt), 300).opened);
  ck_assert(play(costs_of(kLight, kLight / 8, 1200), 1200).opened);
  ck_assert(play(costs_of(kHeavy, kHeavy / 8, 50), 50).opened);
  ck_assert(!play(costs_of(kHeavy, kHeavy / 8, 2), 2).opened);
}
END_TEST

/* A decoder that is slower than the CPU leaves nothing to gain, unless it lacks the processors that score. */
START_TEST(slow_sources_gain_from_free_processors_alone) {
  StreamCosts costs = costs_of(0.004, 0.0005, 5000);
  costs.source_pair = 0.004;
  ck_assert(!pays_to_open(costs));
  costs.relief = 0.001;
  ck_assert(pays_to_open(costs));
  costs.expected = 150;
  ck_assert(!pays_to_open(costs));
}
END_TEST

START_TEST(others_have_their_turn) {
  StreamCosts costs = costs_of(0.065, 0.0005, 52);
  const double alone = gain_of_opening(costs);
  ck_assert(pays_to_open(costs));
  costs.openers = 2;
  ck_assert(pays_to_open(costs) && gain_of_opening(costs) < alone);
  costs.openers = 8;
  ck_assert(!pays_to_open(costs));
  costs = costs_of(0.002, 0.0005, 10000);
  costs.users = 6;
  ck_assert(!pays_to_open(costs));
}
END_TEST

/* As good as known, where streams are alike. */
START_TEST(usual_streams_are_known) {
  StreamCosts costs = costs_of(kLight, kLight / 8, std::nullopt);
  costs.usual = 1200;
  ck_assert_double_le(play(costs, 1200).seconds, 1.03 * on_gpu(costs, 1200));
  costs.usual = 300;
  ck_assert(!play(costs, 300).opened);
  ck_assert(play(costs, 3000).opened);
}
END_TEST

START_TEST(streams_longer_than_expected_go_on_growing) {
  StreamCosts costs = costs_of(kHeavy, kHeavy / 8, 10);
  costs.seen = 10;
  ck_assert_int_eq(pairs_left(costs), 0);
  costs.seen = 1000;
  ck_assert_int_eq(pairs_left(costs), 990);
  ck_assert(pays_to_open(costs));
}
END_TEST

/* 16 processes of one thread on 16 processors: 52 pairs took 1.3 s on the CPU, and 300 took 9. */
START_TEST(opening_takes_longer_beside_others) {
  StreamCosts costs = {.cpu_pair = 0.026, .gpu_pair = 0.0007, .opening = 0.34, .expected = 52};
  ck_assert(pays_to_open(costs));
  costs.few_threads = true;
  ck_assert(!pays_to_open(costs));
  costs.expected = 300;
  for (costs.openers = 0; costs.openers < 16; costs.openers++) ck_assert(pays_to_open(costs));
}
END_TEST

/* On an H200, opening took 0.34 s, and 0.44 s beside a CPU that scored; with many heavy metrics 0.33 and up to 0.7. */
START_TEST(a_cpu_that_is_much_slower_waits) {
  StreamCosts costs = {.cpu_pair = 0.047, .gpu_pair = 0.0034, .opening = 0.34, .expected = 50};
  ck_assert(leaves_to_gpu(costs, {}));
  ck_assert(leaves_to_gpu(costs, {.lasts = 0.6}));
  ck_assert(!leaves_to_gpu(costs, {.lasts = 0.68}));  // the driver takes much longer than it did
  /* A stream that has ended sooner than was thought. */
  ck_assert(!leaves_to_gpu(costs, {.lasts = 0.01, .waiting = 5, .ends = true}));
  ck_assert(leaves_to_gpu(costs, {.lasts = 0.01, .waiting = 20, .ends = true}));
  const auto with = [&](auto change) {
    StreamCosts changed = costs;
    change(changed);
    return leaves_to_gpu(changed, {});
  };
  ck_assert(!with([](StreamCosts& c) { c.expected = 5; }));
  ck_assert(!with([](StreamCosts& c) { c.expected.reset(); }));
  ck_assert(with([](StreamCosts& c) { c.expected.reset(), c.usual = 50; }));
  ck_assert(!with([](StreamCosts& c) { c.gpu_pair = 0.02; }));
  ck_assert(!with([](StreamCosts& c) { c.source_pair = 0.04; }));  // a decoder would have to stop
  ck_assert(!with([](StreamCosts& c) { c.gpu_pair = 0; }));
  ck_assert(!with([](StreamCosts& c) { c.openers = 1; }));
  ck_assert(!with([](StreamCosts& c) { c.users = 1; }));
  ck_assert(!with([](StreamCosts& c) { c.few_threads = true; }));
}
END_TEST

START_TEST(the_cpu_helps_where_it_is_in_time) {
  SharedCosts costs = {.cpu_pair = 0.004, .gpu_pair = 0.002, .elapsed = 10, .idle = 0.9, .least = 16, .room = 200};
  ck_assert_int_eq(pairs_for_cpu(costs), 16);
  costs.left = 20;  // the GPU is done with them sooner
  ck_assert_int_eq(pairs_for_cpu(costs), 0);
  costs.left = 1000;
  ck_assert_int_eq(pairs_for_cpu(costs), 16);
  costs.room = 20;
  ck_assert_int_eq(pairs_for_cpu(costs), 0);
  costs.room = 200;
  costs.idle = 0.2;
  ck_assert_int_eq(pairs_for_cpu(costs), 0);
  costs.idle = 0.9;
  costs.gpu_pair = 0.0005;  // the CPU would add little
  ck_assert_int_eq(pairs_for_cpu(costs), 0);
  costs = {.cpu_pair = 0.004, .gpu_pair = 0.002, .elapsed = 1, .idle = 0.9, .least = 16, .room = 200};
  ck_assert_int_eq(pairs_for_cpu(costs), 0);  // nobody knows how soon the stream ends
}
END_TEST

int main() {
  return vmafx::test::run_suite("costs", {{"beside_others", opening_takes_longer_beside_others},
                                          {"waits", a_cpu_that_is_much_slower_waits},
                                          {"known", known_streams_take_the_better_time},
                                          {"unknown", unknown_streams_take_twice_as_long_at_most},
                                          {"short", short_streams_do_not_start_a_driver},
                                          {"source", slow_sources_gain_from_free_processors_alone},
                                          {"others", others_have_their_turn},
                                          {"usual", usual_streams_are_known},
                                          {"longer", streams_longer_than_expected_go_on_growing},
                                          {"share", the_cpu_helps_where_it_is_in_time}});
}
