/* Cases for kernels that add up over the luma of each frame and have no options: against their CPU twin. */
#ifndef VMAFX_TESTS_SUPPORT_LUMA_KERNELS_H
#define VMAFX_TESTS_SUPPORT_LUMA_KERNELS_H

#include <utility>
#include <vector>

#include "tests/support/device.h"
#include "tests/support/frames.h"
#include "tests/support/scores.h"

namespace vmafx::test {

inline void check_luma(const ExtractorInfo& info, const VideoFormat& format, int frames, int batch,
                       const std::vector<Fill>& fills) {
  with_sample_type(format.bpc, [&]<class T>(T) {
    assert_device_agrees(*make_extractor(info, format, {}, Placement::kDevice), format, TestFrames<T>(format, frames, fills).pairs(), batch,
                         info.name);
  });
}

inline void check_luma_depths(const ExtractorInfo& info) {
  for (int bpc = 8; bpc <= 16; bpc++) check_luma(info, {.w = 90, .h = 37, .bpc = bpc}, 2, 2, {Fill::kRandom});
}

/* `least`: the smallest side that the metric takes. */
inline void check_luma_sizes(const ExtractorInfo& info, int least) {
  for (const int bpc : {8, 10}) {
    for (int w = least; w <= 36; w++)
      check_luma(info, {.w = w, .h = least + w % 7, .bpc = bpc}, 1, 1, {Fill::kRandom});
    for (const auto& [w, h] : {std::pair(64, 16), std::pair(65, 17), std::pair(127, 33), std::pair(1025, 5)})
      check_luma(info, {.w = w, .h = h, .bpc = bpc}, 1, 1, {Fill::kRandom, Fill::kSparse});
  }
}

inline void check_luma_batches(const ExtractorInfo& info) {
  for (const int batch : {1, 3, 8})
    check_luma(info, {.w = 70, .h = 20, .bpc = 8}, 9, batch, {Fill::kRandom, Fill::kGradient, Fill::kSparse});
}

inline void check_luma_extremes(const ExtractorInfo& info) {
  for (const int bpc : {8, 16})
    for (const auto& fills : {std::vector{Fill::kZero, Fill::kMax}, std::vector{Fill::kMax, Fill::kZero},
                              std::vector{Fill::kCheckerboard, Fill::kColumns}})
      check_luma(info, {.w = 140, .h = 40, .bpc = bpc, .chroma = Chroma::k400}, 1, 1, fills);
}

}  // namespace vmafx::test

#endif
