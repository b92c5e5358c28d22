/* The kernels of ssimulacra2, in data-flow order, for a chunk of rows of all scales: XYB from the samples, the filter
 * along the rows, and the filter down the columns with the errors. */
#include "kernels/arithmetic/fixed.h"
#include "kernels/gpu/gpu.h"
#include "kernels/ssimulacra2/ssimulacra2_math-inl.h"
#include "kernels/ssimulacra2/ssimulacra2_work.h"

namespace vmafx::ssimulacra2_device {

using namespace gpu;

// -- Light -----------------------------------------------------------------------------------------------------------

/* What a block needs of its work all the time, in its memory: there is too much of it for the scalar registers of some
 * GPUs. */
struct SidePicture {
  Ssimulacra2Params params;
  const uint8_t* data[3];
  int64_t stride[3];  // bytes

  template <class T>
  VMAFX_DEVICE const T* row(int plane, int y) const {
    return reinterpret_cast<const T*>(data[plane] + y * stride[plane]);
  }
};

VMAFX_DEVICE const SidePicture& picture_of(const Ssimulacra2Work& work, int side) {
  VMAFX_SHARED(SidePicture, picture, [1]);
  if (thread_rank() == 0) {
    const int frame = static_cast<int>(block_id().z);
    picture[0].params = work.params;
    for (int p = 0; p < 3; p++) {
      const hip::DevicePlane& plane = side ? work.planes[p].dist[frame] : work.planes[p].ref[hip::ref_index(frame)];
      picture[0].data[p] = plane.data;
      picture[0].stride[p] = plane.stride;
    }
  }
  block_sync();
  return picture[0];
}

VMAFX_DEVICE Light mean_of_4(const Light& a, const Light& b, const Light& c, const Light& d) {
  return {vmafx::mean_of_4(a.r, b.r, c.r, d.r), vmafx::mean_of_4(a.g, b.g, c.g, d.g),
          vmafx::mean_of_4(a.b, b.b, c.b, d.b)};
}

/* The second of two neighbors, or the first where there is no second. */
VMAFX_DEVICE int partner(int first, int size) { return first + 1 < size ? first + 1 : first; }

// -- XYB -------------------------------------------------------------------------------------------------------------

inline constexpr int kChannels = kSsimulacra2Channels, kStreams = kSsimulacra2Streams;

/* The last scale whose blocks begin at this one or before; `first` is a member of Ssimulacra2ScaleWork. */
VMAFX_DEVICE int scale_of_block(const Ssimulacra2Work& work, int32_t Ssimulacra2ScaleWork::* first) {
  int scale = 0;
  while (scale + 1 < work.scales && static_cast<int>(block_id().x) >= work.scale[scale + 1].*first) scale++;
  return scale;
}

/* Row y of a plane in quads: that of column 0. */
VMAFX_DEVICE float* ring_row(const Ssimulacra2Work& work, const Ssimulacra2ScaleWork& s, int64_t planes, int count,
                             int plane, int y) {
  return work.scratch + planes +
         (block_id().z * static_cast<unsigned>(count) + static_cast<unsigned>(plane)) * s.ring_plane + 4 * (y % s.ring);
}

VMAFX_DEVICE int quad_stride(const Ssimulacra2ScaleWork& s) { return 4 * s.ring; }

/* The last column of a row stores the zeros that complete its quad, too. */
VMAFX_DEVICE void store_values(const Ssimulacra2Work& work, const float (&absorbance)[9], int scale, int side, int x,
                               int y, const Light& light) {
  const Ssimulacra2ScaleWork& s = work.scale[scale];
  Xyb all = xyb(absorbance, light);
  float* row = ring_row(work, s, s.values, 2 * kChannels, side * kChannels, y);
  const int end = x + 1 == s.w ? 4 * s.quads : x + 1;
  VMAFX_ROLLED
  for (int column = x; column < end; column++) {
    float* to = row + column / 4 * quad_stride(s) + column % 4;
    to[0] = all.x;
    to[s.ring_plane] = all.y;
    to[2 * s.ring_plane] = all.b;
    all = {0, 0, 0};
  }
}

inline constexpr int kHalfColumns = kSsimulacra2ValueColumns / 2, kHalfRows = kSsimulacra2ValueRows / 2;

/* What a block has of a scale, in its upper left corner. */
using LightTile = Light[kHalfRows][kHalfColumns];

/* Scales 2 to 5 of a tile, each from the one before. (x0, y0) is the tile's first sample of scale 1. */
VMAFX_DEVICE void climb(const Ssimulacra2Work& work, const float (&absorbance)[9], int side, int x0, int y0,
                        LightTile& tile) {
  const int thread = static_cast<int>(thread_id().x);
  int columns = kHalfColumns / 2, rows = kHalfRows / 2;
  for (int scale = 2; scale < work.scales; scale++, columns /= 2, rows /= 2) {
    x0 /= 2;
    y0 /= 2;
    const Ssimulacra2ScaleWork &from = work.scale[scale - 1], &to = work.scale[scale];
    const int row = thread / columns, column = thread - row * columns;
    const bool mine = row < rows && x0 + column < to.w && y0 + row < to.h;
    Light mean = {};
    if (mine) {
      const int right = partner(2 * (x0 + column), from.w) - 2 * x0, below = partner(2 * (y0 + row), from.h) - 2 * y0;
      mean = mean_of_4(tile[2 * row][2 * column], tile[2 * row][right], tile[below][2 * column], tile[below][right]);
      store_values(work, absorbance, scale, side, x0 + column, y0 + row, mean);
    }
    block_sync();
    if (mine) tile[row][column] = mean;
    block_sync();
  }
}

VMAFX_DEFINE_SAMPLE_KERNELS(ssimulacra2_values, T, work) {
  VMAFX_SHARED(LightTile, tiles, [1]);
  const int block = static_cast<int>(block_id().x), side = static_cast<int>(block_id().y);
  const SidePicture& picture = picture_of(work, side);
  const Ssimulacra2Params& params = picture.params;
  const int tile_y = block / work.value_tiles_across, tile_x = block - tile_y * work.value_tiles_across;
  const int x0 = tile_x * kHalfColumns, y0 = work.chunk * (kSsimulacra2ChunkRows / 2) + tile_y * kHalfRows;
  for (int i = static_cast<int>(thread_id().x); i < kHalfColumns * kHalfRows; i += kSsimulacra2ValueThreads) {
    const int row = i / kHalfColumns, column = i % kHalfColumns, x = x0 + column, y = y0 + row;
    if (2 * x >= params.w || 2 * y >= params.h) continue;
    const int xs[2] = {2 * x, partner(2 * x, params.w)}, ys[2] = {2 * y, partner(2 * y, params.h)};
    Light four[4];
    VMAFX_UNROLL
    for (int k = 0; k < 4; k++) {
      const int right = k % 2, below = k / 2;
      four[k] = light_at<false>(params, xs[right], ys[below], [&](int p, int row) { return picture.row<T>(p, row); });
      if (xs[right] == 2 * x + right && ys[below] == 2 * y + below)
        store_values(work, params.absorbance, 0, side, xs[right], ys[below], four[k]);
    }
    const Light mean = mean_of_4(four[0], four[1], four[2], four[3]);
    store_values(work, params.absorbance, 1, side, x, y, mean);
    tiles[0][row][column] = mean;
  }
  block_sync();
  climb(work, params.absorbance, side, x0, y0, tiles[0]);
}

// -- Along rows ------------------------------------------------------------------------------------------------------

using Quad = Pack<float, 4>;

/* A row of what is blurred: one plane, or the product of two. */
struct Source {
  const float *a, *b;
  bool product;
  int64_t stride;
  int quads;
};

/* What is loaded long before it is needed: so nothing here is conditional, and products are made when they are. */
struct Factors {
  Quad a, b;

  VMAFX_DEVICE void load(const Source& source, int quad) {
    const int64_t at = (quad < source.quads ? quad : source.quads - 1) * source.stride;
    a = load_pack<4>(source.a + at);
    b = load_pack<4>(source.b + at);
  }
  VMAFX_DEVICE Quad values(const Source& source, int quad) const {
    Quad out;
    VMAFX_UNROLL
    for (int i = 0; i < 4; i++) out.v[i] = quad < source.quads ? a.v[i] * (source.product ? b.v[i] : 1) : 0;
    return out;
  }
};

VMAFX_DEVICE Source source_of(const Ssimulacra2Work& work, const Ssimulacra2ScaleWork& s, int channel, int stream,
                              int y) {
  const float* ref = ring_row(work, s, s.values, 2 * kChannels, channel, y);
  const float* dist = ring_row(work, s, s.values, 2 * kChannels, kChannels + channel, y);
  return {stream == 1 || stream == 3 ? dist : ref, stream >= 3 ? dist : ref, stream >= 2, quad_stride(s), s.quads};
}

/* Quads that are on their way at a time. */
inline constexpr int kAhead = 8;

VMAFX_DEFINE_KERNEL(ssimulacra2_rows, work) {
  const Ssimulacra2ScaleWork& s = work.scale[scale_of_block(work, &Ssimulacra2ScaleWork::first_row_block)];
  const int task =
      (static_cast<int>(block_id().x) - s.first_row_block) * kSsimulacra2RowThreads + static_cast<int>(thread_id().x);
  const int plane = task / s.rows, y = work.chunk * s.rows + task - plane * s.rows;
  if (plane >= kChannels * kStreams || y >= s.h) return;
  const Source source = source_of(work, s, plane / kStreams, plane % kStreams, y);
  float* out = ring_row(work, s, s.blurred, kChannels * kStreams, plane, y) - quad_stride(s);
  BlurState state = {};
  Factors ahead[kAhead];
  VMAFX_UNROLL
  for (int i = 0; i < kAhead; i++) ahead[i].load(source, i);
  Quad behind[3] = {};  // the quads two and one before, and the one at hand
  VMAFX_ROLLED
  for (int first = -1; first < s.quads; first += kAhead) {
    VMAFX_UNROLL
    for (int i = 0; i < kAhead; i++) {
      const int quad = first + i;
      const Quad after = ahead[i].values(source, quad + 1);
      ahead[i].load(source, quad + 1 + kAhead);
      float x[4] = {behind[0].v[2] + after.v[0], behind[0].v[3] + after.v[1], behind[1].v[0] + after.v[2],
                    behind[1].v[1] + after.v[3]};
      if (ssimulacra2_four_at_once(4 * quad, s.w)) {
        blur_four_along(state, x);
      } else {
        VMAFX_UNROLL
        for (int k = 0; k < 4; k++) x[k] = blurred_along(state, x[k]);
      }
      if (quad >= 0 && quad < s.quads) store_pack(out, Quad{{x[0], x[1], x[2], x[3]}});
      out += quad_stride(s);
      behind[0] = behind[1];
      behind[1] = behind[2];
      behind[2] = after;
    }
  }
}

// -- Down columns ----------------------------------------------------------------------------------------------------

inline constexpr int kBand = kSsimulacra2Band;
using MapWords = WordsOf<Ssimulacra2Map>;
inline constexpr int kMapWords = MapWords::kCount, kChannelWords = 3 * kMapWords;

/* What a thread knows of its column and channel. */
struct Column {
  BlurState states[kStreams];
  int64_t sums[3];
  Fixed3<kSsimulacra2FourthBits> fourths[3];
};

/* Where it finds its samples: of rows up to end - 1, of a picture of h. */
struct ColumnPlanes {
  const float *ref, *dist, *blurred;  // of row 0 of the ring
  int64_t plane;
  int ring, end, h;

  /* Where four rows begin, y a multiple of 4; rows that are not there are others. */
  VMAFX_DEVICE int band(int y) const {
    const int last = (end - 1) & ~(kBand - 1);
    return 4 * ((y < 0 ? 0 : y < last ? y : last) % ring);
  }
  VMAFX_DEVICE int row_in_band(int y, int row) const { return 4 * (y < 0 || y + row < end ? row : (end - 1) % kBand); }
  VMAFX_DEVICE bool has(int y) const { return y >= 0 && y < h; }
};

/* What rows y to y + kBand - 1 need of memory. Nothing here waits for it. */
struct BandSamples {
  float behind[kBand][kStreams], ahead[kBand][kStreams], ref[kBand], dist[kBand];

  VMAFX_DEVICE void load(const ColumnPlanes& planes, int y) {
    static_assert(kSsimulacra2Behind == kBand + 2 && kSsimulacra2Ahead == kBand);
    const int before = planes.band(y - 2 * kBand), last = planes.band(y - kBand), here = planes.band(y),
              next = planes.band(y + kBand);
    VMAFX_UNROLL
    for (int row = 0; row < kBand; row++) {
      const int from = row < 2 ? before + 4 * (row + 2) : last + 4 * (row - 2);
      const int to = next + planes.row_in_band(y + kBand, row);
      VMAFX_UNROLL
      for (int i = 0; i < kStreams; i++) {
        behind[row][i] = planes.blurred[i * planes.plane + from];
        ahead[row][i] = planes.blurred[i * planes.plane + to];
      }
      const int at = here + planes.row_in_band(y, row);
      ref[row] = planes.ref[at];
      dist[row] = planes.dist[at];
    }
  }
};

/* Rows y to y + kBand - 1. */
VMAFX_DEVICE void add_band(const ColumnPlanes& planes, const BandSamples& samples, int y, Column& column) {
  float sum[3] = {0, 0, 0}, fourth[3] = {0, 0, 0};
  VMAFX_UNROLL
  for (int row = 0; row < kBand; row++) {
    const bool counts = planes.has(y + row);
    const bool has_behind = planes.has(y + row - kSsimulacra2Behind);
    const bool has_ahead = planes.has(y + row + kSsimulacra2Ahead);
    float blurred[kStreams];
    VMAFX_UNROLL
    for (int i = 0; i < kStreams; i++)
      blurred[i] = blurred_down(column.states[i],
                                (has_behind ? samples.behind[row][i] : 0) + (has_ahead ? samples.ahead[row][i] : 0));
    const Ssimulacra2Errors errors = errors_of(samples.ref[row], samples.dist[row], blurred);
    VMAFX_UNROLL
    for (int i = 0; i < 3; i++) {
      const float error = counts ? errors.of[i] : 0;
      sum[i] += error;
      fourth[i] += fourth_power(error);
    }
  }
  VMAFX_UNROLL
  for (int i = 0; i < 3; i++) {
    column.sums[i] += to_fixed<kSsimulacra2SumBits>(sum[i]);
    column.fourths[i] += fourth[i] * kSsimulacra2FourthScale;
  }
}

/* Rows first to end - 1; while a band is worked on the next is on its way. */
VMAFX_DEVICE void add_bands(const ColumnPlanes& planes, int first, int end, Column& column) {
  BandSamples even, odd;
  even.load(planes, first);
  VMAFX_ROLLED
  for (int y = first; y < end; y += 2 * kBand) {
    const bool has_odd = y + kBand < end;
    if (has_odd) odd.load(planes, y + kBand);
    add_band(planes, even, y, column);
    if (y + 2 * kBand < end) even.load(planes, y + 2 * kBand);
    if (has_odd) add_band(planes, odd, y + kBand, column);
  }
}

/* Calls with (state, float in memory) for all of a column's. */
template <class Function>
VMAFX_DEVICE void for_each_state(Column& column, float* at, int64_t line, Function function) {
  VMAFX_UNROLL
  for (int stream = 0; stream < kStreams; stream++) {
    VMAFX_UNROLL
    for (int k = 0; k < kSsimulacra2Sections; k++, at += 2 * line) {
      function(column.states[stream].last[k], at[0]);
      function(column.states[stream].before[k], at[line]);
    }
  }
}

/* Adds the sums of all columns of each channel, whose threads are whole waves. */
VMAFX_DEVICE void add_columns(const Column& column, Ssimulacra2Map (&sums)[3][3]) {
  VMAFX_SHARED(int64_t, parts, [kChannels * kChannelWords][kSsimulacra2ColumnThreads / 32]);
  const int channel = static_cast<int>(thread_id().y), wave = static_cast<int>(thread_id().x / wave_size());
  const int waves = kSsimulacra2ColumnThreads / static_cast<int>(wave_size());
  VMAFX_UNROLL
  for (int map = 0; map < 3; map++) {
    const auto& fourths = column.fourths[map];
    const auto words = std::bit_cast<MapWords>(Ssimulacra2Map{
        wave_add(column.sums[map]), {wave_add(fourths.coarse), wave_add(fourths.fine), wave_add(fourths.finest)}});
    if (lane_id() == 0) {
      VMAFX_UNROLL
      for (int i = 0; i < kMapWords; i++) parts[channel * kChannelWords + map * kMapWords + i][wave] = words.v[i];
    }
  }
  block_sync();
  const unsigned rank = thread_rank();
  if (rank >= kChannels * kChannelWords) return;
  int64_t sum = 0;
  for (int i = 0; i < waves; i++) sum += parts[rank][i];
  atomic_add(reinterpret_cast<uint64_t*>(sums) + rank, static_cast<uint64_t>(sum));
}

VMAFX_DEFINE_KERNEL(ssimulacra2_columns, work) {
  const int scale = scale_of_block(work, &Ssimulacra2ScaleWork::first_column_block);
  const Ssimulacra2ScaleWork& s = work.scale[scale];
  const int x = (static_cast<int>(block_id().x) - s.first_column_block) * kSsimulacra2ColumnThreads +
                static_cast<int>(thread_id().x);
  const int channel = static_cast<int>(thread_id().y);
  const int rows_end = (work.chunk + 1) * s.rows, end = rows_end < s.h ? rows_end : s.h;
  Column column = {};
  if (x < s.w) {
    const int64_t quad = x / 4 * quad_stride(s) + x % 4;
    const ColumnPlanes planes = {ring_row(work, s, s.values, 2 * kChannels, channel, 0) + quad,
                                 ring_row(work, s, s.values, 2 * kChannels, kChannels + channel, 0) + quad,
                                 ring_row(work, s, s.blurred, kChannels * kStreams, channel * kStreams, 0) + quad,
                                 s.ring_plane,
                                 s.ring,
                                 end,
                                 s.h};
    constexpr int kLines = kStreams * 2 * kSsimulacra2Sections;
    float* saved = work.scratch + s.states + (block_id().z * kChannels + thread_id().y) * kLines * s.state_line + x;
    if (work.chunk > 0)
      for_each_state(column, saved, s.state_line, [](float& state, float& memory) { state = memory; });
    const int first = work.chunk * s.rows - kSsimulacra2Ahead;
    add_bands(planes, first, work.chunk + 1 == work.chunks ? s.h : first + s.rows, column);
    for_each_state(column, saved, s.state_line, [](float& state, float& memory) { memory = state; });
  }
  add_columns(column, work.sums[block_id().z].map[scale]);
}

}  // namespace vmafx::ssimulacra2_device
