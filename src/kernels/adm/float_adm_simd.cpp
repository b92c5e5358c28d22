/* float_adm, the SIMD twin: one pass over the pictures, row by row.
 *
 * The way of a frame is that of adm_simd.cpp.
 *
 * Measured, 1920x1080, one thread of a busy Zen 4 server, ms of processor time a frame at 8 and 10 bit: AVX-512 5.9 and 5.7, AVX2 7.4 and
 * 7.7, SSE4 10.7 and 10.7. libvmaf f85a853, which has no SIMD here, in the same minutes: 64 at 8 bit. */
#include "kernels/adm/float_adm.h"

#include <algorithm>
#include <cstring>
#include <optional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adm/float_adm_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/cpu.h"
#include "kernels/adm/float_adm_math-inl.h"
#include "kernels/adm/float_adm_rows.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* Without vectors a machine takes the definition. */
void float_adm(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               uint64_t& sums) {
  float_adm_ref(params, ref, dist, scratch, sums);
}

#else

using SplitRow = FloatAdmSplitRow;

HWY_INLINE int lanes() { return static_cast<int>(hn::Lanes(DF())); }
HWY_INLINE Real load(const float* from) { return hn::Load(DF(), from); }
HWY_INLINE Real load_any(const float* from) { return hn::LoadU(DF(), from); }
HWY_INLINE void store(Real v, float* to) { hn::Store(v.v, DF(), to); }

/* -- Samples to a split row ---------------------------------------------------------------------------------------- */

HWY_INLINE Integer widened_integer(hn::Vec<hn::Rebind<uint16_t, DF>> v) { return hn::PromoteTo(DI(), v); }
HWY_INLINE Integer widened_integer(hn::Vec<hn::Rebind<uint32_t, DF>> v) { return hn::BitCast(DI(), v); }

/* Two vectors' worth of samples, scaled and centered. */
template <class T>
HWY_INLINE void split_samples(const T* from, Real scale, const SplitRow& to, int half_x) {
  const hn::Rebind<hwy::MakeWide<T>, DF> pairs;
  const auto v = hn::BitCast(pairs, hn::LoadU(hn::Repartition<T, decltype(pairs)>(), from));
  const Integer even = widened_integer(hn::And(v, hn::Set(pairs, hwy::LimitsMax<T>()))),
                odd = widened_integer(hn::ShiftRight<8 * sizeof(T)>(v));
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

/* What the taps across read for a vector of columns of the bands. */
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
HWY_INLINE void add(const FloatAdmSumRow& to, int band, int x, Real value) {
  const Real counted = hn::And(value.v, load(to.scored + x).v);
  if constexpr (cubes) store(float_adm_cube(counted), to.cubes[band] + (x - to.first));
  else add_powers(counted, static_cast<float>(to.params.p_norm), to.powers + band * kFloatAdmBins);
}

/* -- Bands, decoupling and contrast sensitivity -------------------------------------------------------------------- */

/* A vector of one picture's bands. */
struct Bands {
  HWY_INLINE Bands(const SplitRow& low, const SplitRow& high, int x) {
    const Taps from_low(low, x), from_high(high, x);
    a = from_low.low_pass();
    detail[0] = from_high.low_pass();
    detail[1] = from_low.high_pass();
    detail[2] = from_high.high_pass();
  }
  Real a, detail[kAdmBands];
};

/* A vector of magnitudes. */
HWY_INLINE void store_part(const FloatAdmPartRows& part, int y, int band, int x, Real magnitude) {
  store(magnitude, part.magnitude[y % kAdmSignalRows][band] + x);
  store(float_adm_share(magnitude), part.share[y % kAdmNearRows][band] + x);
}

/* Row y of a level from the filtered rows on, columns [x0, x1); x0 is a multiple of two vectors. a: [ref or dist]. */
template <bool cubes, bool counts>
void make_bands(const FloatAdmPyramid& p, const FloatAdmRowsOfLevel& level, int y, int x0, int x1,
                const SplitRow (&to)[2], const FloatAdmSumRow& den) {
  const Real weights[kAdmBands] = {Real(level.scale->weight[0]), Real(level.scale->weight[1]),
                                   Real(level.scale->weight[2])};
  const double gain_limit = den.params.gain_limit;
  const int n = lanes();
  for (int x = x0; x < x1; x += 2 * n) {
    Real a[2][2];
    for (int i = 0; i < 2; i++) {
      const int column = x + i * n;
      const Bands o(p.low[0], p.high[0], column), t(p.low[1], p.high[1], column);
      a[0][i] = o.a;
      a[1][i] = t.a;
      const Mask aligned = float_adm_aligned(o.detail[0], o.detail[1], t.detail[0], t.detail[1]);
      VMAFX_UNROLL
      for (int band = 0; band < kAdmBands; band++) {
        const Real weight = weights[band];
        const Real part = float_adm_restored(o.detail[band], t.detail[band], aligned, gain_limit);
        store_part(level.restored, y, band, column, float_adm_weighted(part, weight));
        store_part(level.added, y, band, column, float_adm_weighted(t.detail[band] - part, weight));
        if constexpr (counts) add<cubes>(den, band, column, float_adm_weighted(o.detail[band], weight));
      }
    }
    for (int picture = 0; picture < 2; picture++) store_split(a[picture][0], a[picture][1], to[picture], x);
  }
}

/* -- Contrast masking ---------------------------------------------------------------------------------------------- */

/* What masks a row: the magnitudes there, and shares of the rows above, here and below. */
struct Masks {
  Masks(const FloatAdmPartRows& part, int y, int h) : magnitude(part.magnitude[y % kAdmSignalRows]) {
    for (int dy = -1; dy <= 1; dy++) share[1 + dy] = part.share[adm_mirror(y + dy, h) % kAdmNearRows];
  }
  HWY_INLINE Real of_band(int band, int x) const {
    const auto neighbor = [&](int dx, int dy) HWY_ATTR { return load_any(share[1 + dy][band] + x + dx); };
    return float_adm_masking(neighbor, load(magnitude[band] + x));
  }
  float* const* magnitude;
  float* const* share[3];
};

template <bool cubes, bool masked>
void mask(const FloatAdmBandRows& signal, const Masks& masks, int x0, int x1, const FloatAdmSumRow& sums) {
  for (int x = x0; x < x1; x += lanes()) {
    Real threshold(0);
    if constexpr (masked)
      threshold = float_adm_threshold(masks.of_band(0, x), masks.of_band(1, x), masks.of_band(2, x));
    for (int band = 0; band < kAdmBands; band++)
      add<cubes>(sums, band, x, float_adm_excess(load(signal[band] + x), threshold));
  }
}

/* -- A frame ------------------------------------------------------------------------------------------------------- */

/* `interval` with its begin on a whole pair of vectors. */
Interval aligned_down(Interval interval) {
  const int pair = 2 * lanes();
  return {interval.begin / pair * pair, interval.end};
}

/* In columns of a split row. */
Interval halved(Interval interval) {
  const Interval aligned = aligned_down(interval);
  return {aligned.begin / 2, (aligned.end + 1) / 2};
}

/* Columns -1, w and w + 1 of a row of w. */
void mirror_ends(const SplitRow& row, int w) {
  for (const int column : {-1, w, w + 1}) row.at(column) = row.at(adm_mirror(column, w));
}
void mirror_shares(const FloatAdmBandRows& bands, int w) {
  for (float* row : bands) {
    row[-1] = row[1];
    row[w] = row[w - 1];
  }
}

/* One frame on its way through the scales. */
class Frame {
 public:
  using Level = FloatAdmRowsOfLevel;

  Frame(const FloatAdmParams& params, std::byte* scratch, uint64_t& sums) : params_(params), sums_(&sums) {
    plan_adm_levels(params.scale, params.skip_scale0, p_.level);
    std::memset(scratch, 0, place_float_adm_rows(params, scratch, p_));
    for (const Level& level : p_.level) {
      const auto [begin, end] = level.scored_cols();
      std::memset(level.scored + begin, 0xFF, (end - begin) * sizeof(float));
      if (!params.cubes()) continue;
      const Interval made = aligned_down(level.cols), scored = aligned_down(level.scored_cols());
      den_[level.index].emplace(kAdmBands, made.end - made.begin, level.den_rows, words(kAdmDen, level.index));
      parts_[level.index].emplace(2 * kAdmBands, scored.end - scored.begin, level.part_rows,
                                  words(kAdmDlm, level.index));
    }
  }

  template <class T>
  void run(const Plane<const T>& ref, const Plane<const T>& dist) {
    const Level& level = p_.level[0];
    const Interval cols = halved(level.in_cols);
    for (int y = level.in_rows.begin; y < level.in_rows.end; y++) {
      split_row(ref.row(y), ref.w, params_.bpc, cols.begin, cols.end, level.input[0][y % kAdmInputRows]);
      split_row(dist.row(y), dist.w, params_.bpc, cols.begin, cols.end, level.input[1][y % kAdmInputRows]);
      advance_adm(*this, p_.level, 0, y);
    }
    for (auto* strips : {&den_, &parts_})
      for (std::optional<RowStrip>& strip : *strips)
        if (strip) strip->finish();
  }

  void make_row(const Level& level, int y) {
    const SplitRow a[2] = {band_a(level, 0, y), band_a(level, 1, y)};
    const auto [x0, x1] = aligned_down(level.cols);
    for (int picture = 0; picture < 2; picture++) {
      filter(level, y, picture);
      if (!level.has_detail(y)) make_a(p_.low[picture], x0, x1, a[picture]);
    }
    if (!level.has_detail(y)) return;
    const bool counts = level.scored_rows().contains(y);
    const FloatAdmSumRow den = sum_row(level, kAdmDen, den_[level.index], 0, x0);
    if (params_.cubes()) (counts ? make_bands<true, true> : make_bands<true, false>)(p_, level, y, x0, x1, a, den);
    else (counts ? make_bands<false, true> : make_bands<false, false>)(p_, level, y, x0, x1, a, den);
    if (counts && params_.cubes()) den_[level.index]->end_row();
    mirror_shares(level.restored.share[y % kAdmNearRows], level.scale->w);
    mirror_shares(level.added.share[y % kAdmNearRows], level.scale->w);
  }

  void mask_row(const Level& level, int y) {
    cm(level, y, level.restored, level.added, kAdmDlm);
    cm(level, y, level.added, level.restored, kAdmAim);
    if (params_.cubes()) parts_[level.index]->end_row();
  }

 private:
  void filter(const Level& level, int y, int picture) {
    const FloatAdmScale& s = *level.scale;
    SplitRow rows[kAdmInputRows];
    for (int tap = 0; tap < kAdmInputRows; tap++)
      rows[tap] = level.input[picture][adm_mirror(2 * y - 1 + tap, s.in_h) % kAdmInputRows];
    const SplitRow &low = p_.low[picture], &high = p_.high[picture];
    const auto [x0, x1] = halved(level.in_cols);
    filter_down(rows, x0, x1, low, level.has_detail(y) ? high : SplitRow{nullptr, nullptr});
    mirror_ends(low, s.in_w);
    if (level.has_detail(y)) mirror_ends(high, s.in_w);
  }

  /* Where row y of the band a of `level` goes. */
  SplitRow band_a(const Level& level, int picture, int y) const {
    const bool last = level.index + 1 == kAdmScales;
    return last ? p_.unused : p_.level[level.index + 1].input[picture][y % kAdmInputRows];
  }

  void cm(const Level& level, int y, const FloatAdmPartRows& signal, const FloatAdmPartRows& masking, AdmKind kind) {
    const auto [x0, x1] = aligned_down(level.scored_cols());
    const FloatAdmBandRows& magnitude = signal.magnitude[y % kAdmSignalRows];
    const Masks masks(masking, y, level.scale->h);
    const FloatAdmSumRow sums = sum_row(level, kind, parts_[level.index], kind * kAdmBands, x0);
    if (params_.cubes()) (params_.masked ? mask<true, true> : mask<true, false>)(magnitude, masks, x0, x1, sums);
    else (params_.masked ? mask<false, true> : mask<false, false>)(magnitude, masks, x0, x1, sums);
  }

  FloatAdmSumRow sum_row(const Level& level, AdmKind kind, const std::optional<RowStrip>& strip, int quantity,
                         int first) const {
    FloatAdmSumRow row = {params_, level.scored, {}, first, words(kind, level.index)};
    if (strip)
      for (int band = 0; band < kAdmBands; band++) row.cubes[band] = strip->row(quantity + band);
    return row;
  }

  uint64_t* words(AdmKind kind, int index) const {
    return sums_ + float_adm_sum_index(kind, index, 0) * params_.words_per_sum();
  }

  const FloatAdmParams& params_;
  uint64_t* sums_;
  FloatAdmPyramid p_ = {};
  std::optional<RowStrip> den_[kAdmScales], parts_[kAdmScales];  // for cubes
};

void float_adm(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
               uint64_t& sums) {
  Frame frame(params, scratch, sums);
  if (params.bpc == 8) frame.run(ref.as<uint8_t>(), dist.as<uint8_t>());
  else frame.run(ref.as<uint16_t>(), dist.as<uint16_t>());
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(float_adm);

size_t float_adm_scratch_bytes_simd(const FloatAdmParams& params) {
  FloatAdmPyramid pyramid;
  if (runnable_cpu_targets().front() == HWY_SCALAR) return float_adm_scratch_bytes_ref(params);
  return place_float_adm_rows(params, nullptr, pyramid);
}

void float_adm_simd(const FloatAdmParams& params, const SamplePlane& ref, const SamplePlane& dist, std::byte* scratch,
                    uint64_t& sums) {
  HWY_DYNAMIC_DISPATCH(float_adm)(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
#endif
