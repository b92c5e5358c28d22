/* The kernels of ssimulacra2, in data-flow order, for a chunk of rows of all scales: XYB from the samples (values), the
 * filter along the rows, and the filter down the columns with the errors.
 *
 * Floor at 1920x1080: a sample of any scale (2.76 million a picture) leaves 24 bytes of XYB and 60 of what is blurred
 * along rows, which are written, then read, XYB twice: 192 bytes, 530 MB a frame, 0.12 ms of an H200's memory (eight
 * frames of a chunk are 240 MB, which no cache keeps). Instructions: 135 million of a wave, 0.13 ms where each
 * multiprocessor issues four a cycle. Measured there: 0.23 ms with two batches at once, 0.28 with one, of which values
 * take 32 %, rows 38, columns 30. Columns read at 73 % of the memory's rate, values issue in 78 % of the cycles; rows
 * are few lines, each of which waits for its own last values.
 *
 * So that lanes read and write neighbors: values and columns have a lane for each column, rows one for each line, which
 * are turned in shared memory. */
#include "kernels/arithmetic/fixed.h"
#include "kernels/gpu/gpu.h"
#include "kernels/ssimulacra2/ssimulacra2_math-inl.h"
#include "kernels/ssimulacra2/ssimulacra2_work.h"

namespace vmafx::ssimulacra2_device {

using namespace gpu;

// -- Light -----------------------------------------------------------------------------------------------------------

/* The part of its work that a block needs all the time. It lies in the block's memory if it is too large for the scalar
 * registers. */
struct SidePicture {
  Ssimulacra2Params params;
  const uint8_t* data[3];
  int64_t stride[3];  // bytes

  template <class T>
  VMAFX_DEVICE const T* row(int plane, int y) const {
    return reinterpret_cast<const T*>(data[plane] + y * stride[plane]);
  }
};

VMAFX_DEVICE void take_picture(const Ssimulacra2Work& work, int side, SidePicture& picture) {
  const int frame = static_cast<int>(block_id().x);
  picture.params = work.params;
  VMAFX_UNROLL
  for (int p = 0; p < 3; p++) {
    const hip::DevicePlane& plane = side ? work.planes[p].dist[frame] : work.planes[p].ref[hip::ref_index(frame)];
    picture.data[p] = plane.data;
    picture.stride[p] = plane.stride;
  }
}

VMAFX_DEVICE const SidePicture& picture_in_block(const Ssimulacra2Work& work, int side) {
  VMAFX_SHARED(SidePicture, picture, [1]);
  if (thread_rank() == 0) take_picture(work, side, picture[0]);
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
  while (scale + 1 < work.scales && static_cast<int>(block_id().z) >= work.scale[scale + 1].*first) scale++;
  return scale;
}

/* The rows of a plane of a frame, of `count` planes a frame. */
VMAFX_DEVICE float* plane_of(const Ssimulacra2Work& work, const Ssimulacra2ScaleWork& s, int64_t planes, int count,
                             int plane) {
  return work.scratch + planes +
         (block_id().x * static_cast<unsigned>(count) + static_cast<unsigned>(plane)) * s.ring_plane;
}

/* The place in the ring of a row of the chunk, or of one of the `ring` - rows before it. */
VMAFX_DEVICE int slot_of(const Ssimulacra2ScaleWork& s, int row) {
  const int slot = s.first_slot + row;
  return slot < 0 ? slot + s.ring : slot < s.ring ? slot : slot - s.ring;
}

/* row: of the chunk. */
VMAFX_DEVICE void store_values(const Ssimulacra2Work& work, const float (&absorbance)[9], int scale, int side, int x,
                               int row, const Light& light) {
  const Ssimulacra2ScaleWork& s = work.scale[scale];
  const Xyb all = xyb(absorbance, light);
  float* const to = plane_of(work, s, s.values, 2 * kChannels, side * kChannels) + slot_of(s, row) * s.stride + x;
  to[0] = all.x;
  to[s.ring_plane] = all.y;
  to[2 * s.ring_plane] = all.b;
}

inline constexpr int kHalfColumns = kSsimulacra2ValueColumns / 2, kHalfRows = kSsimulacra2ValueRows / 2;

/* A block's light of a scale, in its upper left corner. */
using LightTile = Light[kHalfRows][kHalfColumns];

/* The XYB of scales 1 to 5 of a tile, whose light is there for scale 1. (x0, y0) is the tile's first sample of it, in
 * the chunk. */
VMAFX_DEVICE void climb(const Ssimulacra2Work& work, const float (&absorbance)[9], int side, int x0, int y0,
                        LightTile& tile) {
  const int thread = static_cast<int>(thread_id().x);
  VMAFX_ROLLED
  for (int i = thread; i < kHalfColumns * kHalfRows; i += kSsimulacra2ValueThreads) {
    const int row = i / kHalfColumns, column = i % kHalfColumns;
    if (x0 + column < work.scale[1].w && work.chunk * work.scale[1].rows + y0 + row < work.scale[1].h)
      store_values(work, absorbance, 1, side, x0 + column, y0 + row, tile[row][column]);
  }
  VMAFX_ROLLED
  for (int scale = 2; scale < work.scales; scale++) {
    x0 /= 2;
    y0 /= 2;
    const Ssimulacra2ScaleWork &from = work.scale[scale - 1], &to = work.scale[scale];
    static_assert(kHalfColumns == 1 << 5);
    const int columns_log2 = 6 - scale, row = thread >> columns_log2, column = thread & ((1 << columns_log2) - 1);
    const int chunk_y = work.chunk * to.rows;
    const bool mine = row < kHalfRows >> (scale - 1) && x0 + column < to.w && chunk_y + y0 + row < to.h;
    Light mean = {};
    if (mine) {
      const int right = partner(2 * (x0 + column), from.w) - 2 * x0;
      const int below = partner(2 * (chunk_y + y0 + row), from.h) - 2 * (chunk_y + y0);
      mean = mean_of_4(tile[2 * row][2 * column], tile[2 * row][right], tile[below][2 * column], tile[below][right]);
      store_values(work, absorbance, scale, side, x0 + column, y0 + row, mean);
    }
    block_sync();
    if (mine) tile[row][column] = mean;
    block_sync();
  }
}

/* The value of the other lane of a pair. */
VMAFX_DEVICE float of_neighbor(float value) {
  return std::bit_cast<float>(shuffle_xor(std::bit_cast<uint32_t>(value), 1));
}
VMAFX_DEVICE Light of_neighbor(const Light& light) {
  return {of_neighbor(light.r), of_neighbor(light.g), of_neighbor(light.b)};
}

/* A thread takes a column, in turns an even row and the odd one below it. In place of columns and rows beyond the
 * picture it takes the last ones. Lanes of even columns have the mean of 2x2. */
VMAFX_DEFINE_DENSE_SAMPLE_KERNELS(ssimulacra2_values, 5, 4, T, work) {
  VMAFX_SHARED(LightTile, tiles, [1]);
  constexpr int kColumns = kSsimulacra2ValueColumns, kPairs = kSsimulacra2ValueThreads / kColumns;
  const int block = static_cast<int>(block_id().z), side = static_cast<int>(block_id().y);
  SidePicture own;
  if (scalars_are_many()) take_picture(work, side, own);
  const SidePicture& picture = scalars_are_many() ? own : picture_in_block(work, side);
  const Ssimulacra2Params& params = picture.params;
  const int tile_y = block / work.value_tiles_across, tile_x = block - tile_y * work.value_tiles_across;
  const int x0 = tile_x * kHalfColumns, y0 = tile_y * kHalfRows, chunk_y = work.chunk * kSsimulacra2ChunkRows;
  if (chunk_y + 2 * y0 >= params.h) return;
  const int thread = static_cast<int>(thread_id().x), column = thread % kColumns;
  const int x = 2 * x0 + column, from_x = x < params.w ? x : params.w - 1;
  Light sum = {0, 0, 0};
  VMAFX_ROLLED
  for (int i = 0; i < 2 * kHalfRows / kPairs; i++) {
    const int pair = i / 2 * kPairs + thread / kColumns, row = 2 * (y0 + pair) + i % 2, y = chunk_y + row;
    if (i % 2 == 0 && y >= params.h) break; /* as all of a wave do */
    const int from_y = y < params.h ? y : params.h - 1;
    const Light light = light_at<false>(params, from_x, from_y, [&](int p, int row) { return picture.row<T>(p, row); });
    if (x < params.w && y < params.h) store_values(work, params.absorbance, 0, side, x, row, light);
    const Light right = of_neighbor(light);
    sum = {(sum.r + light.r) + right.r, (sum.g + light.g) + right.g, (sum.b + light.b) + right.b};
    if (i % 2 == 0) continue;
    if (column % 2 == 0) tiles[0][pair][column / 2] = {sum.r * 0.25f, sum.g * 0.25f, sum.b * 0.25f};
    sum = {0, 0, 0};
  }
  block_sync();
  climb(work, params.absorbance, side, x0, y0, tiles[0]);
}

// -- Along rows ------------------------------------------------------------------------------------------------------

using Quad = Pack<float, 4>;
inline constexpr int kLines = kSsimulacra2Lines, kTileColumns = kSsimulacra2TileColumns, kTileQuads = kTileColumns / 4;
inline constexpr int kBand = kSsimulacra2Band;

/* Samples that the threads of a block hand each other: tiles of ref and dist, and of blurred samples, which change from
 * lines to bands here. Lines are padded so that neither way lanes meet at a bank. */
struct RowTiles {
  float values[2][kLines][kTileColumns + 4];
  float blurred[kStreams][kLines / kBand][kTileColumns * kBand + 4];
  float ones[kTileColumns];
};

/* The rows of a block. */
struct RowBlock {
  const Ssimulacra2ScaleWork& s;
  int first_line, first_row;  // the block's first line, the chunk's first row

  VMAFX_DEVICE int channel(int line) const { return (first_line + line) >> s.rows_log2; }
  VMAFX_DEVICE int row(int line) const { return (first_line + line) & (s.rows - 1); }  // a row of the chunk
  VMAFX_DEVICE int place(int line) const { return slot_of(s, row(line)) * s.stride; }
  VMAFX_DEVICE bool has(int line) const { return channel(line) < kChannels && first_row + row(line) < s.h; }
};

/* Quads of ref and dist that a thread fetches. */
inline constexpr int kFetchers = 128, kFetches = 2 * kLines * kTileQuads / kFetchers;

struct Fetch {
  const float* from[kFetches];  // null: nothing is there

  VMAFX_DEVICE static int side(int i) { return i / (kFetches / 2); }
  VMAFX_DEVICE static int line(int rank, int i) {
    return rank / kTileQuads + i % (kFetches / 2) * (kFetchers / kTileQuads);
  }
  VMAFX_DEVICE static int column(int rank) { return rank % kTileQuads * 4; }

  VMAFX_DEVICE Fetch(const Ssimulacra2Work& work, const RowBlock& block, int rank) {
    VMAFX_UNROLL
    for (int i = 0; i < kFetches; i++) {
      const int at = line(rank, i);
      from[i] = rank >= 0 && block.has(at)
                    ? plane_of(work, block.s, block.s.values, 2 * kChannels, side(i) * kChannels + block.channel(at)) +
                          block.place(at) + column(rank)
                    : nullptr;
    }
  }
  /* Loads the tile that begins at column x, zeros beyond the last column. */
  VMAFX_DEVICE void load(int rank, int x, int w, Quad (&quads)[kFetches]) const {
    VMAFX_UNROLL
    for (int i = 0; i < kFetches; i++) {
      quads[i] = {};
      if (!from[i]) continue;
      if (x + kTileColumns <= w) {
        quads[i] = load_pack<4>(from[i] + x);
      } else {
        VMAFX_UNROLL
        for (int k = 0; k < 4; k++)
          if (x + column(rank) + k < w) quads[i].v[k] = from[i][x + k];
      }
    }
  }
  VMAFX_DEVICE static void store(int rank, const Quad (&quads)[kFetches], RowTiles& tiles) {
    if (rank < 0) return;
    VMAFX_UNROLL
    for (int i = 0; i < kFetches; i++) store_pack(&tiles.values[side(i)][line(rank, i)][column(rank)], quads[i]);
  }
};

/* A stream of a row: the product of two. */
struct Stream {
  const float *a, *b;

  VMAFX_DEVICE Quad at(int column) const {
    const Quad x = load_pack<4>(a + column), y = load_pack<4>(b + column);
    Quad out;
    VMAFX_UNROLL
    for (int i = 0; i < 4; i++) out.v[i] = x.v[i] * y.v[i];
    return out;
  }
};

/* The filter along a row, four columns behind what it is given. */
struct RowFilter {
  BlurState state = {};
  Quad behind[3] = {};  // the quads two and one before, and the one at hand

  VMAFX_DEVICE Quad next(const Quad& after, bool four_at_once) {
    float x[4] = {behind[0].v[2] + after.v[0], behind[0].v[3] + after.v[1], behind[1].v[0] + after.v[2],
                  behind[1].v[1] + after.v[3]};
    if (four_at_once) {
      blur_four_along(state, x);
    } else {
      VMAFX_UNROLL
      for (int k = 0; k < 4; k++) x[k] = blurred_along(state, x[k]);
    }
    behind[0] = behind[1];
    behind[1] = behind[2];
    behind[2] = after;
    return {{x[0], x[1], x[2], x[3]}};
  }
};

/* Blurs a tile of a line, whose first column is x. */
template <bool inside>
VMAFX_DEVICE void blur_tile(const Stream& stream, int x, int w, RowFilter& filter, float* out) {
  Quad here = stream.at(0);
  VMAFX_UNROLL
  for (int quad = 0; quad < kTileQuads; quad++) {
    const Quad after = quad + 1 < kTileQuads ? stream.at(4 * quad + 4) : Quad{}; /* on its way meanwhile */
    const Quad blurred = filter.next(here, inside || ssimulacra2_four_at_once(x + 4 * quad, w));
    here = after;
    VMAFX_UNROLL
    for (int i = 0; i < 4; i++) out[(4 * quad + i) * kBand] = blurred.v[i];
  }
}

VMAFX_DEFINE_KERNEL(ssimulacra2_rows, work) {
  VMAFX_SHARED(RowTiles, shared, [1]);
  RowTiles& tiles = shared[0];
  const Ssimulacra2ScaleWork& s = work.scale[scale_of_block(work, &Ssimulacra2ScaleWork::first_row_block)];
  const RowBlock block = {s, (static_cast<int>(block_id().z) - s.first_row_block) * kLines, work.chunk * s.rows};
  if (s.rows >= kLines && !block.has(0)) return;
  const int line = static_cast<int>(thread_id().x), index = static_cast<int>(thread_id().y);
  const bool blurs = index < kStreams;
  const int rank = static_cast<int>(thread_rank()) - (kLines * (kStreams + 1) - kFetchers);  // below 0: fetches nothing
  const Stream stream = {tiles.values[index == 1 || index == 3][line],
                         index >= 2 ? tiles.values[index >= 3][line] : tiles.ones};
  if (index == 0) tiles.ones[line] = 1;
  float* const out = &tiles.blurred[blurs ? index : 0][line / kBand][line % kBand];

  /* A thread stores the columns that it is the lane of, of all bands of its stream. */
  float* to[kLines / kBand];
  VMAFX_UNROLL
  for (int band = 0; band < kLines / kBand; band++)
    to[band] = blurs && block.has(kBand * band) ? plane_of(work, s, s.blurred, kChannels * kStreams,
                                                           block.channel(kBand * band) * kStreams + index) +
                                                      block.place(kBand * band) + kBand * line
                                                : nullptr;

  const Fetch fetch(work, block, rank);
  Quad quads[kFetches];
  fetch.load(rank, 0, s.w, quads);
  Fetch::store(rank, quads, tiles);
  fetch.load(rank, 4, s.w, quads);
  block_sync();
  RowFilter filter;
  filter.next(stream.at(0), false);
  block_sync();
  /* From here on tiles of values begin a quad further right. */
  VMAFX_ROLLED
  for (int x = 0; x < s.w; x += kTileColumns) {
    Fetch::store(rank, quads, tiles);
    fetch.load(rank, x + 4 + kTileColumns, s.w, quads);
    block_sync();
    if (!blurs) {
    } else if (ssimulacra2_four_at_once(x, s.w) && ssimulacra2_four_at_once(x + kTileColumns - 4, s.w))
      blur_tile<true>(stream, x, s.w, filter, out);
    else blur_tile<false>(stream, x, s.w, filter, out);
    block_sync();
    VMAFX_UNROLL
    for (int band = 0; band < kLines / kBand; band++)
      if (to[band] && x + line < s.w)
        store_pack(to[band] + x * kBand, load_pack<4>(&tiles.blurred[index][band][kBand * line]));
  }
}

// -- Down columns ----------------------------------------------------------------------------------------------------

using MapWords = WordsOf<Ssimulacra2Map>;
inline constexpr int kMapWords = MapWords::kCount, kChannelWords = 3 * kMapWords;

/* A thread's states and sums of its column and channel. */
struct Column {
  BlurState states[kStreams];
  int64_t sums[3];
  Fixed3<kSsimulacra2FourthBits> fourths[3];
};

/* The source of a column's samples: rows up to end - 1, of a picture of h. */
struct ColumnPlanes {
  const float *ref, *dist, *blurred;  // row 0 of the ring
  int64_t plane;
  const Ssimulacra2ScaleWork& s;
  int chunk_y, end, h;

  VMAFX_DEVICE const float* stream(int i) const { return blurred + i * plane; }
  /* The place where four rows begin, y a multiple of 4; for rows that do not exist, other rows. */
  VMAFX_DEVICE int band(int y) const {
    const int last = (end - 1) & ~(kBand - 1);
    return slot_of(s, (y < 0 ? 0 : y < last ? y : last) - chunk_y) * s.stride;
  }
  VMAFX_DEVICE int row_in_band(int y, int row) const { return y < 0 || y + row < end ? row : (end - 1) % kBand; }
  VMAFX_DEVICE bool has(int y) const { return y >= 0 && y < h; }
};

/* The samples in memory that rows y to y + kBand - 1 need. Nothing here waits for them. */
struct BandSamples {
  float behind[kStreams][kBand], ahead[kStreams][kBand], ref[kBand], dist[kBand];
};

/* The places of the present band and its neighbors, and the lower two rows of the band two before it. */
struct Bands {
  int before, here;
  float lower[kStreams][2];

  VMAFX_DEVICE Bands(const ColumnPlanes& planes, int y) : before(planes.band(y - kBand)), here(planes.band(y)) {
    const int first = planes.band(y - 2 * kBand);
    VMAFX_UNROLL
    for (int i = 0; i < kStreams; i++) {
      const auto rows = load_pack<2>(planes.stream(i) + first + 2);
      lower[i][0] = rows.v[0];
      lower[i][1] = rows.v[1];
    }
  }

  /* Loads the samples for the present band, which is the one at y, and goes on to the next one. */
  VMAFX_DEVICE void load(const ColumnPlanes& planes, int y, BandSamples& samples) {
    static_assert(kSsimulacra2Behind == kBand + 2 && kSsimulacra2Ahead == kBand && kBand == 4);
    const int next = planes.band(y + kBand);
    VMAFX_UNROLL
    for (int i = 0; i < kStreams; i++) {
      const auto ahead = load_pack<4>(planes.stream(i) + next);
      const auto behind = load_pack<4>(planes.stream(i) + before);
      VMAFX_UNROLL
      for (int row = 0; row < kBand; row++) {
        samples.ahead[i][row] = ahead.v[row];
        samples.behind[i][row] = row < 2 ? lower[i][row] : behind.v[row - 2];
      }
      lower[i][0] = behind.v[2];
      lower[i][1] = behind.v[3];
    }
    VMAFX_UNROLL
    for (int row = 0; row < kBand; row++) {
      const int at = here + planes.row_in_band(y, row) * planes.s.stride;
      samples.ref[row] = planes.ref[at];
      samples.dist[row] = planes.dist[at];
    }
    before = here;
    here = next;
  }
};

/* Rows y to y + kBand - 1. `inside`: with all that they need. */
template <bool inside>
VMAFX_DEVICE void add_band(const ColumnPlanes& planes, const BandSamples& samples, int y, Column& column) {
  float sum[3] = {0, 0, 0}, fourth[3] = {0, 0, 0};
  VMAFX_UNROLL
  for (int row = 0; row < kBand; row++) {
    const bool counts = inside || planes.has(y + row);
    const bool has_behind = inside || planes.has(y + row - kSsimulacra2Behind);
    const bool has_ahead = inside || planes.has(y + row + kSsimulacra2Ahead);
    float blurred[kStreams];
    VMAFX_UNROLL
    for (int i = 0; i < kStreams; i++)
      blurred[i] = blurred_down(column.states[i],
                                (has_behind ? samples.behind[i][row] : 0) + (has_ahead ? samples.ahead[i][row] : 0));
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

/* Hands out what a column adds to the blocks of maps that it goes through. Without maps there are none. */
template <class Work>
struct ColumnBlocks {
  VMAFX_DEVICE ColumnBlocks(const Work&, int, int, int) {}
  VMAFX_DEVICE void end_band(const Column&, int, int) {}
};
template <>
struct ColumnBlocks<Ssimulacra2MapWork> {
  Ssimulacra2BlockSums* blocks;  // the uppermost one
  int side, across, channel;
  int64_t sums[3] = {};  // the column's at the end of the last block
  Fixed3<kSsimulacra2FourthBits> fourths[3] = {};

  VMAFX_DEVICE ColumnBlocks(const Ssimulacra2MapWork& work, int scale, int of_channel, int x)
      : blocks(&work.blocks[block_id().x] + work.first_block[scale] + x / work.block_side[scale]),
        side(work.block_side[scale]), across(work.blocks_across[scale]), channel(of_channel) {}

  /* Rows y to y + kBand - 1, of those before `end`, are in the sums. */
  VMAFX_DEVICE void end_band(const Column& column, int y, int end) {
    if (y < 0 || ((y + kBand) % side && y + kBand < end)) return;
    Ssimulacra2Map(&maps)[3] = blocks[y / side * across].map[channel];
    VMAFX_UNROLL
    for (int i = 0; i < 3; i++) {
      const auto &now = column.fourths[i], &then = fourths[i];
      const auto words = std::bit_cast<MapWords>(Ssimulacra2Map{
          column.sums[i] - sums[i], {now.coarse - then.coarse, now.fine - then.fine, now.finest - then.finest}});
      VMAFX_UNROLL
      for (int word = 0; word < kMapWords; word++)
        if (words.v[word])
          atomic_add(reinterpret_cast<uint64_t*>(&maps[i]) + word, static_cast<uint64_t>(words.v[word]));
      sums[i] = column.sums[i];
      fourths[i] = now;
    }
  }
};

/* Rows first to end - 1. */
template <class Blocks>
VMAFX_DEVICE void add_bands(const ColumnPlanes& planes, int first, int end, Column& column, Blocks blocks) {
  Bands bands(planes, first);
  VMAFX_ROLLED
  for (int y = first; y < end; y += kBand) {
    BandSamples samples;
    bands.load(planes, y, samples);
    if (planes.has(y - kSsimulacra2Behind) && planes.has(y + kBand - 1 + kSsimulacra2Ahead))
      add_band<true>(planes, samples, y, column);
    else add_band<false>(planes, samples, y, column);
    blocks.end_band(column, y, end);
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

/* Adds the sums of all columns. */
VMAFX_DEVICE void add_columns(const Column& column, Ssimulacra2Map (&sums)[3]) {
  VMAFX_SHARED(int64_t, parts, [kChannelWords][kSsimulacra2ColumnThreads / 32]);
  const int wave = static_cast<int>(thread_id().x / wave_size());
  const int waves = kSsimulacra2ColumnThreads / static_cast<int>(wave_size());
  VMAFX_UNROLL
  for (int map = 0; map < 3; map++) {
    const auto& fourths = column.fourths[map];
    const auto words = std::bit_cast<MapWords>(Ssimulacra2Map{
        wave_add(column.sums[map]), {wave_add(fourths.coarse), wave_add(fourths.fine), wave_add(fourths.finest)}});
    if (lane_id() == 0) {
      VMAFX_UNROLL
      for (int i = 0; i < kMapWords; i++) parts[map * kMapWords + i][wave] = words.v[i];
    }
  }
  block_sync();
  const unsigned rank = thread_rank();
  if (rank >= kChannelWords) return;
  int64_t sum = 0;
  for (int i = 0; i < waves; i++) sum += parts[rank][i];
  atomic_add(reinterpret_cast<uint64_t*>(sums) + rank, static_cast<uint64_t>(sum));
}

template <class Work>
VMAFX_DEVICE void go_down_columns(const Work& work) {
  const int scale = scale_of_block(work, &Ssimulacra2ScaleWork::first_column_block);
  const Ssimulacra2ScaleWork& s = work.scale[scale];
  const int x = (static_cast<int>(block_id().z) - s.first_column_block) * kSsimulacra2ColumnThreads +
                static_cast<int>(thread_id().x);
  const int channel = static_cast<int>(block_id().y);
  const int rows_end = (work.chunk + 1) * s.rows, end = rows_end < s.h ? rows_end : s.h;
  Column column = {};
  if (x < s.w) {
    const ColumnPlanes planes = {plane_of(work, s, s.values, 2 * kChannels, channel) + x,
                                 plane_of(work, s, s.values, 2 * kChannels, kChannels + channel) + x,
                                 plane_of(work, s, s.blurred, kChannels * kStreams, channel * kStreams) + kBand * x,
                                 s.ring_plane,
                                 s,
                                 work.chunk * s.rows,
                                 end,
                                 s.h};
    constexpr int kStates = kStreams * 2 * kSsimulacra2Sections;
    float* saved = work.scratch + s.states + (block_id().x * kChannels + block_id().y) * kStates * s.state_line + x;
    if (work.chunk > 0)
      for_each_state(column, saved, s.state_line, [](float& state, float& memory) { state = memory; });
    const int first = work.chunk * s.rows - kSsimulacra2Ahead;
    add_bands(planes, first, work.chunk + 1 == work.chunks ? s.h : first + s.rows, column,
              ColumnBlocks<Work>(work, scale, channel, x));
    for_each_state(column, saved, s.state_line, [](float& state, float& memory) { memory = state; });
  }
  add_columns(column, work.sums[block_id().x].map[scale][channel]);
}

VMAFX_DEFINE_DENSE_KERNEL(ssimulacra2_columns, 8, work) { go_down_columns(work); }
VMAFX_DEFINE_DENSE_KERNEL(ssimulacra2_map_columns, 4, work) { go_down_columns(work); }

}  // namespace vmafx::ssimulacra2_device
