/* The raw sums of xpsnr, the arithmetic of one sample, and how pictures are cut into blocks, for all twins. */
#ifndef VMAFX_KERNELS_XPSNR_XPSNR_MATH_H
#define VMAFX_KERNELS_XPSNR_XPSNR_MATH_H

#include <cstdint>

#include "kernels/arithmetic/squared_error.h"
#include "kernels/gpu/device.h"

namespace vmafx {

/* The raw sums of one block; those of a frame are one of these for each block, row by row. */
struct XpsnrBlock {
  uint64_t sse[3];    // Σ (ref - dist)² per plane; 0 for planes that are not read
  uint64_t spatial;   // Σ |high-pass| of the reference's luma, each term below 2^22
  uint64_t temporal;  // Σ |difference in time| of it, each term below 2^20
};

/* Samples of a plane: columns x0 to x1 - 1 of rows y0 to y1 - 1. */
struct XpsnrArea {
  int32_t x0, y0, x1, y1;

  VMAFX_HD bool is_empty() const { return x1 <= x0 || y1 <= y0; }
};

/* How a frame is cut into blocks. The blocks of all planes are of the same part of the picture. */
struct XpsnrGrid {
  struct Plane {
    int32_t w = 0, h = 0;              // 0: not read
    int32_t block_w = 0, block_h = 0;  // all blocks but the last ones
  };
  Plane planes[3];
  int32_t columns = 1, rows = 1;  // blocks
  int32_t has_activity = 0;       // 0: the picture is too small for it, and is one block
  int32_t coarse = 0;             // the activity is that of 2x2 samples, for pictures above HD

  VMAFX_HD int32_t blocks() const { return columns * rows; }
  VMAFX_HD XpsnrArea block(int32_t p, int32_t column, int32_t row) const {
    const Plane& plane = planes[p];
    const int32_t x = column * plane.block_w, y = row * plane.block_h;
    return {x, y, plane.w - x < plane.block_w ? plane.w : x + plane.block_w,
            plane.h - y < plane.block_h ? plane.h : y + plane.block_h};
  }
  /* The part of a block of luma that has the high-pass: not the outermost samples of the picture. */
  VMAFX_HD XpsnrArea inner(const XpsnrArea& block) const {
    const int32_t border = coarse ? 2 : 1, w = planes[0].w, h = planes[0].h;
    return {block.x0 > 0 ? block.x0 : border, block.y0 > 0 ? block.y0 : border, block.x1 < w ? block.x1 : w - border,
            block.y1 < h ? block.y1 : h - border};
  }
};

/* Blocks that the borders leave nothing of have no activity at all. */
VMAFX_HD bool xpsnr_has_activity(const XpsnrGrid& grid, const XpsnrArea& block) {
  return grid.has_activity && !grid.inner(block).is_empty();
}

/* A coarse high-pass is not taken of blocks so narrow that FFmpeg's filter drops it. */
inline constexpr int32_t kXpsnrMostNarrow = 12;
VMAFX_HD bool xpsnr_has_high_pass(const XpsnrGrid& grid, const XpsnrArea& block) {
  return !grid.coarse || grid.inner(block).x1 - block.x0 > kXpsnrMostNarrow;
}

VMAFX_HD uint32_t xpsnr_magnitude(int32_t value) { return value < 0 ? -value : value; }

/* 3x3:  -1 -2 -1
 *       -2 12 -2   at column x of the middle row
 *       -1 -2 -1 */
template <class T>
VMAFX_HD uint32_t xpsnr_high_pass(const T* above, const T* row, const T* below, int32_t x) {
  return xpsnr_magnitude(12 * row[x] - 2 * (row[x - 1] + row[x + 1] + above[x] + below[x]) -
                         (above[x - 1] + above[x + 1] + below[x - 1] + below[x + 1]));
}

/* Columns x - 2 to x + 3 of a row, by how far they are from the pair in the middle. Beyond the picture it is the last
 * sample. */
struct XpsnrPairs {
  int32_t inner, next, outer;
};
template <class T>
VMAFX_HD XpsnrPairs xpsnr_pairs(const T* row, int32_t x, int32_t last) {
  const auto at = [&](int32_t i) { return static_cast<int32_t>(row[i < last ? i : last]); };
  return {at(x) + at(x + 1), at(x - 1) + at(x + 2), at(x - 2) + at(x + 3)};
}

/* 6x6, of four samples with the first at column x of rows[2], in rows y - 2 to y + 3. One quarter, which the others
 * mirror:
 *        0 -1 -1
 *       -1 -2 -3
 *       -1 -3 12 */
template <class T>
VMAFX_HD uint32_t xpsnr_coarse_high_pass(const T* const (&rows)[6], int32_t x, int32_t last) {
  int32_t sum = 0;
  VMAFX_UNROLL
  for (int i = 0; i < 6; i++) {
    const XpsnrPairs pairs = xpsnr_pairs(rows[i], x, last);
    if (i == 0 || i == 5) sum -= pairs.inner + pairs.next;
    else if (i == 1 || i == 4) sum -= 3 * pairs.inner + 2 * pairs.next + pairs.outer;
    else sum += 12 * pairs.inner - 3 * pairs.next - pairs.outer;
  }
  return xpsnr_magnitude(sum);
}

/* The weights of earlier pictures in the difference in time: now - before · `before` + earlier · `earlier`. A picture
 * that does not exist, before the first one, has the weight zero, so any picture may be given for it. */
struct XpsnrTimeWeights {
  int32_t before, earlier;
};
VMAFX_HD XpsnrTimeWeights xpsnr_time_weights(bool second_order, bool has_before, bool has_earlier) {
  return {has_before ? 1 + second_order : 0, second_order && has_earlier ? 1 : 0};
}

template <class T>
VMAFX_HD int32_t xpsnr_change(T now, T before, T earlier, XpsnrTimeWeights weights) {
  return now - weights.before * before + weights.earlier * earlier;
}

}  // namespace vmafx

#endif
