/* Opening a device on the emulator, where the known-answer kernel really runs: at both wave sizes, and with each
 * call made to fail and to hang. The emulator is set up once per process, so each case is this program run again. */
#include "hip/device.h"

#include <check.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/support/check_main.h"

using namespace vmafx;

namespace {

/* The case itself: opens `choice`, says what came of it. */
int open_and_tell(const char* choice) {
  const auto opened = hip::open_device(choice, {std::chrono::milliseconds(60)});
  if (opened.ok()) {
    const hip::OpenedDevice& device = opened.value();
    std::printf("%s %s %d lanes", device.pci_address.c_str(), device.arch.c_str(), device.wave_size);
    return 0;
  }
  std::printf("%d %s", opened.status().code(), opened.status().message().c_str());
  return 1;
}

struct Outcome {
  bool opened = false;
  std::string text;
};

/* Runs `VARIABLES this-program CHOICE`. The emulator ends a program that misuses it or leaves things behind, and so
 * fails the test. */
Outcome run(const std::string& variables, const std::string& choice = "auto") {
  char self[4096] = "";
  ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
  const std::string command = "VMAFX_HIP_RUNTIME=" HIP_EMULATOR " VMAFX_HIP_EMULATOR_THREADS=1 " + variables + " '" +
                              self + "' '" + choice + "' 2>&1";
  FILE* output = popen(command.c_str(), "r");
  ck_assert_ptr_nonnull(output);
  Outcome outcome;
  char text[4096];
  while (std::fgets(text, sizeof text, output)) outcome.text += text;
  const int status = pclose(output);
  ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "%s: %s", variables.c_str(), outcome.text.c_str());
  outcome.opened = WEXITSTATUS(status) == 0;
  return outcome;
}

std::string emulator(const char* name, const std::string& value) {
  return std::string("VMAFX_HIP_EMULATOR_") + name + "=" + value;
}

int count_calls() {
  char path[] = "/tmp/vmafx_calls_XXXXXX";
  close(mkstemp(path));
  ck_assert(run(emulator("CALLS", path)).opened);
  int calls = 0;
  FILE* file = std::fopen(path, "r");
  ck_assert(file && std::fscanf(file, "%d", &calls) == 1);
  std::fclose(file);
  unlink(path);
  return calls;
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

START_TEST(each_call_may_fail) {
  const int calls = count_calls();
  ck_assert_int_ge(calls, 40);
  int failures = 0;
  for (int k = 1; k <= calls; k++)
    for (const char* how : {"memory", "launch", "lost"})
      failures += !run(emulator("FAIL", std::to_string(k) + ":" + how)).opened;
  ck_assert_int_ge(failures, calls);
}
END_TEST

START_TEST(each_call_may_hang) {
  const int calls = count_calls();
  int failures = 0;
  for (int k = 1; k <= calls; k++) {
    const Outcome outcome = run(emulator("HANG", std::to_string(k)));
    if (outcome.opened) continue;
    failures++;
    assert_contains(outcome.text, std::to_string(ETIMEDOUT) + " the device emulator");
    assert_contains(outcome.text, "did not answer within 60 ms");
  }
  ck_assert_int_ge(failures, calls / 2);
}
END_TEST

int main(int argc, char** argv) {
  if (argc > 1) return open_and_tell(argv[1]);
  return vmafx::test::run_suite("open", {{"lanes", the_self_test_runs_at_both_wave_sizes},
                                         {"choice", the_choice_is_followed},
                                         {"failures", each_call_may_fail},
                                         {"hangs", each_call_may_hang}});
}
