/* The kernels of cvvdp, in data-flow order: pictures to the eye's planes, once each; channels in time, the pyramid's
 * levels, the bands, the base.
 *
 * The floor, for a frame of n samples at 24 pictures per second (7 taps), 4 frames in a launch, H100: 3.4 TB/s, 33e12
 * operations/s without contraction. A pair's planes are 24·n bytes, its channels 32·n; all levels together have 4/3 of
 * the first one's samples.
 *
 *   bytes       samples 3·n, planes written 24·n, read 24·n · 10/4 by the channels, channels written 32·n, read by the
 *               first reduction 32·n and by the bands 32·n; smaller levels 1/3 of (32 + 32 + 32)·n:  215·n, of
 *               1920x1080 446 MB: 0.13 ms
 *   operations  light 2 · 200·n, channels 2 · 56·n, pyramid 8 · 4/3 · 20·n, bands 4/3 · 1000·n (10 powers and 18
 *               divisions or exponentials in four channels, two expanded levels, two blurs):  2060·n, 4.3e9:
 *               0.13 ms
 *
 * On an NVIDIA H200, four frames of 1920x1080 in a launch: 363 us a frame. The bands take 212 of them, and those of the
 * smallest levels 10; the conversion 54, the channels 44, the reduction of the first level 21 and all others 14. Bands
 * and conversion issue 158 and 50 million instructions of a wave for a frame, 0.77 and 0.90 a cycle of each scheduler;
 * memory bounds the channels and the reduction of the first level, at three quarters of its throughput. */
#include "kernels/arithmetic/fixed.h"
#include "kernels/cvvdp/cvvdp_math-inl.h"
#include "kernels/cvvdp/cvvdp_work.h"
#include "kernels/gpu/gpu.h"
#include "kernels/steps/mirror.h"

namespace vmafx::cvvdp_device {

using namespace gpu;

inline constexpr int kChannels = kCvvdpChannels, kPlanes = kCvvdpPlanes;

// -- Conversion ------------------------------------------------------------------------------------------------------

/* Converts pictures; the floats behind a row's last sample become 0. */
VMAFX_DEFINE_SAMPLE_KERNELS(cvvdp_convert, T, work) {
  const Dim3 thread = thread_id(), block = block_id();
  const int x = kCvvdpConvertRun * static_cast<int>(block.x * kCvvdpConvertColumns + thread.x);
  const int y = static_cast<int>(block.y * kCvvdpConvertRows + thread.y);
  const CvvdpConversion& params = work.params;
  if (x >= work.stride || y >= params.h) return;
  const PictureToConvert& picture = work.picture[block.z];
  float codes[3][kCvvdpConvertRun] = {};  // of luma and chroma
  const auto in_picture = [&](int i) { return clamped(x + i, params.w); };
  if (params.has_chroma) {
    VMAFX_UNROLL
    for (int p = 1; p < 3; p++) {
      VMAFX_UNROLL
      for (int i = 0; i < kCvvdpConvertRun; i++)
        codes[p][i] = static_cast<float>(
            cvvdp_chroma_at(params, in_picture(i), y, [&](int row) { return row_of<T>(picture.plane[p], row); }));
    }
  }
  Pack<float, kCvvdpConvertRun> planes[kPlanes];
  VMAFX_UNROLL
  for (int i = 0; i < kCvvdpConvertRun; i++) {
    codes[0][i] = static_cast<float>(row_of<T>(picture.plane[0], y)[in_picture(i)]);
    const CvvdpColor color = seen(params.display, codes[0][i], codes[1][i], codes[2][i]);
    VMAFX_UNROLL
    for (int p = 0; p < kPlanes; p++) planes[p].v[i] = x + i < params.w ? color.of[p] : 0;
  }
  float* out = work.converted + picture.place * work.place + int64_t{y} * work.stride + x;
  VMAFX_UNROLL
  for (int p = 0; p < kPlanes; p++) store_pack(out + p * (int64_t{params.h} * work.stride), planes[p]);
}

// -- Channels --------------------------------------------------------------------------------------------------------

using Run = Pack<float, kCvvdpRun>;

/* Adds up each sample's pictures from the newest to the oldest one, as the definition does; pictures beyond a frame's
 * filter have the weight 0. Before the stream's start its first picture stands. */
VMAFX_DEFINE_KERNEL(cvvdp_filter, work) {
  const Dim3 thread = thread_id(), block = block_id();
  const int x = kCvvdpRun * static_cast<int>(block.x * kCvvdpFilterColumns + thread.x);
  const int y = static_cast<int>(block.y * kCvvdpFilterRows + thread.y);
  const CvvdpLevelPlanes& out = work.out;
  if (x >= out.w || y >= out.h) return;
  const unsigned side = block.z;
  const uint16_t* places = side ? work.places.dist : work.places.ref;
  const int64_t plane = int64_t{out.h} * work.stride, row = int64_t{y} * work.stride + x;
  const int oldest_frame = work.places.earlier + work.first, newest = oldest_frame + work.count - 1;
  float sums[kCvvdpFrames][kChannels][kCvvdpRun] = {};
  VMAFX_ROLLED
  for (int at = newest; at > oldest_frame - work.taps; at--) {
    const float* from = work.converted + places[at < 0 ? 0 : at] * work.place + row;
    Run values[kPlanes];
    VMAFX_UNROLL
    for (int p = 0; p < kPlanes; p++) values[p] = load_pack<kCvvdpRun>(from + p * plane);
    VMAFX_UNROLL
    for (int frame = 0; frame < kCvvdpFrames; frame++) {
      const int weight = kCvvdpFrames - 1 + oldest_frame - at + frame;
      VMAFX_UNROLL
      for (int c = 0; c < kChannels; c++) {
        VMAFX_UNROLL
        for (int i = 0; i < kCvvdpRun; i++) sums[frame][c][i] += values[c % kPlanes].v[i] * work.filter[c][weight];
      }
    }
  }
  VMAFX_UNROLL
  for (int frame = 0; frame < kCvvdpFrames; frame++) {
    VMAFX_UNROLL
    for (int c = 0; c < kChannels; c++) {
      Run run;
      VMAFX_UNROLL
      for (int i = 0; i < kCvvdpRun; i++) run.v[i] = sums[frame][c][i];
      if (frame < work.count)
        store_pack(out.at(static_cast<unsigned>(frame), side * kCvvdpSidePlanes + static_cast<unsigned>(c)) +
                       int64_t{y} * out.stride + x,
                   run);
    }
  }
}

// -- Pyramid ---------------------------------------------------------------------------------------------------------

/* at(column, row) of a level of h rows, filtered down to row y of the next one. */
template <class At>
VMAFX_DEVICE float reduced_down(int x, int y, int h, At at) {
  const auto row = [&](int k) { return at(x, mirror_repeated(2 * y + k, h)); };
  return reduced(row(-2), row(-1), row(0), row(1), row(2));
}

/* at(column) of a row, filtered along to column x of the next level. */
template <class At>
VMAFX_DEVICE float reduced_along(int x, int w, int h, At at) {
  const auto column = [&](int k) { return cvvdp_to_reduce(2 * x + k, w, h, at); };
  return reduced(column(-2), column(-1), column(0), column(1), column(2));
}

/* Rows filtered down, in pairs of columns: a pair for each thread. Two of them are made at once, in turns. */
using ReducedRows = Pack<float, 2>[2][2][kCvvdpReduceThreads];

/* A thread goes down two neighboring columns, and takes of each two rows that it makes only what is new in the filter's
 * window; the rows' other columns are those of its neighbors. is_inside: neither rows nor columns beyond the level's
 * borders are needed. */
template <bool is_inside>
VMAFX_DEVICE void reduce_tile(const CvvdpLevelPlanes& from, const CvvdpLevelPlanes& to, int first, int y0, int y1,
                              ReducedRows& rows) {
  const Dim3 block = block_id();
  const unsigned frame = block.z / kCvvdpFramePlanes, plane = block.z % kCvvdpFramePlanes;
  const int thread = static_cast<int>(thread_id().x), x = first + thread;
  const bool is_there = is_inside || (x >= 0 && 2 * x < from.w);
  const bool makes = thread > 0 && thread <= kCvvdpReduceColumns && (is_inside || x < to.w);
  const float* source = from.at(frame, plane) + (is_there ? 2 * x : 0);
  float* out = to.at(frame, plane) + (makes ? x : 0);
  const auto row_at = [&](int row) {
    const int last = 2 * to.h, near = row < last ? row : last;
    const auto taken_row = static_cast<uint32_t>(is_inside ? row : mirror_repeated(near, from.h));
    return load_pack<2>(source + taken_row * static_cast<uint32_t>(from.stride));
  };
  Pack<float, 2> taken[7];  // rows from two above the output's on
  VMAFX_UNROLL
  for (int k = 0; k < 7; k++) taken[k] = row_at(2 * y0 - 2 + k);
  int turn = 0;
  VMAFX_ROLLED
  for (int y = y0; y < y1; y += 2) {
    Pack<float, 2> made[2];
    VMAFX_UNROLL
    for (int k = 0; k < 2; k++) {
      VMAFX_UNROLL
      for (int i = 0; i < 2; i++)
        made[k].v[i] = reduced(taken[2 * k].v[i], taken[2 * k + 1].v[i], taken[2 * k + 2].v[i], taken[2 * k + 3].v[i],
                               taken[2 * k + 4].v[i]);
      rows[turn][k][thread] = made[k];
    }
    VMAFX_UNROLL
    for (int k = 0; k < 3; k++) taken[k] = taken[k + 4];
    if (y + 2 < y1) {
      VMAFX_UNROLL
      for (int k = 3; k < 7; k++) taken[k] = row_at(2 * y + 2 + k);
    }
    block_sync();
    VMAFX_UNROLL
    for (int k = 0; k < 2; k++) {
      if (!makes || y + k >= y1) continue;
      const auto& row = rows[turn][k];
      float& at = out[static_cast<uint32_t>(y + k) * static_cast<uint32_t>(to.stride)];
      if (is_inside) {
        const Pack<float, 2> before = row[thread - 1];
        at = reduced(before.v[0], before.v[1], made[k].v[0], made[k].v[1], row[thread + 1].v[0]);
      } else {
        at = reduced_along(x, from.w, from.h, [&](int column) { return row[column / 2 - first].v[column % 2]; });
      }
    }
    turn = 1 - turn;
  }
}

VMAFX_DEFINE_KERNEL(cvvdp_reduce, work) {
  VMAFX_SHARED(ReducedRows, rows, [1]);
  const Dim3 block = block_id();
  const CvvdpLevelPlanes &from = work.from, &to = work.to;
  const int first = static_cast<int>(block.x) * kCvvdpReduceColumns - 1, last = first + kCvvdpReduceThreads - 1;
  const int y0 = static_cast<int>(block.y) * kCvvdpReduceRows, y1 = y0 + kCvvdpReduceRows;
  if (first >= 0 && 2 * last < from.w && y0 > 0 && 2 * y1 < from.h) reduce_tile<true>(from, to, first, y0, y1, rows[0]);
  else reduce_tile<false>(from, to, first, y0, y1 < to.h ? y1 : to.h, rows[0]);
}

/* The block's memory has a level, then what is filtered down, and the next level in place of the first. */
VMAFX_DEFINE_KERNEL(cvvdp_top, work) {
  VMAFX_SHARED(float, level, [kCvvdpTopFloats]);
  VMAFX_SHARED(float, down, [kCvvdpTopFloats]);
  const unsigned frame = block_id().x / kCvvdpFramePlanes, plane = block_id().x % kCvvdpFramePlanes;
  const int thread = static_cast<int>(thread_id().x);
  const float* source = work.level[0].at(frame, plane);
  for (int i = thread; i < work.level[0].w * work.level[0].h; i += kCvvdpTopThreads)
    level[i] = source[int64_t{i / work.level[0].w} * work.level[0].stride + i % work.level[0].w];
  block_sync();
  for (int made = 0; made < work.levels; made++) {
    const CvvdpLevelPlanes &from = work.level[made], &to = work.level[made + 1];
    for (int i = thread; i < from.w * to.h; i += kCvvdpTopThreads)
      down[i] = reduced_down(i % from.w, i / from.w, from.h, [&](int at, int row) { return level[row * from.w + at]; });
    block_sync();
    for (int i = thread; i < to.w * to.h; i += kCvvdpTopThreads) {
      const int x = i % to.w, y = i / to.w;
      level[i] = reduced_along(x, from.w, from.h, [&](int at) { return down[y * from.w + at]; });
      to.at(frame, plane)[int64_t{y} * to.stride + x] = level[i];
    }
    block_sync();
  }
}

// -- Bands -----------------------------------------------------------------------------------------------------------

/* How a sample is made of three neighbors in the next level: the one that it lies on or behind, and those beside it. A
 * sample between two of them gives the one before the weight 0, which leaves the sum of the other two as it is. */
struct Expansion {
  int at;
  float before_weight, at_weight, after_weight;

  VMAFX_DEVICE explicit Expansion(int i) : at(i / 2) {
    const bool is_between = i % 2 != 0;
    before_weight = is_between ? 0 : kCvvdpExpandOuter;
    at_weight = is_between ? kCvvdpExpandBetween : kCvvdpExpandInner;
    after_weight = is_between ? kCvvdpExpandBetween : kCvvdpExpandOuter;
  }
  VMAFX_DEVICE float of(float before, float here, float after) const {
    return (before * before_weight + here * at_weight) + after * after_weight;
  }
};

/* The columns of the next level that a block's columns are made of, for the eight planes of a frame: a row of them,
 * expanded down. */
inline constexpr int kBelowColumns = kCvvdpBandThreads / 2 + 2;
using Below = float[kCvvdpFramePlanes][kBelowColumns];

/* Expands a row down for columns from `first` on; the block's threads share the work. */
VMAFX_DEVICE void expand_down(const CvvdpLevelPlanes& next, unsigned frame, int first, int y, Below& below) {
  constexpr int kHalf = kCvvdpBandThreads / 2, kRest = kBelowColumns - kHalf;
  const int thread = static_cast<int>(thread_id().x);
  const Expansion down(y);
  const int64_t before = int64_t{clamped(down.at - 1, next.h)} * next.stride, at = int64_t{down.at} * next.stride,
                after = int64_t{clamped(down.at + 1, next.h)} * next.stride;
  const auto expand = [&](int plane, int column) {
    const float* from = next.at(frame, static_cast<unsigned>(plane)) + clamped(first + column, next.w);
    below[plane][column] = down.of(from[before], from[at], from[after]);
  };
  VMAFX_UNROLL
  for (int plane = 0; plane < kCvvdpFramePlanes; plane += 2) expand(plane + thread / kHalf, thread % kHalf);
  if (thread < kRest * kCvvdpFramePlanes) expand(thread / kRest, kHalf + thread % kRest);
}

using Table = float[kChannels][kCvvdpLights + 1];

struct Perceived {
  float difference[kChannels], common[kChannels];
};

/* counts: whether the row's differences count, and not only what may hide those of other rows. Where they do not, they
 * are not ready. */
VMAFX_DEVICE Perceived perceived_at(const CvvdpMasking& masking, const CvvdpBandWork& band, const Table& table,
                                    const Below& row_below, int first_below, unsigned frame, int x, int y,
                                    bool counts) {
  const Expansion across(x);
  const auto below = [&](int side, int c) {
    const float* at = row_below[side * kCvvdpSidePlanes + c] + (across.at - first_below);
    return across.of(at[-1], at[0], at[1]);
  };
  /* Pointers to planes are made anew for each: kept, they would take registers, which ptxas then spills. */
  const auto sample = [&](int side, int c) {
    const float* plane = band.level.at(frame, static_cast<unsigned>(side * kCvvdpSidePlanes + c));
    return plane[int64_t{y} * band.level.stride + x];
  };
  float light[2], base[2], inverse[2];
  VMAFX_UNROLL
  for (int side = 0; side < 2; side++) {
    light[side] = below(side, 0);
    base[side] = background(light[side]);
    inverse[side] = quotient(1, base[side]);
  }
  const CvvdpPlace place = place_of(masking, base[0]);
  Perceived out;
  VMAFX_UNROLL
  for (int c = 0; c < kChannels; c++) {
    const float s = sensitivity(table[c], place);
    float seen_of[2];
    VMAFX_UNROLL
    for (int side = 0; side < 2; side++) {
      const float low = c ? below(side, c) : light[side];
      seen_of[side] = contrast(sample(side, c) - low, inverse[side]) * s;
    }
    out.difference[c] = seen_of[1] - seen_of[0];
    out.common[c] = common_contrast(seen_of[1], seen_of[0]);
  }
  if (counts) {
    VMAFX_UNROLL
    for (int c = 0; c < kChannels; c++) out.difference[c] = visible_difference(masking, out.difference[c]);
  }
  return out;
}

/* at(k): the values around one. */
template <class At>
VMAFX_DEVICE float blurred(const CvvdpMasking& masking, At at) {
  float sum = at(0) * masking.blur[0];
  VMAFX_UNROLL
  for (int k = 1; k <= kCvvdpBlurReach; k++) sum += (at(-k) + at(k)) * masking.blur[k];
  return sum;
}

VMAFX_DEVICE int inside(int i, int size, bool is_mirrored) {
  return is_mirrored ? mirror_near(i, size, kCvvdpBlurReach) : clamped(i, size);
}

inline constexpr int kReach = kCvvdpBlurReach, kLastRows = 2 * kReach + 1;

/* The contrasts that the two sides have in common in a thread's column, of the last rows: at(back, c) is that of a row
 * so many before the last one. */
template <bool in_registers>
class LastRows {
 public:
  VMAFX_DEVICE void add(const float (&row)[kChannels]) {
    VMAFX_UNROLL
    for (int c = 0; c < kChannels; c++) {
      VMAFX_UNROLL
      for (int back = kLastRows - 1; back > 0; back--) rows_[back][c] = rows_[back - 1][c];
      rows_[0][c] = row[c];
    }
  }
  VMAFX_DEVICE float at(int back, int c) const { return rows_[back][c]; }

 private:
  float rows_[kLastRows][kChannels] = {};
};

template <>
class LastRows<false> {
 public:
  VMAFX_DEVICE LastRows() : thread_(thread_id().x) {
    VMAFX_SHARED(Ring, ring, [1]);  // each thread uses its own column
    ring_ = &ring[0];
  }
  VMAFX_DEVICE void add(const float (&row)[kChannels]) {
    last_ = last_ + 1 < kLastRows ? last_ + 1 : 0;
    VMAFX_UNROLL
    for (int c = 0; c < kChannels; c++) (*ring_)[last_][c][thread_] = row[c];
  }
  VMAFX_DEVICE float at(int back, int c) const {
    const int row = last_ - back;
    return (*ring_)[row < 0 ? row + kLastRows : row][c][thread_];
  }

 private:
  using Ring = float[kLastRows][kChannels][kCvvdpBandThreads];
  Ring* ring_;
  unsigned thread_;
  int last_ = 0;
};

/* Adds what came since `then` to a block of maps, and keeps what is there now. */
VMAFX_DEVICE void add_to_block(const CvvdpBandSums& now, CvvdpBandSums& then, CvvdpBandSums& block) {
  using Words = WordsOf<CvvdpBandSums>;
  const auto all = std::bit_cast<Words>(now), before = std::bit_cast<Words>(then);
  VMAFX_UNROLL
  for (int i = 0; i < Words::kCount; i++)
    if (all.v[i] != before.v[i])
      atomic_add(reinterpret_cast<uint64_t*>(&block) + i, static_cast<uint64_t>(all.v[i] - before.v[i]));
  then = now;
}

/* Hands out what a column adds to the blocks of maps that it goes through. Without maps there are none. */
template <class Work>
struct ColumnBlocks {
  VMAFX_DEVICE ColumnBlocks(const Work&, int, int, bool) {}
  VMAFX_DEVICE void end_row(const CvvdpBandSums&, int, int) {}
};
template <>
struct ColumnBlocks<CvvdpMapBandsWork> {
  CvvdpBandSums* blocks;  // the uppermost one
  int side, across;
  bool counts;
  CvvdpBandSums then = {};

  VMAFX_DEVICE ColumnBlocks(const CvvdpMapBandsWork& work, int number, int x, bool is_counted)
      : blocks(&work.blocks[block_id().z] + work.blocks_of[number].first +
               (is_counted ? x / work.blocks_of[number].side : 0)),
        side(work.blocks_of[number].side), across(work.blocks_of[number].across), counts(is_counted) {}

  /* Row y, of those before `end`, is in the sums. */
  VMAFX_DEVICE void end_row(const CvvdpBandSums& now, int y, int end) {
    if (counts && ((y + 1) % side == 0 || y + 1 == end)) add_to_block(now, then, blocks[y / side * across]);
  }
};

template <bool in_registers, class Work>
VMAFX_DEVICE void add_bands(const Work& work) {
  VMAFX_SHARED(Table, table, [1]);
  VMAFX_SHARED(float, rows, [2][kChannels][kCvvdpBandThreads]);  // blurred down; they take turns
  VMAFX_SHARED(Below, below, [2]);                               // of the next row of samples; likewise
  int number = 0;
  while (number + 1 < work.count && static_cast<int>(block_id().x) >= work.band[number + 1].first_block) number++;
  const CvvdpBandWork& band = work.band[number];
  const CvvdpMasking& masking = work.masking;
  const int thread = static_cast<int>(thread_id().x), block = static_cast<int>(block_id().x) - band.first_block;
  const unsigned frame = block_id().z;
  for (int i = thread; i < kChannels * (kCvvdpLights + 1); i += kCvvdpBandThreads)
    table[0][i / (kCvvdpLights + 1)][i % (kCvvdpLights + 1)] =
        band.sensitivity[i / (kCvvdpLights + 1)][i % (kCvvdpLights + 1)];

  const int w = band.level.w, h = band.level.h;
  const bool is_blurred = cvvdp_is_blurred(w, h);
  const int strip = block % band.blocks_across, x = strip * kCvvdpBandColumns + thread - kReach;
  const bool counts = thread >= kReach && thread < kReach + kCvvdpBandColumns && x < w;
  const int y0 = block / band.blocks_across * work.rows, y1 = y0 + work.rows < h ? y0 + work.rows : h;
  const int from = inside(x, w, is_blurred);
  const int first_below = (strip * kCvvdpBandColumns - kReach) / 2 - 1;
  float differences[kReach + 1][kChannels] = {};  // last rows' differences, the last one first
  LastRows<in_registers> common;
  CvvdpBandSums sums = {};
  ColumnBlocks<Work> blocks(work, number, x, counts);
  expand_down(band.next, frame, first_below, inside(y0 - kReach, h, is_blurred), below[(y0 - kReach) & 1]);
  block_sync();
  VMAFX_ROLLED
  for (int y = y0 - kReach; y < y1 + kReach; y++) {
    const CvvdpBandWork& here = work.band[anew_of_block(static_cast<unsigned>(number))];
    const Perceived perceived = perceived_at(masking, here, table[0], below[y & 1], first_below, frame, from,
                                             inside(y, h, is_blurred), y >= y0 && y < y1);
    expand_down(here.next, frame, first_below, inside(y + 1, h, is_blurred), below[(y + 1) & 1]);
    VMAFX_UNROLL
    for (int c = 0; c < kChannels; c++) {
      VMAFX_UNROLL
      for (int k = kReach; k > 0; k--) differences[k][c] = differences[k - 1][c];
      differences[0][c] = perceived.difference[c];
    }
    common.add(perceived.common);
    float(&row)[kChannels][kCvvdpBandThreads] = rows[y & 1];
    if (y >= y0 + kReach) {
      VMAFX_UNROLL
      for (int c = 0; c < kChannels; c++) {
        row[c][thread] =
            is_blurred ? blurred(masking, [&](int k) { return common.at(kReach - k, c); }) : common.at(kReach, c);
      }
    }
    block_sync();
    if (y < y0 + kReach) continue;
    float masks[kChannels];
    VMAFX_UNROLL
    for (int c = 0; c < kChannels; c++) {
      const float hides =
          is_blurred && counts ? blurred(masking, [&](int k) { return row[c][thread + k]; }) : row[c][thread];
      masks[c] = mask_of(masking, c, hides * masking.blur_gain);
    }
    VMAFX_UNROLL
    for (int c = 0; c < kChannels; c++) {
      const float term = pooled_term(masked_difference(masking, c, differences[kReach][c], masks));
      sums.of[c] += counts ? term : 0;
    }
    blocks.end_row(sums, y - kReach, y1);
  }
  add_block(work.sums[frame].band[band.band], sums);
}

/* Six blocks are what the shared memory of a multiprocessor holds. */
VMAFX_DEFINE_DENSE_KERNEL(cvvdp_bands, 6, work) {
  if (shared_memory_is_scarce()) add_bands<true>(work);
  else add_bands<false>(work);
}
VMAFX_DEFINE_KERNEL(cvvdp_map_bands, work) {
  if (shared_memory_is_scarce()) add_bands<true>(work);
  else add_bands<false>(work);
}

// -- Base ------------------------------------------------------------------------------------------------------------

/* Adds sample i of the level to the block of maps in which it lies. Without maps there is none. */
VMAFX_DEVICE void add_to_map(const CvvdpBaseWork&, unsigned, int, const CvvdpBandSums&, const CvvdpBandSums&) {}
VMAFX_DEVICE void add_to_map(const CvvdpMapBaseWork& work, unsigned frame, int i, const CvvdpBandSums& now,
                             CvvdpBandSums then) {
  const CvvdpBlocksOfBand& of = work.blocks_of;
  const int w = work.band.level.w, n = i / w / of.side * of.across + i % w / of.side;
  add_to_block(now, then, (&work.blocks[frame])[of.first + n]);
}

template <class Work>
VMAFX_DEVICE void add_base(const Work& work) {
  const unsigned frame = block_id().x;
  const CvvdpLevelPlanes& level = work.band.level;
  const int thread = static_cast<int>(thread_id().x);
  const auto sample = [&](unsigned plane, int i) {
    return level.at(frame, plane)[int64_t{i / level.w} * level.stride + i % level.w];
  };
  float mean[2];
  VMAFX_UNROLL
  for (unsigned side = 0; side < 2; side++) {
    CvvdpLight light;
    for (int i = thread; i < level.w * level.h; i += kCvvdpBaseThreads)
      light += background(sample(side * kCvvdpSidePlanes, i));
    light.coarse = block_add(light.coarse);
    light.fine = block_add(light.fine);
    mean[side] = cvvdp_mean(light, level.w, level.h);
  }
  const CvvdpPlace place = place_of(work.masking, mean[0]);
  const float inverse_test = 1 / mean[1], inverse_ref = 1 / mean[0];
  CvvdpBandSums sums = {};
  VMAFX_UNROLL
  for (unsigned c = 0; c < kChannels; c++) {
    const float s = sensitivity(work.band.sensitivity[c], place);
    for (int i = thread; i < level.w * level.h; i += kCvvdpBaseThreads) {
      const CvvdpBandSums then = sums;
      sums.of[c] += base_term(sample(kCvvdpSidePlanes + c, i), sample(c, i), inverse_test, inverse_ref, s);
      add_to_map(work, frame, i, sums, then);
    }
  }
  add_block(work.sums[frame].band[work.band.band], sums);
}

VMAFX_DEFINE_KERNEL(cvvdp_base, work) { add_base(work); }
VMAFX_DEFINE_KERNEL(cvvdp_map_base, work) { add_base(work); }

}  // namespace vmafx::cvvdp_device
