/* The arithmetic of float_ansnr for one sample. */
#if defined(VMAFX_KERNELS_FLOAT_ANSNR_FLOAT_ANSNR_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_FLOAT_ANSNR_FLOAT_ANSNR_MATH_INL_H
#undef VMAFX_KERNELS_FLOAT_ANSNR_FLOAT_ANSNR_MATH_INL_H
#else
#define VMAFX_KERNELS_FLOAT_ANSNR_FLOAT_ANSNR_MATH_INL_H
#endif

#include "kernels/float_ansnr/float_ansnr_math.h"
#include "kernels/steps/rows-inl.h"

VMAFX_TWIN_BEGIN

/* A sample's contributions to the two sums. */
struct AnsnrSquares {
  Real signal, noise;
};

/* rows(dy)(dx) are the samples of a window. */
template <class RefRows, class DistRows>
VMAFX_TWIN AnsnrSquares ansnr_squares(RefRows ref_rows, DistRows dist_rows) {
  Real r = ordered_sum<AnsnrRefRow<1>>(ref_rows(-1));
  r += ordered_sum<AnsnrRefRow<0>>(ref_rows(0));
  r += ordered_sum<AnsnrRefRow<1>>(ref_rows(1));
  Real d = ordered_sum<AnsnrDistRow<2>>(dist_rows(-2));
  d += ordered_sum<AnsnrDistRow<1>>(dist_rows(-1));
  d += ordered_sum<AnsnrDistRow<0>>(dist_rows(0));
  d += ordered_sum<AnsnrDistRow<1>>(dist_rows(1));
  d += ordered_sum<AnsnrDistRow<2>>(dist_rows(2));
  return {r * r, (r - d) * (r - d)};
}

VMAFX_TWIN_END

#endif
