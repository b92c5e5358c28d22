/* The SIMD twin of ciede: one source for every instruction set, equal to ciede_plain.cpp to the last bit.
 *
 * The offsets that chroma adds to R'G'B' are made once for all rows of luma that share them, in rows as wide as luma's.
 * Then the colors of kChunk pixels of both pictures are made, then their differences: a pixel is a chain of some
 * hundred operations that wait for each other, so that as many pixels as possible must be on their way.
 *
 * Floor for a 1920x1080 frame, 4:2:0, on AVX-512, by the units of Zen 4 that the instructions need (llvm-mca 19): the
 * colors of 32 pixels of one picture take 426 cycles, 464 where one of them is dark, the differences 273; together 1160
 * for both pictures, 21 ms at 3.65 GHz. Measured on such a server: 32 ms; AVX2 42, SSE4 88. On a Xeon the floor is 23
 * ms, measured 30 (docs/performance.md). */
#include "kernels/ciede/ciede.h"

#include <algorithm>
#include <cstring>

#include "base/rounding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ciede/ciede_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/ciede/ciede_math-inl.h"
#include "kernels/steps/rows-inl.h"

HWY_BEFORE_NAMESPACE();
#if HWY_COMPILER_GCC_ACTUAL
/* Puts operations that do not wait for each other side by side. */
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif
namespace vmafx::HWY_NAMESPACE {
namespace {

/* Rows of offsets of one picture, in scratch. */
struct Rows {
  double *r, *g, *b;
};

/* A vector of samples from row[x]; 0 from w on, which is not read. */
template <class T>
HWY_INLINE Real samples(const T* row, int x, int w) {
  const hn::Rebind<T, DI> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (x + lanes <= w) return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(d, row + x)));
  if (x >= w) return Real(0.f);
  HWY_ALIGN T rest[hn::MaxLanes(DF())] = {};
  std::memcpy(rest, row + x, (w - x) * sizeof(T));
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::Load(d, rest)));
}

/* Offsets of w chroma samples, for a pixel each, or for two. */
template <bool halved, class T>
void fill(const CiedeParams& params, const T* cb, const T* cr, int w, const Rows& out) {
  const Real zero = Real(params.chroma_zero);
  for (int x = 0; x < w; x += lanes()) {
    const CiedeRgb offsets = ciede_offsets(params, samples(cb, x, w) - zero, samples(cr, x, w) - zero);
    const auto put = [x](Double v, double* row) HWY_ATTR {
      if constexpr (halved) store_twice(v, row + 2 * x);
      else store(v, row + x);
    };
    put(offsets.r, out.r);
    put(offsets.g, out.g);
    put(offsets.b, out.b);
  }
}

template <class T>
void fill_rows(const CiedeParams& params, const Picture& picture, int y, const Rows& out) {
  const auto cb = picture.plane[1].as<T>(), cr = picture.plane[2].as<T>();
  const int w = picture.plane[0].w, row = ciede_chroma_site(params, 0, y).y;
  if (params.column_shift == 0) return fill<false>(params, cb.row(row), cr.row(row), w, out);
  fill<true>(params, cb.row(row), cr.row(row), cb.w, out);
  if (w > 2 * cb.w) /* a last odd one has its neighbor's */
    for (double* offsets : {out.r, out.g, out.b}) offsets[w - 1] = offsets[w - 2];
}

/* Colors of so many pixels in a row: in the first-level cache for both pictures. */
constexpr int kChunk = 256;
struct Labs {
  float l[kChunk], a[kChunk], b[kChunk];

  HWY_INLINE CiedeLab at(int x) const { return {load(l + x), load(a + x), load(b + x)}; }
  HWY_INLINE void put(int x, const CiedeLab& lab) {
    store(lab.l, l + x);
    store(lab.a, a + x);
    store(lab.b, b + x);
  }
};

/* Makes L*a*b* of `n` pixels from `from` on, two vectors side by side. */
template <class T>
HWY_NOINLINE void make_labs(const CiedeParams& params, const Plane<const T>& luma, int y, const Rows& rows, int from,
                            int n, Labs& out) {
  const auto rgb_at = [&](int i) HWY_ATTR {
    const int x = from + i;
    const CiedeRgb offsets = {load(rows.r + x), load(rows.g + x), load(rows.b + x)};
    return ciede_rgb(params, samples(luma.row(y), x, luma.w) - Real(params.luma_zero), offsets);
  };
  for (int i = 0; i < n; i += 2 * lanes()) {
    const CiedeRgb one = rgb_at(i), other = rgb_at(i + lanes());
    if (any(!(ciede_is_bright(one) & ciede_is_bright(other)))) {
      out.put(i, ciede_lab_of<false>(one));
      out.put(i + lanes(), ciede_lab_of<false>(other));
    } else {
      out.put(i, ciede_lab_of<true>(one));
      out.put(i + lanes(), ciede_lab_of<true>(other));
    }
  }
}

/* By themselves, two vectors side by side: one difference waits long for its quotients and roots. */
HWY_NOINLINE void add_differences(const Labs& ref, const Labs& dist, int n, FixedSum<kCiedeSumBits>& sum) {
  const auto add = [&](Real difference, int i) HWY_ATTR {
    if (i + lanes() <= n) sum.add(difference);
    else if (i < n) sum.add(first_lanes(widened(difference), n - i));
  };
  for (int i = 0; i < n; i += 2 * lanes()) {
    const int j = i + lanes();
    const Real one = ciede_difference(ref.at(i), dist.at(i)), other = ciede_difference(ref.at(j), dist.at(j));
    add(one, i);
    add(other, j);
  }
}

template <class T>
int64_t sum_of(const CiedeParams& params, const Picture& ref, const Picture& dist, const Rows (&rows)[2]) {
  const auto ref_luma = ref.plane[0].as<T>(), dist_luma = dist.plane[0].as<T>();
  HWY_ALIGN Labs ref_labs, dist_labs;
  FixedSum<kCiedeSumBits> sum;
  for (int y = 0; y < ref_luma.h; y++) {
    if (params.row_shift == 0 || y % 2 == 0) {
      fill_rows<T>(params, ref, y, rows[0]);
      fill_rows<T>(params, dist, y, rows[1]);
    }
    for (int x = 0; x < ref_luma.w; x += kChunk) {
      const int n = std::min(kChunk, ref_luma.w - x);
      make_labs(params, ref_luma, y, rows[0], x, n, ref_labs);
      make_labs(params, dist_luma, y, rows[1], x, n, dist_labs);
      add_differences(ref_labs, dist_labs, n, sum);
    }
  }
  return sum.total();
}

int64_t ciede(const CiedeParams& params, const Picture& ref, const Picture& dist, std::byte* scratch) {
  const size_t n = ciede_row_samples(ref.plane[0].w);
  auto* const offsets = reinterpret_cast<double*>(scratch);
  const Rows rows[] = {{offsets, offsets + n, offsets + 2 * n}, {offsets + 3 * n, offsets + 4 * n, offsets + 5 * n}};
  return params.bpc == 8 ? sum_of<uint8_t>(params, ref, dist, rows) : sum_of<uint16_t>(params, ref, dist, rows);
}

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(ciede);

int64_t ciede_simd(const CiedeParams& params, const Picture& ref, const Picture& dist, std::byte* scratch) {
  return HWY_DYNAMIC_DISPATCH(ciede)(params, ref, dist, scratch);
}

size_t ciede_row_samples(int w) {
  constexpr size_t kPad = 128;  // may be written past a row: two vectors of floats
  return round_up(w + kPad, kCacheLine / sizeof(double));
}

}  // namespace vmafx
#endif
