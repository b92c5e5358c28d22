/* ADM, SIMD: a row through contrast masking. */
#if defined(VMAFX_ADM_CM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_ADM_CM_INL_H
#undef VMAFX_ADM_CM_INL_H
#else
#define VMAFX_ADM_CM_INL_H
#endif

#include "kernels/adm/adm_decouple-inl.h"

#if HWY_TARGET != HWY_SCALAR  // one lane holds no pairs
HWY_BEFORE_NAMESPACE();
VMAFX_ALLOW_VNNI
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC optimize("schedule-insns", "sched-pressure")  // see ciede_simd.cpp
#endif
namespace vmafx {
namespace HWY_NAMESPACE {

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

/* The part of `magnitude` that exceeds the threshold. In columns that are not scored both are 0. */
HWY_INLINE V32 excess(V32 magnitude, V32 threshold) { return hn::Max(hn::Sub(magnitude, threshold), hn::Zero(D32())); }

/* Whether some of the `lanes` columns from x on are not scored. */
HWY_INLINE bool at_edge(const AdmScale& scale, int x, int lanes) { return x < scale.left || x + lanes > scale.right; }

HWY_INLINE void add_row(VU64 sum, uint64_t cubes, const CubeRounding& rounding, int row_shift, int64_t& total) {
  const uint64_t row = lane_sum(sum) - rounding.correction(cubes);
  total += static_cast<int64_t>(row + ((uint64_t{1} << row_shift) >> 1)) >> row_shift;
}

/* Neighbors of three rows in one column. */
template <class T>
HWY_INLINE V32 column(const MaskingWork<T>& work, int parity, int x) {
  const D32 d;
  return hn::Add(hn::Add(hn::LoadU(d, work.above[parity] + x), hn::LoadU(d, work.here[parity] + x)),
                 hn::LoadU(d, work.below[parity] + x));
}

/* One band of one vector of columns, scale 0. */
template <int kBand>
HWY_INLINE void add_band_fine(V16 magnitude, V32 rfactor, V32 even_threshold, V32 odd_threshold,
                              const CubeRounding& rounding, VU64& sum) {
  constexpr int kSquareShift = adm_square_shift(0, kBand), kThresholdShift = adm_threshold_shift(0, kBand);
  const V32 even = hn::Mul(even_unsigned(magnitude), rfactor), odd = hn::Mul(odd_unsigned(magnitude), rfactor);
  add_cubes<kSquareShift>(excess(even, hn::ShiftLeft<kThresholdShift>(even_threshold)), rounding, sum);
  add_cubes<kSquareShift>(excess(odd, hn::ShiftLeft<kThresholdShift>(odd_threshold)), rounding, sum);
}

inline void cm_fine(const MaskingWork<int16_t>& work, int x0, int x1) {
  const D16 d;
  const D32 d32;
  const AdmScale& scale = *work.scale;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const V32 straight = hn::Set(d32, static_cast<int32_t>(work.rfactor[0])),
            diagonal = hn::Set(d32, static_cast<int32_t>(work.rfactor[2]));
  const CubeRounding straight_cube(scale.cube_shift[0]), diagonal_cube(scale.cube_shift[2]);
  VU64 sum_h = hn::Zero(DU64()), sum_v = hn::Zero(DU64()), sum_d = hn::Zero(DU64());
  uint64_t cubes = 0;
  for (int x = x0; x < x1; x += lanes, cubes += lanes) {
    const int half_x = x / 2;
    const V32 even = column(work, 0, half_x), odd = column(work, 1, half_x), middle = hn::Add(even, odd);
    V32 even_threshold = hn::Add(hn::Add(column(work, 1, half_x - 1), middle), hn::Load(d32, work.center[0] + half_x));
    V32 odd_threshold = hn::Add(hn::Add(middle, column(work, 0, half_x + 1)), hn::Load(d32, work.center[1] + half_x));
    V16 h = hn::Load(d, work.signal[0] + x), v = hn::Load(d, work.signal[1] + x), dd = hn::Load(d, work.signal[2] + x);
    if (at_edge(scale, x, lanes)) {
      const V16 scored = hn::Load(d, work.scored + x);
      even_threshold = hn::And(even_threshold, low_halves(scored));
      odd_threshold = hn::And(odd_threshold, high_halves(scored));
      for (V16* signal : {&h, &v, &dd}) *signal = hn::And(*signal, scored);
    }
    add_band_fine<0>(h, straight, even_threshold, odd_threshold, straight_cube, sum_h);
    add_band_fine<1>(v, straight, even_threshold, odd_threshold, straight_cube, sum_v);
    add_band_fine<2>(dd, diagonal, even_threshold, odd_threshold, diagonal_cube, sum_d);
  }
  add_row(sum_h, cubes, straight_cube, scale.row_shift, work.sums[0]);
  add_row(sum_v, cubes, straight_cube, scale.row_shift, work.sums[1]);
  add_row(sum_d, cubes, diagonal_cube, scale.row_shift, work.sums[2]);
}

inline void cm_coarse(const MaskingWork<int32_t>& work, int x0, int x1) {
  const D32 d;
  constexpr int kSquareShift = adm_square_shift(1, 0);
  const AdmScale& scale = *work.scale;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const CubeRounding cube(scale.cube_shift[0]);
  VU64 sum_h = hn::Zero(DU64()), sum_v = hn::Zero(DU64()), sum_d = hn::Zero(DU64());
  uint64_t cubes = 0;
  for (int x = x0; x < x1; x += lanes, cubes += lanes) {
    const V32 sides = hn::Add(column(work, 0, x - 1), column(work, 0, x + 1));
    V32 threshold = hn::Add(hn::Add(sides, column(work, 0, x)), hn::Load(d, work.center[0] + x));
    V32 h = hn::Load(d, work.signal[0] + x), v = hn::Load(d, work.signal[1] + x), dd = hn::Load(d, work.signal[2] + x);
    if (at_edge(scale, x, lanes)) {
      const V32 scored = hn::Load(d, work.scored + x);
      for (V32* of : {&threshold, &h, &v, &dd}) *of = hn::And(*of, scored);
    }
    add_cubes<kSquareShift>(excess(h, threshold), cube, sum_h);
    add_cubes<kSquareShift>(excess(v, threshold), cube, sum_v);
    add_cubes<kSquareShift>(excess(dd, threshold), cube, sum_d);
  }
  add_row(sum_h, cubes, cube, scale.row_shift, work.sums[0]);
  add_row(sum_v, cubes, cube, scale.row_shift, work.sums[1]);
  add_row(sum_d, cubes, cube, scale.row_shift, work.sums[2]);
}

}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();
#endif

#endif
