/* The kernels of float_ssim and float_ms_ssim: planes of the first scale where it is not the samples themselves, of
 * each further scale, then the sums of all scales. Frames along z. */
#include "kernels/common/gpu.h"
#include "kernels/common/mirror.h"
#include "kernels/ssim/ssim_math-inl.h"
#include "kernels/ssim/ssim_work.h"

namespace vmafx::ssim_device {

using namespace gpu;

VMAFX_DEVICE float* plane_of(const SsimWork& work, int scale, int kind) {
  const SsimPlanes& planes = work.of[scale];
  return work.scratch + planes.first + (2 * block_id().z + kind) * planes.plane;
}

template <class T>
VMAFX_DEVICE const T* sample_row(const hip::DevicePlane& plane, int y) {
  return reinterpret_cast<const T*>(plane.data + y * plane.stride);
}

// -- The first scale -------------------------------------------------------------------------------------------------

/* Means over blocks, one to a thread. */
template <class T>
VMAFX_DEVICE void make_mean(const SsimWork& work) {
  const SsimPlanes& out = work.of[0];
  const int x = static_cast<int>(block_id().x * kSsimThreads + thread_id().x), y = static_cast<int>(block_id().y);
  if (x >= out.w) return;
  const hip::DevicePlane& ref = work.luma.ref[hip::ref_index(static_cast<int>(block_id().z))];
  const hip::DevicePlane& dist = work.luma.dist[block_id().z];
  const int factor = work.factor, first_x = ssim_first_sample(x, factor), first_y = ssim_first_sample(y, factor);
  int32_t ref_sum = 0, dist_sum = 0;
  for (int j = 0; j < factor; j++) {
    const int row = mirror_repeated(first_y + j, work.h);
    const T *const refs = sample_row<T>(ref, row), *const dists = sample_row<T>(dist, row);
    for (int i = 0; i < factor; i++) {
      const int column = mirror_repeated(first_x + i, work.w);
      ref_sum += refs[column];
      dist_sum += dists[column];
    }
  }
  const float mean = static_cast<float>(ref_sum) * work.scale;
  const int64_t at = y * out.stride + x;
  plane_of(work, 0, 0)[at] = mean;
  plane_of(work, 0, 1)[at] = mean - static_cast<float>(dist_sum) * work.scale;
}

// -- Columns ---------------------------------------------------------------------------------------------------------

/* Where `i` is found; for what no filter reaches, the nearest sample. */
VMAFX_DEVICE int found(int i, int size) {
  const int reached = i < -size ? -size : i;
  return mirror_repeated(reached < 2 * size ? reached : 2 * size - 1, size);
}

/* Rows y and on of column x of a scale, reflected. */
template <class T, int rows>
VMAFX_DEVICE void load_column(const SsimWork& work, int scale, int x, int y, float (&ref)[rows], float (&diff)[rows]) {
  const SsimPlanes& planes = work.of[scale];
  const int column = found(x, planes.w);
  if (scale == 0 && work.factor == 1) {
    const hip::DevicePlane& ref_plane = work.luma.ref[hip::ref_index(static_cast<int>(block_id().z))];
    const hip::DevicePlane& dist_plane = work.luma.dist[block_id().z];
    VMAFX_UNROLL
    for (int k = 0; k < rows; k++) {
      const int row = found(y + k, planes.h);
      ref[k] = static_cast<float>(sample_row<T>(ref_plane, row)[column]) * work.scale;
      diff[k] = ref[k] - static_cast<float>(sample_row<T>(dist_plane, row)[column]) * work.scale;
    }
  } else {
    const float *const ref_plane = plane_of(work, scale, 0), *const diff_plane = plane_of(work, scale, 1);
    VMAFX_UNROLL
    for (int k = 0; k < rows; k++) {
      const int64_t at = found(y + k, planes.h) * planes.stride + column;
      ref[k] = ref_plane[at];
      diff[k] = diff_plane[at];
    }
  }
}

struct Column {
  const float* centre;
  VMAFX_DEVICE float operator()(int k) const { return centre[k]; }
};

// -- Further scales --------------------------------------------------------------------------------------------------

/* A tile of the planes of scale `next`. */
template <class T>
VMAFX_DEVICE void halve(const SsimWork& work, int next) {
  constexpr int kRadius = SsimHalving::kRadius, kRows = 2 * kSsimTileRows - 1 + 2 * kRadius;
  VMAFX_SHARED(float, between, [2][kSsimTileRows][kSsimThreads]);
  const SsimPlanes& out = work.of[next];
  const int thread = static_cast<int>(thread_id().x);
  const int x = static_cast<int>(block_id().x) * kSsimTileHalved, y = static_cast<int>(block_id().y) * kSsimTileRows;
  float ref[kRows], diff[kRows];
  load_column<T>(work, next - 1, 2 * x - kRadius + thread, 2 * y - kRadius, ref, diff);
  VMAFX_UNROLL
  for (int row = 0; row < kSsimTileRows; row++) {
    between[0][row][thread] = symmetric_sum<SsimHalving>(Column{ref + 2 * row + kRadius});
    between[1][row][thread] = symmetric_sum<SsimHalving>(Column{diff + 2 * row + kRadius});
  }
  block_sync();
  const int column = thread % (kSsimThreads / 2), kind = thread / (kSsimThreads / 2);
  if (column >= kSsimTileHalved || x + column >= out.w) return;
  float* const plane = plane_of(work, next, kind);
  for (int row = 0; row < kSsimTileRows && y + row < out.h; row++)
    plane[(y + row) * out.stride + x + column] =
        symmetric_sum<SsimHalving>(Column{&between[kind][row][2 * column + kRadius]});
}

// -- Windows ---------------------------------------------------------------------------------------------------------

/* This thread's windows: kRunRows rows of kSsimRun. */
constexpr int kRuns = kSsimThreads / kSsimRun, kRunRows = kSsimTileRows * kRuns / kSsimThreads;
constexpr int kThreadWindows = kRunRows * kSsimRun;
constexpr int kTileRows = kSsimTileRows + SsimWindow::kLength - 1;  // of samples
static_assert(kThreadWindows <= kSsimMostIn32Bits);

/* Means over this thread's windows of the values of a tile, of which it has a column. `across` is the block's. Windows
 * behind the tile's last one get anything. */
VMAFX_DEVICE void means_of(const float (&column)[kTileRows], float (&across)[kSsimTileRows][kSsimThreads],
                           float (&means)[kThreadWindows]) {
  constexpr int kRadius = SsimWindow::kRadius, kPacks = (kSsimRun + 2 * kRadius + 3) / 4;
  const int thread = static_cast<int>(thread_id().x);
  VMAFX_UNROLL
  for (int row = 0; row < kSsimTileRows; row++)
    across[row][thread] = symmetric_sum<SsimWindow>(Column{column + row + kRadius});
  block_sync();
  const int x = thread % kRuns * kSsimRun;
  VMAFX_UNROLL
  for (int row = 0; row < kRunRows; row++) {
    float along[4 * kPacks];
    VMAFX_UNROLL
    for (int p = 0; p < kPacks; p++) {
      const int from = x + 4 * p < kSsimThreads ? x + 4 * p : kSsimThreads - 4;
      const Pack<float, 4> pack = load_pack<4>(&across[thread / kRuns * kRunRows + row][from]);
      VMAFX_UNROLL
      for (int i = 0; i < 4; i++) along[4 * p + i] = pack.v[i];
    }
    VMAFX_UNROLL
    for (int i = 0; i < kSsimRun; i++)
      means[row * kSsimRun + i] = symmetric_sum<SsimWindow>(Column{along + kRadius + i});
  }
}

/* Each of a thread's windows. */
struct WindowMeans {
  float ref[kThreadWindows], diff[kThreadWindows];
  float ref_ref[kThreadWindows], diff_diff[kThreadWindows], ref_diff[kThreadWindows];
};

VMAFX_DEVICE void multiply(const float (&a)[kTileRows], const float (&b)[kTileRows], float (&products)[kTileRows]) {
  VMAFX_UNROLL
  for (int k = 0; k < kTileRows; k++) products[k] = a[k] * b[k];
}

template <class T>
VMAFX_DEVICE void load_means(const SsimWork& work, int scale, int x, int y, WindowMeans& means) {
  VMAFX_SHARED(float, across, [2][kSsimTileRows][kSsimThreads]); /* in turn, so that one barrier is enough */
  float ref[kTileRows], diff[kTileRows], products[kTileRows];
  load_column<T>(work, scale, x + static_cast<int>(thread_id().x), y, ref, diff);
  /* In an order that lets go of registers soon. */
  means_of(ref, across[0], means.ref);
  multiply(ref, ref, products);
  means_of(products, across[1], means.ref_ref);
  multiply(ref, diff, products);
  means_of(products, across[0], means.ref_diff);
  multiply(diff, diff, products);
  means_of(products, across[1], means.diff_diff);
  means_of(diff, across[0], means.diff);
}

/* Adds this thread's windows within `columns` and `rows`. */
template <bool with_l>
VMAFX_DEVICE void add_losses(const WindowMeans& means, int columns, int rows, int32_t (&sums)[4]) {
  VMAFX_UNROLL
  for (int i = 0; i < kThreadWindows; i++) {
    if (i % kSsimRun >= columns || i / kSsimRun >= rows) continue;
    const SsimLosses loss =
        ssim_losses<with_l>({means.ref[i], means.diff[i], means.ref_ref[i], means.diff_diff[i], means.ref_diff[i]});
    sums[0] += ssim_fixed(loss.l);
    sums[1] += ssim_fixed(loss.c);
    sums[2] += ssim_fixed(loss.s);
    sums[3] += ssim_fixed(loss.lcs);
  }
}

template <class T>
VMAFX_DEVICE void add_tile(const SsimWork& work) {
  const int block = static_cast<int>(block_id().x), thread = static_cast<int>(thread_id().x);
  int scale = 0;
  while (scale + 1 < work.scales && block >= work.of[scale + 1].first_block) scale++;
  const SsimPlanes& planes = work.of[scale];
  const int tile = block - planes.first_block, tile_y = tile / planes.tiles_across;
  const int x = (tile - tile_y * planes.tiles_across) * kSsimTileWindows, y = tile_y * kSsimTileRows;

  WindowMeans means;
  load_means<T>(work, scale, x, y, means);
  const int run = thread % kRuns * kSsimRun, window_x = x + run, window_y = y + thread / kRuns * kRunRows;
  const int columns = run < kSsimTileWindows ? planes.w - SsimWindow::kLength + 1 - window_x : 0;
  const int rows = planes.h - SsimWindow::kLength + 1 - window_y;
  int32_t sums[4] = {0, 0, 0, 0};
  if (planes.with_l) add_losses<true>(means, columns, rows, sums);
  else add_losses<false>(means, columns, rows, sums);
  const int64_t wide[4] = {sums[0], sums[1], sums[2], sums[3]};
  add_block(work.sums + block_id().z * work.sums_stride + 4 * scale, wide);
}

}  // namespace vmafx::ssim_device

VMAFX_KERNEL(vmafx_ssim_means_8, vmafx::kSsimThreads, (vmafx::SsimWork work)) {
  vmafx::ssim_device::make_mean<uint8_t>(work);
}

VMAFX_KERNEL(vmafx_ssim_means_16, vmafx::kSsimThreads, (vmafx::SsimWork work)) {
  vmafx::ssim_device::make_mean<uint16_t>(work);
}

VMAFX_KERNEL(vmafx_ssim_halve_8, vmafx::kSsimThreads, (vmafx::SsimWork work, int next)) {
  vmafx::ssim_device::halve<uint8_t>(work, next);
}

VMAFX_KERNEL(vmafx_ssim_halve_16, vmafx::kSsimThreads, (vmafx::SsimWork work, int next)) {
  vmafx::ssim_device::halve<uint16_t>(work, next);
}

VMAFX_KERNEL(vmafx_ssim_windows_8, vmafx::kSsimThreads, (vmafx::SsimWork work)) {
  vmafx::ssim_device::add_tile<uint8_t>(work);
}

VMAFX_KERNEL(vmafx_ssim_windows_16, vmafx::kSsimThreads, (vmafx::SsimWork work)) {
  vmafx::ssim_device::add_tile<uint16_t>(work);
}
