/* float_adm, SIMD: the stages of a row. */
#if defined(VMAFX_FLOAT_ADM_STAGES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_FLOAT_ADM_STAGES_INL_H
#undef VMAFX_FLOAT_ADM_STAGES_INL_H
#else
#define VMAFX_FLOAT_ADM_STAGES_INL_H
#endif

#include <cstring>
#include <type_traits>

#include "kernels/float_adm/float_adm_math-inl.h"
#include "kernels/float_adm/float_adm_rows.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {  // other metrics have rows, bands and sums, too

HWY_INLINE int lanes() { return static_cast<int>(hn::Lanes(DF())); }
HWY_INLINE Real load(const float* from) { return hn::Load(DF(), from); }
HWY_INLINE Real load_any(const float* from) { return hn::LoadU(DF(), from); }
HWY_INLINE void store(Real v, float* to) { hn::Store(v.v, DF(), to); }

/* -- Samples to a split row ---------------------------------------------------------------------------------------- */

/* Two vectors' worth of samples, scaled and centred. */
HWY_INLINE void split_samples(const uint8_t* from, Real scale, const SplitRow& to, int half_x) {
  const hn::Rebind<uint16_t, DF> pairs;
  const auto v = hn::BitCast(pairs, hn::LoadU(hn::Repartition<uint8_t, decltype(pairs)>(), from));
  const Integer even = hn::PromoteTo(DI(), hn::And(v, hn::Set(pairs, 0xFF))), odd = hn::PromoteTo(DI(), hn::ShiftRight<8>(v));
  store(real(even) * scale - Real(128), to.even + half_x);
  store(real(odd) * scale - Real(128), to.odd + half_x);
}
HWY_INLINE void split_samples(const uint16_t* from, Real scale, const SplitRow& to, int half_x) {
  const hn::RebindToUnsigned<DF> pairs;
  const auto v = hn::BitCast(pairs, hn::LoadU(hn::Repartition<uint16_t, DF>(), from));
  const Integer even = hn::BitCast(DI(), hn::And(v, hn::Set(pairs, 0xFFFF))), odd = hn::BitCast(DI(), hn::ShiftRight<16>(v));
  store(real(even) * scale - Real(128), to.even + half_x);
  store(real(odd) * scale - Real(128), to.odd + half_x);
}

/* Columns [2 half_begin, 2 half_end) of a row of w samples; half_begin is a multiple of the vector. */
template <class T>
void split_row(const T* row, int w, int bpc, int half_begin, int half_end, const SplitRow& to) {
  const int n = lanes();
  const Real scale(1.0f / static_cast<float>(1 << (bpc - 8)));
  int x = half_begin;
  for (; x < half_end && 2 * (x + n) <= w; x += n) split_samples(row + 2 * x, scale, to, x);
  if (x >= half_end) return;
  HWY_ALIGN T rest[2 * hn::MaxLanes(DF())] = {};
  std::memcpy(rest, row + 2 * x, (w - 2 * x) * sizeof(T));
  split_samples(rest, scale, to, x);
}

/* -- Wavelet transform --------------------------------------------------------------------------------------------- */

HWY_INLINE void filter_columns(const float* a, const float* b, const float* c, const float* d, int x, float* HWY_RESTRICT low,
                               float* HWY_RESTRICT high) {
  const Real va = load(a + x), vb = load(b + x), vc = load(c + x), vd = load(d + x);
  store(float_adm_low_pass(va, vb, vc, vd), low + x);
  if (high) store(float_adm_high_pass(va, vb, vc, vd), high + x);
}

/* The vertical pass over columns [2 half_begin, 2 half_end). high may be null. */
void filter_down(const SplitRow (&rows)[4], int half_begin, int half_end, const SplitRow& low, const SplitRow& high) {
  for (int x = half_begin; x < half_end; x += lanes()) {
    filter_columns(rows[0].even, rows[1].even, rows[2].even, rows[3].even, x, low.even, high.even);
    filter_columns(rows[0].odd, rows[1].odd, rows[2].odd, rows[3].odd, x, low.odd, high.odd);
  }
}

/* What the taps across read for a vector of columns of the bands. */
struct Taps {
  HWY_INLINE Taps(const SplitRow& row, int x)
      : a(load_any(row.odd + x - 1)), b(load(row.even + x)), c(load(row.odd + x)), d(load_any(row.even + x + 1)) {}
  HWY_INLINE Real low_pass() const { return float_adm_low_pass(a, b, c, d); }
  HWY_INLINE Real high_pass() const { return float_adm_high_pass(a, b, c, d); }
  Real a, b, c, d;
};

/* Neighbouring vectors of a band, at x. */
HWY_INLINE void store_split(Real first, Real second, const SplitRow& to, int x) {
  store(hn::ConcatEven(DF(), second.v, first.v), to.even + x / 2);
  store(hn::ConcatOdd(DF(), second.v, first.v), to.odd + x / 2);
}

/* Only the band a; x0 is a multiple of two vectors. */
void make_a(const SplitRow& low, int x0, int x1, const SplitRow& to) {
  for (int x = x0; x < x1; x += 2 * lanes())
    store_split(Taps(low, x).low_pass(), Taps(low, x + lanes()).low_pass(), to, x);
}

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

template <bool cubes>
class Sum {
 public:
  HWY_INLINE Sum(const FloatAdmParams&, uint64_t* words) : words_(words) {}
  HWY_INLINE void add(Real x) { sum_.add(float_adm_cube(x)); }
  HWY_INLINE void finish() const {
    const Fixed2<kFloatAdmCubeBits> total = sum_.total();
    words_[0] += static_cast<uint64_t>(total.coarse);
    words_[1] += static_cast<uint64_t>(total.fine);
  }

 private:
  uint64_t* words_;
  FixedSum2<kFloatAdmCubeBits> sum_;
};

template <>
class Sum<false> {
 public:
  HWY_INLINE Sum(const FloatAdmParams& params, uint64_t* words) : p_norm_(params.p_norm), words_(words) {}
  HWY_INLINE void add(Real x) {
    const FloatAdmPower power = float_adm_power(x, p_norm_);
    HWY_ALIGN float powers[hn::MaxLanes(DF())];
    HWY_ALIGN int32_t bins[hn::MaxLanes(DF())];
    hn::Store(power.power.v, DF(), powers);
    hn::Store(power.bin.v, DI(), bins);
    for (int i = 0; i < lanes(); i++)
      if (bins[i] < kFloatAdmBins) words_[bins[i]] += static_cast<uint64_t>(to_fixed<kFloatAdmPowerBits>(powers[i]));
  }
  HWY_INLINE void finish() const {}

 private:
  float p_norm_;
  uint64_t* words_;
};

HWY_INLINE Real if_scored(Real v, Real scored) { return hn::And(v.v, scored.v); }

/* -- Bands, decoupling and contrast sensitivity -------------------------------------------------------------------- */

/* A vector of one picture's bands. */
struct Bands {
  HWY_INLINE Bands(const SplitRow& low, const SplitRow& high, int x) {
    const Taps from_low(low, x), from_high(high, x);
    a = from_low.low_pass();
    v = from_low.high_pass();
    h = from_high.low_pass();
    d = from_high.high_pass();
  }
  Real a, h, v, d;
};

/* Stores both parts of a band. */
HWY_INLINE void decouple_band(const BandWork& work, int band, int x, Real o, Real t, Real most, Real weight, Real& restored,
                              Real& added) {
  const Real part = float_adm_restored(o, t, most);
  restored = float_adm_weighted(part, weight);
  added = float_adm_weighted(t - part, weight);
  store(restored, work.restored[band] + x);
  store(added, work.added[band] + x);
}

HWY_INLINE void decouple(const BandWork& work, const Bands& o, const Bands& t, Real straight, Real diagonal, int x) {
  const Real most = float_adm_most(float_adm_aligned(o.h, o.v, t.h, t.v), work.params->gain_limit);
  Real restored_h, restored_v, restored_d, added_h, added_v, added_d;
  decouple_band(work, 0, x, o.h, t.h, most, straight, restored_h, added_h);
  decouple_band(work, 1, x, o.v, t.v, most, straight, restored_v, added_v);
  decouple_band(work, 2, x, o.d, t.d, most, diagonal, restored_d, added_d);
  store(float_adm_mask(restored_h, restored_v, restored_d), work.mask_of_restored + x);
  store(float_adm_mask(added_h, added_v, added_d), work.mask_of_added + x);
}

/* Columns [x0, x1); x0 is a multiple of two vectors. */
template <bool cubes, bool counts>
void make_bands(const BandWork& work, int x0, int x1) {
  const Real straight(work.scale->weight[0]), diagonal(work.scale->weight[2]);
  const int words = work.params->words_per_sum();
  Sum<cubes> den_h(*work.params, work.den), den_v(*work.params, work.den + words), den_d(*work.params, work.den + 2 * words);
  const int n = lanes();
  for (int x = x0; x < x1; x += 2 * n) {
    Real a[2][2];
    for (int i = 0; i < 2; i++) {
      const int column = x + i * n;
      const Bands o(work.low[0], work.high[0], column), t(work.low[1], work.high[1], column);
      a[0][i] = o.a;
      a[1][i] = t.a;
      decouple(work, o, t, straight, diagonal, column);
      if constexpr (counts) {
        const Real scored = load(work.scored + column);
        den_h.add(if_scored(float_adm_weighted(o.h, straight), scored));
        den_v.add(if_scored(float_adm_weighted(o.v, straight), scored));
        den_d.add(if_scored(float_adm_weighted(o.d, diagonal), scored));
      }
    }
    for (int picture = 0; picture < 2; picture++) store_split(a[picture][0], a[picture][1], work.a[picture], x);
  }
  if constexpr (!counts) return;
  den_h.finish();
  den_v.finish();
  den_d.finish();
}

/* -- Contrast masking ---------------------------------------------------------------------------------------------- */

template <bool cubes, bool masked>
void mask(const MaskWork& work, int x0, int x1) {
  const int words = work.params->words_per_sum();
  Sum<cubes> h(*work.params, work.sums), v(*work.params, work.sums + words), d(*work.params, work.sums + 2 * words);
  const auto column = [&](int x) HWY_ATTR {
    return float_adm_column(load_any(work.above + x), load_any(work.here + x), load_any(work.below + x));
  };
  for (int x = x0; x < x1; x += lanes()) {
    Real threshold(0);
    if constexpr (masked)
      threshold = float_adm_threshold(column(x - 1), column(x), column(x + 1), load(work.here + x));
    const Real scored = load(work.scored + x);
    h.add(if_scored(float_adm_excess(load(work.signal[0] + x), threshold), scored));
    v.add(if_scored(float_adm_excess(load(work.signal[1] + x), threshold), scored));
    d.add(if_scored(float_adm_excess(load(work.signal[2] + x), threshold), scored));
  }
  h.finish();
  v.finish();
  d.finish();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();
#endif

#endif
