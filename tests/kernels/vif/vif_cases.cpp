/* Cases for the kernels of vif and float_vif (tests/support/parity.h). */
#include "kernels/vif/vif_work.h"
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

/* Each fill against each other one: samples with and without logarithms, the largest sums and the smallest. */
ParityCases vif_extremes() {
  std::vector<LumaPair> pairs;
  for (const Fill ref : kFills)
    for (const Fill dist : kFills) pairs.push_back({ref, dist});
  ParityCases cases;
  for (const int bpc : {8, 10, 16})
    cases.push_back({luma(51, 37, bpc), static_cast<int>(pairs.size()), hip::kMostBatch, lumas(pairs)});
  return cases;
}

ParityCases vif_cases() {
  const Paint usual = lumas({lookalike(Fill::kRandom, 0.625, 3), lookalike(Fill::kGradient, 1, 3),
                             lookalike(Fill::kRandom, 1.5, 3), lookalike(Fill::kGradient, 0.625, 3)});
  constexpr int columns = vif_tile_columns(0), rows = 2 * kVifTileRows;
  ParityCases cases = vif_extremes() + depths({luma(37, 33), 2, 2, usual}) +
                      batches({luma(70, 40), 11, 1, usual}, {1, 3, hip::kMostBatch});
  for (const int bpc : {8, 12})
    cases = cases + sizes({luma(16, 16, bpc), 1, 1, usual}, {{16, 16}, {17, 19}, {31, 18}, {131, 67}});
  for (const int bpc : {8, 10}) {
    /* Up to the end of a tile, one sample past it, and into a third one. */
    cases = cases + sizes({luma(16, 16, bpc), 1, 1, usual}, {{columns, rows},
                                                             {columns + 1, rows + 1},
                                                             {2 * columns + 9, rows},
                                                             {2 * vif_tile_columns(1) + 3, rows + 7},
                                                             {2 * vif_decimated_columns(1), 20}});
    cases.push_back({luma(70, 41, bpc), 3, 3, usual, {{"vif_enhn_gain_limit", "1"}}});
    cases.push_back({luma(70, 41, bpc), 2, 2, usual, {{"vif_skip_scale0", "true"}}});
  }
  return cases;
}

/* From the smallest picture to past a tile. */
ParityCases float_vif_sizes(const Paint& usual) {
  ParityCases cases = sizes({luma(1, 1), 1, 1, usual}, {{239, 17}, {240, 17}, {241, 17}, {249, 17}});
  for (int w = 16; w <= 24; w++) cases.push_back({luma(w, 16 + w % 5, w % 2 ? 8 : 10), 1, 1, usual});
  cases.push_back({luma(251, 33, 16), 2, 2, usual});
  return cases;
}

ParityCases float_vif_cases() {
  const Paint usual =
      fills({Fill::kRandom, Fill::kGradient, Fill::kGradient, Fill::kRandom, Fill::kSparse, Fill::kSparse});
  ParityCases cases =
      float_vif_sizes(usual) + depths({luma(37, 21), 1, 1, usual}) + batches({luma(50, 20), 4, 1, usual}, {1, 3}) +
      values({luma(100, 67), 1, 1, usual}, "vif_kernelscale", {"0.5", "0.6667", "1.5", "2.4", "3.7113"}) +
      option_sets({luma(33, 20), 1, 1, usual}, {{{"vif_sigma_nsq", "0"}},
                                                {{"vif_sigma_nsq", "4.5"}, {"vif_enhn_gain_limit", "1"}},
                                                {{"vif_skip_scale0", "true"}}});
  cases.push_back({luma(260, 40, 10), 1, 1, usual, {{"vif_kernelscale", "2"}}});
  cases.push_back({luma(50, 40), 1, 1, usual, {{"vif_prescale", "1.3"}, {"vif_kernelscale", "1.3333"}}});
  for (const char* prescale : {"0.6", "1.4"}) {
    const OptionTexts scaled = {{"vif_prescale", prescale}};
    cases = cases + values({luma(40, 36, 8), 2, 2, usual, scaled}, "vif_prescale_method", {"nearest", "lanczos4"}) +
            values({luma(40, 36, 10), 2, 2, usual, scaled}, "vif_prescale_method", {"bilinear", "bicubic"});
  }
  for (const Fill fill : {Fill::kZero, Fill::kMax, Fill::kCheckerboard, Fill::kRows})
    for (const Fill other : {fill, Fill::kRandom}) cases.push_back({luma(40, 24), 1, 1, fills({fill, other})});
  return cases;
}

const MetricCases kVif("vif", vif_cases);
const MetricCases kFloatVif("float_vif", float_vif_cases);

}  // namespace
}  // namespace vmafx::test
