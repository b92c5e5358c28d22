/* The kernels of vif, in data-flow order: the planes of scales 1, 2 and 3, each from those before, then the sums of all
 * scales at once. */
#include "kernels/common/gpu.h"
#include "kernels/common/mirror.h"
#include "kernels/vif/vif_work.h"
#include "kernels/vif/vif_math.h"

namespace vmafx::vif_device {

using namespace gpu;

/* The two pictures at one scale, of samples T. */
template <class T>
struct Pair {
  const uint8_t *ref, *dist;
  int64_t ref_stride, dist_stride;  // bytes
  int w, h;
};

template <class T>
VMAFX_DEVICE Pair<T> luma_pair(const VifWork& work) {
  const unsigned frame = block_id().z;
  const hip::DevicePlane &ref = work.luma.ref[hip::ref_index(frame)], &dist = work.luma.dist[frame];
  return {ref.data, dist.data, ref.stride, dist.stride, work.scale[0].w, work.scale[0].h};
}

VMAFX_DEVICE uint8_t* decimated_plane(const VifWork& work, int scale, int side) {
  const VifPlanes& planes = work.scale[scale];
  return work.scratch + planes.first_plane + (2 * block_id().z + side) * planes.plane_bytes;
}

VMAFX_DEVICE Pair<uint16_t> decimated_pair(const VifWork& work, int scale) {
  const VifPlanes& planes = work.scale[scale];
  return {decimated_plane(work, scale, 0), decimated_plane(work, scale, 1), planes.stride, planes.stride, planes.w,
          planes.h};
}

/* Where a window that reaches `half` to each side finds sample `i`. What lies behind all windows may be anything. */
VMAFX_DEVICE int reflected(int i, int size, int half) { return mirror(i < size + half ? i : size - 1, size); }

/* Samples of column x, from row y on. */
template <int half, class T, int rows>
VMAFX_DEVICE void load_column(const Pair<T>& in, int x, int y, uint32_t (&ref)[rows], uint32_t (&dist)[rows]) {
  VMAFX_UNROLL
  for (int k = 0; k < rows; k++) {
    const int64_t row = reflected(y + k, in.h, half);
    ref[k] = reinterpret_cast<const T*>(in.ref + row * in.ref_stride)[x];
    dist[k] = reinterpret_cast<const T*>(in.dist + row * in.dist_stride)[x];
  }
}

/* The weighted sum of the window of `scale` that begins at values[first]. */
template <int scale, class Sum, int n>
VMAFX_DEVICE Sum weigh(const uint32_t (&values)[n], int first) {
  constexpr int kHalf = kVifHalfWidth[scale];
  Sum sum = 0;
  VMAFX_UNROLL
  for (int k = -kHalf; k <= kHalf; k++) sum += Sum{kVifTaps[scale][k < 0 ? -k : k]} * values[first + kHalf + k];
  return sum;
}

/* The mean of 16-bit samples: as the taps add up to 65536, their sum and its rounding fit 32 bits. */
template <int scale, int n>
VMAFX_DEVICE uint32_t mean(const uint32_t (&samples)[n], int first, int shift) {
  return (weigh<scale, uint32_t>(samples, first) + ((1u << shift) >> 1)) >> shift;
}

// -- Decimation ------------------------------------------------------------------------------------------------------

template <int next, class T>
VMAFX_DEVICE void decimate(const VifWork& work, const Pair<T>& in) {
  constexpr int kHalf = kVifHalfWidth[next], kColumns = vif_decimated_columns(next);
  constexpr int kWindow = 2 * kHalf + 1, kRows = 2 * (kVifDecimatedRows - 1) + kWindow;
  VMAFX_SHARED(uint32_t, filtered, [kVifDecimatedRows][kVifThreads]);  // ref in the low half
  const VifPlanes& out = work.scale[next];
  const int thread = static_cast<int>(thread_id().x);
  const int x0 = static_cast<int>(block_id().x) * kColumns, y0 = static_cast<int>(block_id().y) * kVifDecimatedRows;

  uint32_t ref[kRows], dist[kRows];
  load_column<kHalf>(in, reflected(2 * x0 - kHalf + thread, in.w, kHalf), 2 * y0 - kHalf, ref, dist);
  const int shift = vif_shifts(next - 1, work.bpc).mean;
  VMAFX_UNROLL
  for (int i = 0; i < kVifDecimatedRows; i++)
    filtered[i][thread] = mean<next>(ref, 2 * i, shift) | mean<next>(dist, 2 * i, shift) << 16;
  block_sync();

  for (int i = thread; i < kVifDecimatedRows * kColumns; i += kVifThreads) {
    const int row = i / kColumns, column = i - row * kColumns, x = x0 + column, y = y0 + row;
    if (x >= out.w || y >= out.h) continue;
    uint32_t ref_window[kWindow], dist_window[kWindow];
    VMAFX_UNROLL
    for (int k = 0; k < kWindow; k++) {
      const uint32_t both = filtered[row][2 * column + k];
      ref_window[k] = both & 0xffff;
      dist_window[k] = both >> 16;
    }
    const int64_t at = y * out.stride + x * 2;
    *reinterpret_cast<uint16_t*>(decimated_plane(work, next, 0) + at) =
        static_cast<uint16_t>(mean<next>(ref_window, 0, 16));
    *reinterpret_cast<uint16_t*>(decimated_plane(work, next, 1) + at) =
        static_cast<uint16_t>(mean<next>(dist_window, 0, 16));
  }
}

// -- Sums ------------------------------------------------------------------------------------------------------------

/* What the vertical pass leaves of a row: means Q8, squares Q16. A thread of the horizontal pass begins two packs of
 * four after its neighbour. With even and odd packs apart, on other banks, neighbours read neighbouring packs. */
enum Quantity { kMu1, kMu2, kXx, kYy, kXy, kQuantities };
inline constexpr int kPack = 4, kOddPacks = kVifThreads / 2 + 16, kRowWords = kOddPacks + kVifThreads / 2;
using FilteredRow = uint32_t[kQuantities][kRowWords];

VMAFX_DEVICE int place_of(int column) {
  return (column / kPack % 2) * kOddPacks + column / (2 * kPack) * kPack + column % kPack;
}

template <int scale, class T>
VMAFX_DEVICE void filter_columns(const Pair<T>& in, int x, int y, int bpc, FilteredRow* filtered) {
  constexpr int kHalf = kVifHalfWidth[scale], kRows = kVifTileRows + 2 * kHalf;
  const VifShifts shifts = vif_shifts(scale, bpc);
  const int thread = static_cast<int>(thread_id().x), place = place_of(thread);
  uint32_t ref[kRows], dist[kRows], square[kRows];
  load_column<kHalf>(in, reflected(x - kHalf + thread, in.w, kHalf), y - kHalf, ref, dist);

  VMAFX_UNROLL
  for (int i = 0; i < kVifTileRows; i++) {
    filtered[i][kMu1][place] = mean<scale>(ref, i, shifts.mean);
    filtered[i][kMu2][place] = mean<scale>(dist, i, shifts.mean);
  }
  VMAFX_UNROLL
  for (int quantity = kXx; quantity <= kXy; quantity++) {
    VMAFX_UNROLL
    for (int k = 0; k < kRows; k++)
      square[k] = (quantity == kYy ? dist : ref)[k] * (quantity == kXx ? ref : dist)[k];
    VMAFX_UNROLL
    for (int i = 0; i < kVifTileRows; i++)
      filtered[i][quantity][place] =
          static_cast<uint32_t>(vif_round_shift(weigh<scale, uint64_t>(square, i), shifts.square));
  }
}

/* What the windows of a run need of a row of one quantity. */
template <int scale>
struct RunWindow {
  static constexpr int kPacks = (kVifRun + 2 * kVifHalfWidth[scale] + kPack - 1) / kPack;
  uint32_t values[kPacks * kPack];
};

template <int scale>
VMAFX_DEVICE RunWindow<scale> load_run(const uint32_t (&row)[kRowWords], int column) {
  RunWindow<scale> window;
  VMAFX_UNROLL
  for (int p = 0; p < window.kPacks; p++) {
    const auto pack = load_pack<kPack>(&row[place_of(column + p * kPack)]);
    VMAFX_UNROLL
    for (int i = 0; i < kPack; i++) window.values[p * kPack + i] = pack.v[i];
  }
  return window;
}

template <int scale>
VMAFX_DEVICE void filter_means(const uint32_t (&row)[kRowWords], int column, uint32_t (&means)[kVifRun]) {
  const auto window = load_run<scale>(row, column);
  VMAFX_UNROLL
  for (int i = 0; i < kVifRun; i++) means[i] = weigh<scale, uint32_t>(window.values, i);
}

template <int scale>
VMAFX_DEVICE void filter_squares(const uint32_t (&row)[kRowWords], int column, uint32_t (&squares)[kVifRun]) {
  const auto window = load_run<scale>(row, column);
  VMAFX_UNROLL
  for (int i = 0; i < kVifRun; i++)
    squares[i] = static_cast<uint32_t>(vif_round_shift(weigh<scale, uint64_t>(window.values, i), 16));
}

template <int scale, class T>
VMAFX_DEVICE VifScaleSums add_tile(const VifWork& work, const Pair<T>& in, FilteredRow* filtered) {
  constexpr int kColumns = vif_tile_columns(scale), kRunThreads = kVifThreads / kVifTileRows;
  const VifPlanes& planes = work.scale[scale];
  const int tile = static_cast<int>(block_id().x) - planes.first_block, tile_y = tile / planes.tiles_across;
  const int x0 = (tile - tile_y * planes.tiles_across) * kColumns, y0 = tile_y * kVifTileRows;
  filter_columns<scale>(in, x0, y0, work.bpc, filtered);
  block_sync();

  const int thread = static_cast<int>(thread_id().x), row = thread / kRunThreads;
  const int column = thread % kRunThreads * kVifRun, x = x0 + column;
  VifScaleSums sums = {};
  if (column >= kColumns || x >= in.w || y0 + row >= in.h) return sums;
  uint32_t mu1[kVifRun], mu2[kVifRun], xx[kVifRun], yy[kVifRun], xy[kVifRun];
  filter_means<scale>(filtered[row][kMu1], column, mu1);
  filter_means<scale>(filtered[row][kMu2], column, mu2);
  filter_squares<scale>(filtered[row][kXx], column, xx);
  filter_squares<scale>(filtered[row][kYy], column, yy);
  filter_squares<scale>(filtered[row][kXy], column, xy);
  VMAFX_UNROLL
  for (int i = 0; i < kVifRun; i++)
    if (x + i < in.w) vif_add(vif_term({mu1[i], mu2[i], xx[i], yy[i], xy[i]}, work.gain_limit), sums);
  return sums;
}

template <class T>
VMAFX_DEVICE void add_scales(const VifWork& work) {
  VMAFX_SHARED(FilteredRow, filtered, [kVifTileRows]);
  VifScaleSums sums = {};
  const int block = static_cast<int>(block_id().x);
  int scale = 0;
  while (scale + 1 < kVifScales && block >= work.scale[scale + 1].first_block) scale++;
  if (scale == 0) sums = add_tile<0>(work, luma_pair<T>(work), filtered);
  else if (scale == 1) sums = add_tile<1>(work, decimated_pair(work, 1), filtered);
  else if (scale == 2) sums = add_tile<2>(work, decimated_pair(work, 2), filtered);
  else sums = add_tile<3>(work, decimated_pair(work, 3), filtered);

  const int64_t values[] = {sums.num_log, sums.den_log, sums.num_non_log, sums.den_non_log};
  add_block(reinterpret_cast<uint64_t*>(work.sums + block_id().z * work.sums_stride) + scale * 4, values);
}

}  // namespace vmafx::vif_device

VMAFX_KERNEL(vmafx_vif_decimate_8, vmafx::kVifThreads, (vmafx::VifWork work)) {
  vmafx::vif_device::decimate<1>(work, vmafx::vif_device::luma_pair<uint8_t>(work));
}
VMAFX_KERNEL(vmafx_vif_decimate_16, vmafx::kVifThreads, (vmafx::VifWork work)) {
  vmafx::vif_device::decimate<1>(work, vmafx::vif_device::luma_pair<uint16_t>(work));
}
VMAFX_KERNEL(vmafx_vif_decimate_1, vmafx::kVifThreads, (vmafx::VifWork work)) {
  vmafx::vif_device::decimate<2>(work, vmafx::vif_device::decimated_pair(work, 1));
}
VMAFX_KERNEL(vmafx_vif_decimate_2, vmafx::kVifThreads, (vmafx::VifWork work)) {
  vmafx::vif_device::decimate<3>(work, vmafx::vif_device::decimated_pair(work, 2));
}
VMAFX_KERNEL(vmafx_vif_sums_8, vmafx::kVifThreads, (vmafx::VifWork work)) {
  vmafx::vif_device::add_scales<uint8_t>(work);
}
VMAFX_KERNEL(vmafx_vif_sums_16, vmafx::kVifThreads, (vmafx::VifWork work)) {
  vmafx::vif_device::add_scales<uint16_t>(work);
}
