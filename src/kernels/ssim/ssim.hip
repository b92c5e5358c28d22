/* The kernels of float_ssim and float_ms_ssim: planes of the first scale where it is not the samples themselves, of
 * each further scale, then the sums of all scales. Frames along z. */
#include "kernels/arithmetic/fixed.h"
#include "kernels/gpu/gpu.h"
#include "kernels/ssim/ssim_math-inl.h"
#include "kernels/ssim/ssim_work.h"
#include "kernels/steps/mirror.h"

namespace vmafx::ssim_device {

using namespace gpu;

VMAFX_DEVICE float* plane_of(const SsimWork& work, int scale, int kind) {
  return work.of[scale].planes.plane(block_id().z, static_cast<unsigned>(kind));
}

// -- The first scale -------------------------------------------------------------------------------------------------

/* Samples of a block, reflected. */
template <class T>
struct Block {
  hip::DevicePlane plane;
  int x, y, w, h;
  float scale;
  VMAFX_DEVICE float operator()(int row, int column) const {
    const T* samples = row_of<T>(plane, mirror_repeated(y + row, h));
    return static_cast<float>(samples[mirror_repeated(x + column, w)]) * scale;
  }
};

/* Means over blocks, one of each picture to a thread. */
VMAFX_DEFINE_SAMPLE_KERNELS(ssim_means, T, work) {
  const SsimScale& out = work.of[0];
  const int x = static_cast<int>(block_id().x * kSsimThreads + thread_id().x), y = static_cast<int>(block_id().y);
  if (x >= out.w) return;
  const hip::DevicePlane& ref = work.luma.ref[hip::ref_index(static_cast<int>(block_id().z))];
  const hip::DevicePlane& dist = work.luma.dist[block_id().z];
  const int factor = work.factor, first_x = ssim_first_sample(x, factor), first_y = ssim_first_sample(y, factor);
  const int64_t at = y * out.planes.stride + x;
  plane_of(work, 0, 0)[at] = ssim_block_mean(factor, Block<T>{ref, first_x, first_y, work.w, work.h, work.scale});
  plane_of(work, 0, 1)[at] = ssim_block_mean(factor, Block<T>{dist, first_x, first_y, work.w, work.h, work.scale});
}

// -- Tiles of samples ------------------------------------------------------------------------------------------------

/* The place where sample `i` is found; for samples that no filter reaches, the nearest one. */
VMAFX_DEVICE int found(int i, int size) {
  const int reached = i < -size ? -size : i;
  return mirror_repeated(reached < 2 * size ? reached : 2 * size - 1, size);
}

/* A picture at one scale. */
template <class T>
class Picture {
 public:
  VMAFX_DEVICE Picture(const SsimWork& work, int scale, int picture)
      : of_(work.of[scale]), scale_(work.scale), is_samples_(scale == 0 && work.factor == 1) {
    const int frame = static_cast<int>(block_id().z);
    if (is_samples_) samples_ = picture ? work.luma.dist[frame] : work.luma.ref[hip::ref_index(frame)];
    else floats_ = plane_of(work, scale, picture);
  }

  /* The sample in column x of row y, reflected. */
  VMAFX_DEVICE float at(int x, int y) const {
    const int column = found(x, of_.w), row = found(y, of_.h);
    if (is_samples_) return static_cast<float>(row_of<T>(samples_, row)[column]) * scale_;
    return floats_[row * of_.planes.stride + column];
  }

 private:
  const SsimScale& of_;
  const float scale_;
  const bool is_samples_;
  hip::DevicePlane samples_ = {};
  const float* floats_ = nullptr;
};

// -- Further scales --------------------------------------------------------------------------------------------------

/* A row of samples, of which even and odd columns lie apart, around an even one. */
constexpr int kHalvedFrom = 2 * kSsimTileColumns + 2 * SsimHalving::kRadius;  // columns of samples
struct SplitColumns {
  const float* even;
  VMAFX_DEVICE float operator()(int k) const { return even[(k & 1) * (kHalvedFrom / 2) + (k - (k & 1)) / 2]; }
};

/* A tile of a plane of scale `next`. */
VMAFX_DEFINE_SAMPLE_KERNELS(ssim_halve, T, work) {
  const int next = work.next;
  constexpr int kRadius = SsimHalving::kRadius, kRows = 2 * kSsimHalvedRows + 2 * kRadius;
  VMAFX_SHARED(float, samples, [kRows][kHalvedFrom]);
  const SsimScale& out = work.of[next];
  const int thread = static_cast<int>(thread_id().x), picture = static_cast<int>(block_id().x & 1);
  const int x = static_cast<int>(block_id().x / 2) * kSsimTileColumns;
  const int y = static_cast<int>(block_id().y) * kSsimHalvedRows;
  const Picture<T> in(work, next - 1, picture);
  for (int i = thread; i < kRows * kHalvedFrom; i += kSsimThreads) {
    const int row = i / kHalvedFrom, column = i - row * kHalvedFrom;
    samples[row][(column & 1) * (kHalvedFrom / 2) + column / 2] =
        in.at(2 * x - kRadius + column, 2 * y - kRadius + row);
  }
  block_sync();
  const int column = thread % kSsimTileColumns;
  if (x + column >= out.w) return;
  float* const plane = plane_of(work, next, picture);
  for (int row = thread / kSsimTileColumns; row < kSsimHalvedRows; row += kSsimThreads / kSsimTileColumns) {
    if (y + row >= out.h) return;
    float high[2 * kRadius + 1], low[2 * kRadius + 1];
    VMAFX_UNROLL
    for (int k = -kRadius; k <= kRadius; k++) {
      const SsimSampleSum sum =
          ssim_halving_row(k, SplitColumns{&samples[2 * row + kRadius + k][column + kRadius / 2]});
      high[kRadius + k] = sum.high();
      low[kRadius + k] = sum.low();
    }
    plane[(y + row) * out.planes.stride + x + column] =
        ssim_halving_sum(AlongRow{high + kRadius}, AlongRow{low + kRadius});
  }
}

// -- Windows ---------------------------------------------------------------------------------------------------------

/* In a tile's samples; what follows the last window's is loaded with them. */
constexpr int kTileSamples = kSsimTileColumns + 12;
static_assert(kTileSamples >= kSsimTileColumns + SsimWindow::kLength - 1 && kTileSamples % 4 == 0);
struct Tile {
  float ref[kSsimTileSampleRows][kTileSamples], dist[kSsimTileSampleRows][kTileSamples];
};

/* The windows of a thread lie in a column. */
constexpr int kThreadGroups = kSsimThreads / kSsimTileColumns;
constexpr int kThreadWindows = (kSsimTileRows + kThreadGroups - 1) / kThreadGroups;

using Along = float[kSsimTileSampleRows][kSsimTileColumns];

template <class T>
VMAFX_DEVICE void load_tile(const SsimWork& work, int scale, int x, int y, Tile& tile) {
  const Picture<T> ref(work, scale, 0), dist(work, scale, 1);
  for (int i = static_cast<int>(thread_id().x); i < kSsimTileSampleRows * kTileSamples; i += kSsimThreads) {
    const int row = i / kTileSamples, column = i - row * kTileSamples;
    tile.ref[row][column] = ref.at(x + column, y + row);
    tile.dist[row][column] = dist.at(x + column, y + row);
  }
  block_sync();
}

/* Means over rows of windows, of a·b or of a: runs of four. */
template <int bits, bool with_b>
VMAFX_DEVICE void make_along(const float (*a)[kTileSamples], const float (*b)[kTileSamples], Along& along) {
  constexpr int kRun = 4, kValues = 4 * kRun, kRuns = kSsimTileColumns / kRun;
  static_assert(kValues >= kRun + 2 * SsimWindow::kRadius);
  for (int i = static_cast<int>(thread_id().x); i < kSsimTileSampleRows * kRuns; i += kSsimThreads) {
    const int row = i / kRuns, x = i % kRuns * kRun;
    float values[kValues];
    VMAFX_UNROLL
    for (int p = 0; p < kValues; p += 4) {
      const Pack<float, 4> from_a = load_pack<4>(&a[row][x + p]), from_b = load_pack<4>(&b[row][x + p]);
      VMAFX_UNROLL
      for (int j = 0; j < 4; j++) values[p + j] = with_b ? from_a.v[j] * from_b.v[j] : from_a.v[j];
    }
    Pack<float, kRun> means;
    VMAFX_UNROLL
    for (int j = 0; j < kRun; j++) means.v[j] = ssim_mean<bits>(AlongRow{values + SsimWindow::kRadius + j});
    store_pack(&along[row][x], means);
  }
}

/* Means over columns of this thread's windows, from the means along rows. */
template <int bits>
VMAFX_DEVICE void make_across(const Along& along, float (&means)[kThreadWindows]) {
  constexpr int kValues = kThreadWindows + SsimWindow::kLength - 1;
  const int column = static_cast<int>(thread_id().x) % kSsimTileColumns;
  const int first = static_cast<int>(thread_id().x) / kSsimTileColumns * kThreadWindows;
  float values[kValues];
  VMAFX_UNROLL
  for (int i = 0; i < kValues; i++)
    values[i] = along[first + i < kSsimTileSampleRows ? first + i : kSsimTileSampleRows - 1][column];
  VMAFX_UNROLL
  for (int i = 0; i < kThreadWindows; i++) means[i] = ssim_mean<bits>(AlongRow{values + SsimWindow::kRadius + i});
}

/* Each of a thread's windows. */
struct WindowMeans {
  float ref[kThreadWindows], dist[kThreadWindows];
  float ref_ref[kThreadWindows], dist_dist[kThreadWindows], ref_dist[kThreadWindows];
};

/* One quantity's means. All share `along`: with memory for two, AMD's compute units would have room for one block. */
template <int bits, bool with_b>
VMAFX_DEVICE void make_quantity(const float (*a)[kTileSamples], const float (*b)[kTileSamples], Along& along,
                                float (&means)[kThreadWindows]) {
  make_along<bits, with_b>(a, b, along);
  block_sync();
  make_across<bits>(along, means);
  block_sync();
}

VMAFX_DEVICE void make_means(const Tile& tile, Along& along, WindowMeans& means) {
  const auto &ref = tile.ref, &dist = tile.dist;
  make_quantity<kSsimSampleBits, false>(ref, ref, along, means.ref);
  make_quantity<kSsimSampleBits, false>(dist, dist, along, means.dist);
  make_quantity<kSsimProductBits, true>(ref, ref, along, means.ref_ref);
  make_quantity<kSsimProductBits, true>(dist, dist, along, means.dist_dist);
  make_quantity<kSsimProductBits, true>(ref, dist, along, means.ref_dist);
}

/* Of this thread's windows: they begin at x, y of the scale's samples, and the first `rows` of them count. */
struct Column {
  int scale, x, y, rows;
};

VMAFX_DEVICE SsimMeans mean_of(const WindowMeans& means, int i) {
  return {means.ref[i], means.dist[i], means.ref_ref[i], means.dist_dist[i], means.ref_dist[i]};
}

template <bool with_l>
VMAFX_DEVICE void add_window(const SsimMeans& mean, SsimSums& sums) {
  const SsimValues values = ssim_values<with_l>(mean);
  sums.l += to_fixed<kSsimBits>(values.l);
  sums.c += to_fixed<kSsimBits>(values.c);
  sums.s += to_fixed<kSsimBits>(values.s);
  sums.lcs += to_fixed<kSsimBits>(values.lcs);
  sums.different += ssim_differ(mean);
}

/* Adds up this thread's windows. */
template <bool with_l>
VMAFX_DEVICE SsimSums add_windows(const SsimWork&, const WindowMeans& means, const Column& column) {
  SsimSums sums = {};
  VMAFX_UNROLL
  for (int i = 0; i < kThreadWindows; i++)
    if (i < column.rows) add_window<with_l>(mean_of(means, i), sums);
  return sums;
}

VMAFX_DEVICE void add_to(SsimSums& sums, const SsimSums& part) {
  sums.l += part.l;
  sums.c += part.c;
  sums.s += part.s;
  sums.lcs += part.lcs;
  sums.different += part.different;
}

VMAFX_DEVICE void add_to_block(const SsimMapWork& work, int scale, int x, int y, const SsimSums& part) {
  auto* const words = reinterpret_cast<uint64_t*>(&work.blocks[block_id().z] + scale * work.blocks_of_scale +
                                                  (y << scale) / work.side * work.across + (x << scale) / work.side);
  const int64_t values[] = {part.l, part.c, part.s, part.lcs, part.different};
  VMAFX_UNROLL
  for (int i = 0; i < 5; i++)
    if (values[i]) atomic_add(&words[i], static_cast<uint64_t>(values[i]));
}

/* Adds also what lies in one block, one after the other, to the blocks of maps. */
template <bool with_l>
VMAFX_DEVICE SsimSums add_windows(const SsimMapWork& work, const WindowMeans& means, const Column& column) {
  static_assert(sizeof(SsimSums) == 5 * sizeof(uint64_t));
  SsimSums sums = {}, part = {};
  VMAFX_UNROLL
  for (int i = 0; i < kThreadWindows; i++) {
    if (i >= column.rows) continue;
    const int y = column.y + i;
    add_window<with_l>(mean_of(means, i), part);
    const bool is_last = i + 1 == kThreadWindows || i + 1 == column.rows;
    if (!is_last && ((y + 1) << column.scale) % work.side) continue;
    add_to_block(work, column.scale, column.x, y, part);
    add_to(sums, part);
    part = {};
  }
  return sums;
}

template <class T, class Work>
VMAFX_DEVICE void add_tile(const Work& work) {
  const int block = static_cast<int>(block_id().x), thread = static_cast<int>(thread_id().x);
  int scale = 0;
  while (scale + 1 < work.scales && block >= work.of[scale + 1].first_block) scale++;
  const SsimScale& of = work.of[scale];
  const int tile = block - of.first_block, tile_y = tile / of.tiles_across;
  const int x = (tile - tile_y * of.tiles_across) * kSsimTileColumns, y = tile_y * kSsimTileRows;

  VMAFX_SHARED(Tile, tiles, [1]);
  VMAFX_SHARED(Along, along, [1]);
  WindowMeans means;
  load_tile<T>(work, scale, x, y, tiles[0]);
  make_means(tiles[0], along[0], means);
  const int first = thread / kSsimTileColumns * kThreadWindows, in_tile = kSsimTileRows - first;
  const int in_picture = of.h - SsimWindow::kLength + 1 - y - first;
  const bool counts = x + thread % kSsimTileColumns < of.w - SsimWindow::kLength + 1;
  const int rows = !counts ? 0 : in_tile < in_picture ? in_tile : in_picture;
  const Column column = {scale, x + thread % kSsimTileColumns, y + first, rows};
  const SsimSums sums = of.with_l ? add_windows<true>(work, means, column) : add_windows<false>(work, means, column);
  add_block(work.sums[block_id().z][scale], sums);
}

VMAFX_DEFINE_SAMPLE_KERNELS(ssim_windows, T, work) { add_tile<T>(work); }
VMAFX_DEFINE_SAMPLE_KERNELS(ssim_map_windows, T, work) { add_tile<T>(work); }

}  // namespace vmafx::ssim_device
