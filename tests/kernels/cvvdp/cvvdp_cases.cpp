/* Cases for the kernels of cvvdp (tests/support/parity.h). */
#include "kernels/cvvdp/cvvdp_work.h"
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

ParityCases cvvdp_cases() {
  const auto colored = [](int w, int h, int bpc, Chroma chroma, int transfer) {
    VideoFormat format = color(w, h, bpc, chroma);
    format.color = {.matrix = 1, .transfer = transfer, .range = Color::Range::kLimited};
    return format;
  };
  constexpr int kSdr = 1, kPq = 16, kHlg = 18, columns = kCvvdpBandColumns;
  const OptionTexts film = {{"fps", "24"}}, few_bands = {{"fps", "24"}, {"pix_per_degree", "1"}};
  ParityCases cases;
  /* All depths and subsamplings, with all curves. */
  for (const auto& [bpc, chroma, transfer] : {std::tuple{8, Chroma::k420, kSdr},
                                              {8, Chroma::k444, kHlg},
                                              {9, Chroma::k420, kSdr},
                                              {10, Chroma::k422, kPq},
                                              {12, Chroma::k444, kHlg},
                                              {16, Chroma::k400, kSdr}})
    cases.push_back({.format = colored(37, 29, bpc, chroma, transfer), .frames = 4, .batch = 2, .options = film});
  /* Small bands, which are not blurred; even and odd sizes, which decide how the pyramid's rows end. */
  cases = cases + sizes({.format = colored(4, 4, 8, Chroma::k420, kSdr), .frames = 2, .batch = 2, .options = film},
                        {{4, 4}, {5, 4}, {4, 5}, {5, 5}, {6, 7}, {7, 6}, {18, 9}, {26, 27}, {64, 5}});
  for (const Chroma chroma : {Chroma::k420, Chroma::k422}) {
    VideoFormat whole = colored(27, 19, 8, chroma, kSdr);
    whole.whole_chroma = true;
    cases.push_back({.format = whole, .frames = 2, .batch = 2, .options = film});
  }
  /* Up to the end of a block of each kernel, one sample past it, and a base band with more samples than a block has
   * threads. */
  const ParityCase still = {.format = colored(4, 4, 8, Chroma::k400, kSdr), .options = film};
  cases = cases + sizes(still, {{columns, 20},
                                {columns + 1, 13},
                                {2 * kCvvdpReduceColumns + 2, 8 * kCvvdpLeastBandRows + 1},
                                {9, kCvvdpLeastBandRows},
                                {9, kCvvdpLeastBandRows + 1},
                                {kCvvdpTopFloats / 64, 64},
                                {kCvvdpTopFloats / 64 + 1, 64}});
  cases.push_back({.format = colored(79, 59, 8, Chroma::k400, kSdr), .options = few_bands});
  /* A block of the pyramid that lies inside a level, and one below it that does not. */
  cases = cases + sizes(still, {{4 * kCvvdpReduceColumns + 4, 4 * kCvvdpReduceRows + 2},
                                {4 * kCvvdpReduceColumns + 3, 4 * kCvvdpReduceRows + 1}});
  /* So many blocks of bands that each takes the most rows. */
  constexpr int kAcross = (kCvvdpEnoughBlocks / kCvvdpFrames + 1) / 2;
  cases.push_back({.format = colored(kAcross * columns, kCvvdpMostBandRows + 1, 8, Chroma::k400, kSdr),
                   .frames = kCvvdpFrames,
                   .batch = kCvvdpFrames,
                   .options = film});
  for (const Fill fill : {Fill::kMax, Fill::kCheckerboard, Fill::kSparse})
    cases.push_back({.format = colored(24, 20, 10, Chroma::k420, fill == Fill::kMax ? kPq : kSdr),
                     .frames = 2,
                     .batch = 2,
                     .paint = fills({fill, Fill::kZero, Fill::kMax, Fill::kGradient, Fill::kMax}),
                     .options = film});
  /* Fewer pictures than taps and more, in batches that are worked on in parts. */
  return cases +
         batches({.format = colored(18, 16, 8, Chroma::k420, kSdr), .frames = hip::kMostBatch + 2, .options = film},
                 {1, 3, kCvvdpFrames + 3, hip::kMostBatch}) +
         batches({.format = colored(9, 8, 8, Chroma::k444, kSdr),
                  .frames = 33,
                  .options = {{"fps", "120"}, {"display", "standard_phone"}}},
                 {8});
}

const MetricCases kCvvdp("cvvdp", cvvdp_cases);
const MetricSamples kCvvdpSamples({"cvvdp", 10});

}  // namespace
}  // namespace vmafx::test
