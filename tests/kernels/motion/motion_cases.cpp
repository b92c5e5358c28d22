/* Cases for the kernels of motion and float_motion (tests/support/parity.h). */
#include <string>

#include "kernels/motion/motion.h"
#include "tests/support/parity.h"

namespace vmafx::test {
namespace {

/* From the smallest picture to past a block, where rows end within a strip, with it, and one sample behind it. */
ParityCases motion_sizes() {
  ParityCases cases;
  for (const int bpc : {8, 10}) {
    const ParityCase like = {.format = luma(1, 1, bpc), .frames = 2, .batch = 2};
    for (int w = kMotionMinSize; w <= 34; w++)
      cases = cases + sizes(like, {{w, 3}, {w, 4}, {w, 5}, {w, 8}, {w, 9}, {w, 17}});
    cases = cases + sizes(like, {{512, 16}, {513, 17}, {1030, 33}, {521, 7}});
  }
  return cases;
}

ParityCases motion_cases() {
  const OptionTexts five = {{"motion_five_frame_window", "true"}}, zero = {{"motion_force_zero", "true"}};
  ParityCases cases = motion_sizes() + depths({.format = luma(150, 37), .frames = 4, .batch = 3});
  for (const OptionTexts& window : {OptionTexts(), five})
    cases = cases + batches({.format = luma(70, 40),
                             .frames = 11,
                             .paint = fills({Fill::kRandom, Fill::kRandom, Fill::kGradient, Fill::kRandom,
                                             Fill::kRandom, Fill::kRandom, Fill::kSparse, Fill::kRandom}),
                             .options = window},
                            {1, 3, 8});
  /* Without an earlier frame. */
  cases.push_back({luma(16, 16)});
  cases.push_back({.format = luma(16, 16), .frames = 2, .options = five});
  cases.push_back({.format = luma(16, 16), .frames = 3, .batch = 3, .options = zero});
  cases.push_back({.format = luma(2, 1), .frames = 3, .batch = 2, .options = zero});
  /* The largest values between the passes, of both signs, and the edges that ring most. */
  for (const int bpc : {8, 15, 16})
    for (const Fill other : {Fill::kMax, Fill::kCheckerboard, Fill::kColumns, Fill::kRows, Fill::kSparse})
      cases.push_back({luma(530, 21, bpc), 3, 3,
                       fills({Fill::kZero, Fill::kRandom, other, Fill::kRandom, Fill::kZero, Fill::kRandom})});
  return cases;
}

ParityCases float_motion_cases() {
  const OptionTexts with_half = {{"motion_add_scale1", "true"}};
  ParityCases cases = depths({.format = luma(40, 21), .frames = 3, .batch = 3});
  for (const OptionTexts& options : {OptionTexts(), with_half}) {
    /* From the smallest picture to past a tile. */
    for (const int bpc : {8, 10}) {
      const ParityCase like = {.format = luma(1, 1, bpc), .frames = 2, .batch = 2, .options = options};
      for (int w = 3; w <= 12; w++) cases = cases + sizes(like, {{w, 3 + w % 4}});
      cases = cases + sizes(like, {{64, 32}, {65, 33}, {127, 63}, {131, 66}});
    }
    cases = cases + values({.format = luma(33, 20), .frames = 2, .batch = 2, .options = options}, "motion_filter_size",
                           {"1", "3", "5", "9"});
  }
  for (const Chroma chroma : {Chroma::k420, Chroma::k422, Chroma::k444})
    cases.push_back({.format = color(45, 26, 8, chroma),
                     .frames = 3,
                     .batch = 2,
                     .paint = fills({Fill::kRandom, Fill::kGradient}),
                     .options = {{"motion_add_uv", "true"}, {"motion_add_scale1", "true"}}});
  cases = cases + batches({.format = luma(30, 20), .frames = 10}, {1, 3, 8});
  cases.push_back({luma(30, 20)});
  cases.push_back({.format = luma(30, 20), .frames = 3, .batch = 2, .options = {{"motion_force_zero", "true"}}});
  for (const Fill fill : {Fill::kMax, Fill::kCheckerboard, Fill::kRows, Fill::kSparse})
    cases.push_back({luma(70, 36, 16), 2, 2, fills({Fill::kZero, Fill::kRandom, fill, Fill::kRandom}), with_half});
  return cases;
}

const MetricCases kMotion("motion", motion_cases);
const MetricCases kFloatMotion("float_motion", float_motion_cases);
const MetricSamples kFloatMotionSamples({"float_motion", 12, {{"motion_add_uv", "true"}}});

}  // namespace
}  // namespace vmafx::test
