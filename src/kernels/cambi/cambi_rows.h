/* What cambi_simd.cpp works in: planes and rows of 16-bit words, with room for whole vectors on both sides. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_ROWS_H
#define VMAFX_KERNELS_CAMBI_CAMBI_ROWS_H

#include <algorithm>

#include "base/aligned.h"
#include "kernels/cambi/cambi.h"

namespace vmafx {

inline constexpr int kCambiMargin = 128;          // words, as many as a vector may have, and more than half a window
inline constexpr uint16_t kCambiMasked = 0x8000;  // beside a level in a word: the sample counts
inline constexpr uint16_t kCambiNoCell = 0xffff;
inline constexpr int kCambiFlatRows = 2 * kCambiMaskRadius + 1;

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

class CambiMemory {
 public:
  CambiMemory(const CambiParams& params, const CambiView& view, std::byte* scratch) : next_(scratch) {
    for (int scale = 0; scale < kCambiScales; scale++) {
      const int w = view.scale_w(params, scale), h = view.scale_h(params, scale);
      plane_[scale] = carve_rows(w, h);
    }
    raw_ = carve_rows(view.w, 2);
    even_ = carve_rows(view.w, 2);
    flat_ = carve_rows(view.w, kCambiFlatRows);
    column_sums_ = carve_rows(view.w, 1);
    row_ = carve_rows(view.w, 1);
    none_ = carve_rows(view.w, 1);
    filtered_ = carve_rows(view.w, 3);
    const CambiCells cells(params.levels);
    const int w = view.scale_w(params, 0), h = view.scale_h(params, 0);
    counts_ = carve_rows(w, cells.count);
    ready_ = carve<uint8_t>(cells.count);
    steps_ = carve<uint32_t>(cells.count);
    bounds_ = carve<uint8_t>(cambi_row_words(w));
    key_row_ = carve<int32_t>(cambi_row_words(w));
    keys_ = carve<uint32_t>(static_cast<size_t>(w) * h + kCambiMargin);
    bytes_ = static_cast<size_t>(next_ - scratch);
  }

  Plane<uint16_t> plane(int scale) const { return plane_[scale]; }
  uint16_t* raw(int y) const { return raw_.row(y % 2); }    // samples at 10 bit
  uint16_t* even(int y) const { return even_.row(y % 2); }  // averaged, where only half of them go into the plane
  uint16_t* flat(int y) const { return flat_.row(y % kCambiFlatRows); }
  uint16_t* column_sums() const { return column_sums_.row(0); }  // of flat samples in seven rows
  uint16_t* row() const { return row_.row(0); }
  uint16_t* none() const { return none_.row(0); }                   // a row without cells
  uint16_t* filtered(int y) const { return filtered_.row(y % 3); }  // by columns
  uint16_t* counts(int cell) const { return counts_.row(cell); }    // of a cell, by column
  uint8_t* ready() const { return ready_; }                         // by cell: whether counts are cleared
  uint32_t* steps() const { return steps_; }                        // by cell: a bit for each step that counts there
  uint8_t* bounds() const { return bounds_; }                       // a bit per column
  int32_t* key_row() const { return key_row_; }
  uint32_t* keys() const { return keys_; }
  size_t bytes() const { return bytes_; }

 private:
  template <class T>
  T* carve(size_t n) {
    T* const at = reinterpret_cast<T*>(next_);
    next_ += round_to_lines(sizeof(T) * n);
    return at;
  }
  Plane<uint16_t> carve_rows(int w, int h) {
    const size_t words = cambi_row_words(w);
    uint16_t* const at = carve<uint16_t>(words * h);
    return {at + kCambiMargin, static_cast<ptrdiff_t>(sizeof(uint16_t) * words), w, h};
  }

  std::byte* next_;
  Plane<uint16_t> plane_[kCambiScales], raw_, even_, flat_, column_sums_, row_, none_, filtered_, counts_;
  uint8_t *ready_, *bounds_;
  uint32_t *steps_, *keys_;
  int32_t* key_row_;
  size_t bytes_;
};

}  // namespace vmafx

#endif
