/* The kernels of ssimulacra2, in data-flow order: the absorbances of all scales but the first, in one launch, then the
 * sums of all scales at once. The first scale's absorbances are made anew from the samples where they are needed. */
#include "kernels/common/fixed.h"
#include "kernels/common/gpu.h"
#include "kernels/common/rows-inl.h"
#include "kernels/ssimulacra2/ssimulacra2_math-inl.h"
#include "kernels/ssimulacra2/ssimulacra2_work.h"

namespace vmafx::ssimulacra2_device {

using namespace gpu;

// -- Absorbances -----------------------------------------------------------------------------------------------------

VMAFX_DEVICE const hip::DevicePlane& plane_of(const Ssimulacra2Work& work, int plane, int side) {
  const int frame = static_cast<int>(block_id().z);
  return side ? work.planes[plane].dist[frame] : work.planes[plane].ref[hip::ref_index(frame)];
}

template <class T>
VMAFX_DEVICE const T* row_of(const hip::DevicePlane& plane, int y) {
  return reinterpret_cast<const T*>(plane.data + y * plane.stride);
}

/* What a block needs of its work all the time, in its memory: there is too much of it for the scalar registers of some
 * GPUs. */
struct Common {
  Ssimulacra2Params params;
  Ssimulacra2ScaleWork scale;
};

VMAFX_DEVICE const Common& common_of(const Ssimulacra2Work& work, int scale) {
  VMAFX_SHARED(Common, common, [1]);
  if (thread_rank() == 0) {
    common[0].params = work.params;
    common[0].scale = work.scale[scale];
  }
  block_sync();
  return common[0];
}

/* 16 times the code of chroma at a luma sample, less that of neutral colours. */
template <class T>
VMAFX_DEVICE float chroma_at(const Ssimulacra2Work& work, const Ssimulacra2Params& params, int plane, int side,
                             const ChromaTaps& across, const ChromaTaps& down) {
  const hip::DevicePlane& chroma = plane_of(work, plane, side);
  const T *top = row_of<T>(chroma, down.first), *below = row_of<T>(chroma, down.second);
  const int code =
      chroma_between(chroma_between(top[across.first], top[across.second], across.weight),
                     chroma_between(below[across.first], below[across.second], across.weight), down.weight);
  return static_cast<float>(code - params.light.neutral_chroma);
}

template <class T>
VMAFX_DEVICE Absorbed absorbed_at(const Ssimulacra2Work& work, const Ssimulacra2Params& params, int side, int x, int y) {
  const float luma = static_cast<float>(row_of<T>(plane_of(work, 0, side), y)[x]);
  float cb = 0, cr = 0;
  if (params.has_chroma) {
    const ChromaTaps across = params.across.taps(x, work.chroma_w), down = params.down.taps(y, work.chroma_h);
    cb = chroma_at<T>(work, params, 1, side, across, down);
    cr = chroma_at<T>(work, params, 2, side, across, down);
  }
  return absorbed(params.absorbance, linear_light(params.light, luma, cb, cr));
}

/* Of a further scale: sample 0 of plane l. */
VMAFX_DEVICE float* planes_of(const Ssimulacra2Work& work, const Ssimulacra2ScaleWork& s, int side) {
  return work.scratch + s.first_plane + (block_id().z * 6 + static_cast<unsigned>(side) * 3) * s.plane_floats;
}

VMAFX_DEVICE void store_absorbed(const Ssimulacra2Work& work, int scale, int side, int x, int y, const Absorbed& a) {
  const Ssimulacra2ScaleWork& s = work.scale[scale];
  float* at = planes_of(work, s, side) + y * s.stride + x;
  at[0] = a.l;
  at[s.plane_floats] = a.m;
  at[2 * s.plane_floats] = a.s;
}

VMAFX_DEVICE Absorbed mean_of_4(const Absorbed& top, const Absorbed& below, const Absorbed& top_right,
                                const Absorbed& below_right) {
  return {vmafx::mean_of_4(top.l, below.l, top_right.l, below_right.l),
          vmafx::mean_of_4(top.m, below.m, top_right.m, below_right.m),
          vmafx::mean_of_4(top.s, below.s, top_right.s, below_right.s)};
}

/* The second of two neighbours, or the first where there is no second. */
VMAFX_DEVICE int partner(int first, int size) { return first + 1 < size ? first + 1 : first; }

inline constexpr int kPyramidColumns = kSsimulacra2PyramidColumns / 2, kPyramidRows = kSsimulacra2PyramidRows / 2;

/* What a block has of a scale, in its upper left corner. */
using PyramidTile = Absorbed[kPyramidRows][kPyramidColumns];

/* Scales 2 to 5 of a tile, each from the one before. (x0, y0) is the tile's first sample of scale 1. */
VMAFX_DEVICE void climb(const Ssimulacra2Work& work, int side, int x0, int y0, PyramidTile& tile) {
  const int thread = static_cast<int>(thread_id().x);
  int columns = kPyramidColumns / 2, rows = kPyramidRows / 2;
  for (int scale = 2; scale < work.scales; scale++, columns /= 2, rows /= 2) {
    x0 /= 2;
    y0 /= 2;
    const Ssimulacra2ScaleWork &from = work.scale[scale - 1], &to = work.scale[scale];
    const int row = thread / columns, column = thread - row * columns;
    const bool mine = row < rows && x0 + column < to.w && y0 + row < to.h;
    Absorbed mean = {};
    if (mine) {
      const int right = partner(2 * (x0 + column), from.w) - 2 * x0, below = partner(2 * (y0 + row), from.h) - 2 * y0;
      mean = mean_of_4(tile[2 * row][2 * column], tile[below][2 * column], tile[2 * row][right], tile[below][right]);
      store_absorbed(work, scale, side, x0 + column, y0 + row, mean);
    }
    block_sync();
    if (mine) tile[row][column] = mean;
    block_sync();
  }
}

template <class T>
VMAFX_DEVICE void make_pyramid(const Ssimulacra2Work& work) {
  VMAFX_SHARED(PyramidTile, tiles, [1]);
  const Ssimulacra2Params& params = common_of(work, 0).params;
  const int block = static_cast<int>(block_id().x), side = static_cast<int>(block_id().y);
  const int tile_y = block / work.pyramid_across, tile_x = block - tile_y * work.pyramid_across;
  const int x0 = tile_x * kPyramidColumns, y0 = tile_y * kPyramidRows;
  for (int i = static_cast<int>(thread_id().x); i < kPyramidColumns * kPyramidRows; i += kSsimulacra2PyramidThreads) {
    const int row = i / kPyramidColumns, column = i % kPyramidColumns, x = x0 + column, y = y0 + row;
    if (x >= work.scale[1].w || y >= work.scale[1].h) continue;
    const int right = partner(2 * x, params.w), below = partner(2 * y, params.h);
    const Absorbed mean =
        mean_of_4(absorbed_at<T>(work, params, side, 2 * x, 2 * y), absorbed_at<T>(work, params, side, 2 * x, below),
                  absorbed_at<T>(work, params, side, right, 2 * y), absorbed_at<T>(work, params, side, right, below));
    store_absorbed(work, 1, side, x, y, mean);
    tiles[0][row][column] = mean;
  }
  block_sync();
  climb(work, side, x0, y0, tiles[0]);
}

// -- Sums ------------------------------------------------------------------------------------------------------------

inline constexpr int kBand = kSsimulacra2Band, kRadius = kSsimulacra2Radius, kChannels = 3;
inline constexpr int kWindow = kBand + 2 * kRadius;

/* Channels of a band of rows, margins included. */
struct BandChannels {
  float values[kBand][2][kChannels][kSsimulacra2TileThreads];  // row; ref, dist; channel; column
};

/* A row of ref and dist in a BandChannels, at this thread's column. */
struct RefValues {
  const float* at;
  VMAFX_DEVICE float operator()(int k) const { return at[k]; }
};
struct SquaresValues {
  const float *ref, *dist;
  VMAFX_DEVICE float operator()(int k) const { return sum_of_squares(ref[k], dist[k]); }
};
struct DifferencesValues {
  const float *ref, *dist;
  VMAFX_DEVICE float operator()(int k) const { return squared_difference(ref[k], dist[k]); }
};
struct WindowValues {
  const float* centre;  // of an array in registers: its index is a constant once loops are unrolled
  VMAFX_DEVICE float operator()(int k) const { return centre[k]; }
};

/* Where a block works. */
struct Tile {
  int scale, x0, y0, rows;
};

VMAFX_DEVICE Tile tile_of(const Ssimulacra2Work& work) {
  const int block = static_cast<int>(block_id().x);
  int scale = 0;
  while (scale + 1 < work.scales && block >= work.scale[scale + 1].first_block) scale++;
  const Ssimulacra2ScaleWork& s = work.scale[scale];
  const int tile = block - s.first_block, tile_y = tile / s.tiles_across, y0 = tile_y * kSsimulacra2TileRows;
  const int left = s.h - y0;
  return {scale, (tile - tile_y * s.tiles_across) * kSsimulacra2TileColumns, y0,
          left < kSsimulacra2TileRows ? left : kSsimulacra2TileRows};
}

/* The band from row y on. Rows and sides are dealt out to the threads of a column. */
template <class T>
VMAFX_DEVICE void load_band(const Ssimulacra2Work& work, const Common& common, const Tile& tile, int y,
                            BandChannels& band) {
  const Ssimulacra2ScaleWork& s = common.scale;
  const int column = static_cast<int>(thread_id().x), x = tile.x0 - kRadius + column;
  VMAFX_ROLLED
  for (int i = static_cast<int>(thread_id().y); i < 2 * kBand; i += kChannels) {
    const int row = i / 2, side = i % 2;
    Xyb all = {0, 0, 0};
    if (x >= 0 && x < s.w && y + row >= 0 && y + row < s.h) {
      Absorbed a;
      if (tile.scale == 0) {
        a = absorbed_at<T>(work, common.params, side, x, y + row);
      } else {
        const float* at = planes_of(work, s, side) + (y + row) * s.stride + x;
        a = {at[0], at[s.plane_floats], at[2 * s.plane_floats]};
      }
      all = xyb(a);
    }
    band.values[row][side][0][column] = all.x;
    band.values[row][side][1][column] = all.y;
    band.values[row][side][2][column] = all.b;
  }
}

/* What a thread knows of its column and channel. */
struct Column {
  float means[2][kWindow], squares[kWindow], differences[kWindow];  // blurred along rows, the newest last
  float ref[kBand], dist[kBand];                                    // under the middle of the windows
  int64_t sums[3];
  Fixed2<kSsimulacra2FourthBits> fourths[3];

  /* Blurs the rows of a band along, after it let go of as many. */
  VMAFX_DEVICE void take(const BandChannels& band, int channel, int column) {
    VMAFX_UNROLL
    for (int i = 0; i < kWindow - kBand; i++) {
      means[0][i] = means[0][i + kBand];
      means[1][i] = means[1][i + kBand];
      squares[i] = squares[i + kBand];
      differences[i] = differences[i + kBand];
    }
    VMAFX_UNROLL
    for (int row = 0; row < kBand; row++) {
      const float *ref_row = &band.values[row][0][channel][column], *dist_row = &band.values[row][1][channel][column];
      const int newest = kWindow - kBand + row;
      means[0][newest] = symmetric_sum<Ssimulacra2Filter>(RefValues{ref_row});
      means[1][newest] = symmetric_sum<Ssimulacra2Filter>(RefValues{dist_row});
      squares[newest] = symmetric_sum<Ssimulacra2Filter>(SquaresValues{ref_row, dist_row});
      differences[newest] = symmetric_sum<Ssimulacra2Filter>(DifferencesValues{ref_row, dist_row});
    }
  }

  /* The values themselves, for when their rows are in the middle. */
  VMAFX_DEVICE void keep(const BandChannels& band, int channel, int column) {
    VMAFX_UNROLL
    for (int row = 0; row < kBand; row++) {
      ref[row] = band.values[row][0][channel][column];
      dist[row] = band.values[row][1][channel][column];
    }
  }

  /* The errors of the band in the middle, of which `rows` are in the picture. */
  VMAFX_DEVICE void add_errors(int rows) {
    float sum[3] = {0, 0, 0}, fourth[3] = {0, 0, 0};
    VMAFX_UNROLL
    for (int row = 0; row < kBand; row++) {
      const int centre = row + kRadius;
      const Ssimulacra2Errors errors =
          errors_of(ref[row], dist[row], symmetric_sum<Ssimulacra2Filter>(WindowValues{means[0] + centre}),
                    symmetric_sum<Ssimulacra2Filter>(WindowValues{means[1] + centre}),
                    symmetric_sum<Ssimulacra2Filter>(WindowValues{squares + centre}),
                    symmetric_sum<Ssimulacra2Filter>(WindowValues{differences + centre}));
      const bool counts = row < rows;
      const float values[3] = {counts ? errors.ssim : 0, counts ? maximum(errors.edge, 0.0f) : 0,
                               counts ? maximum(0.0f - errors.edge, 0.0f) : 0};
      VMAFX_UNROLL
      for (int i = 0; i < 3; i++) {
        sum[i] += values[i];
        fourth[i] += fourth_power(values[i]);
      }
    }
    VMAFX_UNROLL
    for (int i = 0; i < 3; i++) {
      sums[i] += to_fixed<kSsimulacra2SumBits>(sum[i]);
      fourths[i] += fourth[i] * kSsimulacra2FourthScale;
    }
  }
};

inline constexpr int kMapWords = 3, kChannelWords = 3 * kMapWords;

/* Adds the sums of all columns of each channel, whose threads are whole waves. */
VMAFX_DEVICE void add_columns(const Column& column, uint64_t* sums) {
  VMAFX_SHARED(int64_t, parts, [kChannels * kChannelWords][kSsimulacra2TileThreads / 32]);
  const int channel = static_cast<int>(thread_id().y), wave = static_cast<int>(thread_id().x / wave_size());
  const int waves = kSsimulacra2TileThreads / static_cast<int>(wave_size());
  VMAFX_UNROLL
  for (int map = 0; map < 3; map++) {
    const int64_t words[kMapWords] = {wave_add(column.sums[map]), wave_add(column.fourths[map].coarse),
                                      wave_add(column.fourths[map].fine)};
    if (lane_id() == 0) {
      VMAFX_UNROLL
      for (int i = 0; i < kMapWords; i++) parts[channel * kChannelWords + map * kMapWords + i][wave] = words[i];
    }
  }
  block_sync();
  const unsigned rank = thread_rank();
  if (rank >= kChannels * kChannelWords) return;
  int64_t sum = 0;
  for (int i = 0; i < waves; i++) sum += parts[rank][i];
  atomic_add(&sums[rank], static_cast<uint64_t>(sum));
}

template <class T>
VMAFX_DEVICE void add_tile(const Ssimulacra2Work& work) {
  VMAFX_SHARED(BandChannels, bands, [2]);  // in turn, so that one barrier a band will do
  const Tile tile = tile_of(work);
  const Common& common = common_of(work, tile.scale);
  const int thread = static_cast<int>(thread_id().x), channel = static_cast<int>(thread_id().y);
  const bool inside = thread >= kRadius && thread < kSsimulacra2TileThreads - kRadius &&
                      tile.x0 + thread - kRadius < common.scale.w;
  Column column = {};
  for (int y = -kRadius, turn = 0; y < tile.rows + kRadius; y += kBand, turn ^= 1) {
    load_band<T>(work, common, tile, tile.y0 + y, bands[turn]);
    block_sync();
    if (!inside) continue;
    column.take(bands[turn], channel, thread);
    if (y > 0) column.add_errors(tile.rows - (y - kBand));
    column.keep(bands[turn], channel, thread);
  }
  add_columns(column, work.sums + block_id().z * work.sums_stride + tile.scale * kChannels * kChannelWords);
}

}  // namespace vmafx::ssimulacra2_device

VMAFX_KERNEL(vmafx_ssimulacra2_pyramid_8, vmafx::kSsimulacra2PyramidThreads, (vmafx::Ssimulacra2Work work)) {
  vmafx::ssimulacra2_device::make_pyramid<uint8_t>(work);
}

VMAFX_KERNEL(vmafx_ssimulacra2_pyramid_16, vmafx::kSsimulacra2PyramidThreads, (vmafx::Ssimulacra2Work work)) {
  vmafx::ssimulacra2_device::make_pyramid<uint16_t>(work);
}

VMAFX_KERNEL(vmafx_ssimulacra2_sums_8, vmafx::kSsimulacra2TileThreads * 3, (vmafx::Ssimulacra2Work work)) {
  vmafx::ssimulacra2_device::add_tile<uint8_t>(work);
}

VMAFX_KERNEL(vmafx_ssimulacra2_sums_16, vmafx::kSsimulacra2TileThreads * 3, (vmafx::Ssimulacra2Work work)) {
  vmafx::ssimulacra2_device::add_tile<uint16_t>(work);
}
