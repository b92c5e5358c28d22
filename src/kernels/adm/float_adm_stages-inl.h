/* float_adm, SIMD: the stages of a row. */
#if defined(VMAFX_FLOAT_ADM_STAGES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef VMAFX_FLOAT_ADM_STAGES_INL_H
#undef VMAFX_FLOAT_ADM_STAGES_INL_H
#else
#define VMAFX_FLOAT_ADM_STAGES_INL_H
#endif

#include <cstring>
#include <type_traits>

#include "kernels/adm/float_adm_math-inl.h"
#include "kernels/adm/float_adm_rows.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC optimize("schedule-insns", "sched-pressure")  // see ciede_simd.cpp
#endif
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {  // other metrics have rows, bands and sums, too

HWY_INLINE int lanes() { return static_cast<int>(hn::Lanes(DF())); }
HWY_INLINE Real load(const float* from) { return hn::Load(DF(), from); }
HWY_INLINE Real load_any(const float* from) { return hn::LoadU(DF(), from); }
HWY_INLINE void store(Real v, float* to) { hn::Store(v.v, DF(), to); }

/* -- Samples to a split row ---------------------------------------------------------------------------------------- */

/* Two vectors' worth of samples, scaled and centered. */
HWY_INLINE void split_samples(const uint8_t* from, Real scale, const SplitRow& to, int half_x) {
  const hn::Rebind<uint16_t, DF> pairs;
  const auto v = hn::BitCast(pairs, hn::LoadU(hn::Repartition<uint8_t, decltype(pairs)>(), from));
  const Integer even = hn::PromoteTo(DI(), hn::And(v, hn::Set(pairs, 0xFF))),
                odd = hn::PromoteTo(DI(), hn::ShiftRight<8>(v));
  store(real(even) * scale - Real(128), to.even + half_x);
  store(real(odd) * scale - Real(128), to.odd + half_x);
}
HWY_INLINE void split_samples(const uint16_t* from, Real scale, const SplitRow& to, int half_x) {
  const hn::RebindToUnsigned<DF> pairs;
  const auto v = hn::BitCast(pairs, hn::LoadU(hn::Repartition<uint16_t, DF>(), from));
  const Integer even = hn::BitCast(DI(), hn::And(v, hn::Set(pairs, 0xFFFF))),
                odd = hn::BitCast(DI(), hn::ShiftRight<16>(v));
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

HWY_INLINE void filter_columns(const float* a, const float* b, const float* c, const float* d, int x,
                               float* HWY_RESTRICT low, float* HWY_RESTRICT high) {
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

/* The samples that the taps across read for a vector of columns of the bands. */
struct Taps {
  HWY_INLINE Taps(const SplitRow& row, int x)
      : a(load_any(row.odd + x - 1)), b(load(row.even + x)), c(load(row.odd + x)), d(load_any(row.even + x + 1)) {}
  HWY_INLINE Real low_pass() const { return float_adm_low_pass(a, b, c, d); }
  HWY_INLINE Real high_pass() const { return float_adm_high_pass(a, b, c, d); }
  Real a, b, c, d;
};

/* Neighboring vectors of a band, at x. */
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

void add_powers(Real x, float p_norm, uint64_t* bins) {
  const FloatAdmPower power = float_adm_power(x, p_norm);
  HWY_ALIGN float powers[hn::MaxLanes(DF())];
  HWY_ALIGN int32_t bin[hn::MaxLanes(DF())];
  hn::Store(power.power.v, DF(), powers);
  hn::Store(power.bin.v, DI(), bin);
  for (int i = 0; i < lanes(); i++)
    if (bin[i] < kFloatAdmBins) bins[bin[i]] += static_cast<uint64_t>(to_fixed<kFloatAdmPowerBits>(powers[i]));
}

/* Adds what is at column x of a band. */
template <bool cubes>
HWY_INLINE void add(const SumRow& to, const FloatAdmParams& params, int band, int x, Real value, const float* scored) {
  const Real counted = hn::And(value.v, load(scored + x).v);
  if constexpr (cubes) store(float_adm_cube(counted), to.cubes[band] + (x - to.first));
  else add_powers(counted, static_cast<float>(params.p_norm), to.powers + band * kFloatAdmBins);
}

/* -- Bands, decoupling and contrast sensitivity -------------------------------------------------------------------- */

/* A vector of one picture's bands. */
struct Bands {
  HWY_INLINE Bands(const FilteredRow& row, int x) {
    const Taps from_low(row.low, x), from_high(row.high, x);
    a = from_low.low_pass();
    v = from_low.high_pass();
    h = from_high.low_pass();
    d = from_high.high_pass();
  }
  Real a, h, v, d;
};

/* The reference's, and what ratios to them take. */
struct RefBands : Bands {
  HWY_INLINE RefBands(const FilteredRow& row, int x)
      : Bands(row, x), per_h(float_adm_per_ref(h)), per_v(float_adm_per_ref(v)), per_d(float_adm_per_ref(d)) {}
  Real per_h, per_v, per_d;
};

/* Stores both parts of a band, and what they add to thresholds. */
HWY_INLINE void store_parts(const EncodeWork& to, int band, int x, Real part, Real t, Real weight) {
  const Real restored = float_adm_weighted(part, weight), added = float_adm_weighted(t - part, weight);
  store(restored, to.restored[band] + x);
  store(added, to.added[band] + x);
  store(float_adm_share(restored), to.share_of_restored[band] + x);
  store(float_adm_share(added), to.share_of_added[band] + x);
}

HWY_INLINE void decouple(const EncodeWork& to, const RefBands& o, const Bands& t, double gain_limit, Real straight,
                         Real diagonal, int x) {
  const Mask aligned = float_adm_aligned(o.h, o.v, t.h, t.v);
  store_parts(to, 0, x, float_adm_restored(o.h, o.per_h, t.h, aligned, gain_limit), t.h, straight);
  store_parts(to, 1, x, float_adm_restored(o.v, o.per_v, t.v, aligned, gain_limit), t.v, straight);
  store_parts(to, 2, x, float_adm_restored(o.d, o.per_d, t.d, aligned, gain_limit), t.d, diagonal);
}

template <bool cubes>
HWY_INLINE void add_den(const BandWork& work, const Bands& o, Real straight, Real diagonal, int x) {
  add<cubes>(work.den, *work.params, 0, x, float_adm_weighted(o.h, straight), work.scored);
  add<cubes>(work.den, *work.params, 1, x, float_adm_weighted(o.v, straight), work.scored);
  add<cubes>(work.den, *work.params, 2, x, float_adm_weighted(o.d, diagonal), work.scored);
}

/* Columns [x0, x1); x0 is a multiple of two vectors. */
template <bool cubes, bool counts>
void make_bands(const BandWork& work, int x0, int x1) {
  const Real straight(work.scale->weight[0]), diagonal(work.scale->weight[2]);
  const double gain_limit = work.params->gain_limit;
  const int n = lanes();
  for (int x = x0; x < x1; x += 2 * n) {
    const RefBands first(work.ref, x), second(work.ref, x + n);
    store_split(first.a, second.a, work.ref.a, x);
    if constexpr (counts) {
      add_den<cubes>(work, first, straight, diagonal, x);
      add_den<cubes>(work, second, straight, diagonal, x + n);
    }
    for (const EncodeWork& encode : work.encodes) {
      const Bands t(encode.row, x);
      decouple(encode, first, t, gain_limit, straight, diagonal, x);
      const Bands next(encode.row, x + n);
      decouple(encode, second, next, gain_limit, straight, diagonal, x + n);
      store_split(t.a, next.a, encode.row.a, x);
    }
  }
}

/* -- Contrast masking ---------------------------------------------------------------------------------------------- */

HWY_INLINE Real masking(const MaskWork& work, int band, int x) {
  const auto share = [&](int dx, int dy) HWY_ATTR { return load_any(work.share[1 + dy][band] + x + dx); };
  return float_adm_masking(share, load(work.masking[band] + x));
}

template <bool cubes, bool masked>
void mask(const MaskWork& work, int x0, int x1) {
  for (int x = x0; x < x1; x += lanes()) {
    Real threshold(0);
    if constexpr (masked)
      threshold = float_adm_threshold(masking(work, 0, x), masking(work, 1, x), masking(work, 2, x));
    for (int band = 0; band < kAdmBands; band++)
      add<cubes>(work.sums, *work.params, band, x, float_adm_excess(load(work.signal[band] + x), threshold),
                 work.scored);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();
#endif

#endif
