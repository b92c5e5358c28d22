/* The pyramid of wavelet bands of the integer and the floating-point ADM, whose border is not scored. For the host and
 * for kernels. */
#ifndef VMAFX_KERNELS_ADM_ADM_SCALES_H
#define VMAFX_KERNELS_ADM_ADM_SCALES_H

#include "kernels/gpu/device.h"

namespace vmafx {

inline constexpr int kAdmScales = 4;

/* The detail bands. h: high-pass down, low-pass across; v: the other way round; d: high-pass both ways. */
inline constexpr int kAdmBands = 3;

/* The shortest side of a picture, in samples: below, a band would be narrower than the masking window. */
inline constexpr int kAdmMinSize = 17;

/* Sizes of a scale. */
struct AdmExtent {
  int in_w, in_h;                // the plane to decompose
  int w, h;                      // each of its bands
  int left, top, right, bottom;  // the scored part of the bands: their borders of 10 % are left out
};

/* The border of a band of `size` rows or columns. */
constexpr int adm_border(int size) { return static_cast<int>(size * 0.1 - 0.5); }

constexpr AdmExtent adm_extent(int in_w, int in_h) {
  const int w = (in_w + 1) / 2, h = (in_h + 1) / 2, left = adm_border(w), top = adm_border(h);
  return {in_w, in_h, w, h, left, top, w - left, h - top};
}

/* The place that a filter tap or a masking neighbor at -1, size or size + 1 reads: 1 | 0 1 2 … n-2 n-1 | n-1 n-2. The
 * border sample is repeated on the far side only. */
VMAFX_HD constexpr int adm_mirror(int i, int size) {
  if (i < 0) return -i;
  return i < size ? i : 2 * size - 1 - i;
}

}  // namespace vmafx

#endif
