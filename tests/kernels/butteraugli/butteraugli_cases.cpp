/* Cases for the kernels of butteraugli (tests/support/parity.h). */
#include "kernels/butteraugli/butteraugli_work.h"
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

ParityCases butteraugli_cases() {
  constexpr int chunk = kButteraugliChunk, columns = static_cast<int>(kButteraugliThreadsX);
  const VideoFormat small = color(24, 17, 8, Chroma::k420);
  /* Depths; without half the size and with it; around a chunk and a block; what is extreme; options; HDR. */
  ParityCases cases =
      depths({color(19, 16, 8, Chroma::k420), 1, 1, fills({Fill::kRandom, Fill::kGradient})}) +
      sizes({color(8, 8, 8, Chroma::k420)}, {{8, 8}, {14, 21}, {15, 15}, {33, 9}, {37, 41}}) +
      sizes({color(8, 8, 8, Chroma::k444)},
            {{columns, 12}, {columns + 1, 9}, {9, chunk}, {40, chunk + 1}, {17, 2 * chunk + 3}}) +
      paints({small}, kExtremes) +
      batches({small, 5, 1, fills({Fill::kRandom, Fill::kGradient, Fill::kSparse})}, {2, 5}) +
      batches({color(13, kButteraugliChunk + 17, 8, Chroma::k420), 6, 1, fills({Fill::kRandom, Fill::kGradient})}, {5});
  for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444})
    for (const VideoFormat& format : {color(21, 18, 8, chroma), whole_color(21, 17, 8, chroma)})
      cases.push_back({format, 1, 1, fills({Fill::kRandom})});
  for (const OptionTexts& options :
       {OptionTexts{{"norm", "1"}}, {{"norm", "2.5"}}, {{"intensity_target", "250"}}, {{"version", "0.7"}}})
    cases.push_back({small, 1, 1, fills({Fill::kRandom}), options});
  for (const int transfer : {16, 18}) {
    VideoFormat hdr = color(24, 17, 10, Chroma::k420);
    hdr.color = {.matrix = 9, .transfer = transfer, .primaries = 9};
    cases.push_back({hdr, 1, 1, fills({Fill::kRandom})});
  }
  return cases;
}

const MetricCases kButteraugli("butteraugli", butteraugli_cases);
const MetricSamples kButteraugliSamples({"butteraugli", 9});

}  // namespace
}  // namespace vmafx::test
