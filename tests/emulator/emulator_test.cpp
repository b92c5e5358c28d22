/* That the emulator runs right kernels right, and stops those that touch memory they must not. */
#include "tests/emulator/blur.h"

using namespace vmafx::test;

/* -- What is right ------------------------------------------------------------------------------------------------- */

START_TEST(right_kernels_run_right) {
  for (const char* lanes : kLanes)
    for (const auto& [w, h] : {std::pair{1, 1}, {33, 9}, {64, 64}, {317, 121}})
      expect_good({{"LANES", lanes}}, [w = w, h = h] { check_blur(w, h); });
}
END_TEST

START_TEST(sums_do_not_depend_on_lanes) {
  int64_t want = 0;
  for (const int32_t n : numbers()) want += n;
  for (const char* lanes : kLanes)
    expect_good({{"LANES", lanes}}, [&] {
      Session hip;
      auto* sum = hip.zeros<uint64_t>(1);
      hip.launch("test_sum", 1, 256, hip.uploaded(numbers()), sum);
      Hip::expect(hip.downloaded<int64_t>(sum, 1)[0] == want, "wrong sum");
    });
}
END_TEST

START_TEST(packs_are_loaded_and_stored) {
  expect_good({}, [] {
    std::vector<uint16_t> a(1000), b(1000), want(1000);
    for (int i = 0; i < 1000; i++) a[i] = i, b[i] = 3 * i, want[i] = 4 * i;
    Session hip;
    void* out = hip.device(2000);
    hip.launch("test_add", 2, 128, hip.uploaded(a), hip.uploaded(b), out, 1000);
    Hip::expect(hip.downloaded<uint16_t>(out, 1000) == want, "wrong values");
  });
}
END_TEST

/* -- Memory -------------------------------------------------------------------------------------------------------- */

/* A write of a launch long ago does not race, even if two blocks share a word of what is written now. */
START_TEST(launches_long_ago_are_forgotten) {
  expect_good({{"THREADS", "1"}}, [] {
    constexpr int kW = 33, kH = 9, kLaunches = 63; /* as many as there are tags */
    Session hip;
    auto* out = hip.zeros<uint16_t>(kW * kH);
    auto* sums = hip.zeros<uint64_t>(2);
    const Picture in{hip.uploaded(random_picture(kW, kH)), kW, kW, kH};
    const void* elsewhere = hip.uploaded(numbers());
    const auto blur = [&] { return hip.try_launch("test_blur", 2, 2, 32, 8, in, out, sums); };
    Hip::expect(blur() == kSuccess, "launch failed");
    for (int i = 1; i < kLaunches; i++) copy_64(hip, elsewhere, 0);
    Hip::expect(blur() == kSuccess, "launch failed");
    hip.wait();
  });
}
END_TEST

START_TEST(host_pointer_as_argument_is_caught) {
  expect_stop({}, {"kernel test_copy_pointers", "argument 0", "not a device pointer", "in memory of the host"}, [] {
    Session hip;
    hip.launch("test_copy_pointers", 1, 64, numbers().data(), hip.device(256));
  });
}
END_TEST

START_TEST(host_picture_is_caught) {
  expect_stop({}, {"kernel test_blur", "load at", "in memory of the host"}, [] {
    const std::vector<uint8_t> samples = random_picture(64, 64);
    Session hip;
    hip.try_launch("test_blur", 2, 8, 32, 8, Picture{samples.data(), 64, 64, 64}, hip.device(64 * 64 * 2),
                   hip.zeros<uint64_t>(2));
    hip.wait();
  });
}
END_TEST

START_TEST(pinned_memory_is_no_device_memory) {
  expect_stop({}, {"kernel test_copy", "thread (0, 0, 0)", "in pinned memory of the host"}, [] {
    Session hip;
    copy_64(hip, hip.host<int32_t>(64), 0);
  });
}
END_TEST

START_TEST(null_is_caught) {
  expect_stop({}, {"kernel test_copy", "near null"}, [] {
    Session hip;
    copy_64(hip, nullptr, 0);
  });
}
END_TEST

START_TEST(tap_past_the_table_is_caught) {
  expect_good({}, [] {
    Session hip;
    hip.launch("test_table", 1, 64, hip.device(256), 5);
  });
  expect_stop({}, {"kernel test_table", "4-byte load", "0 bytes past the end of table", "kTaps (20 bytes)"}, [] {
    Session hip;
    hip.launch("test_table", 1, 64, hip.device(256), 6);
    hip.wait();
  });
}
END_TEST

START_TEST(load_past_the_end_is_caught) {
  expect_stop({}, {"kernel test_copy", "thread (63, 0, 0)", "0 bytes past the end of allocation #1 (256 bytes)"}, [] {
    Session hip;
    copy_64(hip, hip.uploaded(std::vector<int32_t>(64)), 1);
  });
  expect_stop({}, {"kernel test_copy", "thread (0, 0, 0)", "past the end of allocation #1 (256 bytes)"}, [] {
    Session hip;
    hip.uploaded(std::vector<int32_t>(64));
    copy_64(hip, hip.uploaded(std::vector<int32_t>(64)), -1);
  });
}
END_TEST

START_TEST(store_past_the_end_is_caught) {
  expect_stop({}, {"kernel test_copy", "4-byte store", "past the end of allocation #2 (252 bytes)"}, [] {
    Session hip;
    const auto* in = hip.uploaded(std::vector<int32_t>(64));
    hip.launch("test_copy", 1, 64, CopyArgs{in, hip.device(252), 0});
    hip.wait();
  });
}
END_TEST

/* As when the next scale is filtered before the decimation wrote it. */
START_TEST(unwritten_memory_is_caught) {
  expect_stop({}, {"kernel test_copy", "load", "never written", "at byte 0 of allocation #1"}, [] {
    Session hip;
    copy_64(hip, hip.device(256), 0);
  });
  expect_stop({}, {"hipMemcpyDtoHAsync", "never written"}, [] {
    Session hip;
    hip.downloaded<int32_t>(hip.device(256), 64);
  });
}
END_TEST

START_TEST(use_after_free_is_caught) {
  expect_stop({}, {"kernel test_copy", "at byte 0 of allocation #1 (256 bytes, freed)"}, [] {
    Session hip;
    void* in = hip.allocate(256);
    hip.must("hipMemsetD32Async", in, 0, size_t{64}, hip.main_stream());
    hip.must("hipFree", in);
    copy_64(hip, in, 0);
  });
}
END_TEST

START_TEST(misaligned_pack_is_caught) {
  expect_stop({}, {"kernel test_misaligned", "not a multiple"}, [] {
    Session hip;
    hip.launch("test_misaligned", 1, 64, hip.zeros<uint8_t>(1024), hip.device(512));
    hip.wait();
  });
}
END_TEST

START_TEST(host_code_touching_device_memory_is_caught) {
  expect_stop({}, {"host code touches device memory", "at byte 8 of allocation #1 (64 bytes)"}, [] {
    Session hip;
    auto* memory = hip.zeros<volatile uint64_t>(8);
    hip.wait();
    memory[1] = 1;
  });
}
END_TEST

START_TEST(copies_past_the_end_are_caught) {
  expect_stop({}, {"hipMemcpyHtoDAsync", "not all inside one device allocation"}, [] {
    Session hip;
    hip.must("hipMemcpyHtoDAsync", hip.device(64), static_cast<const void*>(numbers().data()), size_t{65},
             hip.main_stream());
  });
  expect_stop({}, {"hipMemcpyHtoDAsync", "only 64 lie in the pinned allocation"}, [] {
    Session hip;
    hip.must("hipMemcpyHtoDAsync", hip.device(65), static_cast<const void*>(hip.host<uint8_t>(64)), size_t{65},
             hip.main_stream());
  });
}
END_TEST

int main() {
  return run_suite("hip_emulator",
                   {{"right_kernels_run_right", right_kernels_run_right},
                    {"sums_do_not_depend_on_lanes", sums_do_not_depend_on_lanes},
                    {"packs_are_loaded_and_stored", packs_are_loaded_and_stored},
                    {"host_pointer_as_argument_is_caught", host_pointer_as_argument_is_caught},
                    {"host_picture_is_caught", host_picture_is_caught},
                    {"launches_long_ago_are_forgotten", launches_long_ago_are_forgotten},
                    {"pinned_memory_is_no_device_memory", pinned_memory_is_no_device_memory},
                    {"null_is_caught", null_is_caught},
                    {"tap_past_the_table_is_caught", tap_past_the_table_is_caught},
                    {"load_past_the_end_is_caught", load_past_the_end_is_caught},
                    {"store_past_the_end_is_caught", store_past_the_end_is_caught},
                    {"unwritten_memory_is_caught", unwritten_memory_is_caught},
                    {"use_after_free_is_caught", use_after_free_is_caught},
                    {"misaligned_pack_is_caught", misaligned_pack_is_caught},
                    {"host_code_touching_device_memory_is_caught", host_code_touching_device_memory_is_caught},
                    {"copies_past_the_end_are_caught", copies_past_the_end_are_caught}});
}
