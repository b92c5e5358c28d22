/* ADM, the SIMD twin: one pass over the pictures, row by row.
 *
 * A row of bands is made as soon as its four input rows are there; its band a goes into the next scale's ring of four
 * rows, its detail through decoupling and csf at once, and through masking when the row below it is there. So nothing
 * but rows is ever stored, and both pictures are read once. Only what the scored 80 % of columns and rows need is
 * computed, at every scale.
 *
 * The floor, for 1920x1080 8 bit: 64 % of 4.1 MB is read, 0.2 ms at 15 GB/s, and hidden by prefetching. A vector of 32
 * columns of scale 0's bands takes some 800 instructions: 200 for the transform of both pictures, 110 for each band's
 * restored part, 110 for the masks, 250 for the cubes; one of 16 columns at scales 1 to 3, where products have 64
 * bits, some 700. That is 8.4 + 4.8 million instructions of 64 bytes, 1.1 ms at three of them a cycle and 4 GHz.
 *
 * Measured on a Zen 5 server, one thread, least of many runs on a busy machine, ms a frame at 8 and 10 bit: AVX-512
 * 1.6 and 1.6, AVX2 2.9 and 3.1, SSE4 6.0 and 6.2, SSSE3 28 and 29 (no 64-bit products of signed lanes, no shifts by
 * lane). libvmaf f85a853 in the same minutes: AVX-512 5.8 and 6.6, AVX2 12.3 and 12.1, plain C 26.0 and 25.8. */
#include "kernels/adm/adm.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adm/adm_simd.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/aligned.h"
#include "base/cpu.h"
#include "kernels/adm/adm_decouple-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* One lane holds no pairs: a machine without vectors takes the definition. */
void adm(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, AdmSums& sums) {
  adm_ref(params, ref, dist, scratch, sums);
}

#else

/* -- Contrast masking ---------------------------------------------------------------------------------------------- */

/* Not every target shifts 64-bit lanes right arithmetically. So each cube gets 2^63 before its (logical) shift, and
 * the row's sum is corrected for all of them at once; everything is modulo 2^64. */
struct CubeRounding {
  explicit CubeRounding(int cube_shift)
      : shift(cube_shift), bias((uint64_t{1} << 63) + ((uint64_t{1} << cube_shift) >> 1)) {}
  uint64_t correction(uint64_t cubes) const { return cubes * ((uint64_t{1} << 63) >> shift); }
  int shift;
  uint64_t bias;
};

/* The biased masked cube of the even lanes, x >= 0. */
template <int kSquareShift>
HWY_INLINE VU64 cube_even(V32 x, const CubeRounding& rounding) {
  const DU64 d;
  const VU64 square = hn::Add(bits64(hn::MulEven(x, x)), hn::Set(d, uint64_t{1} << (kSquareShift - 1)));
  const V32 kept = hn::BitCast(D32(), hn::ShiftRight<kSquareShift>(square));  // its low half, signed
  return hn::ShiftRightSame(hn::Add(bits64(hn::MulEven(kept, x)), hn::Set(d, rounding.bias)), rounding.shift);
}
template <int kSquareShift>
HWY_INLINE void add_cubes(V32 x, const CubeRounding& rounding, VU64& sum) {
  sum = hn::Add(sum, hn::Add(cube_even<kSquareShift>(x, rounding), cube_even<kSquareShift>(odd_lanes(x), rounding)));
}

/* What of `magnitude` exceeds the threshold, in the scored columns. */
HWY_INLINE V32 excess(V32 magnitude, V32 threshold, V32 scored) {
  return hn::And(hn::Max(hn::Sub(magnitude, threshold), hn::Zero(D32())), scored);
}

/* Masks around a row. */
struct Window {
  const int32_t *near[3][2], *center[2];

  HWY_INLINE V32 column(int parity, int x) const {
    const D32 d;
    return hn::Add(hn::Add(hn::LoadU(d, near[0][parity] + x), hn::LoadU(d, near[1][parity] + x)),
                   hn::LoadU(d, near[2][parity] + x));
  }
  HWY_INLINE V32 threshold(V32 neighbors, int parity, int x) const {
    return hn::Add(neighbors, hn::Load(D32(), center[parity] + x));
  }
};

/* A vector of columns. The shifts of cubes are [0] for bands h and v, [1] for d. */
HWY_INLINE void add_columns(const Window& window, const AdmScale& scale, std::byte* const (&signal)[kAdmBands], int x,
                            V16 scored, const CubeRounding (&rounding)[2], VU64 (&sums)[kAdmBands]) {
  const int half_x = x / 2;
  const V32 even = window.column(0, half_x), odd = window.column(1, half_x), middle = hn::Add(even, odd);
  const V32 even_threshold = window.threshold(hn::Add(window.column(1, half_x - 1), middle), 0, half_x);
  const V32 odd_threshold = window.threshold(hn::Add(middle, window.column(0, half_x + 1)), 1, half_x);
  const V32 even_scored = low_halves(scored), odd_scored = high_halves(scored);
  const auto add = [&]<int kBand>(std::integral_constant<int, kBand>) HWY_ATTR {
    constexpr int kSquareShift = adm_square_shift(0, kBand), kThresholdShift = adm_threshold_shift(0, kBand);
    const V32 rfactor = hn::Set(D32(), static_cast<int32_t>(scale.rfactor[kBand]));
    const V16 magnitude = hn::Load(D16(), samples<int16_t>(signal[kBand]) + x);
    const V32 even_signal = hn::Mul(even_unsigned(magnitude), rfactor),
              odd_signal = hn::Mul(odd_unsigned(magnitude), rfactor);
    add_cubes<kSquareShift>(excess(even_signal, hn::ShiftLeft<kThresholdShift>(even_threshold), even_scored),
                            rounding[kBand / 2], sums[kBand]);
    add_cubes<kSquareShift>(excess(odd_signal, hn::ShiftLeft<kThresholdShift>(odd_threshold), odd_scored),
                            rounding[kBand / 2], sums[kBand]);
  };
  add(std::integral_constant<int, 0>());
  add(std::integral_constant<int, 1>());
  add(std::integral_constant<int, 2>());
}
HWY_INLINE void add_columns(const Window& window, const AdmScale&, std::byte* const (&signal)[kAdmBands], int x,
                            V32 scored, const CubeRounding (&rounding)[2], VU64 (&sums)[kAdmBands]) {
  const V32 sides = hn::Add(window.column(0, x - 1), window.column(0, x + 1));
  const V32 threshold = window.threshold(hn::Add(sides, window.column(0, x)), 0, x);
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++)
    add_cubes<adm_square_shift(1, 0)>(excess(hn::Load(D32(), samples<int32_t>(signal[band]) + x), threshold, scored),
                                      rounding[0], sums[band]);
}

/* Columns [x0, x1) of a row of a level. */
template <class T>
void cm(const AdmRowsOfLevel& level, const Window& window, std::byte* const (&signal)[kAdmBands], int x0, int x1,
        int64_t (&totals)[kAdmBands]) {
  const hn::ScalableTag<T> d;
  const AdmScale scale = *level.scale;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const CubeRounding rounding[2] = {CubeRounding(scale.cube_shift[0]), CubeRounding(scale.cube_shift[2])};
  VU64 sums[kAdmBands];
  for (VU64& sum : sums) sum = hn::Zero(DU64());
  uint64_t cubes = 0;
  for (int x = x0; x < x1; x += lanes, cubes += lanes)
    add_columns(window, scale, signal, x, hn::Load(d, samples<T>(level.scored) + x), rounding, sums);
  for (int band = 0; band < kAdmBands; band++) {
    const uint64_t row = lane_sum(sums[band]) - rounding[band / 2].correction(cubes);
    totals[band] += static_cast<int64_t>(row + ((uint64_t{1} << scale.row_shift) >> 1)) >> scale.row_shift;
  }
}

/* -- A frame ------------------------------------------------------------------------------------------------------- */

/* `interval` with its begin on a whole vector of 16-bit lanes, which is two of 32-bit lanes. */
Interval aligned_down(Interval interval) {
  const int lanes = static_cast<int>(hn::Lanes(D16()));
  return {interval.begin / lanes * lanes, interval.end};
}

/* The next step's rows, while this step works: without it a quarter of the time goes into waiting for them. */
template <class T>
void prefetch(const T* begin, const T* end) {
  for (; begin < end; begin += kCacheLine / sizeof(T)) hwy::Prefetch(begin);
}

/* Columns -1 and w of a mask's neighbors: 1 and w - 1. */
void mirror_mask(const AdmMaskRow& row, int w, bool split) {
  const auto at = [&](int x) -> int32_t& { return split ? row.neighbors[x & 1][x >> 1] : row.neighbors[0][x]; };
  at(-1) = at(1);
  at(w) = at(w - 1);
}

/* One frame, of samples T, on its way through the scales. */
template <class T>
class Frame {
 public:
  using Level = AdmRowsOfLevel;

  Frame(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, AdmSums& sums)
      : params_(params), sums_(sums), source_{ref.as<T>(), dist.as<T>()} {
    plan_adm_levels(params.scale, params.skip_scale0, p_.level);
    std::memset(scratch, 0, place_adm_rows(params, scratch, p_));
    for (const Level& level : p_.level) {
      const auto [x0, x1] = level.scored_cols();
      const size_t size = level.index == 0 ? sizeof(int16_t) : sizeof(int32_t);
      std::memset(level.scored + x0 * size, 0xFF, (x1 - x0) * size);
    }
  }

  void run() {
    const Interval rows = p_.level[0].in_rows;
    for (int y = rows.begin; y < rows.end; y++) advance_adm(*this, p_.level, 0, y);
  }

  void make_row(const Level& level, int y) {
    for (int picture = 0; picture < 2; picture++) {
      if (level.index == 0) transform_source(level, y, picture);
      else if (level.index == 1) transform_rows<int16_t>(level, y, picture);
      else transform_rows<int32_t>(level, y, picture);
    }
    if (!level.has_detail(y)) return;
    const auto [x0, x1] = aligned_down(level.detail_cols);
    pick_decouple(level.index)(params_, level, y, x0, x1, sums_.csf_den[level.index]);
    mirror_mask(level.mask_of_added.row(y), level.scale->w, level.index == 0);
    mirror_mask(level.mask_of_restored.row(y), level.scale->w, level.index == 0);
  }

  void mask_row(const Level& level, int y) {
    mask(level, y, level.restored, level.mask_of_added, sums_.dlm[level.index]);
    if (params_.measure_aim) mask(level, y, level.added, level.mask_of_restored, sums_.aim[level.index]);
  }

 private:
  /* Where row y of the band a of `level` goes. */
  std::byte* band_a(const Level& level, int picture, int y) const {
    const bool last = level.index + 1 == kAdmScales;
    return last ? p_.unused : p_.level[level.index + 1].input[picture][y % kAdmInputRows];
  }

  void transform_source(const Level& level, int y, int picture) {
    const Plane<const T>& plane = source_[picture];
    const T* rows[kAdmInputRows];
    for (int tap = 0; tap < kAdmInputRows; tap++) rows[tap] = plane.row(adm_mirror(2 * y - 1 + tap, plane.h));
    const auto [x0, x1] = aligned_down(level.in_cols);
    for (int next = 2 * y + 3; next < std::min(2 * y + 5, plane.h); next++)
      prefetch(plane.row(next) + x0, plane.row(next) + x1);
    vertical_source<T>(rows, x0, x1, plane.w, params_.bpc, p_.passed[0], p_.passed[1]);
    mirror_ends(p_.passed[0], plane.w);
    mirror_ends(p_.passed[1], plane.w);
    const auto [band0, band1] = aligned_down(level.cols);
    std::byte* const* detail = level.detail[picture];
    horizontal_fine(p_.passed[0], band0, band1, samples<int16_t>(band_a(level, picture, y)),
                    samples<int16_t>(detail[1]));
    if (!level.has_detail(y)) return;
    const auto [detail0, detail1] = aligned_down(level.detail_cols);
    horizontal_fine(p_.passed[1], detail0, detail1, samples<int16_t>(detail[0]), samples<int16_t>(detail[2]));
  }

  template <class In>
  void transform_rows(const Level& level, int y, int picture) {
    const AdmScale& s = *level.scale;
    const In* rows[kAdmInputRows];
    for (int tap = 0; tap < kAdmInputRows; tap++)
      rows[tap] = samples<In>(level.input[picture][adm_mirror(2 * y - 1 + tap, s.in_h) % kAdmInputRows]);
    const auto [x0, x1] = aligned_down(level.in_cols);
    const SplitRow low = {p_.passed[0], p_.passed[1]}, high = {p_.passed[2], p_.passed[3]};
    vertical_coarse(rows, x0, x1, low, high);
    for (int16_t* row : p_.passed) mirror_ends(row, s.in_w);
    const auto [band0, band1] = aligned_down(level.cols);
    std::byte* const* detail = level.detail[picture];
    const auto horizontal = s.horizontal_shift == 15 ? horizontal_coarse<15> : horizontal_coarse<16>;
    horizontal(low, band0, band1, samples<int32_t>(band_a(level, picture, y)), samples<int32_t>(detail[1]));
    if (!level.has_detail(y)) return;
    const auto [detail0, detail1] = aligned_down(level.detail_cols);
    horizontal(high, detail0, detail1, samples<int32_t>(detail[0]), samples<int32_t>(detail[2]));
  }

  auto pick_decouple(int index) const {
    const bool whole_gain = params_.gain_limit == static_cast<int>(params_.gain_limit);
    if (index == 0) return whole_gain ? decouple<int16_t, true, 0> : decouple<int16_t, false, 0>;
    if (adm_den_square_shift(index) == 30)
      return whole_gain ? decouple<int32_t, true, 30> : decouple<int32_t, false, 30>;
    return whole_gain ? decouple<int32_t, true, 31> : decouple<int32_t, false, 31>;
  }

  void mask(const Level& level, int y, std::byte* const (&signal)[kAdmSignalRows][kAdmBands], const AdmMaskRows& masks,
            int64_t (&sums)[kAdmBands]) const {
    Window window;
    for (int parity = 0; parity < 2; parity++) {
      for (int dy = -1; dy <= 1; dy++)
        window.near[1 + dy][parity] = masks.row(adm_mirror(y + dy, level.scale->h)).neighbors[parity];
      window.center[parity] = masks.row(y).center[parity];
    }
    const auto [x0, x1] = aligned_down(level.scored_cols());
    (level.index == 0 ? cm<int16_t> : cm<int32_t>)(level, window, signal[y % kAdmSignalRows], x0, x1, sums);
  }

  const AdmParams& params_;
  AdmSums& sums_;
  const Plane<const T> source_[2];
  AdmPyramid p_ = {};
};

void adm(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch, AdmSums& sums) {
  if (params.bpc == 8) Frame<uint8_t>(params, ref, dist, scratch, sums).run();
  else Frame<uint16_t>(params, ref, dist, scratch, sums).run();
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(adm);

size_t adm_scratch_bytes_simd(const AdmParams& params) {
  AdmPyramid pyramid;
  if (runnable_cpu_targets().front() == HWY_SCALAR) return adm_scratch_bytes_ref(params);
  return place_adm_rows(params, nullptr, pyramid);
}

void adm_simd(const AdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
              AdmSums& sums) {
  HWY_DYNAMIC_DISPATCH(adm)(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
#endif
