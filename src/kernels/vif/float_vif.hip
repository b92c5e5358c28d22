/* The kernels of float_vif: one launch for a scale makes what its samples add and the planes of the next. Grid: tiles
 * across, down, frames.
 *
 * A thread filters down its column of a tile and its margins, the five means of eight rows, or twice of four where
 * shared memory is scarce, into shared memory; then threads take runs of four samples along the rows. Windows of the
 * default sizes are unrolled, so that columns and runs lie in registers. */
#include <bit>

#include "kernels/gpu/gpu.h"
#include "kernels/steps/mirror.h"
#include "kernels/vif/float_vif_math-inl.h"
#include "kernels/vif/float_vif_work.h"

namespace vmafx::float_vif {

using namespace gpu;

inline constexpr int kThreads = kFloatVifThreads, kRows = kFloatVifTileRows, kRun = kFloatVifRun;
enum Quantity { kMu1, kMu2, kXx, kYy, kXy, kQuantities };

/* The rows of a tile that are filtered at once. */
template <bool in_parts>
constexpr int kFilteredRows = in_parts ? kRows / 2 : kRows;

template <bool in_parts>
union TileMemory {
  alignas(16) float filtered[kQuantities][kFilteredRows<in_parts>][kThreads];
  float for_next[2][kRows / 2][kThreads];
};

/* The two pictures, of samples or floats. */
template <class T>
struct Pair {
  const uint8_t *ref, *dist;
  int64_t ref_stride, dist_stride;  // bytes
  int w, h;
  float scale;

  VMAFX_DEVICE float at(const uint8_t* plane, int64_t stride, int x, int y) const {
    const T value = reinterpret_cast<const T*>(plane + y * stride)[x];
    if constexpr (sizeof(T) == sizeof(float)) return value;
    else return static_cast<float>(value) * scale + kFloatVifOffset;
  }
  VMAFX_DEVICE float ref_at(int x, int y) const { return at(ref, ref_stride, x, y); }
  VMAFX_DEVICE float dist_at(int x, int y) const { return at(dist, dist_stride, x, y); }
};

template <class T>
VMAFX_DEVICE Pair<T> pair_of(const FloatVifWork& work) {
  const unsigned frame = block_id().z;
  if constexpr (sizeof(T) == sizeof(float)) {
    const float *ref = work.in.plane(frame, 0), *dist = work.in.plane(frame, 1);
    const int64_t stride = work.in.stride * static_cast<int64_t>(sizeof(float));
    return {reinterpret_cast<const uint8_t*>(ref),
            reinterpret_cast<const uint8_t*>(dist),
            stride,
            stride,
            work.w,
            work.h,
            1};
  } else {
    const hip::DevicePlane &ref = work.luma.ref[hip::ref_index(frame)], &dist = work.luma.dist[frame];
    return {ref.data, dist.data, ref.stride, dist.stride, work.w, work.h, work.sample_scale};
  }
}

/* Rows of a column from y - half on, in registers or, where `half` is known at run time only, where they lie. */
template <class T, int kHalf>
struct Column {
  static constexpr int kCount = kRows + 2 * kHalf;
  float ref[kCount], dist[kCount];

  VMAFX_DEVICE Column(const Pair<T>& in, int x, int y, int) {
    VMAFX_UNROLL
    for (int i = 0; i < kCount; i++) {
      const int row = mirror_near(y - kHalf + i, in.h, kHalf);
      ref[i] = in.ref_at(x, row);
      dist[i] = in.dist_at(x, row);
    }
  }
  /* The samples of row `row` of the tile, k rows further on. */
  VMAFX_DEVICE float ref_at(int row, int k) const { return ref[kHalf + row + k]; }
  VMAFX_DEVICE float dist_at(int row, int k) const { return dist[kHalf + row + k]; }
  /* Makes the compiler take them for others, so that it keeps no products of theirs. */
  VMAFX_DEVICE void renew() {
    VMAFX_UNROLL
    for (int i = 0; i < kCount; i++) {
      ref[i] = std::bit_cast<float>(anew(std::bit_cast<uint32_t>(ref[i])));
      dist[i] = std::bit_cast<float>(anew(std::bit_cast<uint32_t>(dist[i])));
    }
  }
};

template <class T>
struct Column<T, 0> {
  Pair<T> in;
  int x, y, half;

  VMAFX_DEVICE Column(const Pair<T>& pair, int column, int top, int radius)
      : in(pair), x(column), y(top), half(radius) {}
  VMAFX_DEVICE float ref_at(int row, int k) const { return in.ref_at(x, mirror_near(y + row + k, in.h, half)); }
  VMAFX_DEVICE float dist_at(int row, int k) const { return in.dist_at(x, mirror_near(y + row + k, in.h, half)); }
  VMAFX_DEVICE void renew() {}
};

// -- The planes of the next scale
// --------------------------------------------------------------------------------------

template <int kNextHalf, class Columns, class Memory>
VMAFX_DEVICE void filter_down_for_next(const FloatVifWork& work, const Columns& columns, Memory& memory) {
  const int thread = static_cast<int>(thread_id().x);
  VMAFX_UNROLL
  for (int i = 0; i < kRows / 2; i++) {
    memory.for_next[0][i][thread] = ordered_sum<kNextHalf>(work.next, [&](int k) { return columns.ref_at(2 * i, k); });
    memory.for_next[1][i][thread] = ordered_sum<kNextHalf>(work.next, [&](int k) { return columns.dist_at(2 * i, k); });
  }
}

template <int kNextHalf, class Memory>
VMAFX_DEVICE void filter_along_for_next(const FloatVifWork& work, const Memory& memory, int x0, int y0, int half) {
  const int columns = float_vif_tile_columns(half) / 2, all = 2 * (kRows / 2) * columns;
  for (int i = static_cast<int>(thread_id().x); i < all; i += kThreads) {
    const int row_of_both = i / columns, column = i % columns;
    const int side = row_of_both / (kRows / 2), row = row_of_both % (kRows / 2);
    const int x = x0 / 2 + column, y = y0 / 2 + row;
    if (x >= work.w / 2 || y >= work.h / 2) continue;
    const float* at = &memory.for_next[side][row][half + 2 * column];
    work.out.plane(block_id().z, static_cast<unsigned>(side))[y * work.out.stride + x] =
        ordered_sum<kNextHalf>(work.next, [&](int k) { return at[k]; });
  }
}

// -- What samples add
// --------------------------------------------------------------------------------------------------------------

/* Rows from `first` on. */
template <int kHalf, bool in_parts, class Columns>
VMAFX_DEVICE void filter_down(const FloatVifWork& work, const Columns& columns, int first,
                              TileMemory<in_parts>& memory) {
  const int thread = static_cast<int>(thread_id().x), half = kHalf ? kHalf : work.window.half;
  const auto filter_row = [&](int row) {
    float mu1 = 0, mu2 = 0, xx = 0, yy = 0, xy = 0;
    const auto add = [&](int k) {
      const float tap = work.window.taps[k < 0 ? -k : k], r = columns.ref_at(first + row, k),
                  d = columns.dist_at(first + row, k);
      mu1 += tap * r;
      mu2 += tap * d;
      xx += tap * (r * r);
      yy += tap * (d * d);
      xy += tap * (r * d);
    };
    if constexpr (kHalf > 0) {
      VMAFX_UNROLL
      for (int k = -kHalf; k <= kHalf; k++) add(k);
    } else {
      for (int k = -half; k <= half; k++) add(k);
    }
    memory.filtered[kMu1][row][thread] = mu1;
    memory.filtered[kMu2][row][thread] = mu2;
    memory.filtered[kXx][row][thread] = xx;
    memory.filtered[kYy][row][thread] = yy;
    memory.filtered[kXy][row][thread] = xy;
  };
  if constexpr (kHalf > 0) {
    VMAFX_UNROLL
    for (int row = 0; row < kFilteredRows<in_parts>; row++) filter_row(row);
  } else {
    VMAFX_ROLLED
    for (int row = 0; row < kFilteredRows<in_parts>; row++) filter_row(row);
  }
}

/* A quantity's means of a run: `row` points at the first sample under the first window. */
template <int kHalf>
VMAFX_DEVICE void filter_along(const GaussianWindow& window, const float* row, float (&means)[kRun]) {
  VMAFX_UNROLL
  for (int i = 0; i < kRun; i++) means[i] = 0;
  if constexpr (kHalf > 0) {
    constexpr int kPacks = (kRun + 2 * kHalf + 3) / 4;
    float values[4 * kPacks];
    VMAFX_UNROLL
    for (int p = 0; p < kPacks; p++) {
      const auto pack = load_pack<4>(row + 4 * p);
      VMAFX_UNROLL
      for (int i = 0; i < 4; i++) values[4 * p + i] = pack.v[i];
    }
    VMAFX_UNROLL
    for (int k = -kHalf; k <= kHalf; k++) {
      VMAFX_UNROLL
      for (int i = 0; i < kRun; i++) means[i] += window.taps[k < 0 ? -k : k] * values[kHalf + k + i];
    }
  } else {
    float v0 = row[0], v1 = row[1], v2 = row[2];
    for (int k = -window.half; k <= window.half; k++) {
      const float tap = window.taps[k < 0 ? -k : k], v3 = row[window.half + k + 3];
      means[0] += tap * v0;
      means[1] += tap * v1;
      means[2] += tap * v2;
      means[3] += tap * v3;
      v0 = v1, v1 = v2, v2 = v3;
    }
  }
}

/* y0: of the first row that was filtered. */
template <int kHalf, bool in_parts>
VMAFX_DEVICE void score_rows(const FloatVifWork& work, const TileMemory<in_parts>& memory, int x0, int y0, int half) {
  const int runs = float_vif_tile_columns(half) / kRun;
  for (int i = static_cast<int>(thread_id().x); i < kFilteredRows<in_parts> * runs; i += kThreads) {
    const int row = i / runs, column = i % runs * kRun;
    if (y0 + row >= work.h || x0 + column >= work.w) continue;
    float mu1[kRun], mu2[kRun], xx[kRun], yy[kRun], xy[kRun];
    filter_along<kHalf>(work.window, &memory.filtered[kMu1][row][column], mu1);
    filter_along<kHalf>(work.window, &memory.filtered[kMu2][row][column], mu2);
    filter_along<kHalf>(work.window, &memory.filtered[kXx][row][column], xx);
    filter_along<kHalf>(work.window, &memory.filtered[kYy][row][column], yy);
    filter_along<kHalf>(work.window, &memory.filtered[kXy][row][column], xy);
    Pack<float, kRun> nums, dens; /* some of them perhaps behind the row, which has room for them */
    VMAFX_UNROLL
    for (int s = 0; s < kRun; s++)
      float_vif_sample({mu1[s], mu2[s], xx[s], yy[s], xy[s]}, work.eye, nums.v[s], dens.v[s]);
    const int frame = static_cast<int>(block_id().z);
    float* const values = work.values.first.get() + x0 + column;
    store_pack(values + work.values.row(frame, 0, y0 + row), nums);
    store_pack(values + work.values.row(frame, 1, y0 + row), dens);
  }
}

/* kHalf, kNextHalf: of the windows of this scale and the next, 0 where they are known at run time only. */
template <class T, int kHalf, int kNextHalf, bool in_parts>
VMAFX_DEVICE void make_tile(const FloatVifWork& work) {
  VMAFX_SHARED(TileMemory<in_parts>, memory, [1]);
  const int half = kHalf ? kHalf : work.window.half;
  const int x0 = static_cast<int>(block_id().x) * float_vif_tile_columns(half);
  const int y0 = static_cast<int>(block_id().y) * kRows;
  const Pair<T> in = pair_of<T>(work);
  const int x = mirror_near(x0 - half + static_cast<int>(thread_id().x), work.w, half);
  Column<T, kHalf> columns(in, x, y0, half);
  if (work.out.first) {
    filter_down_for_next<kNextHalf>(work, columns, memory[0]);
    block_sync();
    filter_along_for_next<kNextHalf>(work, memory[0], x0, y0, half);
    block_sync();
  }
  if (!work.wanted) return;
  VMAFX_UNROLL
  for (int first = 0; first < kRows; first += kFilteredRows<in_parts>) {
    if (first > 0) {
      columns.renew();
      block_sync();  // the rows filtered before have been read
    }
    filter_down<kHalf>(work, columns, first, memory[0]);
    block_sync();
    score_rows<kHalf>(work, memory[0], x0, y0 + first, half);
  }
}

template <class T, int kHalf, int kNextHalf>
VMAFX_DEVICE void run(const FloatVifWork& work) {
  if (shared_memory_is_scarce()) make_tile<T, kHalf, kNextHalf, true>(work);
  else make_tile<T, kHalf, kNextHalf, false>(work);
}

VMAFX_DEFINE_SAMPLE_KERNELS(float_vif, T, work) { run<T, 8, 4>(work); }
VMAFX_DEFINE_KERNEL(float_vif_scale1, work) { run<float, 4, 2>(work); }
VMAFX_DEFINE_KERNEL(float_vif_scale2, work) { run<float, 2, 1>(work); }
VMAFX_DEFINE_KERNEL(float_vif_scale3, work) { run<float, 1, 1>(work); }
VMAFX_DEFINE_SAMPLE_KERNELS(float_vif_any, T, work) { run<T, 0, 0>(work); }
VMAFX_DEFINE_KERNEL(float_vif_any_scale, work) { run<float, 0, 0>(work); }

}  // namespace vmafx::float_vif
