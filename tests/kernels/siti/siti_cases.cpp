/* Cases for the kernels of siti (tests/support/parity.h). */
#include "tests/support/luma_cases.h"

namespace vmafx::test {
namespace {

/* The common ones, and streams, whose pictures change. */
ParityCases siti_cases() {
  ParityCases cases = luma_cases(1);
  for (const int bpc : {8, 12, 13, 16})
    for (const Fill other : {Fill::kMax, Fill::kCheckerboard, Fill::kRandom})
      cases.push_back({.format = luma(259, 35, bpc),
                       .frames = 4,
                       .batch = 3,
                       .paint = fills({Fill::kZero, Fill::kRandom, other, Fill::kMax, Fill::kRandom})});
  return cases;
}

const MetricCases kSiti("siti", siti_cases);

}  // namespace
}  // namespace vmafx::test
