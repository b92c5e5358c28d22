/* Cases for the kernels of SpEED (tests/support/parity.h). */
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

const Paint kSpeedNoise = fills({Fill::kRandom, Fill::kSparse, Fill::kRandom, Fill::kRandom, Fill::kRandom});

ParityCases speed_chroma_cases() {
  ParityCases cases = {
      {color(347, 330, 8, Chroma::k420), 1, 1, kSpeedNoise},
      {color(320, 160, 8, Chroma::k422), 1, 1, kSpeedNoise},
      {color(160, 160, 8, Chroma::k444), 5, 3,
       fills({Fill::kRandom, Fill::kZero, Fill::kMax, Fill::kSparse, Fill::kRandom, Fill::kGradient, Fill::kRandom})},
      {color(322, 340, 10, Chroma::k444),
       1,
       1,
       kSpeedNoise,
       {{"speed_prescale", "0.5"}, {"speed_prescale_method", "bilinear"}}}};
  for (const int bpc : {8, 9, 10, 12, 16}) cases.push_back({color(175, 164, bpc, Chroma::k444), 1, 1, kSpeedNoise});
  return cases +
         values({color(160, 160, 8, Chroma::k444), 1, 1, kSpeedNoise}, "speed_weight_var_mode", {"1", "3", "5"});
}

ParityCases speed_temporal_cases() {
  ParityCases cases = sizes({luma(80, 80), 2, 2, kSpeedNoise}, {{80, 80}, {240, 165}, {401, 171}, {163, 330}}) +
                      batches({luma(160, 160), 5, 1, kSpeedNoise}, {1, 3}) +
                      values({luma(170, 165), 2, 2, kSpeedNoise}, "speed_kernelscale", {"0.5", "3.71134"}) +
                      values({luma(137, 131), 2, 2, kSpeedNoise, {{"speed_prescale", "1.3"}}}, "speed_prescale_method",
                             {"nearest", "bilinear", "bicubic", "lanczos4"});
  for (const int bpc : {8, 9, 10, 12, 16}) cases.push_back({luma(175, 164, bpc), 2, 2, kSpeedNoise});
  cases.push_back({luma(160, 160), 3, 2, kSpeedNoise, {{"speed_use_ref_diff", "true"}}});
  return cases;
}

const MetricCases kSpeedChroma("speed_chroma", speed_chroma_cases);
const MetricCases kSpeedTemporal("speed_temporal", speed_temporal_cases);

}  // namespace
}  // namespace vmafx::test
