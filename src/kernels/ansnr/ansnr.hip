/* The kernels of float_ansnr: the lumas of a batch in one launch. Grid: tiles in x and y, frames. */
#include "kernels/ansnr/ansnr_math.h"
#include "kernels/ansnr/ansnr_work.h"
#include "kernels/common/gpu.h"

namespace vmafx::ansnr {

/* A tile with `radius` samples around it, reflected where they are outside of the picture. Samples that no window inside needs
 * are those at the nearest border. */
template <int radius>
struct Tile {
  static constexpr int kW = kAnsnrTileW + 2 * radius, kH = kAnsnrTileH + 2 * radius;
  using Rows = uint16_t[kH][kW];
};

VMAFX_DEVICE int inside(int i, int size, int radius) {
  return ansnr_reflect(i < size + radius ? i : size - 1, size);
}

template <class T, int radius>
VMAFX_DEVICE void load_tile(const hip::DevicePlane& plane, int left, int top, int w, int h,
                            typename Tile<radius>::Rows& rows) {
  using Shape = Tile<radius>;
  for (int i = static_cast<int>(gpu::thread_rank()); i < Shape::kW * Shape::kH; i += static_cast<int>(gpu::thread_count())) {
    const int y = i / Shape::kW, x = i - y * Shape::kW;
    const T* row = reinterpret_cast<const T*>(plane.data + inside(top + y - radius, h, radius) * plane.stride);
    rows[y][x] = row[inside(left + x - radius, w, radius)];
  }
}

VMAFX_DEVICE int32_t ref_window(const Tile<kAnsnrRefRadius>::Rows& rows, int x, int y) {
  int32_t sum = 0;
  VMAFX_UNROLL
  for (int dx = 0; dx < 3; dx++)
    sum += ansnr_ref_column(dx < 1 ? 1 - dx : dx - 1, rows[y + 1][x + dx], rows[y][x + dx] + rows[y + 2][x + dx]);
  return sum;
}

VMAFX_DEVICE int32_t dist_window(const Tile<kAnsnrDistRadius>::Rows& rows, int x, int y) {
  int32_t sum = 0;
  VMAFX_UNROLL
  for (int dx = 0; dx < 5; dx++)
    sum += ansnr_dist_column(dx < 2 ? 2 - dx : dx - 2, rows[y + 2][x + dx], rows[y + 1][x + dx] + rows[y + 3][x + dx],
                             rows[y][x + dx] + rows[y + 4][x + dx]);
  return sum;
}

template <class T>
VMAFX_DEVICE void add_tile(const AnsnrWork& work) {
  VMAFX_SHARED(Tile<kAnsnrRefRadius>::Rows, ref_rows, );
  VMAFX_SHARED(Tile<kAnsnrDistRadius>::Rows, dist_rows, );
  const gpu::Dim3 block = gpu::block_id(), thread = gpu::thread_id();
  const int frame = static_cast<int>(block.z), x = static_cast<int>(thread.x);
  const int left = static_cast<int>(block.x) * kAnsnrTileW, top = static_cast<int>(block.y) * kAnsnrTileH;
  load_tile<T, kAnsnrRefRadius>(work.luma.ref[hip::ref_index(frame)], left, top, work.w, work.h, ref_rows);
  load_tile<T, kAnsnrDistRadius>(work.luma.dist[frame], left, top, work.w, work.h, dist_rows);
  gpu::block_sync();

  uint64_t sums[3] = {};
  for (int y = static_cast<int>(thread.y); y < kAnsnrTileH; y += kAnsnrThreadRows) {
    if (left + x >= work.w || top + y >= work.h) continue;
    const int32_t window = ref_window(ref_rows, x, y);
    const int64_t signal = window - ansnr_middle(work.bpc);
    const uint64_t noise = ansnr_noise(window, dist_window(dist_rows, x, y));
    sums[0] += static_cast<uint64_t>(signal * signal);
    sums[1] += static_cast<uint32_t>(noise * noise);
    sums[2] += noise * noise >> 32;
  }
  const int64_t values[3] = {static_cast<int64_t>(sums[0]), static_cast<int64_t>(sums[1]), static_cast<int64_t>(sums[2])};
  gpu::add_block(work.sums + frame * work.sums_stride, values);
}

}  // namespace vmafx::ansnr

VMAFX_KERNEL(vmafx_ansnr_8, vmafx::kAnsnrTileW* vmafx::kAnsnrThreadRows, (vmafx::AnsnrWork work)) {
  vmafx::ansnr::add_tile<uint8_t>(work);
}

VMAFX_KERNEL(vmafx_ansnr_16, vmafx::kAnsnrTileW* vmafx::kAnsnrThreadRows, (vmafx::AnsnrWork work)) {
  vmafx::ansnr::add_tile<uint16_t>(work);
}
