/* The SIMD twin of Prescaler: one source for every instruction set. The columns under the taps of a position are gathered. */
#include "kernels/common/prescale.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/prescale_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::ScalableTag<float> df;
constexpr hn::ScalableTag<int32_t> di;
using V = hn::Vec<decltype(df)>;

template <class T>
HWY_INLINE V load_samples(const T* from) {
  return hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(hn::Rebind<T, decltype(df)>(), from)));
}

/* Σ weight (sample · scale + offset) down `taps` rows, at column x. */
template <class T>
HWY_INLINE V column_sums(const Plane<const T>& in, size_t x, const PrescaleTap* taps, int count, V scale, V offset) {
  V sum = hn::Zero(df);
  for (int k = 0; k < count; k++) {
    const V value = hn::Add(hn::Mul(load_samples(in.row(taps[k].index) + x), scale), offset);
    const V term = hn::Mul(hn::Set(df, taps[k].weight), value);
    sum = k ? hn::Add(sum, term) : term;
  }
  return sum;
}

template <class T>
void sum_columns(const Plane<const T>& in, const PrescaleTap* taps, int count, float scale, float offset, float* sums) {
  const size_t n = hn::Lanes(df), w = static_cast<size_t>(in.w);
  const V vscale = hn::Set(df, scale), voffset = hn::Set(df, offset);
  size_t x = 0;
  for (; x + n <= w; x += n) hn::StoreU(column_sums(in, x, taps, count, vscale, voffset), df, sums + x);
  for (; x < w; x++) {
    float sum = 0;
    for (int k = 0; k < count; k++) {
      const float term = taps[k].weight * (static_cast<float>(in.row(taps[k].index)[x]) * scale + offset);
      sum = k ? sum + term : term;
    }
    sums[x] = sum;
  }
}

void sum_rows(const Prescaler& p, const float* sums, int w, float* out) {
  for (size_t x = 0; x < static_cast<size_t>(w); x += hn::Lanes(df)) {
    V sum = hn::Zero(df);
    for (int k = 0; k < p.taps(); k++) {
      const V term = hn::Mul(hn::LoadU(df, p.column_weights(k) + x),
                             hn::GatherIndex(df, sums, hn::LoadU(di, p.column_indices(k) + x)));
      sum = k ? hn::Add(sum, term) : term;
    }
    const size_t left = static_cast<size_t>(w) - x;
    if (left >= hn::Lanes(df)) hn::StoreU(sum, df, out + x);
    else hn::BlendedStore(sum, hn::FirstN(df, left), df, out + x);
  }
}

template <class T>
void scale_plane(const Prescaler& p, const Plane<const T>& in, float scale, float offset, const Plane<float>& out,
                 float* sums) {
  for (int y = 0; y < out.h; y++) {
    sum_columns(in, p.row(y), p.taps(), scale, offset, sums);
    sum_rows(p, sums, out.w, out.row(y));
  }
}

void prescale(const Prescaler& p, const SamplePlane& in, int bpc, float offset, const Plane<float>& out, float* sums) {
  const float scale = 1.0f / static_cast<float>(1 << (bpc - 8));
  if (bpc == 8) scale_plane(p, in.as<uint8_t>(), scale, offset, out, sums);
  else scale_plane(p, in.as<uint16_t>(), scale, offset, out, sums);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(prescale);

void Prescaler::simd(const SamplePlane& in, int bpc, float offset, const Plane<float>& out, std::byte* scratch) const {
  HWY_DYNAMIC_DISPATCH(prescale)(*this, in, bpc, offset, out, reinterpret_cast<float*>(scratch));
}

}  // namespace vmafx
#endif
