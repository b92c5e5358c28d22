/* Cases for the kernels of float_ansnr (tests/support/parity.h). */
#ifndef VMAFX_TESTS_KERNELS_FLOAT_ANSNR_CASES_H
#define VMAFX_TESTS_KERNELS_FLOAT_ANSNR_CASES_H

#include "tests/support/luma_cases.h"

namespace vmafx::test {

inline ParityCases float_ansnr_cases() { return luma_cases(3); }

}  // namespace vmafx::test

#endif
