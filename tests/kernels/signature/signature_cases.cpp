/* Cases for the kernels of the signature (tests/support/parity.h). The first frame has detail. */
#include "kernels/signature/signature_math.h"
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

/* Fewer samples than cells and bins, and more; rows that end within a word of four bytes, and that do not. */
ParityCases signature_sizes() {
  ParityCases cases;
  for (const int bpc : {8, 10}) {
    for (int w = 1; w <= 36; w++) cases.push_back({color(w, 1 + w % 7, bpc, Chroma::k444)});
    cases = cases + sizes({color(1, 1, bpc, Chroma::k420)},
                          {{1, 40}, {63, 35}, {64, 36}, {65, 37}, {129, 145}, {1023, 4}, {1025, 1030}, {2081, 8}});
  }
  return cases;
}

/* Past the next frame with detail, which is not the first one of its batch. */
ParityCases signature_periods() {
  const ParityCase like = {.format = color(70, 40, 8, Chroma::k420),
                           .frames = kDetailPeriod + 3,
                           .paint = fills({Fill::kRandom, Fill::kGradient, Fill::kSparse})};
  return batches(like, {1, 5, 16});
}

ParityCases signature_cases() {
  ParityCases cases = signature_sizes() + signature_periods() +
                      depths({.format = color(150, 37, 8, Chroma::k420), .frames = 4, .batch = 3});
  for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444})
    cases.push_back({.format = color(71, 19, 8, chroma), .frames = 2, .batch = 2});
  for (const int bpc : {8, 16}) cases = cases + paints({color(1100, 64, bpc, Chroma::k444)}, kExtremes);
  return cases;
}

const MetricCases kSignature("signature", signature_cases);

}  // namespace
}  // namespace vmafx::test
