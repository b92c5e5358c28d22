/* The SIMD twin's working memory: the lines that its steps hand each other. */
#ifndef VMAFX_KERNELS_RECOLOR_RECOLOR_ROWS_H
#define VMAFX_KERNELS_RECOLOR_RECOLOR_ROWS_H

#include <cstddef>

#include "kernels/steps/linear_light.h"
#include "kernels/steps/rows.h"

namespace vmafx {

/* Each line has room for kMargin floats before its first and after its last sample, and kRowSlack behind. */
class RecolorLines {
 public:
  static constexpr int kMargin = 16, kRing = 4;

  RecolorLines(std::byte* scratch, int w) : first_(reinterpret_cast<float*>(scratch) + kMargin), pitch_(pitch(w)) {}

  LightLines source() const { return {{line(0), line(1), line(2), line(3), line(4)}}; }
  float* number(int p) const { return line(5 + p); }                             // of the target, by plane
  float* narrow(int p, int y) const { return line(8 + kRing * p + y % kRing); }  // chroma p of row y, across

  static size_t bytes(int w) { return sizeof(float) * kLines * pitch(w); }

 private:
  static constexpr int kLines = 8 + 2 * kRing;
  static size_t pitch(int w) { return row_pitch(static_cast<size_t>(w) + 2 * kMargin); }
  float* line(int i) const { return first_ + static_cast<size_t>(i) * pitch_; }

  float* first_;
  size_t pitch_;
};

}  // namespace vmafx

#endif
