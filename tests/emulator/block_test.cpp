/* That the emulator stops kernels whose threads or blocks get into each other's way. */
#include <cstring>

#include "tests/emulator/harness.h"

using namespace vmafx::test;

namespace {

/* Runs a kernel whose one argument is memory to write. */
void run_simple(const char* kernel, unsigned blocks, unsigned threads = 64) {
  Session hip;
  hip.launch(kernel, blocks, threads, hip.zeros<uint64_t>(256));
  hip.wait();
}

}  // namespace

START_TEST(missing_barrier_is_caught) {
  for (const char* lanes : kLanes) {
    expect_stop({{"LANES", lanes}}, {"kernel test_missing_barrier", "row"},
                [] { run_simple("test_missing_barrier", 1); });
    expect_stop({{"LANES", lanes}},
                {"kernel test_overwritten_too_early", "race: store to byte", "shared array row", "read"},
                [] { run_simple("test_overwritten_too_early", 1); });
  }
}
END_TEST

START_TEST(barrier_not_for_all_is_caught) {
  expect_stop({}, {"kernel test_barrier_in_branch", "thread (40, 0, 0)", "40 of 64 threads"},
              [] { run_simple("test_barrier_in_branch", 1); });
  expect_stop({}, {"kernel test_shuffle_in_branch", "thread (0, 0, 0)", "32 of 64 lanes"},
              [] { run_simple("test_shuffle_in_branch", 1); });
}
END_TEST

START_TEST(wrong_use_of_shared_memory_is_caught) {
  expect_stop({}, {"kernel test_unwritten_shared", "thread (60, 0, 0)", "no thread has written"},
              [] { run_simple("test_unwritten_shared", 1); });
  expect_stop({}, {"kernel test_past_shared", "thread (63, 0, 0)", "outside any shared array"},
              [] { run_simple("test_past_shared", 1); });
  expect_stop({}, {"kernel test_too_much_shared", "rows of 53248 bytes"},
              [] { run_simple("test_too_much_shared", 1); });
}
END_TEST

START_TEST(assumption_of_32_lanes_shows) {
  int64_t want = 0;
  for (const int32_t n : numbers()) want += n;
  for (const char* lanes : kLanes)
    expect_good({{"LANES", lanes}}, [&] {
      Session hip;
      auto* sum = hip.zeros<uint64_t>(1);
      hip.launch("test_32_lanes", 1, 256, hip.uploaded(numbers()), sum);
      const bool is_right = hip.downloaded<int64_t>(sum, 1)[0] == want;
      Hip::expect(is_right == !std::strcmp(lanes, "32"), "right with 32 lanes and wrong with 64 was to be");
    });
}
END_TEST

START_TEST(partial_wave_is_caught) {
  expect_stop({}, {"kernel test_sum", "whole waves of 64"}, [] {
    Session hip;
    hip.launch("test_sum", 1, 96, hip.uploaded(numbers()), hip.zeros<uint64_t>(1));
    hip.wait();
  });
}
END_TEST

START_TEST(order_among_blocks_is_caught) {
  expect_stop({}, {"kernel test_blocks_in_order", "block (1, 0, 0)", "race: block 0 of the same launch wrote there"},
              [] { run_simple("test_blocks_in_order", 4); });
  expect_stop({}, {"kernel test_sum_without_atomic", "store", "of the same launch wrote there"},
              [] { run_simple("test_sum_without_atomic", 4); });
}
END_TEST

START_TEST(launch_beyond_limits_is_caught) {
  expect_stop({}, {"kernel test_missing_barrier", "declared for at most 64 threads"},
              [] { run_simple("test_missing_barrier", 1, 128); });
  expect_stop({}, {"kernel test_missing_barrier", "block's size"}, [] { run_simple("test_missing_barrier", 1, 2048); });
  expect_stop({}, {"kernel test_missing_barrier", "grid's size"}, [] { run_simple("test_missing_barrier", 0); });
  expect_stop({}, {"kernel test_missing_barrier", "1 x 65536 x 1 blocks", "grid's size"}, [] {
    Session hip;
    hip.try_launch("test_missing_barrier", 1, 65536, 64, 1, hip.device(1));
  });
}
END_TEST

int main() {
  return run_suite("hip_emulator_blocks",
                   {{"missing_barrier_is_caught", missing_barrier_is_caught},
                    {"barrier_not_for_all_is_caught", barrier_not_for_all_is_caught},
                    {"wrong_use_of_shared_memory_is_caught", wrong_use_of_shared_memory_is_caught},
                    {"assumption_of_32_lanes_shows", assumption_of_32_lanes_shows},
                    {"partial_wave_is_caught", partial_wave_is_caught},
                    {"order_among_blocks_is_caught", order_among_blocks_is_caught},
                    {"launch_beyond_limits_is_caught", launch_beyond_limits_is_caught}});
}
