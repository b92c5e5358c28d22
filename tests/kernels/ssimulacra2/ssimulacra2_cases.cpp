/* Cases for the kernels of ssimulacra2 (tests/support/parity.h). */
#include "kernels/ssimulacra2/ssimulacra2_work.h"
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

ParityCases ssimulacra2_cases() {
  constexpr int columns = kSsimulacra2ColumnThreads, rows = kSsimulacra2ChunkRows;
  ParityCases cases =
      depths({color(37, 18, 8, Chroma::k420), 1, 1, fills({Fill::kRandom, Fill::kGradient})}) +
      /* Few scales, and all; odd sizes. */
      sizes({color(8, 8, 8, Chroma::k420)}, {{8, 8}, {9, 15}, {17, 8}, {113, 114}}) +
      /* Up to the end of a block or chunk, one sample past it, and into a third one. */
      sizes({color(8, 8, 8, Chroma::k444)},
            {{columns, 20}, {columns + 1, 9}, {2 * columns + 9, 33}, {9, rows}, {12, rows + 1}, {17, 2 * rows + 3}}) +
      paints({color(40, 24, 8, Chroma::k444)}, kExtremes) +
      paints({color(40, 24, 8, Chroma::k444)},
             {fills({Fill::kMax, Fill::kZero, Fill::kCheckerboard, Fill::kColumns, Fill::kRows})}) +
      batches({color(24, 17, 8, Chroma::k420), hip::kMostBatch + 1, 1, fills({Fill::kRandom, Fill::kGradient})},
              {1, 3, hip::kMostBatch});
  for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444})
    for (const VideoFormat& format : {color(35, 21, 8, chroma), whole_color(35, 21, 8, chroma)})
      cases.push_back({format, 1, 1, fills({Fill::kRandom, Fill::kGradient, Fill::kSparse})});
  return cases;
}

const MetricCases kSsimulacra2("ssimulacra2", ssimulacra2_cases);
const MetricSamples kSsimulacra2Samples({"ssimulacra2", 9});

}  // namespace
}  // namespace vmafx::test
