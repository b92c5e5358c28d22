/* Opening a device on the emulator, where the known-answer kernel really runs: at both wave sizes, and with each
 * call made to fail and to hang. Each case is this program run again. */
#include "hip/device.h"

#include <check.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/check_main.h"
#include "tests/support/emulator.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

/* The case itself: opens `choice`, which must answer within so many milliseconds, and says what came of it. */
int open_and_tell(const char* choice, const char* deadline) {
  const auto opened = hip::open_device(choice, {std::chrono::milliseconds(std::atoi(deadline))});
  if (opened.ok()) {
    const hip::OpenedDevice& device = opened.value();
    std::printf("%s %s %d lanes", device.pci_address.c_str(), device.arch.c_str(), device.wave_size);
    return 0;
  }
  std::printf("%d %s", opened.status().code(), opened.status().message().c_str());
  return 1;
}

/* A busy machine may take long; a call that hangs takes all of it. */
constexpr const char *kPatience = "60000", *kImpatience = "60";

Rerun run(const std::string& variables, const std::string& choice = "auto", const char* deadline = kPatience) {
  return run_again(variables, choice + " " + deadline);
}

}  // namespace

START_TEST(the_self_test_runs_at_both_wave_sizes) {
  assert_text_eq(run(emulator("LANES", "32")).text, "0000:03:00.0 emulator 32 lanes");
  assert_text_eq(run(emulator("LANES", "64")).text, "0000:03:00.0 emulator 64 lanes");
}
END_TEST

START_TEST(the_choice_is_followed) {
  const std::string two = emulator("DEVICES", "integrated@0000:0a:00.0,discrete@0000:03:00.0");
  assert_contains(run(two).text, "0000:03:00.0 ");
  assert_contains(run(two, "0").text, "0000:0a:00.0 ");
  assert_contains(run(two, "0000:0A:00.0").text, "0000:0a:00.0 ");
  assert_contains(run(two, "2").text, "there is no device '2'; there are: 0 = emulator 0");
  assert_contains(run(emulator("DEVICES", "none")).text, "has no device");
}
END_TEST

/* The places of devices that are as good are taken by turns. */
START_TEST(the_least_used_device_is_chosen) {
  char folder[] = "/tmp/vmafx_places_XXXXXX";
  ck_assert(mkdtemp(folder));
  const std::string shared = std::string("VMAFX_DEVICE_PLACES=2 VMAFX_DEVICE_PLACE_DIR=") + folder + " ";
  const std::string two = shared + emulator("DEVICES", "discrete@0000:03:00.0,discrete@0000:0a:00.0");
  const std::vector<std::string> first = {"0000:03:00.0"}, second = {"0000:0a:00.0"};
  assert_contains(run(two).text, "0000:03:00.0 ");
  auto on_first = take_device_place(folder, first, 2);
  assert_contains(run(two).text, "0000:0a:00.0 ");
  assert_contains(run(two, "0").text, "0000:03:00.0 ");  // as named
  const auto on_second = take_device_place(folder, second, 2), again = take_device_place(folder, second, 2);
  assert_contains(run(two).text, "0000:03:00.0 ");
  const auto last = take_device_place(folder, first, 2);
  const Rerun full = run(two);
  ck_assert(!full.succeeded);
  assert_contains(full.text, std::to_string(EBUSY) + " 0 = emulator 0 (");
  assert_contains(full.text, "other processes use it, as many as it has room for (2; ");
  on_first.value().reset();
  ck_assert(run(two).succeeded);
  std::filesystem::remove_all(folder);
}
END_TEST

START_TEST(each_call_may_fail) {
  const int calls = count_calls(std::string("auto ") + kPatience);
  ck_assert_int_ge(calls, 40);
  int failures = 0;
  for (int k = 1; k <= calls; k++)
    for (const char* how : {"memory", "launch", "lost"})
      failures += !run(emulator("FAIL", std::to_string(k) + ":" + how)).succeeded;
  ck_assert_int_ge(failures, calls);
}
END_TEST

START_TEST(each_call_may_hang) {
  const int calls = count_calls(std::string("auto ") + kPatience);
  int failures = 0;
  for (int k = 1; k <= calls; k++) {
    const Rerun outcome = run(emulator("HANG", std::to_string(k)), "auto", kImpatience);
    if (outcome.succeeded) continue;
    failures++;
    assert_contains(outcome.text, std::to_string(ETIMEDOUT) + " the device emulator");
    assert_contains(outcome.text, "did not answer within 60 ms");
  }
  ck_assert_int_ge(failures, calls / 2);
}
END_TEST

int main(int argc, char** argv) {
  if (argc > 2) return open_and_tell(argv[1], argv[2]);
  return vmafx::test::run_suite("open", {{"lanes", the_self_test_runs_at_both_wave_sizes},
                                         {"choice", the_choice_is_followed},
                                         {"places", the_least_used_device_is_chosen},
                                         {"failures", each_call_may_fail},
                                         {"hangs", each_call_may_hang}});
}
