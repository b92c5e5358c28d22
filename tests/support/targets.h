/* Runs a test body once per instruction set that this build carries and this machine has. */
#ifndef VMAFX_TESTS_SUPPORT_TARGETS_H
#define VMAFX_TESTS_SUPPORT_TARGETS_H

#include <string>

#include <hwy/highway.h>

#include "base/cpu.h"

namespace vmafx::test {

/* Pins Highway's dispatch; 0 frees it again. */
inline void pin_cpu_target(int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/* Calls body("avx2") and so on with Highway's dispatch pinned to that target; dispatch is free again afterwards. */
template <class Body>
void for_each_cpu_target(Body body) {
  for (const int64_t target : runnable_cpu_targets()) {
    pin_cpu_target(target);
    body(cpu_target_name(target));
  }
  pin_cpu_target(0);
}

/* The same, and AVX2 without AVX-VNNI, where the machine has it: for what uses it. */
template <class Body>
void for_each_cpu_level(Body body) {
  for_each_cpu_target(body);
  if (!use_avx_vnni()) return;
  set_avx_vnni(false);
  pin_cpu_target(HWY_AVX2);
  body("avx2 without VNNI");
  pin_cpu_target(0);
  set_avx_vnni(true);
}

}  // namespace vmafx::test

#endif
