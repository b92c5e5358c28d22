/* butteraugli: how far a picture is from the reference for an eye close to the screen (Jyrki Alakuijala and others,
 * Google; libjxl 0.8 to 0.12, lib/jxl/butteraugli, as its program butteraugli_main calls it; with `version` 0.7 that of
 * 0.7).
 *
 *   linear light, by steps/linear_light.h, in cd/m2, to what cones absorb (l, m, s), times the response per light
 *     around it
 *   XYB: x = l - m, y = l + m, b = s
 *   bands, each by a Gaussian: low = xyb blurred, middle = the rest blurred, high (of x and y) = the rest blurred,
 *     highest = the rest; small values of x are left out, those of y doubled, x counts less where y is active
 *   error of low frequencies: weighted squares of differences
 *   error of the others: the same, more of what is lost or added in high ones; squares of sums along 16 lines through a
 *     sample, of weighted differences of each band; the difference of activities
 *   hiding: the activity, √ of what is high, blurred; the least three of nine samples of the reference
 *   distance = √(low error · f(hiding) + error · g(hiding)), 0.85 of it and half the distance in the picture of half
 *     the size
 *   scores: the greatest distance; the mean of the norms n, 2n and 4n of all of them, n = 3
 *
 * Pictures have at least 8x8 samples. Half the size is left out below that. Gray pictures have neutral chroma.
 * `intensity_target` is the light of white: of SDR 80 cd/m2, as in the program, of HLG the display's nominal peak,
 * 1000; that of PQ is in the samples.
 *
 * The program's floats round in other places. Scores agree to 1e-5. docs/butteraugli.md has a table. */
#ifndef VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_H
#define VMAFX_KERNELS_BUTTERAUGLI_BUTTERAUGLI_H

#include <cstddef>
#include <functional>
#include <span>

#include "base/picture.h"
#include "kernels/blocks.h"
#include "kernels/butteraugli/butteraugli_math.h"
#include "kernels/forward.h"

namespace vmafx {

/* Takes row y of the map of distances. */
using ButteraugliRowSink = std::function<void(int y, std::span<const float> distances)>;

/* The twins fill the sums of all rows, and give the map of distances to `sink`, if there is one: the second one that of
 * the first encode. It takes any number of encodes. */
size_t butteraugli_scratch_bytes_plain(const ButteraugliParams& params);
size_t butteraugli_scratch_bytes_simd(const ButteraugliParams& params, int encodes);
void butteraugli_plain(const ButteraugliParams& params, const Picture& ref, const Picture& dist, std::byte* scratch,
                       ButteraugliRow* rows, const ButteraugliRowSink& sink = {});
void butteraugli_simd(const ButteraugliParams& params, const Picture& ref, std::span<const Picture* const> dists,
                      std::byte* scratch, std::span<ButteraugliRow* const> rows, const ButteraugliRowSink& sink = {});

/* Adds a row of the map of distances to the blocks, from left to right. The blocks' sums are what the rows' are. */
void butteraugli_add_to_blocks(const ButteraugliParams& params, int y, std::span<const float> distances,
                               const BlockGrid& grid, ButteraugliRow* blocks);

inline BlockGrid butteraugli_blocks(const ButteraugliParams& params) {
  return block_grid(params.w, params.h, kButteraugliBlockSide);
}

/* The HIP twins. The sums of the second one: ButteraugliRow of each row, then of each block. */
OwnedDeviceTwin butteraugli_hip(const ButteraugliParams& params);
OwnedDeviceTwin butteraugli_mapped_hip(const ButteraugliParams& params);

extern const ExtractorInfo kButteraugliExtractor;

}  // namespace vmafx

#endif
