/* Cases for the kernels of xpsnr (tests/support/parity.h). */
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

/* Above 2048x1152 samples: the coarse high-pass, where the picture ends in half a pair of samples, in a block of one
 * column, and in one so narrow that it has no high-pass. */
ParityCases xpsnr_coarse_cases() {
  return {{.format = luma(1905, 1243),
           .frames = 3,
           .batch = 2,
           .paint = fills({Fill::kRandom, Fill::kCheckerboard}),
           .options = {{"fps", "50"}}},
          {.format = luma(2052, 1160, 12), .frames = 2, .batch = 2, .options = {{"fps", "25"}}}};
}

/* A frame has hundreds of blocks, whatever its size, which take the emulator long: so most pictures are the smallest
 * that have activity. */
ParityCases xpsnr_cases() {
  const OptionTexts slow = {{"fps", "25"}}, fast = {{"fps", "60"}};
  /* Without blocks, and with small ones; larger ones, with blocks cut off on the right and below. */
  ParityCases cases =
      sizes({.format = color(1, 1, 8, Chroma::k444), .frames = 2, .batch = 2},
            {{1, 1}, {3, 2}, {44, 45}, {45, 45}, {46, 47}, {2100, 1}, {3, 1001}, {1, 2500}, {301, 199}}) +
      sizes({.format = color(1, 1, 10, Chroma::k420), .frames = 1, .batch = 1}, {{645, 481}, {1283, 723}});
  for (int w = 60; w < 68; w++) cases.push_back({color(w, 96 - w, w % 2 ? 8 : 10, Chroma::k420), 2, 2});
  for (const OptionTexts& options : {slow, fast}) {
    cases = cases + depths({.format = color(60, 36, 8, Chroma::k420), .frames = 3, .batch = 3, .options = options}) +
            batches({.format = luma(46, 45),
                     .frames = 10,
                     .paint = fills({Fill::kRandom, Fill::kRandom, Fill::kGradient, Fill::kRandom, Fill::kSparse}),
                     .options = options},
                    {1, 3, 8});
    for (const int bpc : {8, 16})
      for (const Fill fill : {Fill::kMax, Fill::kCheckerboard, Fill::kSparse})
        cases.push_back({luma(48, 44, bpc), 3, 3, fills({Fill::kZero, Fill::kMax, fill, Fill::kZero, fill}), options});
  }
  for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444})
    for (const VideoFormat& format : {color(71, 31, 8, chroma), whole_color(71, 31, 8, chroma)})
      cases.push_back({.format = format, .frames = 2, .batch = 2});
  cases.push_back({.format = whole_color(1, 3, 8, Chroma::k420), .frames = 1, .batch = 1});
  cases.push_back(
      {.format = color(71, 31, 8, Chroma::k420), .frames = 2, .batch = 2, .options = {{"enable_chroma", "false"}}});
  return cases + xpsnr_coarse_cases();
}

const MetricCases kXpsnr("xpsnr", xpsnr_cases);
const MetricSamples kXpsnrSamples({"xpsnr", 2}), kXpsnrBlockSamples({"xpsnr", 46});

}  // namespace
}  // namespace vmafx::test
