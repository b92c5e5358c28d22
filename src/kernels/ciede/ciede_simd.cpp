/* The SIMD twin of ciede: one source for every instruction set, equal to ciede_ref.cpp to the last bit.
 *
 * What chroma adds to R'G'B' is made once for all rows of luma that share it, in rows as wide as luma's.
 *
 * Measured for a 1920x1080 frame of 8 bit, 4:2:0, on a Zen 4: 25 ms on AVX-512, 43 on AVX2, 93 on SSE4, the definition
 * 350. */
#include "kernels/ciede/ciede.h"

#include <cstring>

#include "base/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ciede/ciede_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/ciede/ciede_math-inl.h"
#include "kernels/steps/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

/* Rows of offsets of one picture, in scratch. */
struct Rows {
  double *r, *g, *b;
  uint16_t* chroma[2];  // rows of 4:2:2, put together; of bytes at 8 bit
};

/* A vector of samples from row[x]; 0 from w on, which is not read. */
template <class T>
HWY_INLINE Real samples(const T* row, int x, int w) {
  const hn::Rebind<T, DI> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (x + lanes <= w) return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(d, row + x)));
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

/* A row of 4:2:2 as ciede_chroma_site() finds it. */
template <class T>
const T* wrapped_row(const Plane<const T>& plane, int y, int luma_w, uint16_t* out) {
  T* const row = reinterpret_cast<T*>(out);
  for (int x = 0; x < luma_w; x++) {
    const CiedeSite site = ciede_chroma_site(CiedeChroma::kWrapped, x, y, plane.w, plane.h);
    row[x] = site.x < plane.w ? plane.row(site.y)[site.x] : 0;
  }
  return row;
}

template <class T>
void fill_rows(const CiedeParams& params, const Picture& picture, int y, const Rows& out) {
  const auto cb = picture.plane[1].as<T>(), cr = picture.plane[2].as<T>();
  const int w = picture.plane[0].w;
  if (params.chroma == CiedeChroma::kWrapped)
    return fill<false>(params, wrapped_row(cb, y, w, out.chroma[0]), wrapped_row(cr, y, w, out.chroma[1]), w, out);
  const int row = ciede_chroma_site(params.chroma, 0, y, cb.w, cb.h).y;
  if (params.chroma == CiedeChroma::kEach) return fill<false>(params, cb.row(row), cr.row(row), w, out);
  fill<true>(params, cb.row(row), cr.row(row), cb.w, out);
  if (w > 2 * cb.w) /* a last odd one has its neighbor's */
    for (double* offsets : {out.r, out.g, out.b}) offsets[w - 1] = offsets[w - 2];
}

template <class T>
HWY_INLINE CiedeLab lab_at(const CiedeParams& params, const T* luma, const Rows& rows, int x, int w) {
  const CiedeRgb offsets = {load(rows.r + x), load(rows.g + x), load(rows.b + x)};
  return ciede_lab(params, samples(luma, x, w) - Real(params.luma_zero), offsets);
}

template <class T>
int64_t sum_of(const CiedeParams& params, const Picture& ref, const Picture& dist, const Rows (&rows)[2]) {
  const auto ref_luma = ref.plane[0].as<T>(), dist_luma = dist.plane[0].as<T>();
  const int w = ref_luma.w, step = lanes();
  FixedSum<kCiedeSumBits> sum;
  for (int y = 0; y < ref_luma.h; y++) {
    if (y % ciede_rows_per_chroma(params.chroma) == 0) {
      fill_rows<T>(params, ref, y, rows[0]);
      fill_rows<T>(params, dist, y, rows[1]);
    }
    for (int x = 0; x < w; x += step) {
      const Real difference = ciede_difference(lab_at(params, ref_luma.row(y), rows[0], x, w),
                                               lab_at(params, dist_luma.row(y), rows[1], x, w));
      if (x + step <= w) sum.add(difference);
      else sum.add(Real(hn::IfThenElseZero(hn::FirstN(DF(), w - x), difference.v)));
    }
  }
  return sum.total();
}

int64_t ciede(const CiedeParams& params, const Picture& ref, const Picture& dist, std::byte* scratch) {
  const size_t n = ciede_row_samples(ref.plane[0].w);
  auto* const offsets = reinterpret_cast<double*>(scratch);
  auto* const chroma = reinterpret_cast<uint16_t*>(offsets + 6 * n);
  const Rows rows[] = {{offsets, offsets + n, offsets + 2 * n, {chroma, chroma + n}},
                       {offsets + 3 * n, offsets + 4 * n, offsets + 5 * n, {chroma + 2 * n, chroma + 3 * n}}};
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
  return round_up(w + kPad, kCacheLine / sizeof(uint16_t));
}

}  // namespace vmafx
#endif
