/* Cases for the kernels of ciede (tests/support/parity.h). */
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

ParityCases ciede_cases() {
  ParityCases cases = depths({.format = color(70, 19, 8, Chroma::k420), .frames = 2, .batch = 2}) +
                      batches({.format = color(40, 18, 10, Chroma::k420),
                               .frames = 5,
                               .paint = fills({Fill::kRandom, Fill::kGradient, Fill::kSparse})},
                              {1, 3});
  /* From the smallest to past a tile, odd ones too. */
  for (const Chroma chroma : {Chroma::k420, Chroma::k422, Chroma::k444})
    cases = cases + sizes({color(2, 2, 8, chroma)}, {{2, 2}, {3, 3}, {63, 17}, {64, 16}, {131, 33}});
  for (const int bpc : {8, 16})
    cases = cases + paints({color(66, 18, bpc, Chroma::k444)}, kExtremes) +
            paints({color(66, 18, bpc, Chroma::k444)},
                   {fills({Fill::kCheckerboard, Fill::kZero, Fill::kMax, Fill::kSparse})});
  return cases;
}

const MetricCases kCiede("ciede", ciede_cases);
const MetricSamples kCiedeSamples({"ciede", 2});

}  // namespace
}  // namespace vmafx::test
