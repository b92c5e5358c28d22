/* The kernels of float_ansnr, which write squares; kernels/steps/row_sums.hip adds them up. The lumas of a batch in one
 * launch. Grid: tiles in x and y, frames. */
#include "kernels/float_ansnr/float_ansnr_math-inl.h"
#include "kernels/float_ansnr/float_ansnr_work.h"
#include "kernels/gpu/gpu.h"

namespace vmafx::ansnr {

/* A tile with `radius` samples around it, reflected where they are outside of the picture. Samples that no window
 * inside needs are those at the nearest border. */
template <int radius>
struct Tile {
  static constexpr int kW = kAnsnrTileW + 2 * radius, kH = kAnsnrTileH + 2 * radius;
  using Rows = float[kH][kW];
};

VMAFX_DEVICE int inside(int i, int size, int radius) { return ansnr_reflect(i < size + radius ? i : size - 1, size); }

template <class T, int radius>
VMAFX_DEVICE void load_tile(const AnsnrWork& work, const hip::DevicePlane& plane, int left, int top,
                            typename Tile<radius>::Rows& rows) {
  using Shape = Tile<radius>;
  for (int i = static_cast<int>(gpu::thread_rank()); i < Shape::kW * Shape::kH;
       i += static_cast<int>(gpu::thread_count())) {
    const int y = i / Shape::kW, x = i - y * Shape::kW;
    const T* row = row_of<T>(plane, inside(top + y - radius, work.h, radius));
    const T sample = row[inside(left + x - radius, work.w, radius)];
    rows[y][x] = static_cast<float>(sample) * work.sample_scale + kAnsnrOffset;
  }
}

VMAFX_DEFINE_SAMPLE_KERNELS(ansnr, T, work) {
  VMAFX_SHARED(Tile<kAnsnrRefRadius>::Rows, ref_rows, );
  VMAFX_SHARED(Tile<kAnsnrDistRadius>::Rows, dist_rows, );
  const gpu::Dim3 block = gpu::block_id(), thread = gpu::thread_id();
  const int frame = static_cast<int>(block.z), x = static_cast<int>(thread.x);
  const int left = static_cast<int>(block.x) * kAnsnrTileW, top = static_cast<int>(block.y) * kAnsnrTileH;
  load_tile<T, kAnsnrRefRadius>(work, work.luma.ref[hip::ref_index(frame)], left, top, ref_rows);
  load_tile<T, kAnsnrDistRadius>(work, work.luma.dist[frame], left, top, dist_rows);
  gpu::block_sync();

  for (int y = static_cast<int>(thread.y); y < kAnsnrTileH; y += kAnsnrThreadRows) {
    if (left + x >= work.squares.pitch || top + y >= work.h) continue;
    const AnsnrSquares squares =
        ansnr_squares([&](int dy) { return AlongRow{&ref_rows[y + kAnsnrRefRadius + dy][x + kAnsnrRefRadius]}; },
                      [&](int dy) { return AlongRow{&dist_rows[y + kAnsnrDistRadius + dy][x + kAnsnrDistRadius]}; });
    work.squares.first[work.squares.row(frame, 0, top + y) + left + x] = squares.signal;
    work.squares.first[work.squares.row(frame, 1, top + y) + left + x] = squares.noise;
  }
}

}  // namespace vmafx::ansnr
