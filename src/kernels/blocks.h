/* The blocks of a map (kernels/maps.h): how pictures are cut into them. */
#ifndef VMAFX_KERNELS_BLOCKS_H
#define VMAFX_KERNELS_BLOCKS_H

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

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
class BlockSpread {
 public:
  BlockSpread(const BlocksOfPicture& from, int down, const BlockGrid& grid)
      : across_(static_cast<size_t>(from.across)), grid_w_(static_cast<size_t>(grid.w)),
        columns_(parts_of(from.across, from.block_w, from.w, grid.side)),
        rows_(parts_of(down, from.block_h, from.h, grid.side)) {}

  void add(std::span<const double> values, std::span<double> to) const {
    for (const Part& row : rows_) {
      const std::span<const double> from_row = values.subspan(row.from * across_);
      const std::span<double> to_row = to.subspan(row.to * grid_w_);
      for (const Part& column : columns_) to_row[column.to] += from_row[column.from] * (row.share * column.share);
    }
  }

 private:
  /* A row or a column of the grid, and its share of one of the blocks. */
  struct Part {
    size_t from, to;
    double share;
  };

  /* `blocks` of `block` samples each cut `size` samples, and so do those of the grid, of `side`. */
  static std::vector<Part> parts_of(int blocks, int block, int size, int side) {
    std::vector<Part> parts;
    for (int from = 0; from < blocks; from++) {
      const int begin = std::min(from * block, size - 1), end = std::min(begin + block, size);
      for (int to = begin / side; to * side < end; to++) {
        const int both = std::min(end, (to + 1) * side) - std::max(begin, to * side);
        parts.push_back(
            {static_cast<size_t>(from), static_cast<size_t>(to), static_cast<double>(both) / (end - begin)});
      }
    }
    return parts;
  }

  size_t across_, grid_w_;
  std::vector<Part> columns_, rows_;
};

/* Spreads values by a BlockSpread that nobody else needs. */
inline void spread_blocks(const BlocksOfPicture& from, std::span<const double> values, const BlockGrid& grid,
                          std::span<double> to) {
  BlockSpread(from, static_cast<int>(values.size()) / from.across, grid).add(values, to);
}

}  // namespace vmafx

#endif
