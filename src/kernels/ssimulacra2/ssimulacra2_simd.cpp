/* The SIMD twin of ssimulacra2: one source for every instruction set, equal to ssimulacra2_plain.cpp to the last bit.
 *
 * A strip of columns runs down the picture in bands of as many rows as a vector has lanes. Each row becomes linear
 * light (scale 0), half of a row of the next scale, and XYB. The rows of a band are blurred along side by side, a lane
 * each: columns are vectors. The filter's state of a row at the end of a strip waits for the next strip. Then columns
 * are blurred down, a lane each, four rows at a time, and give their errors.
 *
 * Each band is made of the reference first, then of one encode after the other, at most kSsimulacra2Encodes of them.
 * The results for the reference alone are made once: its light and XYB (of 2 sides), 2 of 5 blurs both ways, and its
 * part of the errors (3 floats a sample, in the cache). One encode's time goes to light and XYB (56 %), to the blurs
 * along rows with their columns (22 %), and to the blurs down with the errors (22 %). So 57 % remain for each further
 * encode, and eight together can take no less than 0.62 of the time of eight alone. Measured: 0.64 to 0.67 (1920x1080,
 * 8 bit, one thread of a Zen 4 server). To let an encode run through 32, 64 or 128 rows before the next one's memory is
 * fetched gained nothing. */
#include "kernels/ssimulacra2/ssimulacra2.h"

#include <algorithm>
#include <span>

#include "kernels/ssimulacra2/ssimulacra2_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ssimulacra2/ssimulacra2_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/ssimulacra2/ssimulacra2_math-inl.h"
#include "kernels/steps/rows-inl.h"

HWY_BEFORE_NAMESPACE();
#if HWY_COMPILER_GCC_ACTUAL
/* Puts operations that do not wait for each other side by side. */
#pragma GCC optimize("schedule-insns", "sched-pressure")
#endif
namespace vmafx::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* No vectors here: the definition does it. */
size_t scratch_bytes(const Ssimulacra2Params& params, int) { return ssimulacra2_scratch_bytes_plain(params); }
void score(const Ssimulacra2Params& params, const Picture& ref, std::span<const Picture* const> dists,
           std::byte* scratch, std::span<Ssimulacra2Sums* const> sums) {
  for (size_t i = 0; i < dists.size(); i++) ssimulacra2_plain(params, ref, *dists[i], scratch, *sums[i]);
}

#else

constexpr int kBand = kSsimulacra2Band, kLanes = hn::MaxLanes(DF());
using Memory = Ssimulacra2Memory;
using Side = Ssimulacra2Side;

// -- Along the rows of a band ----------------------------------------------------------------------------------------

/* Four columns of kLanes rows change places with four vectors. Lanes may have any row, as long as it is the same both
 * ways: block b of vector i is row i · kLanes / 4 + b. */
HWY_INLINE void transpose_blocks(VF (&v)[4]) {
  const DF d;
  const DD dd;
  const VD a = hn::BitCast(dd, hn::InterleaveLower(d, v[0], v[1]));
  const VD b = hn::BitCast(dd, hn::InterleaveLower(d, v[2], v[3]));
  const VD c = hn::BitCast(dd, hn::InterleaveUpper(d, v[0], v[1]));
  const VD e = hn::BitCast(dd, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(dd, a, b));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(dd, a, b));
  v[2] = hn::BitCast(d, hn::InterleaveLower(dd, c, e));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(dd, c, e));
}

template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, float* const* rows, int x) {
  constexpr int blocks = hn::MaxLanes(D()) / 4;
  if constexpr (blocks == 1) {
    return hn::LoadU(d, rows[0] + x);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, rows + blocks / 2, x), load_blocks(half, rows, x));
  }
}

template <class D>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, float* const* rows, int x) {
  constexpr int blocks = hn::MaxLanes(D()) / 4;
  if constexpr (blocks == 1) {
    hn::StoreU(v, d, rows[0] + x);
  } else {
    const hn::Half<D> half;
    store_blocks(half, hn::LowerHalf(half, v), rows, x);
    store_blocks(half, hn::UpperHalf(half, v), rows + blocks / 2, x);
  }
}

/* A band of a strip. */
struct Band {
  int y;            // its first row
  int x0, columns;  // the strip's
  int w;            // the picture's

  int first() const { return x0 == 0 ? -kSsimulacra2Ahead : x0; }
  int end() const { return x0 + columns; }
};

HWY_INLINE void make_columns(const Band& band, const Side& side, int channel, float* columns) {
  float* rows[kLanes];
  for (int i = 0; i < kLanes; i++) rows[i] = side.channel(band.y + i, channel);
  constexpr int first = (Memory::kColumnsBefore - Side::kBefore) * kLanes;
  std::fill_n(columns, first, 0.0f);
  for (int x = 0; x < Side::kBefore + band.columns + kSsimulacra2Ahead; x += 4) {
    VF four[4];
    for (int i = 0; i < 4; i++) four[i] = load_blocks(DF(), rows + i * kLanes / 4, x);
    transpose_blocks(four);
    for (int i = 0; i < 4; i++) store(four[i], columns + first + (x + i) * kLanes);
  }
}

/* A column of a stream of a side. */
template <int stream>
HWY_INLINE Real column_of(const float* side, const float* ref) {
  if constexpr (stream == 0) return load(side);
  else if constexpr (stream == 1) return load(side) * load(side);
  else return load(ref) * load(side);
}

HWY_INLINE BlurState load_state(const float* from, int stride) {
  return {{load(from), load(from + stride), load(from + 2 * stride)},
          {load(from + 3 * stride), load(from + 4 * stride), load(from + 5 * stride)}};
}

HWY_INLINE void store_state(const BlurState& state, float* to, int stride) {
  for (int k = 0; k < kSsimulacra2Sections; k++) {
    store(state.last[k], to + k * stride);
    store(state.before[k], to + (k + kSsimulacra2Sections) * stride);
  }
}

template <int stream>
HWY_NOINLINE void blur_rows(const Band& band, const Side& side, int channel, const float* columns,
                            const float* ref_columns) {
  float* rows[kLanes];
  for (int i = 0; i < kLanes; i++) rows[i] = side.blurred(channel, stream, band.y + i) - band.x0;
  const float* own = columns + (Memory::kColumnsBefore - band.x0) * kLanes;
  const float* ref = ref_columns + (Memory::kColumnsBefore - band.x0) * kLanes;
  float* saved = side.row_states(band.y, channel, stream);
  BlurState state = load_state(saved, kLanes);
  for (int x = band.first(); x < band.end(); x += 4) {
    Real four[4];
    VMAFX_UNROLL
    for (int i = 0; i < 4; i++) {
      const int behind = (x + i - kSsimulacra2Behind) * kLanes, ahead = (x + i + kSsimulacra2Ahead) * kLanes;
      four[i] = column_of<stream>(own + behind, ref + behind) + column_of<stream>(own + ahead, ref + ahead);
    }
    if (ssimulacra2_four_at_once(x, band.w)) {
      blur_four_along(state, four);
    } else {
      VMAFX_UNROLL
      for (int i = 0; i < 4; i++) four[i] = blurred_along(state, four[i]);
    }
    if (x < 0) continue;
    VF out[4] = {four[0].v, four[1].v, four[2].v, four[3].v};
    transpose_blocks(out);
    VMAFX_UNROLL
    for (int i = 0; i < 4; i++) store_blocks(DF(), out[i], rows + i * kLanes / 4, x);
  }
  store_state(state, saved, kLanes);
}

void blur_ref_along(const Band& band, const Memory& memory) {
  const Side& ref = memory.ref();
  if (band.x0 == 0) ref.clear_row_states(band.y);
  for (int channel = 0; channel < kSsimulacra2Channels; channel++) {
    float* columns = memory.ref_columns(channel);
    make_columns(band, ref, channel, columns);
    blur_rows<0>(band, ref, channel, columns, columns);
    blur_rows<1>(band, ref, channel, columns, columns);
  }
}

void blur_dist_along(const Band& band, const Memory& memory, const Side& dist) {
  if (band.x0 == 0) dist.clear_row_states(band.y);
  for (int channel = 0; channel < kSsimulacra2Channels; channel++) {
    float *columns = memory.columns(), *ref_columns = memory.ref_columns(channel);
    make_columns(band, dist, channel, columns);
    blur_rows<0>(band, dist, channel, columns, ref_columns);
    blur_rows<1>(band, dist, channel, columns, ref_columns);
    blur_rows<2>(band, dist, channel, columns, ref_columns);
  }
}

// -- Down the columns, and the errors of four rows -------------------------------------------------------------------

/* A channel in rows y to y + kBand - 1: XYB and, of the filter, what the streams have behind and ahead of them. */
template <int streams>
struct ChannelRows {
  const Side& side;
  int channel;
  const float *samples[kBand], *behind[streams][kBand], *ahead[streams][kBand];

  HWY_INLINE ChannelRows(const Side& side, int channel, int y) : side(side), channel(channel) {
    for (int row = 0; row < kBand; row++) {
      samples[row] = side.channel(std::max(y + row, 0), channel) + Side::kBefore;
      for (int stream = 0; stream < streams; stream++) {
        behind[stream][row] = side.blurred(channel, stream, y + row - kSsimulacra2Behind);
        ahead[stream][row] = side.blurred(channel, stream, y + row + kSsimulacra2Ahead);
      }
    }
  }

  /* Blurs columns x and on. */
  HWY_INLINE void blur_down(int x, Real (&blurred)[kBand][streams]) const {
    VMAFX_UNROLL
    for (int stream = 0; stream < streams; stream++) {
      float* saved = side.states(channel, stream) + x;
      BlurState state = load_state(saved, Side::kStrip);
      VMAFX_UNROLL
      for (int row = 0; row < kBand; row++)
        blurred[row][stream] = blurred_down(state, load(behind[stream][row] + x) + load(ahead[stream][row] + x));
      store_state(state, saved, Side::kStrip);
    }
  }
};

/* Lines of Ssimulacra2Local of the reference, in rows y to y + kBand - 1. */
struct LocalRows {
  float* line[kBand][Memory::kLocals];

  HWY_INLINE LocalRows(const Memory& memory, int channel, int y) {
    for (int row = 0; row < kBand; row++)
      for (int i = 0; i < Memory::kLocals; i++) line[row][i] = memory.locals(channel, i, y + row);
  }
  HWY_INLINE void keep(const Ssimulacra2Local& local, int row, int x) const {
    store(local.mean, line[row][0] + x);
    store(local.variance, line[row][1] + x);
    store(local.edge, line[row][2] + x);
  }
  HWY_INLINE Ssimulacra2Local kept(int row, int x) const {
    return {load(line[row][0] + x), load(line[row][1] + x), load(line[row][2] + x)};
  }
};

/* Keeps the locals of the reference, for the errors of the same rows of all encodes. */
HWY_NOINLINE void keep_locals(const Memory& memory, int y, int columns, int channel) {
  const ChannelRows<2> ref(memory.ref(), channel, y);
  const LocalRows locals(memory, channel, y);
  for (int x = 0; x < columns; x += kLanes) {
    Real blurred[kBand][2];
    ref.blur_down(x, blurred);
    VMAFX_UNROLL
    for (int row = 0; row < kBand; row++)
      locals.keep(local_of(load(ref.samples[row] + x), blurred[row][0], blurred[row][1]), row, x);
  }
}

/* Rows y to y + kBand - 1, of which those from 0 to h - 1 count. */
HWY_NOINLINE void add_channel_errors(const Memory& memory, const Side& side, int y, int h, int columns, int channel,
                                     Ssimulacra2Map (&maps)[3]) {
  const ChannelRows<3> dist(side, channel, y);
  const int rows = y < 0 ? 0 : std::min(kBand, h - y);
  const LocalRows ref(memory, channel, y);
  FixedSum<kSsimulacra2SumBits> sums[3];
  FixedSum3<kSsimulacra2FourthBits> fourths[3];
  for (int x = 0; x < columns; x += kLanes) {
    Real blurred[kBand][3];
    dist.blur_down(x, blurred);
    Real sum[3] = {Real(0), Real(0), Real(0)}, fourth[3] = {Real(0), Real(0), Real(0)};
    VMAFX_UNROLL
    for (int row = 0; row < kBand; row++) {
      if (row >= rows) break;
      const Ssimulacra2Local local = local_of(load(dist.samples[row] + x), blurred[row][0], blurred[row][1]);
      const Ssimulacra2Errors errors = errors_of(ref.kept(row, x), local, blurred[row][2]);
      VMAFX_UNROLL
      for (int i = 0; i < 3; i++) {
        sum[i] += errors.of[i];
        fourth[i] += fourth_power(errors.of[i]);
      }
    }
    const Mask inside = {hn::FirstN(DF(), static_cast<size_t>(columns - x))};
    VMAFX_UNROLL
    for (int i = 0; i < 3; i++) {
      sums[i].add(select(inside, sum[i], Real(0)));
      fourths[i].add(select(inside, fourth[i], Real(0)) * Real(kSsimulacra2FourthScale));
    }
  }
  for (int i = 0; i < 3; i++) {
    maps[i].sum += sums[i].total();
    maps[i].fourth_powers += fourths[i].total();
  }
}

// -- A strip ---------------------------------------------------------------------------------------------------------

/* A reference and encodes, as many as fit in the memory. */
struct Pictures {
  const Picture& ref;
  std::span<const Picture* const> dists;
  std::span<Ssimulacra2Sums* const> sums;
};

/* Light comes from pictures at scale 0 (T: their samples), from planes at others. */
template <class T>
struct Strip {
  const Ssimulacra2Params& params;
  const Pictures& pictures;
  const Memory& memory;
  int scale, w, h;
  int x0, columns;

  static constexpr int kRowsAhead = 4;
  static constexpr bool kFromPicture = !std::is_same_v<T, float>;
  HWY_INLINE int before() const { return std::min(x0, Side::kBefore); }
  HWY_INLINE int width() const { return std::min(w, x0 + columns + kSsimulacra2Ahead) - (x0 - before()); }
  HWY_INLINE Band band(int y) const { return {y, x0, columns, w}; }

  /* The light from column x0 on. */
  HWY_INLINE float* light(const Side& side, int kind, int y) const {
    if constexpr (kFromPicture) return memory.light(y, kind) + Side::kBefore;
    else return side.light_row(scale, h, kind, y) + x0;
  }

  /* Columns x and on of what row y is made of. Down a strip nothing foresees what is next. */
  HWY_INLINE void prefetch(const Picture& picture, const Side& side, int y, int x) const {
    if constexpr (kFromPicture) {
      for (int i = 0; i < (params.has_chroma ? 3 : 1); i++) {
        const auto plane = picture.plane[i].as<T>();
        const int across = i > 0 && params.across.halved, down = i > 0 && params.down.halved;
        __builtin_prefetch(plane.row(std::min(y >> down, plane.h - 1)) + ((x0 + x) >> across));
      }
    } else {
      for (int kind = 0; kind < 3; kind++) __builtin_prefetch(light(side, kind, std::min(y, h - 1)) + x);
    }
  }

  HWY_INLINE Xyb color(float* const (&light)[3], int x) const {
    return xyb(params.absorbance, {load(light[0] + x), load(light[1] + x), load(light[2] + x)});
  }
  HWY_INLINE void keep(const Xyb& color, float* const (&channels)[3], int x) const {
    store(color.x, channels[0] + Side::kBefore + x);
    store(color.y, channels[1] + Side::kBefore + x);
    store(color.b, channels[2] + Side::kBefore + x);
  }

  HWY_INLINE void load_row(const Picture& picture, const Side& side, int y) const {
    float* const out[3] = {side.channel(y, 0), side.channel(y, 1), side.channel(y, 2)};
    if (y >= h) {
      for (float* line : out) std::fill_n(line, Side::kChannelLine, 0.0f);
      return;
    }
    float* const lines[3] = {light(side, 0, y), light(side, 1, y), light(side, 2, y)};
    if constexpr (kFromPicture)
      light_row<false, T>(params, picture, y, x0 - before(), width(), memory.samples(),
                          {lines[0] - before(), lines[1] - before(), lines[2] - before()});
    const int end = width() - before();
    /* Two vectors side by side: a color is a chain of operations that wait for each other. */
    int x = -before();
    for (; x + lanes() < end; x += 2 * lanes()) {
      const Xyb one = color(lines, x), other = color(lines, x + lanes());
      prefetch(picture, side, y + kRowsAhead, x);
      prefetch(picture, side, y + kRowsAhead, x + lanes());
      keep(one, out, x);
      keep(other, out, x + lanes());
    }
    if (x < end) {
      prefetch(picture, side, y + kRowsAhead, x);
      keep(color(lines, x), out, x);
    }
    for (float* line : out) {
      std::fill(line, line + Side::kBefore - before(), 0.0f);
      std::fill(line + Side::kBefore + end, line + Side::kChannelLine, 0.0f);
    }
    const bool has_next = scale + 1 < ssimulacra2_scales(params.w, params.h);
    if (has_next && (y % 2 || y + 1 == h)) halve(side, y);
  }

  HWY_INLINE void halve(const Side& side, int y) const {
    for (int kind = 0; kind < 3; kind++)
      halve_rows(light(side, kind, y & ~1), light(side, kind, y), columns,
                 side.light_row(scale + 1, (h + 1) / 2, kind, y / 2) + x0 / 2);
  }

  void load_band(const Picture& picture, const Side& side, int y) const {
    for (int row = 0; row < kLanes; row++) load_row(picture, side, y + row);
  }

  /* take_rows(y, channel) of each kBand rows that are blurred once those of the band at `y` are there. */
  template <class TakeRows>
  HWY_INLINE void for_rows_of_band(int y, TakeRows take_rows) const {
    for (int row = y - kSsimulacra2Ahead; row < std::min(h, y + kLanes - kSsimulacra2Ahead); row += kBand)
      for (int channel = 0; channel < kSsimulacra2Channels; channel++) take_rows(row, channel);
  }

  void take_ref(int y) const {
    load_band(pictures.ref, memory.ref(), y);
    blur_ref_along(band(y), memory);
    for_rows_of_band(y, [&](int row, int channel) { keep_locals(memory, row, columns, channel); });
  }

  void take_dist(size_t i, int y) const {
    const Side& dist = memory.dist(i);
    load_band(*pictures.dists[i], dist, y);
    blur_dist_along(band(y), memory, dist);
    for_rows_of_band(y, [&](int row, int channel) {
      add_channel_errors(memory, dist, row, h, columns, channel, pictures.sums[i]->map[scale][channel]);
    });
  }

  void run() const {
    memory.ref().clear_filter();
    for (size_t i = 0; i < pictures.dists.size(); i++) memory.dist(i).clear_filter();
    for (int y = 0; y - kSsimulacra2Ahead < h; y += kLanes) {
      take_ref(y);
      for (size_t i = 0; i < pictures.dists.size(); i++) take_dist(i, y);
    }
  }
};

template <class T>
void run_scale(const Ssimulacra2Params& params, const Pictures& pictures, int scale, const Memory& memory) {
  const int w = ssimulacra2_size(params.w, scale), h = ssimulacra2_size(params.h, scale);
  for (int x0 = 0; x0 < w; x0 += kSsimulacra2Strip)
    Strip<T>{params, pictures, memory, scale, w, h, x0, std::min(kSsimulacra2Strip, w - x0)}.run();
}

template <class T>
void score_depth(const Ssimulacra2Params& params, const Pictures& pictures, const Memory& memory) {
  run_scale<T>(params, pictures, 0, memory);
  for (int scale = 1; scale < ssimulacra2_scales(params.w, params.h); scale++)
    run_scale<float>(params, pictures, scale, memory);
}

size_t scratch_bytes(const Ssimulacra2Params& params, int encodes) {
  return Memory(params, kLanes, encodes, nullptr).bytes();
}

void score(const Ssimulacra2Params& params, const Picture& ref, std::span<const Picture* const> dists,
           std::byte* scratch, std::span<Ssimulacra2Sums* const> sums) {
  const Memory memory(params, kLanes, static_cast<int>(dists.size()), scratch);
  for (size_t i = 0; i < dists.size(); i += kSsimulacra2Encodes) {
    const size_t count = std::min<size_t>(kSsimulacra2Encodes, dists.size() - i);
    const Pictures some = {ref, dists.subspan(i, count), sums.subspan(i, count)};
    if (params.bpc == 8) score_depth<uint8_t>(params, some, memory);
    else score_depth<uint16_t>(params, some, memory);
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

size_t ssimulacra2_scratch_bytes_simd(const Ssimulacra2Params& params, int encodes) {
  return HWY_DYNAMIC_DISPATCH(scratch_bytes)(params, encodes);
}

void ssimulacra2_simd(const Ssimulacra2Params& params, const Picture& ref, std::span<const Picture* const> dists,
                      std::byte* scratch, std::span<Ssimulacra2Sums* const> sums) {
  HWY_DYNAMIC_DISPATCH(score)(params, ref, dists, scratch, sums);
}

}  // namespace vmafx
#endif
