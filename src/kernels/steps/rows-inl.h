/* Rows of floats: samples as floats, and weighted sums along a row or across rows, for one float and for vectors
 * (twin-inl.h): lanes() values at a time, lanes() = 1 outside Highway sources.
 *
 *   load(p), store(v, p)                   lanes() floats, or doubles, at any address
 *   store_twice(v, p)                      each of lanes() doubles twice, side by side
 *   load_samples(p)                        lanes() samples of 8 or 16 bits, as floats
 *   samples_to_floats(in, n, scale, out)   in · scale; reads and writes n, no more
 *   samples_to_floats(in, n, scale, offset, out)   in · scale + offset; the same
 *   ordered_sum<Filter>(values)            tap(|k|)·values(k), added up from k = -kRadius to kRadius: as libvmaf rounds
 *   ordered_sum<half>(window, values)      the same for a GaussianWindow; half is 0 where it is known at run time only
 *   AlongRow{p}, AcrossRows{rows, x}       such values: p[k]; rows[k][x]
 *
 * The ends of rows, and the memory that rows have (kRowSlack): rows.h.
 *
 * A Filter: struct { static constexpr int kRadius; VMAFX_HD static float tap(int k); }, with the table behind tap() a
 * VMAFX_CONSTANT. Kernels use ordered_sum() with values of their own. */
#if defined(VMAFX_KERNELS_STEPS_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_STEPS_ROWS_INL_H
#undef VMAFX_KERNELS_STEPS_ROWS_INL_H
#else
#define VMAFX_KERNELS_STEPS_ROWS_INL_H
#endif

#include "kernels/arithmetic/twin-inl.h"
#include "kernels/steps/gaussian_window.h"
#include "kernels/steps/mirror.h"
#include "kernels/steps/rows.h"

VMAFX_TWIN_BEGIN

#ifdef HWY_TARGET
VMAFX_TWIN int lanes() { return static_cast<int>(hn::Lanes(DF())); }
VMAFX_TWIN Real load(const float* p) { return hn::LoadU(DF(), p); }
VMAFX_TWIN void store(Real v, float* p) { hn::StoreU(v.v, DF(), p); }
#if HWY_TARGET == HWY_SCALAR
VMAFX_TWIN Double load(const double* p) { return *p; }
VMAFX_TWIN void store(Double v, double* p) { *p = v; }
VMAFX_TWIN void store_twice(Double v, double* p) { p[0] = p[1] = v; }
#else
VMAFX_TWIN Double load(const double* p) { return {hn::LoadU(DD(), p), hn::LoadU(DD(), p + lanes() / 2)}; }
VMAFX_TWIN void store(Double v, double* p) {
  hn::StoreU(v.lower, DD(), p);
  hn::StoreU(v.upper, DD(), p + lanes() / 2);
}
VMAFX_TWIN void store_twice(Double v, double* p) {
  hn::StoreInterleaved2(v.lower, v.lower, DD(), p);
  hn::StoreInterleaved2(v.upper, v.upper, DD(), p + lanes());
}
#endif
template <class T>
VMAFX_TWIN Real load_samples(const T* p) {
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(hn::Rebind<T, DF>(), p)));
}
#else
VMAFX_TWIN constexpr int lanes() { return 1; }
VMAFX_TWIN Real load(const float* p) { return *p; }
VMAFX_TWIN void store(Real v, float* p) { *p = v; }
template <class T>
VMAFX_TWIN Real load_samples(const T* p) {
  return static_cast<float>(*p);
}
#endif

template <class T>
VMAFX_TWIN void samples_to_floats(const T* in, int n, float scale, float offset, float* out) {
  const int step = lanes();
  int x = 0;
  for (; x + step <= n; x += step) store(load_samples(in + x) * Real(scale) + Real(offset), out + x);
  if (x == n) return;
  if (n >= step) { /* a last vector, of which some was there already */
    store(load_samples(in + n - step) * Real(scale) + Real(offset), out + n - step);
  } else {
    for (; x < n; x++) out[x] = static_cast<float>(in[x]) * scale + offset;
  }
}

template <class T>
VMAFX_TWIN void samples_to_floats(const T* in, int n, float scale, float* out) {
  samples_to_floats(in, n, scale, 0.0f, out);
}

struct AlongRow {
  const float* at;
  VMAFX_TWIN Real operator()(int k) const { return load(at + k); }
};

struct AcrossRows {
  const float* const* rows;
  int x;
  VMAFX_TWIN Real operator()(int k) const { return load(rows[k] + x); }
};

template <int kHalf, class Values>
VMAFX_TWIN Real ordered_sum(const GaussianWindow& window, Values values) {
  Real sum = Real(0.0f);
  if constexpr (kHalf > 0) {
    VMAFX_UNROLL
    for (int k = -kHalf; k <= kHalf; k++) sum += Real(window.taps[k < 0 ? -k : k]) * values(k);
  } else {
    for (int k = -window.half; k <= window.half; k++) sum += Real(window.taps[k < 0 ? -k : k]) * values(k);
  }
  return sum;
}

template <class Filter, class Values>
VMAFX_TWIN Real ordered_sum(Values values) {
  Real sum = Real(Filter::tap(Filter::kRadius)) * values(-Filter::kRadius);
  VMAFX_UNROLL
  for (int k = 1 - Filter::kRadius; k <= Filter::kRadius; k++) sum += Real(Filter::tap(k < 0 ? -k : k)) * values(k);
  return sum;
}

VMAFX_TWIN_END

#endif
