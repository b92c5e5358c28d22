/* The blocks of a map (kernels/maps.h): how pictures are cut into them. */
#ifndef VMAFX_KERNELS_BLOCKS_H
#define VMAFX_KERNELS_BLOCKS_H

#include <algorithm>
#include <cstddef>

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

constexpr BlockGrid block_grid(int w, int h, int side) { return {side, (w + side - 1) / side, (h + side - 1) / side}; }

/* The samples of block n of a plane. */
inline SamplePlane block_of(const SamplePlane& plane, const BlockGrid& grid, size_t n, int bpc) {
  const int x = static_cast<int>(n) % grid.w * grid.side, y = static_cast<int>(n) / grid.w * grid.side;
  const auto* const row = static_cast<const std::byte*>(plane.data) + y * plane.stride;
  return {row + static_cast<ptrdiff_t>(x) * (bpc > 8 ? 2 : 1), plane.stride, std::min(grid.side, plane.w - x),
          std::min(grid.side, plane.h - y)};
}

}  // namespace vmafx

#endif
