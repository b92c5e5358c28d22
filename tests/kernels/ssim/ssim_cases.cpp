/* Cases for the kernels of float_ssim and float_ms_ssim (tests/support/parity.h). */
#include <string>

#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

ParityCases float_ssim_cases() {
  const Paint usual = fills({Fill::kRandom, Fill::kGradient});
  /* From one window to past a tile. */
  ParityCases cases =
      depths({luma(60, 33), 1, 1, usual}) +
      sizes({luma(11, 11, 8), 1, 1, fills({Fill::kRandom, Fill::kSparse})}, {{11, 11}, {17, 19}, {255, 27}}) +
      sizes({luma(12, 12, 10), 1, 1, fills({Fill::kRandom, Fill::kSparse})},
            {{12, 18}, {254, 12}, {256, 11}, {270, 18}});
  for (int factor = 2; factor <= 10; factor++)
    cases.push_back({luma(13 * factor + 1, 12 * factor - 1 + factor % 2, factor % 2 ? 8 : 16),
                     1,
                     1,
                     usual,
                     {{"scale", std::to_string(factor)}}});
  cases.push_back({luma(70, 40), 5, 3, fills({Fill::kRandom, Fill::kGradient, Fill::kSparse})});
  cases.push_back({luma(70, 40), 3, 2, usual, {{"scale", "3"}}});
  for (const Fill ref : {Fill::kZero, Fill::kMax, Fill::kCheckerboard})
    for (const Fill dist : {Fill::kZero, Fill::kMax, Fill::kColumns})
      cases.push_back({luma(40, 21, 16), 1, 1, fills({ref, dist})});
  return cases;
}

ParityCases float_ms_ssim_cases() {
  return {{luma(176, 179), 1, 1, fills({Fill::kRandom, Fill::kGradient})},
          {luma(257, 176, 10), 1, 1, fills({Fill::kGradient, Fill::kSparse}), {{"enable_lcs", "true"}}},
          {luma(177, 176), 2, 2, fills({Fill::kRandom, Fill::kGradient, Fill::kCheckerboard})}};
}

const MetricCases kFloatSsim("float_ssim", float_ssim_cases);
const MetricCases kFloatMsSsim("float_ms_ssim", float_ms_ssim_cases);

}  // namespace
}  // namespace vmafx::test
