/* The CPU code that runs: the plain definition (`plain`), or the SIMD twin on some instruction set.
 *
 * The environment variable VMAFX_CPU names the best instruction set that may be used: `plain`, or a Highway target that
 * this build carries, in any case (`sse2`, `sse4`, `avx2`, `avx3`, …, `neon`, …), or `avx2_vnni`, see use_avx_vnni().
 * Unset or empty: the best one the machine has. It is read once per process, when the first session opens. */
#ifndef VMAFX_BASE_CPU_H
#define VMAFX_BASE_CPU_H

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace vmafx {

/* Reads VMAFX_CPU and limits Highway's dispatch to it. EINVAL for a name that is unknown or that this machine cannot
 * run, with the names that would work. Thread-safe; the first call decides. */
Status select_cpu();

/* True when VMAFX_CPU=plain: metrics take their plain definition instead of the SIMD twin. */
bool use_plain_cpu();

/* Whether code for AVX2 may use AVX-VNNI, whose one instruction multiplies pairs of 16-bit lanes and adds them to sums.
 * Highway has no target for it; here it is the level `avx2_vnni`. Intel processors that stop at AVX2 have it from Alder
 * Lake on. */
bool use_avx_vnni();

/* The level in use, for the log and the report: "plain", "avx2", … */
std::string cpu_level();

/* The levels that this build carries and this machine can run, best first, without "plain". */
std::vector<std::string> runnable_cpu_levels();

/* The Highway targets that this build carries and this machine can run, best first (for tests and bench). */
std::vector<int64_t> runnable_cpu_targets();

/* "avx2" for HWY_AVX2, and so on. */
std::string cpu_target_name(int64_t target);

/* For tests: what use_avx_vnni() answers from now on; true only on a machine that has it. False if it cannot be
 * true. */
bool set_avx_vnni(bool use);

inline constexpr int kMostThreads = 256;  // per session

/* How many threads this process may use: its affinity mask, capped by the cgroup's CPU quota; 1 to kMostThreads. */
int usable_threads();

}  // namespace vmafx

#endif
