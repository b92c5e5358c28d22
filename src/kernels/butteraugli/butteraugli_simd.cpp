/* The SIMD twin of butteraugli: one source for every instruction set, equal to butteraugli_plain.cpp to the last bit.
 *
 * Whole rows run through all steps, kButteraugliBand at once, each step some rows behind the one before
 * (butteraugli_rows.h): of eight bands of light of the full size four become light of half the size, whose map of
 * distances is then added to that of the full one. Rows end in zeros, which is what a blur and the lines find beyond
 * the borders, or in what is mirrored there.
 *
 * The results for the reference alone are made once for all encodes. */
#include "kernels/butteraugli/butteraugli.h"

#include <algorithm>
#include <span>

#include "kernels/butteraugli/butteraugli_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/butteraugli/butteraugli_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/butteraugli/butteraugli_math-inl.h"
#include "kernels/steps/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* No vectors here: the definition does it. */
size_t scratch_bytes(const ButteraugliParams& params, int) { return butteraugli_scratch_bytes_plain(params); }
void score(const ButteraugliParams& params, const Picture& ref, std::span<const Picture* const> dists,
           std::byte* scratch, std::span<ButteraugliRow* const> rows, const ButteraugliRowSink& sink) {
  for (size_t i = 0; i < dists.size(); i++)
    butteraugli_plain(params, ref, *dists[i], scratch, rows[i], i ? ButteraugliRowSink() : sink);
}

#else

constexpr int kBand = kButteraugliBand, kMargin = ButteraugliRing::kMargin;
using Level = ButteraugliLevel;
using Ring = ButteraugliRing;
using Columns = ButteraugliColumns;
using Side = ButteraugliSide;
using Pair = ButteraugliPair;
namespace lag = butteraugli_lag;

// -- Rows -------------------------------------------------------------------------------------------------------------

/* Rows `first` to first + count - 1 of a picture, at most kBand. */
struct Band {
  int first, count;
  int y(int i) const { return first + i; }
};

/* The rows that a step has to make when rows t to t + kBand - 1 of the light come. */
Band band_of(const Level& level, int t, int lag) {
  const int first = std::max(t - lag, 0), end = std::min(t - lag + kBand, level.h);
  return {first, std::max(end - first, 0)};
}

HWY_INLINE void end_row(float* row, int w, float outside) {
  std::fill(row - kMargin, row, outside);
  std::fill(row + w, row + w + kMargin + lanes(), outside);
}

/* A band, and the rows around it: row[i + radius] is row i of the band. */
template <int radius>
struct RowsAround {
  const float* row[kBand + 2 * radius];

  HWY_INLINE RowsAround(const Level& level, const Band& band, const Ring& ring, int plane, const float* outside) {
    for (int i = 0; i < band.count + 2 * radius; i++) {
      const int y = band.first - radius + i;
      row[i] = y >= 0 && y < level.h ? ring.row(y, plane) : outside;
    }
  }
};

// -- Blurs ------------------------------------------------------------------------------------------------------------

template <class Blur>
HWY_NOINLINE void blur_along(const Level& level, const float* row, const float* scales, const Columns& columns,
                             float* out) {
  for (int x = 0; x < level.w; x += lanes())
    store(butteraugli_blurred_along<Blur>(AlongRow{row + x}, load(scales + x)), out + columns.at(x));
}

/* Rows of a band and around it: rows[k] + at where they are inside the picture, which mask[k] says, else zeros. */
struct InColumns {
  const float* const* rows;
  const ptrdiff_t* mask;
  ptrdiff_t at;
  HWY_INLINE Real operator()(int k) const { return load(rows[k] + (at & mask[k])); }
};

/* take(i, x, blurred) of row i of the band. Rows past its end are computed, of any rows that there are, and not
 * taken. */
template <class Blur, class Take>
HWY_INLINE void blur_down(const Level& level, const Band& band, const Columns& along, int plane, Take take) {
  constexpr int kRows = kBand + 2 * Blur::kRadius;
  if (!band.count) return;
  const float* rows[kRows];
  ptrdiff_t mask[kRows];
  for (int k = 0; k < kRows; k++) {
    const int y = band.first - Blur::kRadius + k;
    const bool inside = y >= 0 && y < level.h && k < band.count + 2 * Blur::kRadius;
    rows[k] = inside ? along.row(y, plane) : level.zero;
    mask[k] = inside ? -1 : 0;
  }
  float scales[kBand] = {};
  for (int i = 0; i < band.count; i++) scales[i] = butteraugli_blur_scale<Blur>(band.y(i), level.h);
  for (int x = 0; x < level.w; x += lanes()) {
    Real sums[kBand];
    butteraugli_blur_down<Blur>(InColumns{rows, mask, along.at(x)}, sums);
    VMAFX_UNROLL
    for (int i = 0; i < kBand; i++)
      if (i < band.count) take(i, x, sums[i] * Real(scales[i]));
  }
}

/* Rows of a plane of a ring, of a band. */
struct BandRows {
  float* of[kBand];
  HWY_INLINE BandRows(const Band& band, const Ring& ring, int plane) {
    for (int i = 0; i < band.count; i++) of[i] = ring.row(band.y(i), plane);
  }
};

template <class Blur>
HWY_INLINE void finish_rows(const Level& level, const Band& band, const Ring& ring, int plane, const float* scales,
                            const Columns& along) {
  for (int i = 0; i < band.count; i++) {
    float* row = ring.row(band.y(i), plane);
    end_row(row, level.w, 0);
    blur_along<Blur>(level, row, scales, along, along.row(band.y(i), plane));
  }
}

// -- A picture --------------------------------------------------------------------------------------------------------

template <class T>
void light_up(const ButteraugliParams& params, const Picture& picture, const Band& band, const LightLines& samples,
              const Side& side) {
  for (int i = 0; i < band.count; i++) {
    float* const out[3] = {side.light.row(band.y(i), 0), side.light.row(band.y(i), 1), side.light.row(band.y(i), 2)};
    light_row<true, T>(params, picture, band.y(i), 0, params.w, samples, out);
  }
}

/* Light of half the size from the last rows of the full one. */
void halve_light(const Level& full, const Band& band, const Side& from, const Side& to) {
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < band.count; i++) {
      const int y = band.y(i), below = std::min(2 * y + 1, full.h - 1);
      halve_rows(from.light.row(2 * y, c), from.light.row(below, c), full.w, to.light.row(y, c));
    }
}

HWY_NOINLINE void blur_light_along(const Level& level, const Band& band, const Side& side) {
  for (int c = 0; c < 3; c++)
    for (int i = 0; i < band.count; i++) {
      float *row = side.light.row(band.y(i), c), *out = side.light_along.row(band.y(i), c);
      extend_repeated(row, level.w, kButteraugliLightRadius);
      for (int x = 0; x < level.w; x += lanes()) store(butteraugli_blurred_light(AlongRow{row + x}), out + x);
    }
}

HWY_NOINLINE void make_xyb(const ButteraugliParams& params, const Level& level, const Band& band, const Side& side) {
  constexpr int kRadius = kButteraugliLightRadius;
  for (int i = 0; i < band.count; i++) {
    const int y = band.y(i);
    const float *light[3], *around[3][2 * kRadius + 1];
    float* xyb[3];
    for (int c = 0; c < 3; c++) {
      light[c] = side.light.row(y, c);
      xyb[c] = side.xyb.row(y, c);
      for (int k = -kRadius; k <= kRadius; k++)
        around[c][k + kRadius] = side.light_along.row(mirror_repeated(y + k, level.h), c);
    }
    for (int x = 0; x < level.w; x += lanes()) {
      const Light blurred = {butteraugli_blurred_light(AcrossRows{around[0] + kRadius, x}),
                             butteraugli_blurred_light(AcrossRows{around[1] + kRadius, x}),
                             butteraugli_blurred_light(AcrossRows{around[2] + kRadius, x})};
      const ButteraugliXyb all =
          butteraugli_xyb(params.absorbance, {load(light[0] + x), load(light[1] + x), load(light[2] + x)}, blurred);
      store(all.x, xyb[0] + x);
      store(all.y, xyb[1] + x);
      store(all.b, xyb[2] + x);
    }
  }
  for (int c = 0; c < 3; c++)
    finish_rows<ButteraugliLowBlur>(level, band, side.xyb, c, level.scales[0], side.xyb_along);
}

HWY_NOINLINE void make_low(const Level& level, const Band& band, const Side& side) {
  for (int c = 0; c < 3; c++) {
    const BandRows xyb(band, side.xyb, c), low(band, side.low, c), rest(band, side.rest, c);
    blur_down<ButteraugliLowBlur>(level, band, side.xyb_along, c, [&](int i, int x, Real blurred) HWY_ATTR {
      store(blurred, low.of[i] + x);
      store(load(xyb.of[i] + x) - blurred, rest.of[i] + x);
    });
    finish_rows<ButteraugliMiddleBlur>(level, band, side.rest, c, level.scales[1], side.rest_along);
  }
}

template <int c>
HWY_INLINE void make_middle_of(const Level& level, const Band& band, const Side& side) {
  const BandRows rest(band, side.rest, c), middle(band, side.middle, c), highs(band, side.highs, c < 2 ? c : 0);
  blur_down<ButteraugliMiddleBlur>(level, band, side.rest_along, c, [&](int i, int x, Real blurred) HWY_ATTR {
    if constexpr (c == 2) {
      store(blurred, middle.of[i] + x);
    } else {
      store(c ? butteraugli_middle_y(blurred) : butteraugli_middle_x(blurred), middle.of[i] + x);
      store(load(rest.of[i] + x) - blurred, highs.of[i] + x);
    }
  });
}

HWY_NOINLINE void make_middle(const Level& level, const Band& band, const Side& side) {
  make_middle_of<0>(level, band, side);
  make_middle_of<1>(level, band, side);
  make_middle_of<2>(level, band, side);
  for (int i = 0; i < band.count; i++) {
    float *row = side.highs.row(band.y(i), 0), *of_y = side.highs.row(band.y(i), 1);
    for (int x = 0; x < level.w; x += lanes()) store(butteraugli_suppressed(load(row + x), load(of_y + x)), row + x);
  }
  for (int c = 0; c < 2; c++)
    finish_rows<ButteraugliHighBlur>(level, band, side.highs, c, level.scales[2], side.highs_along);
}

template <int c>
HWY_INLINE void make_high_of(const Level& level, const Band& band, const Side& side) {
  const BandRows highs(band, side.highs, c), high(band, side.high, c), highest(band, side.highest, c);
  blur_down<ButteraugliHighBlur>(level, band, side.highs_along, c, [&](int i, int x, Real blurred) HWY_ATTR {
    const Real v = load(highs.of[i] + x);
    const ButteraugliHighs both = c ? butteraugli_highs_y(v, blurred) : butteraugli_highs_x(v, blurred);
    store(both.high, high.of[i] + x);
    store(both.highest, highest.of[i] + x);
  });
}

HWY_NOINLINE void make_high(const Level& level, const Band& band, const Side& side) {
  make_high_of<0>(level, band, side);
  make_high_of<1>(level, band, side);
  for (int i = 0; i < band.count; i++) {
    const int y = band.y(i);
    const float *high_x = side.high.row(y, 0), *high_y = side.high.row(y, 1);
    const float *highest_x = side.highest.row(y, 0), *highest_y = side.highest.row(y, 1);
    float* active = side.active.row(y);
    for (int x = 0; x < level.w; x += lanes())
      store(butteraugli_activity({load(highest_x + x), load(high_x + x)}, {load(highest_y + x), load(high_y + x)}),
            active + x);
  }
  finish_rows<ButteraugliMaskBlur>(level, band, side.active, 0, level.scales[3], side.active_along);
}

HWY_NOINLINE void make_activity(const Level& level, const Band& band, const Side& side) {
  const BandRows activity(band, side.activity, 0);
  blur_down<ButteraugliMaskBlur>(level, band, side.active_along, 0,
                                 [&](int i, int x, Real blurred) HWY_ATTR { store(blurred, activity.of[i] + x); });
  for (int i = 0; i < band.count; i++) end_row(activity.of[i], level.w, kButteraugliNowhere);
}

/* Rows t and on of its light are there. */
void take_side(const ButteraugliParams& params, const Level& level, int t, const Side& side) {
  blur_light_along(level, band_of(level, t, 0), side);
  make_xyb(params, level, band_of(level, t, lag::kXyb), side);
  make_low(level, band_of(level, t, lag::kLow), side);
  make_middle(level, band_of(level, t, lag::kMiddle), side);
  make_high(level, band_of(level, t, lag::kHigh), side);
  make_activity(level, band_of(level, t, lag::kActivity), side);
}

// -- Differences ------------------------------------------------------------------------------------------------------

HWY_INLINE Real less(const float* ref, const float* dist, int x) { return load(ref + x) - load(dist + x); }

HWY_NOINLINE void set_errors(const ButteraugliWeights& weights, const Level& level, int y, const Side& ref,
                             const Pair& pair) {
  const Side& dist = pair.dist;
  const float *ref_low[3], *dist_low[3], *ref_middle[3], *dist_middle[3], *ref_high[2], *dist_high[2];
  for (int c = 0; c < 3; c++) {
    ref_low[c] = ref.low.row(y, c);
    dist_low[c] = dist.low.row(y, c);
    ref_middle[c] = ref.middle.row(y, c);
    dist_middle[c] = dist.middle.row(y, c);
  }
  for (int c = 0; c < 2; c++) {
    ref_high[c] = ref.high.row(y, c);
    dist_high[c] = dist.high.row(y, c);
  }
  float *low_error = pair.low_error.row(y), *error = pair.error.row(y);
  for (int x = 0; x < level.w; x += lanes()) {
    store(butteraugli_low_error(weights, less(ref_low[0], dist_low[0], x), less(ref_low[1], dist_low[1], x),
                                less(ref_low[2], dist_low[2], x)),
          low_error + x);
    const Real of_middle =
        butteraugli_middle_error(less(ref_middle[0], dist_middle[0], x), less(ref_middle[1], dist_middle[1], x),
                                 less(ref_middle[2], dist_middle[2], x));
    const Real of_high = butteraugli_high_error(weights, load(ref_high[0] + x), load(dist_high[0] + x),
                                                load(ref_high[1] + x), load(dist_high[1] + x));
    store(of_middle + of_high, error + x);
  }
}

HWY_NOINLINE void make_line_samples(const ButteraugliWeights& weights, const Level& level, int y, const Side& ref,
                                    const Pair& pair) {
  const Ring* const of_ref[] = {&ref.highest, &ref.high, &ref.middle};
  const Ring* const of_dist[] = {&pair.dist.highest, &pair.dist.high, &pair.dist.middle};
  for (int band = 0; band < kButteraugliBands; band++) {
    const float *a = of_ref[band / 2]->row(y, band % 2), *b = of_dist[band / 2]->row(y, band % 2);
    float* out = pair.lines.row(y, band);
    for (int x = 0; x < level.w; x += lanes())
      store(butteraugli_line_sample(load(a + x), load(b + x), weights.lines[band]), out + x);
    end_row(out, level.w, 0);
  }
}

/* Samples around column x; rows[0] is that of the middle one. */
struct AroundRows {
  const float* const* rows;
  int x;
  HWY_INLINE Real operator()(int dx, int dy) const { return load(rows[dy] + x + dx); }
};

template <bool highest>
HWY_NOINLINE void add_lines_of(const Level& level, const float* const* rows, float* error) {
  for (int x = 0; x < level.w; x += lanes()) {
    const AroundRows at = {rows, x};
    if constexpr (highest) store(load(error + x) + butteraugli_lines(at), error + x);
    else store(load(error + x) + butteraugli_sparse_lines(at), error + x);
  }
}

void add_lines(const Level& level, const Band& band, const Pair& pair) {
  for (int of = 0; of < kButteraugliBands; of++) {
    const RowsAround<kButteraugliLineReach> around(level, band, pair.lines, of, level.zero);
    for (int i = 0; i < band.count; i++) {
      const float* const* rows = around.row + i + kButteraugliLineReach;
      float* error = pair.error.row(band.y(i));
      if (of < kButteraugliHighest) add_lines_of<true>(level, rows, error);
      else add_lines_of<false>(level, rows, error);
    }
  }
}

void add_activity_error(const Level& level, int y, const Side& ref, const Pair& pair) {
  const float *of_ref = ref.activity.row(y), *of_dist = pair.dist.activity.row(y);
  float* error = pair.error.row(y);
  for (int x = 0; x < level.w; x += lanes())
    store(load(error + x) + butteraugli_activity_error(load(of_ref + x), load(of_dist + x)), error + x);
}

HWY_NOINLINE void make_map(const ButteraugliWeights& weights, const Level& level, const Band& band, const Side& ref,
                           const Pair& pair) {
  const RowsAround<kButteraugliStep> around(level, band, ref.activity, 0, level.nowhere);
  for (int i = 0; i < band.count; i++) {
    const int y = band.y(i);
    const float *low_error = pair.low_error.row(y), *error = pair.error.row(y);
    float* map = pair.map.row(y);
    for (int x = 0; x < level.w; x += lanes()) {
      const Real hiding = butteraugli_hiding_at(AroundRows{around.row + i + kButteraugliStep, x});
      store(butteraugli_distance(weights, hiding, load(low_error + x), load(error + x)), map + x);
    }
  }
}

/* Compares the rows that take_side() has made for t. */
void take_pair(const ButteraugliParams& params, const Level& level, int t, const Pair& pair) {
  const ButteraugliWeights& weights = butteraugli_weights(params.version);
  const Band high = band_of(level, t, lag::kHigh), active = band_of(level, t, lag::kActivity);
  for (int i = 0; i < high.count; i++) {
    set_errors(weights, level, high.y(i), level.ref, pair);
    make_line_samples(weights, level, high.y(i), level.ref, pair);
  }
  add_lines(level, band_of(level, t, lag::kLines), pair);
  for (int i = 0; i < active.count; i++) add_activity_error(level, active.y(i), level.ref, pair);
  make_map(weights, level, band_of(level, t, lag::kMap), level.ref, pair);
}

// -- Sums -------------------------------------------------------------------------------------------------------------

/* Adds the map of half the size to a row: each of its samples to two. */
HWY_INLINE void add_half(const float* half, int w, float* map) {
  for (int x = 0; x < w; x += 2 * lanes()) {
    const Real v = load(half + x / 2);
    VF even, odd;
    hn::LoadInterleaved2(DF(), map + x, even, odd);
    hn::StoreInterleaved2(butteraugli_of_both(even, v).v, butteraugli_of_both(odd, v).v, DF(), map + x);
  }
}

/* Beyond its end the row has zeros. */
HWY_INLINE void add_row(float* map, int w, double norm, ButteraugliRow& sums) {
  constexpr int kVectors = kButteraugliLanes / static_cast<int>(hn::MaxLanes(DF()));
  std::fill_n(map + w, kButteraugliLanes, 0.0f);
  Double powers[3][kVectors];
  for (auto& of_power : powers)
    for (Double& sum : of_power) sum = Double(0);
  Real most(0);
  for (int x = 0; x < w; x += kButteraugliLanes) {
    VMAFX_UNROLL
    for (int i = 0; i < kVectors; i++) {
      const Real d = load(map + x + i * lanes());
      most = maximum(most, d);
      const ButteraugliPowers all = butteraugli_powers(d, norm);
      VMAFX_UNROLL
      for (int k = 0; k < 3; k++) powers[k][i] = powers[k][i] + all.of[k];
    }
  }
  sums.most = static_cast<double>(hn::GetLane(hn::MaxOfLanes(DF(), most.v)));
  for (int k = 0; k < 3; k++) {
    double lane[kButteraugliLanes];
    for (int i = 0; i < kVectors; i++) store(powers[k][i], lane + i * lanes());
    sums.powers[k] = butteraugli_sum_of_lanes(lane);
  }
}

// -- A reference and encodes ------------------------------------------------------------------------------------------

void prepare(const Level& level) {
  std::fill_n(level.zero - kMargin, kMargin + level.w + kRowSlack, 0.0f);
  std::fill_n(level.nowhere - kMargin, kMargin + level.w + kRowSlack, kButteraugliNowhere);
  for (int x = 0; x < level.w; x++) {
    level.scales[0][x] = butteraugli_blur_scale<ButteraugliLowBlur>(x, level.w);
    level.scales[1][x] = butteraugli_blur_scale<ButteraugliMiddleBlur>(x, level.w);
    level.scales[2][x] = butteraugli_blur_scale<ButteraugliHighBlur>(x, level.w);
    level.scales[3][x] = butteraugli_blur_scale<ButteraugliMaskBlur>(x, level.w);
  }
}

/* A reference and encodes, as many as fit in the memory. */
template <class T>
struct Pictures {
  const ButteraugliParams& params;
  const ButteraugliMemory& memory;
  const Picture& ref;
  std::span<const Picture* const> dists;
  std::span<ButteraugliRow* const> rows;
  const ButteraugliRowSink& sink;  // takes the first encode's map

  bool has_half() const { return memory.half.h > 0; }

  void light_full(int t) const {
    const Band band = band_of(memory.full, t, 0);
    light_up<T>(params, ref, band, memory.samples, memory.full.ref);
    for (size_t i = 0; i < dists.size(); i++)
      light_up<T>(params, *dists[i], band, memory.samples, memory.full.pair[i].dist);
  }

  /* Two rows of the half size, from the band of the full one at t. */
  void light_half(int t) const {
    const Band all = band_of(memory.half, t / 2, 0), band = {all.first, std::min(all.count, kBand / 2)};
    halve_light(memory.full, band, memory.full.ref, memory.half.ref);
    for (size_t i = 0; i < dists.size(); i++)
      halve_light(memory.full, band, memory.full.pair[i].dist, memory.half.pair[i].dist);
  }

  void take(const Level& level, int t) const {
    take_side(params, level, t, level.ref);
    for (size_t i = 0; i < dists.size(); i++) {
      take_side(params, level, t, level.pair[i].dist);
      take_pair(params, level, t, level.pair[i]);
    }
  }

  void finish_row(int y) const {
    for (size_t i = 0; i < dists.size(); i++) {
      float* map = memory.full.pair[i].map.row(y);
      if (has_half()) add_half(memory.half.pair[i].map.row(y / 2), params.w, map);
      add_row(map, params.w, params.norm, rows[i][y]);
      if (i == 0 && sink) sink(y, {map, static_cast<size_t>(params.w)});
    }
  }

  void run() const {
    prepare(memory.full);
    if (has_half()) prepare(memory.half);
    int finished = 0, half_made = 0;
    for (int t = 0; finished < params.h; t += kBand) {
      light_full(t);
      if (has_half()) light_half(t);
      take(memory.full, t);
      if (has_half() && t % (2 * kBand)) {
        take(memory.half, t / 2 - kBand / 2);
        half_made = std::clamp(t / 2 - kBand / 2 - lag::kMap + kBand, 0, memory.half.h);
      }
      const int made = std::clamp(t - lag::kMap + kBand, 0, params.h);
      const int end = has_half() ? std::min(made, 2 * half_made) : made;
      for (; finished < end; finished++) finish_row(finished);
    }
  }
};

size_t scratch_bytes(const ButteraugliParams& params, int encodes) {
  return ButteraugliMemory(params, encodes, nullptr).bytes;
}

void score(const ButteraugliParams& params, const Picture& ref, std::span<const Picture* const> dists,
           std::byte* scratch, std::span<ButteraugliRow* const> rows, const ButteraugliRowSink& sink) {
  const ButteraugliMemory memory(params, static_cast<int>(dists.size()), scratch);
  const ButteraugliRowSink none;
  for (size_t i = 0; i < dists.size(); i += kButteraugliEncodes) {
    const size_t count = std::min<size_t>(kButteraugliEncodes, dists.size() - i);
    const auto some_dists = dists.subspan(i, count);
    const auto some_rows = rows.subspan(i, count);
    const ButteraugliRowSink& of_first = i ? none : sink;
    if (params.bpc == 8) Pictures<uint8_t>{params, memory, ref, some_dists, some_rows, of_first}.run();
    else Pictures<uint16_t>{params, memory, ref, some_dists, some_rows, of_first}.run();
  }
}

#endif

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(score);
HWY_EXPORT(scratch_bytes);

size_t butteraugli_scratch_bytes_simd(const ButteraugliParams& params, int encodes) {
  return HWY_DYNAMIC_DISPATCH(scratch_bytes)(params, encodes);
}

void butteraugli_simd(const ButteraugliParams& params, const Picture& ref, std::span<const Picture* const> dists,
                      std::byte* scratch, std::span<ButteraugliRow* const> rows, const ButteraugliRowSink& sink) {
  HWY_DYNAMIC_DISPATCH(score)(params, ref, dists, scratch, rows, sink);
}

}  // namespace vmafx
#endif
