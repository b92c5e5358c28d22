/* The SIMD twin of ssimulacra2: one source for every instruction set, equal to ssimulacra2_ref.cpp to the last bit.
 *
 * A strip of columns runs down the picture. Each row becomes absorbances (scale 0), half of a row of the next scale,
 * XYB, and the rows blurred along of four streams of each channel. Four rows later these are blurred across, four at
 * once, and give their errors. */
#include "kernels/ssimulacra2/ssimulacra2.h"

#include <algorithm>

#include "kernels/ssimulacra2/ssimulacra2_strip.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ssimulacra2/ssimulacra2_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/common/rows-inl.h"
#include "kernels/ssimulacra2/ssimulacra2_light-inl.h"
#include "kernels/ssimulacra2/ssimulacra2_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vmafx {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* No vectors here: the definition does it. */
size_t scratch_bytes(const Ssimulacra2Params& params) { return ssimulacra2_scratch_bytes_ref(params); }
void score(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist, std::byte* scratch,
           Ssimulacra2Sums& sums) {
  ssimulacra2_ref(params, ref, dist, scratch, sums);
}

#else

constexpr int kBand = kSsimulacra2Band, kRadius = kSsimulacra2Radius;
using Memory = Ssimulacra2StripMemory;
using Maps = Ssimulacra2Map (&)[3][3];

// -- A row -----------------------------------------------------------------------------------------------------------

/* Channels of a row from absorbances of columns x0 - before to x0 + strip.columns + after; zero beyond. */
HWY_INLINE void make_channels(const float* const (&absorbed)[3], int from, int count, float* const (&out)[3]) {
  for (int i = 0; i < count; i += lanes()) {
    const Xyb all = xyb({load(absorbed[0] + i), load(absorbed[1] + i), load(absorbed[2] + i)});
    store(all.x, out[0] + from + i);
    store(all.y, out[1] + from + i);
    store(all.b, out[2] + from + i);
  }
  for (float* line : out) {
    std::fill(line, line + from, 0.0f);
    std::fill(line + from + count, line + Memory::kLine, 0.0f);
  }
}

HWY_INLINE void blur_row(const Memory& memory, int y, int columns) {
  float* products = memory.products();
  for (int channel = 0; channel < kSsimulacra2Channels; channel++) {
    const float *ref = memory.channel(y, channel, 0), *dist = memory.channel(y, channel, 1);
    const int width = columns + 2 * kRadius;
    filter_along<Ssimulacra2Filter>(ref + kRadius, columns, memory.blurred(channel, kRefStream, y));
    filter_along<Ssimulacra2Filter>(dist + kRadius, columns, memory.blurred(channel, kDistStream, y));
    for (int i = 0; i < width; i += lanes()) store(sum_of_squares(load(ref + i), load(dist + i)), products + i);
    filter_along<Ssimulacra2Filter>(products + kRadius, columns, memory.blurred(channel, kSquaresStream, y));
    for (int i = 0; i < width; i += lanes()) store(squared_difference(load(ref + i), load(dist + i)), products + i);
    filter_along<Ssimulacra2Filter>(products + kRadius, columns, memory.blurred(channel, kDifferencesStream, y));
  }
}

void clear_blurred_row(const Memory& memory, int y) {
  for (int channel = 0; channel < kSsimulacra2Channels; channel++)
    for (int stream = 0; stream < kSsimulacra2Streams; stream++)
      std::fill_n(memory.blurred(channel, stream, y), Memory::kBlurredLine, 0.0f);
}

/* Half a row of the next scale. Where `columns` is odd the last one counts twice. */
HWY_INLINE void halve_rows(float* top, float* below, int columns, float* out) {
  if (columns % 2) {
    top[columns] = top[columns - 1];
    below[columns] = below[columns - 1];
  }
  for (int i = 0; 2 * i < columns; i += lanes()) {
    VF top_left, top_right, left, right;
    hn::LoadInterleaved2(DF(), top + 2 * i, top_left, top_right);
    hn::LoadInterleaved2(DF(), below + 2 * i, left, right);
    store(mean_of_4(top_left, left, top_right, right), out + i);
  }
}

// -- Errors of a band ------------------------------------------------------------------------------------------------

/* The rows of a stream around row `row` of the band. Rows lie `turn` bands on in their ring. */
template <int turn>
struct BlurredRows {
  const float* at;
  int row;
  HWY_INLINE Real operator()(int k) const {
    return load(at + (row + kRadius + k + turn * kBand) % Memory::kBlurredRows * Memory::kBlurredLine);
  }
};

/* Sums over a strip's part of a band. */
class ErrorSums {
 public:
  HWY_INLINE ErrorSums() {}
  HWY_INLINE void add(int map, Real sum, Real fourth) {
    sums_[map].add(sum);
    fourths_[map].add(fourth * Real(kSsimulacra2FourthScale));
  }
  HWY_INLINE void add_to(Ssimulacra2Map (&maps)[3]) const {
    for (int i = 0; i < 3; i++) {
      const Fixed2<kSsimulacra2FourthBits> fourth = fourths_[i].total();
      maps[i].sum += sums_[i].total();
      maps[i].fourth_powers.coarse += fourth.coarse;
      maps[i].fourth_powers.fine += fourth.fine;
    }
  }

 private:
  FixedSum<kSsimulacra2SumBits> sums_[3];
  FixedSum2<kSsimulacra2FourthBits> fourths_[3];
};

struct Band {
  Memory memory;
  int y, rows, columns;
};

template <int turn>
HWY_NOINLINE void add_channel_errors(const Band& band, int channel, Ssimulacra2Map (&maps)[3]) {
  const Memory& memory = band.memory;
  const float* streams[kSsimulacra2Streams];
  for (int i = 0; i < kSsimulacra2Streams; i++) streams[i] = memory.blurred(channel, i);
  const float *refs[kBand], *dists[kBand];
  for (int row = 0; row < kBand; row++) {
    refs[row] = memory.channel(band.y + row, channel, 0) + kRadius;
    dists[row] = memory.channel(band.y + row, channel, 1) + kRadius;
  }
  ErrorSums sums;
  for (int x = 0; x < band.columns; x += lanes()) {
    Real blurred[kSsimulacra2Streams][kBand];
    VMAFX_UNROLL
    for (int i = 0; i < kSsimulacra2Streams; i++) {
      VMAFX_UNROLL
      for (int row = 0; row < kBand; row++)
        blurred[i][row] = symmetric_sum<Ssimulacra2Filter>(BlurredRows<turn>{streams[i] + x, row});
    }
    Real sum[3] = {Real(0), Real(0), Real(0)}, fourth[3] = {Real(0), Real(0), Real(0)};
    VMAFX_UNROLL
    for (int row = 0; row < kBand; row++) {
      if (row >= band.rows) break;
      const Ssimulacra2Errors errors =
          errors_of(load(refs[row] + x), load(dists[row] + x), blurred[kRefStream][row], blurred[kDistStream][row],
                    blurred[kSquaresStream][row], blurred[kDifferencesStream][row]);
      const Real values[3] = {errors.ssim, maximum(errors.edge, Real(0)), maximum(Real(0) - errors.edge, Real(0))};
      VMAFX_UNROLL
      for (int i = 0; i < 3; i++) {
        sum[i] += values[i];
        fourth[i] += fourth_power(values[i]);
      }
    }
    const Mask inside = {hn::FirstN(DF(), static_cast<size_t>(band.columns - x))};
    VMAFX_UNROLL
    for (int i = 0; i < 3; i++) sums.add(i, select(inside, sum[i], Real(0)), select(inside, fourth[i], Real(0)));
  }
  sums.add_to(maps);
}

void add_errors(const Band& band, Maps maps) {
  for (int channel = 0; channel < kSsimulacra2Channels; channel++) switch (band.y / kBand % 3) {
      case 0: add_channel_errors<0>(band, channel, maps[channel]); break;
      case 1: add_channel_errors<1>(band, channel, maps[channel]); break;
      default: add_channel_errors<2>(band, channel, maps[channel]);
    }
}

// -- A strip ---------------------------------------------------------------------------------------------------------

/* Absorbances come from pictures at scale 0 (T: their samples), from planes at others. */
template <class T>
struct Strip {
  const Ssimulacra2Params& params;
  Side<T> sides[2];
  Ssimulacra2ScalePlanes planes;  // at scale 0 only its size
  Ssimulacra2ScalePlanes next;
  bool has_next;
  Memory memory;
  int x0, columns;

  static constexpr bool kFromPicture = !std::is_same_v<T, float>;
  HWY_INLINE int before() const { return std::min(x0, kRadius); }
  HWY_INLINE int width() const { return std::min(planes.w, x0 + columns + kRadius) - (x0 - before()); }

  /* Of column x0 and on. */
  HWY_INLINE float* absorbed(int side, int kind, int y) const {
    if constexpr (kFromPicture) return memory.absorbed(y, side, kind) + kRadius;
    else return planes.row(side, kind, y) + x0;
  }

  HWY_INLINE void load_row(int y) const {
    if (y < 0 || y >= planes.h) return clear_blurred_row(memory, y);
    for (int side = 0; side < 2; side++) {
      if constexpr (kFromPicture) {
        float* const lines[3] = {absorbed(side, 0, y) - before(), absorbed(side, 1, y) - before(),
                                 absorbed(side, 2, y) - before()};
        absorb_row(params, sides[side], y, x0 - before(), width(), memory, lines);
      }
      const float* const lines[3] = {absorbed(side, 0, y) - before(), absorbed(side, 1, y) - before(),
                                     absorbed(side, 2, y) - before()};
      float* const out[3] = {memory.channel(y, 0, side), memory.channel(y, 1, side), memory.channel(y, 2, side)};
      make_channels(lines, kRadius - before(), width(), out);
    }
    blur_row(memory, y, columns);
    if (has_next && (y % 2 || y + 1 == planes.h)) halve(y);
  }

  HWY_INLINE void halve(int y) const {
    for (int side = 0; side < 2; side++)
      for (int kind = 0; kind < 3; kind++)
        halve_rows(absorbed(side, kind, y & ~1), absorbed(side, kind, y), columns,
                   next.row(side, kind, y / 2) + x0 / 2);
  }

  HWY_INLINE void run(Maps maps) const {
    for (int y = -kRadius; y < kRadius; y++) load_row(y);
    for (int y = 0; y < planes.h; y += kBand) {
      for (int row = 0; row < kBand; row++) load_row(y + kRadius + row);
      add_errors({memory, y, std::min(kBand, planes.h - y), columns}, maps);
    }
  }
};

/* Scales take turns in two places for their planes. */
Ssimulacra2ScalePlanes planes_of(const Ssimulacra2Params& params, int scale, std::byte* memory) {
  const auto size = [&](int s) HWY_ATTR {
    return Ssimulacra2ScalePlanes::bytes(ssimulacra2_size(params.w, s), ssimulacra2_size(params.h, s));
  };
  std::byte* first = scale % 2 ? memory : memory + size(1);
  return {reinterpret_cast<float*>(first), ssimulacra2_size(params.w, scale), ssimulacra2_size(params.h, scale)};
}

template <class T>
void run_scale(const Ssimulacra2Params& params, const Side<T> (&sides)[2], int scale, std::byte* scratch, Maps maps) {
  std::byte* memory = scratch + Memory::kBytes;
  const auto planes = planes_of(params, scale, memory);
  const bool has_next = scale + 1 < ssimulacra2_scales(params.w, params.h);
  const auto next = planes_of(params, scale + 1, memory);
  for (int x0 = 0; x0 < planes.w; x0 += kSsimulacra2Strip)
    Strip<T>{params, {sides[0], sides[1]}, planes,           next,
             has_next, Memory(scratch),    x0, std::min(kSsimulacra2Strip, planes.w - x0)}
        .run(maps);
}

template <class T>
void score_depth(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist, std::byte* scratch,
                 Ssimulacra2Sums& sums) {
  run_scale<T>(params, {side_of<T>(ref), side_of<T>(dist)}, 0, scratch, sums.map[0]);
  for (int scale = 1; scale < ssimulacra2_scales(params.w, params.h); scale++)
    run_scale<float>(params, {}, scale, scratch, sums.map[scale]);
}

size_t scratch_bytes(const Ssimulacra2Params& params) {
  size_t bytes = Memory::kBytes;
  for (int s = 1; s <= 2; s++)
    bytes += Ssimulacra2ScalePlanes::bytes(ssimulacra2_size(params.w, s), ssimulacra2_size(params.h, s));
  return bytes;
}

void score(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist, std::byte* scratch,
           Ssimulacra2Sums& sums) {
  if (params.bpc == 8) score_depth<uint8_t>(params, ref, dist, scratch, sums);
  else score_depth<uint16_t>(params, ref, dist, scratch, sums);
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace vmafx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(score);
HWY_EXPORT(scratch_bytes);

size_t ssimulacra2_scratch_bytes_simd(const Ssimulacra2Params& params) {
  return HWY_DYNAMIC_DISPATCH(scratch_bytes)(params);
}

void ssimulacra2_simd(const Ssimulacra2Params& params, const Picture& ref, const Picture& dist, std::byte* scratch,
                      Ssimulacra2Sums& sums) {
  HWY_DYNAMIC_DISPATCH(score)(params, ref, dist, scratch, sums);
}

}  // namespace vmafx
#endif
