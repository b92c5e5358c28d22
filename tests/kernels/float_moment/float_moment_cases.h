/* Cases for the kernels of float_moment (tests/support/parity.h). */
#ifndef VMAFX_TESTS_KERNELS_FLOAT_MOMENT_CASES_H
#define VMAFX_TESTS_KERNELS_FLOAT_MOMENT_CASES_H

#include "tests/support/luma_cases.h"

namespace vmafx::test {

inline ParityCases float_moment_cases() { return luma_cases(1); }

}  // namespace vmafx::test

#endif
