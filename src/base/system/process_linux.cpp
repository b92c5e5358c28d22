#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "base/system/process.h"

namespace vmafx::system {
namespace {

/* The CPU quota of this process's cgroup in whole threads, or a large number. */
int cgroup_threads() {
  constexpr int kNoLimit = 1 << 20;
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period && quota != "max" && period > 0)
    return std::max(1, static_cast<int>(std::lround(std::atof(quota.c_str()) / period)));
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double microseconds = 0;
  if (v1_quota >> microseconds && v1_period >> period && microseconds > 0 && period > 0)
    return std::max(1, static_cast<int>(std::lround(microseconds / period)));
  return kNoLimit;
}

}  // namespace

int usable_processors() {
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) threads = CPU_COUNT(&mask);
  return std::min(threads, cgroup_threads());
}

}  // namespace vmafx::system
