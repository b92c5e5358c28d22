/* The SIMD twin of float_ansnr, equal to ansnr_plain.cpp to the last bit.
 *
 * Row by row: samples go as floats into rings of as many rows as the windows have, their borders reflected there;
 * windows are added up from those. Floor of 1920x1080: 36 multiplications for 16 samples on AVX-512, one a cycle: some
 * 1.2 ms, and 0.7 ms for the sums in order (row_sums.h). */
#include "kernels/float_ansnr/float_ansnr.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/float_ansnr/float_ansnr_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/rounding.h"
#include "kernels/float_ansnr/float_ansnr_math-inl.h"
#include "kernels/steps/row_sums.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

/* The rows under a window. */
using AnsnrRefRows = RowRing<2 * kAnsnrRefRadius + 1>;
using AnsnrDistRows = RowRing<2 * kAnsnrDistRadius + 1>;

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
void add_up(const Plane<const T>& ref, const Plane<const T>& dist, float scale, std::byte* scratch, AnsnrSums& sums,
            const AnsnrBlocks* blocks) {
  const int w = ref.w, h = ref.h;
  const AnsnrRefRows ref_rows(scratch, w);
  const AnsnrDistRows dist_rows(scratch + AnsnrRefRows::bytes(w), w);
  RowStrip strip(2, w, scratch + AnsnrRefRows::bytes(w) + AnsnrDistRows::bytes(w), reinterpret_cast<uint64_t*>(&sums));
  const RowStrip::Taker add_to_blocks = [&](int quantity, int y, std::span<const float> values) {
    for (int x = 0; quantity == 1 && x < w; x++)
      blocks->noise[blocks->grid.at(x, y)] += static_cast<double>(values[static_cast<size_t>(x)]);
  };
  if (blocks) strip.tell_rows(add_to_blocks);
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
}

void ansnr(const VideoFormat& format, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
           AnsnrSums& sums, const AnsnrBlocks* blocks) {
  const float scale = scale_to_8_bits(format.bpc);
  if (format.bpc == 8) add_up(ref.as<uint8_t>(), dist.as<uint8_t>(), scale, scratch, sums, blocks);
  else add_up(ref.as<uint16_t>(), dist.as<uint16_t>(), scale, scratch, sums, blocks);
}

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(ansnr);

size_t ansnr_scratch_bytes(const VideoFormat& format) {
  using namespace HWY_NAMESPACE;
  return AnsnrRefRows::bytes(format.w) + AnsnrDistRows::bytes(format.w) + RowStrip::bytes(2, format.w);
}

void ansnr_simd(const VideoFormat& format, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                AnsnrSums& sums) {
  HWY_DYNAMIC_DISPATCH(ansnr)(format, ref, dist, scratch, sums, nullptr);
}

void ansnr_mapped_simd(const VideoFormat& format, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                       AnsnrSums& sums, const AnsnrBlocks& blocks) {
  HWY_DYNAMIC_DISPATCH(ansnr)(format, ref, dist, scratch, sums, &blocks);
}

}  // namespace vmafx
#endif
