/* Rows of floats: their layout, and their ends. rows-inl.h has the operations on them. */
#ifndef VMAFX_KERNELS_STEPS_ROWS_H
#define VMAFX_KERNELS_STEPS_ROWS_H

#include <cstddef>

#include "kernels/steps/mirror.h"

namespace vmafx {

/* Loops over a row go on to a whole vector: a row has memory for so many floats after the last one that is read or
 * written. Its contents do not matter. */
inline constexpr int kRowSlack = 64;

/* Samples of `bpc` bits become numbers from 0 to below 256: sample · this, exactly. */
VMAFX_HD float scale_to_8_bits(int bpc) { return 1.f / static_cast<float>(1 << (bpc - 8)); }

/* Fill row[-count] to row[-1] and row[n] to row[n - 1 + count], as mirror() or mirror_repeated() say. */
inline void extend_mirrored(float* row, int n, int count) {
  for (int i = 1; i <= count; i++) {
    row[-i] = row[mirror(-i, n)];
    row[n - 1 + i] = row[mirror(n - 1 + i, n)];
  }
}

inline void extend_repeated(float* row, int n, int count) {
  for (int i = 1; i <= count; i++) {
    row[-i] = row[mirror_repeated(-i, n)];
    row[n - 1 + i] = row[mirror_repeated(n - 1 + i, n)];
  }
}

/* How far apart rows of n floats lie, and kRowSlack behind each: an odd number of cache lines, so that neighbors do not
 * meet in one set of the cache. */
inline size_t row_pitch(size_t n) {
  constexpr size_t kLine = 64 / sizeof(float);
  return ((n + kRowSlack + kLine - 1) / kLine | 1) * kLine;
}

/* The last `count` rows of w floats, or of smaller values: row y lies where row y - count did. Before and behind each
 * is room for kMargin more, then the memory of kRowSlack floats. */
template <int count, class T = float>
class RowRing {
 public:
  static constexpr int kMargin = 64 / sizeof(T);

  RowRing(std::byte* scratch, int w) : first_(reinterpret_cast<T*>(scratch) + kMargin), pitch_(pitch(w)) {}

  T* row(int y) const { return first_ + y % count * pitch_; }

  static size_t bytes(int w) { return sizeof(T) * count * pitch(w); }

 private:
  static size_t pitch(int w) {
    constexpr size_t kInFloat = sizeof(float) / sizeof(T);
    return row_pitch((2 * kMargin + static_cast<size_t>(w) + kInFloat - 1) / kInFloat) * kInFloat;
  }

  T* first_;
  size_t pitch_;
};

}  // namespace vmafx

#endif
