/* Cases for the kernels of float_ansnr (tests/support/parity.h). */
#include "tests/support/luma_cases.h"

namespace vmafx::test {
namespace {

ParityCases float_ansnr_cases() { return luma_cases(3); }

const MetricCases kFloatAnsnr("float_ansnr", float_ansnr_cases);

}  // namespace
}  // namespace vmafx::test
