/* Cases for kernels that add up over the luma of each frame and have no options. */
#ifndef VMAFX_TESTS_SUPPORT_LUMA_CASES_H
#define VMAFX_TESTS_SUPPORT_LUMA_CASES_H

#include "tests/support/parity.h"

namespace vmafx::test {

/* `least`: the smallest side that the metric takes. */
inline ParityCases luma_cases(int least) {
  ParityCases cases = depths({.format = luma(90, 37), .frames = 2, .batch = 2}) +
                      batches({.format = color(70, 20, 8, Chroma::k420),
                               .frames = 9,
                               .paint = fills({Fill::kRandom, Fill::kGradient, Fill::kSparse})},
                              {1, 3, 8});
  for (const int bpc : {8, 10}) {
    for (int w = least; w <= 36; w++) cases.push_back({luma(w, least + w % 7, bpc)});
    cases = cases + sizes({.format = luma(1, 1, bpc), .paint = fills({Fill::kRandom, Fill::kSparse})},
                          {{64, 16}, {65, 17}, {127, 33}, {1025, 5}});
  }
  for (const int bpc : {8, 16})
    cases = cases + paints({luma(140, 40, bpc)}, {fills({Fill::kZero, Fill::kMax}), fills({Fill::kMax, Fill::kZero}),
                                                  fills({Fill::kCheckerboard, Fill::kColumns})});
  return cases;
}

}  // namespace vmafx::test

#endif
