/* The working memory of cambi_simd.cpp: planes and rows of 16-bit words, with room for whole vectors on both sides. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_ROWS_H
#define VMAFX_KERNELS_CAMBI_CAMBI_ROWS_H

#include "kernels/cambi/cambi.h"
#include "kernels/steps/scratch.h"

namespace vmafx {

inline constexpr int kCambiMargin = 128;          // words, as many as a vector may have, and more than half a window
inline constexpr uint16_t kCambiMasked = 0x8000;  // beside a level in a word: the sample counts
inline constexpr uint16_t kCambiNoCell = 0xffff;

/* Words of a row of `w` that begins on a cache line, with margins. */
inline size_t cambi_row_words(int w) {
  return round_to_lines(sizeof(uint16_t) * w) / sizeof(uint16_t) + 2 * kCambiMargin;
}

/* Rows of cells: how often each level is in the window around each column. A level's cell is its number here, beginning
 * with `diffs`, so that all neighbors are there, too. */
struct CambiCells {
  int first, diffs, count;  // the level of cell `diffs`, steps, rows

  explicit CambiCells(const CambiLevels& levels)
      : first(levels.first), diffs(levels.diffs), count(levels.last - levels.first + 1 + 2 * levels.diffs) {}
  int level(int cell) const { return cell - diffs + first; }
};

/* The last rows of some: row y lies where row y - h did. */
struct CambiRing {
  Plane<uint16_t> rows;
  uint16_t* operator()(int y) const { return rows.row(y % rows.h); }
};

struct CambiMemory {
  Plane<uint16_t> plane[kCambiScales];
  CambiRing raw;           // samples at 10 bit
  CambiRing even;          // averaged, where only half of them go into the plane
  CambiRing flat;          // 1 or 0
  CambiRing filtered;      // by columns
  uint16_t* column_sums;   // flat samples in seven rows
  uint16_t* row;           // for a short time
  uint16_t* none;          // a row without cells
  Plane<uint16_t> counts;  // by cell, then column
  uint8_t* ready;          // by cell: whether counts are cleared
  uint32_t* steps;         // by cell: a bit for each step that counts there
  uint8_t* bounds;         // a bit per column
  int32_t* key_row;
  uint32_t* keys;
  size_t bytes;

  CambiMemory(const CambiParams& params, const CambiView& view, std::byte* memory) {
    Scratch scratch(memory);
    const auto rows = [&](int w, int h) { return scratch.take_plane<uint16_t>(w, h, kCambiMargin, kCambiMargin); };
    for (int scale = 0; scale < kCambiScales; scale++)
      plane[scale] = rows(view.scale_w(params, scale), view.scale_h(params, scale));
    raw = {rows(view.w, 2)};
    even = {rows(view.w, 2)};
    flat = {rows(view.w, 2 * kCambiMaskRadius + 1)};
    filtered = {rows(view.w, 3)};
    for (uint16_t** one : {&column_sums, &row, &none}) *one = rows(view.w, 1).data;
    const int cells = CambiCells(params.levels).count, w = plane[0].w;
    counts = rows(w, cells);
    ready = scratch.take<uint8_t>(cells);
    steps = scratch.take<uint32_t>(cells);
    bounds = scratch.take<uint8_t>(cambi_row_words(w));
    key_row = scratch.take<int32_t>(cambi_row_words(w));
    keys = scratch.take<uint32_t>(static_cast<size_t>(w) * plane[0].h + kCambiMargin);
    bytes = scratch.bytes();
  }
};

}  // namespace vmafx

#endif
