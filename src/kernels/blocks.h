/* The blocks of a map (kernels/maps.h): how pictures are cut into them. */
#ifndef VMAFX_KERNELS_BLOCKS_H
#define VMAFX_KERNELS_BLOCKS_H

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/picture.h"

namespace vmafx {

/* How a plane is cut into blocks. The last ones of a row and of a column may be smaller. */
struct BlockGrid {
  int side = 1;      // samples
  int w = 0, h = 0;  // blocks

  size_t blocks() const { return static_cast<size_t>(w) * static_cast<size_t>(h); }
  size_t at(int x, int y) const {  // the block of a sample
    return static_cast<size_t>(y / side) * static_cast<size_t>(w) + static_cast<size_t>(x / side);
  }
};

/* The blocks of the grids before number n, of several that lie one behind the other: grid(i) is number i. */
template <class Grid>
size_t blocks_before(int n, Grid grid) {
  size_t blocks = 0;
  for (int i = 0; i < n; i++) blocks += grid(i).blocks();
  return blocks;
}

constexpr BlockGrid block_grid(int w, int h, int side) { return {side, (w + side - 1) / side, (h + side - 1) / side}; }

/* The samples of block n of a plane. */
inline SamplePlane block_of(const SamplePlane& plane, const BlockGrid& grid, size_t n, int bpc) {
  const int x = static_cast<int>(n) % grid.w * grid.side, y = static_cast<int>(n) / grid.w * grid.side;
  const auto* const row = static_cast<const std::byte*>(plane.data) + y * plane.stride;
  return {row + static_cast<ptrdiff_t>(x) * (bpc > 8 ? 2 : 1), plane.stride, std::min(grid.side, plane.w - x),
          std::min(grid.side, plane.h - y)};
}

/* Blocks of a picture of w x h samples, `across` in a row. */
struct BlocksOfPicture {
  int w, h, across, block_w, block_h;
};

/* Adds values of blocks to those of `grid`, which cuts the same picture. A block that covers several is spread over
 * them evenly. Sides that were rounded up may leave the last blocks no sample: these count for the picture's last
 * one. */
inline void spread_blocks(const BlocksOfPicture& from, std::span<const double> values, const BlockGrid& grid,
                          std::span<double> to) {
  const auto shared = [side = grid.side](int begin, int end, int block) {
    return std::max(0, std::min(end, (block + 1) * side) - std::max(begin, block * side));
  };
  for (size_t n = 0; n < values.size(); n++) {
    if (values[n] == 0) continue;
    const int column = static_cast<int>(n) % from.across, row = static_cast<int>(n) / from.across;
    const int x0 = std::min(column * from.block_w, from.w - 1), x1 = std::min(x0 + from.block_w, from.w);
    const int y0 = std::min(row * from.block_h, from.h - 1), y1 = std::min(y0 + from.block_h, from.h);
    const double per_sample = values[n] / (static_cast<double>(x1 - x0) * (y1 - y0));
    for (int y = y0 / grid.side; y * grid.side < y1; y++)
      for (int x = x0 / grid.side; x * grid.side < x1; x++)
        to[grid.at(x * grid.side, y * grid.side)] += per_sample * shared(x0, x1, x) * shared(y0, y1, y);
  }
}

}  // namespace vmafx

#endif
