/* Rows of linear light from the samples of a picture, for ssimulacra2_simd.cpp. */
#if defined(VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_LIGHT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_LIGHT_INL_H
#undef VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_LIGHT_INL_H
#else
#define VMAFX_KERNELS_SSIMULACRA2_SSIMULACRA2_LIGHT_INL_H
#endif

#include <algorithm>

#include "base/picture.h"
#include "kernels/ssimulacra2/ssimulacra2_math-inl.h"
#include "kernels/ssimulacra2/ssimulacra2_rows.h"
#include "kernels/steps/rows-inl.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {

/* The planes of ref or dist. */
template <class T>
struct Side {
  Plane<const T> luma, cb, cr;
};

template <class T>
HWY_INLINE Side<T> side_of(const Picture& picture) {
  return {picture.plane[0].as<T>(), picture.plane[1].as<T>(), picture.plane[2].as<T>()};
}

/* Four times the chroma between two rows, of columns `from` to `to` - 1, into out[0] and on. The ends are repeated. */
template <class T>
HWY_INLINE void chroma_between_rows(const Plane<const T>& plane, const ChromaTaps& rows, int from, int to, float* below,
                                    float* out) {
  const int first = std::max(from, 0), last = std::min(to, plane.w), count = last - first;
  float* inside = out + (first - from);
  samples_to_floats(plane.row(rows.first) + first, count, static_cast<float>(4 - rows.weight), inside);
  samples_to_floats(plane.row(rows.second) + first, count, static_cast<float>(rows.weight), below);
  for (int i = 0; i < count; i += lanes()) store(load(inside + i) + load(below + i), inside + i);
  std::fill(out, inside, inside[0]);
  std::fill(inside + count, out + (to - from), inside[count - 1]);
}

/* 16 times the chroma of `count` columns from x on, an even one, less that of neutral colors. All of it is exact. */
template <class T>
HWY_INLINE void chroma_row(const Ssimulacra2Params& params, const Plane<const T>& plane, int y, int x, int count,
                           const Ssimulacra2StripMemory& memory, float* out) {
  float *below = memory.samples(3), *rows = memory.samples(4);
  const ChromaTaps down = params.down.taps(y, plane.h);
  const Real neutral(static_cast<float>(params.light.neutral_chroma));
  if (!params.across.halved) {
    chroma_between_rows(plane, down, x, x + count, below, rows);
    for (int i = 0; i < count; i += lanes()) store(load(rows + i) * Real(4) - neutral, out + i);
    return;
  }
  const int pairs = (count + 1) / 2;
  chroma_between_rows(plane, down, x / 2 - 1, x / 2 + pairs + 1, below, rows);
  const float offset = static_cast<float>(params.across.offset);
  const Real before(offset), at_even(4 - offset), at_odd(2 + offset), after(2 - offset);
  for (int i = 0; i < pairs; i += lanes()) {
    const Real at = load(rows + i + 1);
    const Real even = load(rows + i) * before + at * at_even, odd = at * at_odd + load(rows + i + 2) * after;
    hn::StoreInterleaved2((even - neutral).v, (odd - neutral).v, DF(), out + 2 * i);
  }
}

/* `count` columns from x on, an even one. */
template <class T>
HWY_INLINE void light_row(const Ssimulacra2Params& params, const Side<T>& side, int y, int x, int count,
                          const Ssimulacra2StripMemory& memory, float* const (&out)[3]) {
  float *luma = memory.samples(0), *cb = memory.samples(1), *cr = memory.samples(2);
  samples_to_floats(side.luma.row(y) + x, count, 1, luma);
  if (params.has_chroma) {
    chroma_row(params, side.cb, y, x, count, memory, cb);
    chroma_row(params, side.cr, y, x, count, memory, cr);
  } else {
    std::fill_n(cb, count + kRowSlack, 0.0f);
    std::fill_n(cr, count + kRowSlack, 0.0f);
  }
  for (int i = 0; i < count; i += lanes()) {
    const SrgbCodes codes =
        srgb_codes(params.light, widened(load(luma + i)), widened(load(cb + i)), widened(load(cr + i)));
    store(linear(narrowed(codes.r)), out[0] + i);
    store(linear(narrowed(codes.g)), out[1] + i);
    store(linear(narrowed(codes.b)), out[2] + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();
#endif

#endif
