/* Runs a test body once per instruction set that this build carries and this machine has. */
#ifndef VMAFX_TESTS_SUPPORT_TARGETS_H
#define VMAFX_TESTS_SUPPORT_TARGETS_H

#include <string>

#include <hwy/highway.h>

#include "base/cpu.h"

namespace vmafx::test {

/* Calls body("avx2") and so on with Highway's dispatch pinned to that target; dispatch is free again afterwards. */
template <class Body>
void for_each_cpu_target(Body body) {
  for (const int64_t target : runnable_cpu_targets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(cpu_target_name(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace vmafx::test

#endif
