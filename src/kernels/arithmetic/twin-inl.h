/* Per-sample arithmetic written once, for the definition, the kernels and the SIMD twin.
 *
 * A `<metric>_math-inl.h` is compiled for one float (definition, kernels, host) and, in a Highway source, for vectors
 * of floats on each instruction set:
 *
 *   #if defined(VMAFX_KERNELS_FOO_FOO_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
 *   #ifdef VMAFX_KERNELS_FOO_FOO_MATH_INL_H
 *   #undef VMAFX_KERNELS_FOO_FOO_MATH_INL_H
 *   #else
 *   #define VMAFX_KERNELS_FOO_FOO_MATH_INL_H
 *   #endif
 *   #include "kernels/arithmetic/twin-inl.h"
 *   VMAFX_TWIN_BEGIN
 *   VMAFX_TWIN Real foo_error(Real ref, Real dist) { return absolute(ref - dist) / (ref + Real(1)); }
 *   VMAFX_TWIN_END
 *   #endif
 *
 * Real, Mask, Integer, Double and their operations: see real.h. Equal operations in equal order give equal floats
 * everywhere; summed with fixed.h, equal sums. Tables and other constants belong in a `<metric>_math.h` of the usual
 * kind. */
#if defined(VMAFX_KERNELS_ARITHMETIC_TWIN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_ARITHMETIC_TWIN_INL_H
#undef VMAFX_KERNELS_ARITHMETIC_TWIN_INL_H
#else
#define VMAFX_KERNELS_ARITHMETIC_TWIN_INL_H
#endif

#undef VMAFX_TWIN
#undef VMAFX_TWIN_BEGIN
#undef VMAFX_TWIN_END

#ifdef HWY_TARGET
#include "kernels/arithmetic/lanes-inl.h"
#define VMAFX_TWIN HWY_INLINE
/* HWY_BEFORE_NAMESPACE() is pragmas, and g++ 14 drops what follows "GCC target" in the expansion of a macro: it comes
 * last. */
#define VMAFX_TWIN_BEGIN    \
  namespace vmafx {         \
  namespace HWY_NAMESPACE { \
  HWY_BEFORE_NAMESPACE();
#define VMAFX_TWIN_END \
  }                    \
  }                    \
  HWY_AFTER_NAMESPACE();
#else
#include "kernels/arithmetic/real.h"
#define VMAFX_TWIN VMAFX_HD
#define VMAFX_TWIN_BEGIN namespace vmafx {
#define VMAFX_TWIN_END }
#endif

#endif
