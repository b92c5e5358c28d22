/* The rows and columns of ADM's bands that must be made to score every scale; and how the SIMD twins of the integer and
 * the floating-point ADM make them: in one pass over the pictures, in which each scale makes a row of its bands as soon
 * as the rows under the wavelet's taps are there, and keeps no more rows than the next steps read. */
#ifndef VMAFX_KERNELS_ADM_ADM_PASS_H
#define VMAFX_KERNELS_ADM_ADM_PASS_H

#include <algorithm>
#include <cstddef>

#include "base/rounding.h"
#include "kernels/adm/adm_scales.h"

namespace vmafx {

struct Interval {
  int begin = 0;
  int end = 0;
  bool contains(int i) const { return begin <= i && i < end; }
};

inline Interval hull(Interval a, Interval b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

/* The samples, out of `size`, that the wavelet filters read to make `out`. */
inline Interval adm_taps_of(Interval out, int size) {
  return {std::max(2 * out.begin - 1, 0), std::min(2 * out.end + 1, size)};
}

struct AdmNeeds {
  Interval in_rows, in_cols;  // the scale's input
  Interval rows, cols;        // all bands
  /* The part of the detail bands: the scored part and its neighbors under the masking window. Empty if the scale is
   * skipped. */
  Interval detail_rows, detail_cols;
};

/* The part that a scale has to make. `next`: the needs of the following scale; null for the last. */
inline AdmNeeds adm_needs(const AdmExtent& s, bool scored, const AdmNeeds* next) {
  AdmNeeds needs;
  if (scored) {
    needs.detail_rows = {std::max(s.top - 1, 0), std::min(s.bottom + 1, s.h)};
    needs.detail_cols = {std::max(s.left - 1, 0), std::min(s.right + 1, s.w)};
  }
  needs.rows = next ? next->in_rows : needs.detail_rows;
  needs.cols = next ? next->in_cols : needs.detail_cols;
  if (scored) {
    needs.rows = hull(needs.rows, needs.detail_rows);
    needs.cols = hull(needs.cols, needs.detail_cols);
  }
  needs.in_rows = adm_taps_of(needs.rows, s.in_h);
  needs.in_cols = adm_taps_of(needs.cols, s.in_w);
  return needs;
}

/* -- The pass ------------------------------------------------------------------------------------------------------ */

inline constexpr int kAdmInputRows = 4;   // under one step of the vertical pass
inline constexpr int kAdmNearRows = 3;    // under the masking window
inline constexpr int kAdmSignalRows = 2;  // masking is one row behind decoupling

/* A scale at work: what it has to make. */
struct AdmLevel : AdmNeeds {
  int index;
  int next_row;

  /* Whether the next row of bands can be made once row y of the input, of in_h rows, is there. */
  bool is_ready(int y, int in_h) const { return next_row < rows.end && std::min(2 * next_row + 2, in_h - 1) <= y; }
};

/* Plans the parts that the scales have to make, from the last one up. `Level` is an AdmLevel with a pointer to its
 * `scale`. */
template <class Level, class Scale>
void plan_adm_levels(const Scale (&scales)[kAdmScales], bool skip_scale0, Level (&levels)[kAdmScales]) {
  for (int i = kAdmScales - 1; i >= 0; i--) {
    Level& level = levels[i];
    level.scale = &scales[i];
    level.index = i;
    static_cast<AdmNeeds&>(level) =
        adm_needs(scales[i], i > 0 || !skip_scale0, i + 1 < kAdmScales ? &levels[i + 1] : nullptr);
    level.next_row = level.rows.begin;
  }
}

/* Hands out rows; without memory it only counts. */
class AdmRowMemory {
 public:
  explicit AdmRowMemory(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* row(size_t samples) {
    constexpr size_t kBefore = kCacheLine;  // a filter reads one sample before the row
    constexpr size_t kBehind = 3 * 256;     // and up to three vectors (of up to 256 bytes) behind it
    std::byte* start = memory_ ? memory_ + used_ + kBefore : nullptr;
    used_ += kBefore + round_to_lines(samples * sizeof(T)) + kBehind;
    return reinterpret_cast<T*>(start);
  }
  std::byte* bytes(size_t count) { return row<std::byte>(count); }
  size_t used() const { return used_; }

 private:
  std::byte* memory_;
  size_t used_ = 0;
};

}  // namespace vmafx

#endif
