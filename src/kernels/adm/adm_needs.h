/* Which rows and columns of ADM's bands have to be made, so that the scored part of every scale can be. */
#ifndef VMAFX_KERNELS_ADM_ADM_NEEDS_H
#define VMAFX_KERNELS_ADM_ADM_NEEDS_H

#include <algorithm>

#include "kernels/adm/adm_scales.h"

namespace vmafx {

struct Interval {
  int begin = 0;
  int end = 0;
  bool contains(int i) const { return begin <= i && i < end; }
};

inline Interval hull(Interval a, Interval b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }

/* What the wavelet filters read of `size` samples to make `out`. */
inline Interval adm_taps_of(Interval out, int size) {
  return {std::max(2 * out.begin - 1, 0), std::min(2 * out.end + 1, size)};
}

struct AdmNeeds {
  Interval in_rows, in_cols;  // of the scale's input
  Interval rows, cols;        // of all bands
  /* Of the detail bands: the scored part and its neighbours under the masking window. Empty if the scale is skipped. */
  Interval detail_rows, detail_cols;
};

/* What a scale has to make. `next`: what the following one needs; null for the last. */
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

}  // namespace vmafx

#endif
