/* What is read beyond the borders of a plane: the nearest sample, or reflections. */
#ifndef VMAFX_KERNELS_STEPS_MIRROR_H
#define VMAFX_KERNELS_STEPS_MIRROR_H

#include "kernels/gpu/device.h"

namespace vmafx {

/* The index inside [0, size) that is nearest to `i`. */
VMAFX_HD int clamped(int i, int size) { return i < 0 ? 0 : i < size ? i : size - 1; }

/* The index inside [0, size) that `i` reflects to, the border sample not repeated: … 2 1 | 0 1 2 … n-2 n-1 | n-2 n-3 …
 * One reflection: -size < i < 2 * size - 1. */
VMAFX_HD int mirror(int i, int size) {
  if (i < 0) return -i;
  return i < size ? i : 2 * size - 2 - i;
}

/* Mirrors with the border sample repeated: … 2 1 0 | 0 1 2 … n-2 n-1 | n-1 n-2 … One reflection: -size <= i < 2 *
 * size. */
VMAFX_HD int mirror_repeated(int i, int size) {
  if (i < 0) return -1 - i;
  return i < size ? i : 2 * size - 1 - i;
}

/* mirror() of what a window that reaches `reach` out of [0, size) finds at `i`; beyond, the nearest index inside. */
VMAFX_HD int mirror_near(int i, int size, int reach) {
  if (i < -reach) return 0;
  return i < size + reach ? mirror(i, size) : size - 1;
}

}  // namespace vmafx

#endif
