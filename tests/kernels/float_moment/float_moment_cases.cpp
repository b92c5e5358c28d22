/* Cases for the kernels of float_moment (tests/support/parity.h). */
#include "tests/support/luma_cases.h"

namespace vmafx::test {
namespace {

ParityCases float_moment_cases() { return luma_cases(1); }

const MetricCases kFloatMoment("float_moment", float_moment_cases);

}  // namespace
}  // namespace vmafx::test
