#include "base/cpu.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cctype>
#include <cerrno>
#include <mutex>

#include <hwy/highway.h>

#include "base/system/environment.h"
#include "base/system/process.h"

namespace vmafx {
namespace {

struct Choice {
  Status status;
  bool reference = false;
};

/* The targets of this build that may be used. Asking Highway (1.0.3) has a side effect: it points the dispatch at all
 * that the machine has, also at what DisableTargets() switched off. So the dispatch is set again each time. A build
 * with one target has no dispatch, and nothing to ask for: on an arm64 processor without AES instructions, such as the
 * Raspberry Pi 4's, Highway would name none, and print a warning. */
int64_t usable_targets() {
  if constexpr (((HWY_TARGETS) & ((HWY_TARGETS)-1)) == 0) return HWY_TARGETS;
  const int64_t targets = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(targets);
  return targets & (HWY_TARGETS);
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

constexpr char kAvx2Vnni[] = "avx2_vnni";

bool has_avx_vnni() {
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  return __builtin_cpu_supports("avxvnni") && (HWY_TARGETS & HWY_AVX2);
#else
  return false;
#endif
}

std::atomic<bool>& avx_vnni() {
  static std::atomic<bool> use = has_avx_vnni();
  return use;
}

std::string known_levels() {
  std::string names = "plain";
  for (const std::string& level : runnable_cpu_levels()) names += ", " + level;
  return names;
}

/* Whether `level` names code that --with-simd=native has left out of this build. */
bool was_left_out(const std::string& level) {
#ifdef VMAFX_LEVELS_LEFT_OUT
  if (level == kAvx2Vnni) return was_left_out("avx2");
  for (int64_t left = VMAFX_LEVELS_LEFT_OUT; left; left &= left - 1)
    if (cpu_target_name(left & -left) == level) return true;
#else
  (void)level;
#endif
  return false;
}

Choice choose() {
  const char* variable = environment("VMAFX_CPU");
  const std::string wanted = lower(variable ? variable : "");
  if (wanted.empty()) return {};
  if (wanted == "plain") return {{}, true};
  for (const int64_t target : runnable_cpu_targets()) {
    const bool with_vnni = target == HWY_AVX2 && has_avx_vnni() && wanted == kAvx2Vnni;
    if (!with_vnni && cpu_target_name(target) != wanted) continue;
    /* Better targets have lower bits: switch off all below the one that was asked for. */
    hwy::DisableTargets(target - 1);
    usable_targets();
    avx_vnni() = with_vnni;
    return {};
  }
  if (was_left_out(wanted))
    return {error(EINVAL,
                  "VMAFX_CPU=%s names a CPU level that this build lacks, as it was made for one processor "
                  "(--with-simd=native): build with all levels, as './quickstart build' does, or use one of: %s",
                  variable, known_levels().c_str())};
  return {error(EINVAL, "VMAFX_CPU=%s is not a CPU level of this build and machine; use one of: %s", variable,
                known_levels().c_str())};
}

const Choice& choice() {
  static const Choice made = choose();  // initialized once, thread-safe
  return made;
}

}  // namespace

Status select_cpu() { return choice().status; }

bool use_plain_cpu() { return choice().reference; }

bool use_avx_vnni() { return avx_vnni(); }

bool set_avx_vnni(bool use) {
  if (use && !has_avx_vnni()) return false;
  avx_vnni() = use;
  return true;
}

std::string cpu_level() { return use_plain_cpu() ? "plain" : runnable_cpu_levels().front(); }

std::vector<std::string> runnable_cpu_levels() {
  std::vector<std::string> levels;
  for (const int64_t target : runnable_cpu_targets()) {
    if (target == HWY_AVX2 && use_avx_vnni()) levels.push_back(kAvx2Vnni);
    levels.push_back(cpu_target_name(target));
  }
  return levels;
}

std::vector<int64_t> runnable_cpu_targets() {
  std::vector<int64_t> targets;
  for (int64_t left = usable_targets(); left; left &= left - 1) targets.push_back(left & -left);
  return targets;
}

std::string cpu_target_name(int64_t target) { return lower(hwy::TargetName(target)); }

int usable_threads() { return std::clamp(system::usable_processors(), 1, kMostThreads); }

}  // namespace vmafx
