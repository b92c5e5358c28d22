#include "base/cpu.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/support/check_main.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/base/cpu_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

int64_t running_target() { return HWY_TARGET; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {
namespace {

HWY_EXPORT(running_target);

std::string running() { return cpu_target_name(HWY_DYNAMIC_DISPATCH(running_target)()); }

}  // namespace
}  // namespace vmafx

using namespace vmafx;

/* The choice is made once per process, so all of this is one test: the worst of the machine's targets must really run,
 * whatever is asked about the others. */
START_TEST(the_chosen_level_runs) {
  const auto targets = runnable_cpu_targets();
  assert_text_eq(running(), cpu_target_name(targets.front()));
  const std::string wanted = cpu_target_name(targets.back());
  setenv("VMAFX_CPU", wanted.c_str(), 1);
  ck_assert(select_cpu().ok());
  ck_assert(!use_plain_cpu());
  assert_text_eq(running(), wanted);
  assert_text_eq(cpu_level(), wanted);
  assert_text_eq(running(), wanted);
  ck_assert_uint_eq(runnable_cpu_targets().size(), 1);
  assert_text_eq(running(), wanted);
}
END_TEST

/* The answer of a process with VMAFX_CPU=`wanted`: its level, or why it refuses. */
std::string answer_to(const char* wanted) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv("VMAFX_CPU", wanted, 1);
    const Status status = select_cpu();
    const std::string text =
        status.ok() ? running() + ", level " + cpu_level() + (use_avx_vnni() ? ", VNNI" : "") : status.message();
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text(1000, '\0');
  const ssize_t size = read(ends[0], text.data(), text.size());
  close(ends[0]);
  int status = 1;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
  text.resize(size);
  return text;
}

bool refuses(const std::string& level) {
  const std::string answer = answer_to(level.c_str());
  return answer.starts_with("VMAFX_CPU=" + level +
                            " is not a CPU level of this build and machine; use one of: plain, ") ||
         answer.starts_with("VMAFX_CPU=" + level + " names a CPU level that this build lacks");
}

/* Before a test of this process chooses. */
START_TEST(avx_vnni_is_a_level) {
  if (set_avx_vnni(true)) assert_text_eq(answer_to("AVX2_VNNI"), "avx2, level avx2_vnni, VNNI");
  else ck_assert(refuses("avx2_vnni"));
  const std::vector<std::string> levels = runnable_cpu_levels();
  const bool has_avx2 = std::ranges::find(levels, "avx2") != levels.end();
  if (has_avx2) assert_text_eq(answer_to("avx2"), "avx2, level avx2");
  else ck_assert(refuses("avx2"));
}
END_TEST

#ifdef VMAFX_LEVELS_LEFT_OUT
/* A level that --with-simd=native has left out is refused in other words than one that no build has. */
START_TEST(left_out_levels_are_named) {
  const std::string best = runnable_cpu_levels().front();
  for (int64_t left = VMAFX_LEVELS_LEFT_OUT; left; left &= left - 1) {
    const std::string level = cpu_target_name(left & -left);
    const std::string answer = answer_to(level.c_str());
    const std::string start = "VMAFX_CPU=" + level + " names a CPU level that this build lacks, as it was made for one";
    ck_assert_msg(answer.starts_with(start), "%s", answer.c_str());
    ck_assert_msg(answer.find("or use one of: plain, " + best) != std::string::npos, "%s", answer.c_str());
  }
  assert_text_eq(answer_to("mmx").substr(0, 32), "VMAFX_CPU=mmx is not a CPU level");
}
END_TEST
#endif

/* On x86 the documented ones, and those of plain C++, with every release of Highway. */
START_TEST(levels_are_the_documented_ones) {
#if HWY_ARCH_X86
  const std::set<std::string> known = {"scalar", "emu128", "sse2", "sse4", "avx2", "avx3", "avx3_dl"};
  for (int64_t left = HWY_TARGETS; left; left &= left - 1) {
    const std::string name = cpu_target_name(left & -left);
    ck_assert_msg(known.count(name) == 1, "%s", name.c_str());
  }
#endif
}
END_TEST

START_TEST(at_least_one_thread) { ck_assert_int_ge(usable_threads(), 1); }
END_TEST

int main() {
  return test::run_suite("cpu", {{"avx_vnni", avx_vnni_is_a_level},
#ifdef VMAFX_LEVELS_LEFT_OUT
                                 {"left_out", left_out_levels_are_named},
#endif
                                 {"level", the_chosen_level_runs},
                                 {"levels", levels_are_the_documented_ones},
                                 {"threads", at_least_one_thread}});
}
#endif
