/* The kernels of ssimulacra2 against its CPU twin. */
#include "tests/support/device.h"

#include <check.h>

#include <string>
#include <utility>
#include <vector>

#include "kernels/ssimulacra2/ssimulacra2.h"
#include "kernels/ssimulacra2/ssimulacra2_work.h"
#include "tests/support/check_main.h"
#include "tests/support/frames.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

void check(const VideoFormat& format, int frames, int batch, const std::vector<Fill>& fills) {
  const auto metric = take(kSsimulacra2Extractor.create({}, format, Placement::kDevice));
  with_sample_type(format.bpc, [&]<class T>(T) {
    assert_device_agrees(*metric, format, TestFrames<T>(format, frames, fills).pairs(), batch, "ssimulacra2");
  });
}

}  // namespace

START_TEST(every_depth) {
  for (int bpc = 8; bpc <= 16; bpc++)
    check({.w = 37, .h = 18, .bpc = bpc, .chroma = Chroma::k420}, 1, 1, {Fill::kRandom, Fill::kGradient});
}
END_TEST

START_TEST(chroma_formats) {
  for (const Chroma chroma : {Chroma::k400, Chroma::k420, Chroma::k422, Chroma::k444})
    check({.w = 35, .h = 21, .bpc = 8, .chroma = chroma}, 1, 1, {Fill::kRandom, Fill::kGradient, Fill::kSparse});
}
END_TEST

/* Few scales, and all; odd sizes. */
START_TEST(small_sizes) {
  for (const auto& [w, h] : {std::pair(8, 8), std::pair(9, 15), std::pair(17, 8), std::pair(113, 114)})
    check({.w = w, .h = h, .bpc = 8, .chroma = Chroma::k420}, 1, 1, {Fill::kRandom});
}
END_TEST

/* Up to the end of a block or chunk, one sample past it, and into a third one. */
START_TEST(across_blocks) {
  const int columns = kSsimulacra2ColumnThreads, rows = kSsimulacra2ChunkRows;
  for (const auto& [w, h] : {std::pair(columns, 20), std::pair(columns + 1, 9), std::pair(2 * columns + 9, 33),
                             std::pair(9, rows), std::pair(12, rows + 1), std::pair(17, 2 * rows + 3)})
    check({.w = w, .h = h, .bpc = 8, .chroma = Chroma::k444}, 1, 1, {Fill::kRandom});
}
END_TEST

START_TEST(extremes) {
  for (const auto& fills : {std::vector{Fill::kZero, Fill::kZero, Fill::kZero, Fill::kMax, Fill::kMax, Fill::kMax},
                            std::vector{Fill::kMax, Fill::kZero, Fill::kCheckerboard, Fill::kColumns, Fill::kRows},
                            std::vector{Fill::kMax}})
    check({.w = 40, .h = 24, .bpc = 8, .chroma = Chroma::k444}, 1, 1, fills);
}
END_TEST

START_TEST(batches) {
  for (const int batch : {1, 3, hip::kMostBatch})
    check({.w = 24, .h = 17, .bpc = 8, .chroma = Chroma::k420}, hip::kMostBatch + 1, batch,
          {Fill::kRandom, Fill::kGradient});
}
END_TEST

int main() {
  return run_suite_on_device("ssimulacra2_hip", {{"depths", every_depth},
                                                 {"chroma", chroma_formats},
                                                 {"small", small_sizes},
                                                 {"blocks", across_blocks},
                                                 {"extremes", extremes},
                                                 {"batches", batches}});
}
