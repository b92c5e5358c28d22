/* The SIMD twin of float_ansnr, equal to ansnr_ref.cpp to the last bit.
 *
 * Row by row: samples go as floats into rings of as many rows as the windows have, their borders reflected there; windows are
 * added up from those. Floor of 1920x1080: 36 multiplications for 16 samples on AVX-512, one a cycle: some 1.2 ms, and 0.7 ms
 * for the sums in order (row_sums.h). */
#include "kernels/float_ansnr/float_ansnr.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/float_ansnr/float_ansnr_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/aligned.h"
#include "kernels/float_ansnr/float_ansnr_math-inl.h"
#include "kernels/steps/row_sums.h"

#ifndef VMAFX_KERNELS_ANSNR_ANSNR_SIMD_ONCE
#define VMAFX_KERNELS_ANSNR_ANSNR_SIMD_ONCE
namespace vmafx {

/* The rows under a window. */
using AnsnrRefRows = RowRing<2 * kAnsnrRefRadius + 1>;
using AnsnrDistRows = RowRing<2 * kAnsnrDistRadius + 1>;

}  // namespace vmafx
#endif

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

template <int count, class T>
void read_row(const Plane<const T>& plane, int y, float scale, const RowRing<count>& rows) {
  if (y >= plane.h) return;
  const int w = plane.w;
  float* const row = rows.row(y);
  samples_to_floats(plane.row(y), w, scale, kAnsnrOffset, row);
  for (int i = 1; i <= count / 2; i++) {
    row[-i] = row[ansnr_reflect(-i, w)];
    row[w - 1 + i] = row[ansnr_reflect(w - 1 + i, w)];
  }
}

/* The rows around row y. */
template <int count>
struct Window {
  HWY_INLINE Window(const RowRing<count>& rows, int y, int h) {
    for (int i = 0; i < count; i++) row[i] = rows.row(ansnr_reflect(y - count / 2 + i, h));
  }
  const float* row[count];
};

template <class T>
AnsnrSums sums_of(const Plane<const T>& ref, const Plane<const T>& dist, float scale, std::byte* scratch) {
  const int w = ref.w, h = ref.h;
  const AnsnrRefRows ref_rows(scratch, w);
  const AnsnrDistRows dist_rows(scratch + AnsnrRefRows::bytes(w), w);
  uint64_t words[2] = {};
  RowStrip strip(2, w, scratch + AnsnrRefRows::bytes(w) + AnsnrDistRows::bytes(w), words);
  for (int y = 0; y < kAnsnrRefRadius; y++) read_row(ref, y, scale, ref_rows);
  for (int y = 0; y < kAnsnrDistRadius; y++) read_row(dist, y, scale, dist_rows);
  for (int y = 0; y < h; y++) {
    read_row(ref, y + kAnsnrRefRadius, scale, ref_rows);
    read_row(dist, y + kAnsnrDistRadius, scale, dist_rows);
    const Window ref_window(ref_rows, y, h);
    const Window dist_window(dist_rows, y, h);
    float *const signal = strip.row(0), *const noise = strip.row(1);
    for (int x = 0; x < w; x += lanes()) {
      const AnsnrSquares squares =
          ansnr_squares([&](int dy) HWY_ATTR { return AlongRow{ref_window.row[kAnsnrRefRadius + dy] + x}; },
                        [&](int dy) HWY_ATTR { return AlongRow{dist_window.row[kAnsnrDistRadius + dy] + x}; });
      store(squares.signal, signal + x);
      store(squares.noise, noise + x);
    }
    strip.end_row();
  }
  strip.finish();
  return {words[0], words[1]};
}

AnsnrSums ansnr(const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch) {
  const float scale = scale_to_8_bits(bpc);
  return bpc == 8 ? sums_of(ref.as<uint8_t>(), dist.as<uint8_t>(), scale, scratch)
                  : sums_of(ref.as<uint16_t>(), dist.as<uint16_t>(), scale, scratch);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(ansnr);

size_t ansnr_scratch_bytes(int w) { return AnsnrRefRows::bytes(w) + AnsnrDistRows::bytes(w) + RowStrip::bytes(2, w); }

AnsnrSums ansnr_simd(const SamplePlane& ref, const SamplePlane& dist, int bpc, std::byte* scratch) {
  return HWY_DYNAMIC_DISPATCH(ansnr)(ref, dist, bpc, scratch);
}

}  // namespace vmafx
#endif
