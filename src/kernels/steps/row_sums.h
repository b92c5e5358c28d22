/* Sums of a plane in libvmaf's order: the values of a row are added up in float from left to right, the rows' sums in
 * float from top to bottom. Each addition rounds, so a score shows the order; where it does, all twins keep it.
 *
 *   definition   RowSum, a value at a time.
 *   SIMD twin    RowStrip: values are written where it says, and several rows are added up side by side.
 *   kernels      row_sums_hip.h, after the kernel that makes the values.
 *
 * A raw sum is the float's bits, as a word. No values: 0. */
#ifndef VMAFX_KERNELS_STEPS_ROW_SUMS_H
#define VMAFX_KERNELS_STEPS_ROW_SUMS_H

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "kernels/gpu/device.h"

namespace vmafx {

VMAFX_HD uint64_t word_of_sum(float sum) { return std::bit_cast<uint32_t>(sum); }
VMAFX_HD float sum_of_word(uint64_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word)); }

class RowSum {
 public:
  void add(float value) { row_ += value; }
  void end_row() {
    rows_ += row_;
    row_ = 0;
  }
  uint64_t word() const { return word_of_sum(rows_); }

 private:
  float rows_ = 0, row_ = 0;
};

/* The last rows of n values of one or more quantities, until there are enough to be added up. An addition waits for the
 * one before it in its row, so kChains rows take turns.
 *
 * 1920x1080 values of two quantities take 0.7 ms. */
class RowStrip {
 public:
  /* words: of the `quantities` sums, zero at first. */
  RowStrip(int quantities, int n, std::byte* scratch, uint64_t* words);
  static size_t bytes(int quantities, int n);

  /* Takes the values of row y of a quantity, before they are added up. The first row that is ended is row 0. The taker
   * must outlive the strip, which is not destroyed everywhere. */
  using Taker = std::function<void(int quantity, int y, std::span<const float> values)>;
  void tell_rows(const Taker& taker) { taker_ = &taker; }

  /* The place for a row's values; has kRowSlack (rows.h) behind it, and begins at a cache line if `scratch` does. */
  float* row(int quantity) const { return values_ + (filled_ * quantities_ + quantity) * pitch_; }

  /* The row is complete, for all quantities. */
  void end_row() {
    if (++filled_ == rows_) add_up();
  }

  /* After the last row. */
  void finish() {
    if (filled_) add_up();
  }

 private:
  static constexpr int kChains = 8;  // as many as a processor keeps two adders busy with

  static int rows_for(int quantities);
  void add_up();

  int quantities_, n_, rows_, filled_ = 0, added_ = 0;
  size_t pitch_;  // floats
  float* values_;
  uint64_t* words_;
  const Taker* taker_ = nullptr;
};

}  // namespace vmafx

#endif
