/* Cases for the kernels of psnr_hvs (tests/support/parity.h). */
#include "kernels/psnr_hvs/psnr_hvs.h"
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

ParityCases psnr_hvs_cases() {
  ParityCases cases =
      depths({.format = color(70, 39, 8, Chroma::k420), .frames = 2, .batch = 2}, kPsnrHvsMostBits) +
      batches({.format = color(40, 32, 8, Chroma::k422),
               .frames = 5,
               .paint = fills({Fill::kRandom, Fill::kGradient, Fill::kSparse})},
              {1, 3}) +
      /* From one block to more than are worked on at a time, with samples left over and without. */
      sizes({color(8, 8, 8, Chroma::k444)}, {{8, 8}, {14, 14}, {15, 15}, {63, 22}, {113, 16}, {120, 17}, {135, 30}}) +
      sizes({color(16, 16, 10, Chroma::k420)}, {{63, 22}, {113, 16}, {120, 17}, {135, 30}});
  for (const int bpc : {8, 12})  // the largest coefficients there are
    cases = cases + paints({color(66, 38, bpc, Chroma::k444)}, kExtremes) +
            paints({color(66, 38, bpc, Chroma::k444)},
                   {fills({Fill::kCheckerboard, Fill::kRows, Fill::kMax, Fill::kSparse})});
  return cases;
}

/* Blocks are 8x8, each beginning 7 samples behind the one before; a rest without a whole block is left out. */
int whole_blocks(int size) { return (size - 8) / 7 * 7 + 8; }

const MetricCases kPsnrHvs("psnr_hvs", psnr_hvs_cases);
const MetricSamples kPsnrHvsSamples({"psnr_hvs", 16, {}, whole_blocks});

}  // namespace
}  // namespace vmafx::test
