/* Cases for the kernels of psnr, float_psnr and msad (tests/support/parity.h). */
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

/* From one sample to past a tile, where rows end within a pack and where they do not. */
ParityCases psnr_sizes() {
  ParityCases cases;
  for (const int bpc : {8, 10}) {
    for (int w = 1; w <= 36; w++) cases.push_back({color(w, 1 + w % 7, bpc, Chroma::k444)});
    cases = cases + sizes({color(1, 1, bpc, Chroma::k420)}, {{1024, 16}, {1025, 17}, {2081, 33}, {512, 32}});
  }
  return cases;
}

ParityCases psnr_cases() {
  ParityCases cases = psnr_sizes() + depths({.format = color(150, 37, 8, Chroma::k420), .frames = 4, .batch = 3}) +
                      batches({.format = color(70, 40, 8, Chroma::k420),
                               .frames = 11,
                               .paint = fills({Fill::kRandom, Fill::kGradient, Fill::kSparse})},
                              {1, 3, 8});
  for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444})
    cases.push_back({.format = color(71, 19, 8, chroma), .frames = 2, .batch = 2});
  cases.push_back(
      {.format = color(71, 19, 8, Chroma::k420), .frames = 2, .batch = 2, .options = {{"enable_chroma", "false"}}});
  cases.push_back({.format = color(1, 5, 8, Chroma::k420), .frames = 2, .batch = 2});  // no chroma to score
  for (const int bpc : {8, 16}) cases = cases + paints({color(1100, 64, bpc, Chroma::k444)}, kExtremes);
  return cases;
}

ParityCases float_psnr_cases() { return depths({.format = color(150, 37, 8, Chroma::k420), .frames = 4, .batch = 3}); }

/* The kernels are those of psnr with another error. */
ParityCases msad_cases() {
  ParityCases cases = psnr_sizes() + depths({.format = whole_color(151, 37, 8, Chroma::k420), .frames = 4, .batch = 3});
  for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444})
    cases.push_back({.format = color(71, 19, 10, chroma), .frames = 2, .batch = 2});
  cases.push_back({.format = color(71, 19, 8, Chroma::k420), .frames = 2, .options = {{"enable_chroma", "false"}}});
  for (const int bpc : {8, 16}) cases = cases + paints({color(1100, 64, bpc, Chroma::k444)}, kExtremes);
  return cases;
}

const MetricCases kPsnr("psnr", psnr_cases);
const MetricCases kMsad("msad", msad_cases);
const MetricCases kFloatPsnr("float_psnr", float_psnr_cases);
const MetricSamples kPsnrSamples({"psnr", 2});
const MetricSamples kMsadSamples({"msad", 2});

}  // namespace
}  // namespace vmafx::test
