/* The kernels of psnr and msad: all tiles of all planes of a batch in one launch. Grid: tiles, 1, frames. */
#include "kernels/gpu/gpu.h"
#include "kernels/psnr/psnr_work.h"

namespace vmafx::psnr {

/* A thread's sum: for bytes kPsnrPacksPerThread · 16 · 255² < 2^23. */
template <class T>
struct ThreadSum {
  using Type = uint32_t;
};
template <>
struct ThreadSum<uint16_t> {
  using Type = uint64_t;
};

/* The thread's column of a tile: packs of 16 bytes in rows y, y + kPsnrThreadRows and so on, those below h. */
template <class T, class Error>
VMAFX_DEVICE uint64_t column_errors(const hip::DevicePlane& ref, const hip::DevicePlane& dist, int x, int y, int h) {
  constexpr int n = 16 / sizeof(T);
  gpu::Pack<T, n> refs[kPsnrPacksPerThread], dists[kPsnrPacksPerThread];
  VMAFX_UNROLL
  for (unsigned i = 0; i < kPsnrPacksPerThread; i++) { /* all loads before their first use, so that they overlap */
    const int below = y + static_cast<int>(i * kPsnrThreadRows), row = below < h ? below : h - 1;
    refs[i] = gpu::load_pack<n>(row_of<T>(ref, row) + x);
    dists[i] = gpu::load_pack<n>(row_of<T>(dist, row) + x);
  }
  typename ThreadSum<T>::Type sum = 0;
  VMAFX_UNROLL
  for (unsigned i = 0; i < kPsnrPacksPerThread; i++) {
    if (y + static_cast<int>(i * kPsnrThreadRows) >= h) break;
    VMAFX_UNROLL
    for (int k = 0; k < n; k++) sum += Error()(refs[i].v[k], dists[i].v[k]);
  }
  return sum;
}

/* The errors of packs that the end of the row cuts. */
template <class T, class Error>
VMAFX_DEVICE uint64_t edge_errors(const hip::DevicePlane& ref, const hip::DevicePlane& dist, int x, int y, int w,
                                  int h) {
  uint64_t sum = 0;
  for (int row = y; row < h && row < y + static_cast<int>(kPsnrTileRows); row += kPsnrThreadRows) {
    const T *ref_row = row_of<T>(ref, row), *dist_row = row_of<T>(dist, row);
    for (int i = x; i < w; i++) sum += Error()(ref_row[i], dist_row[i]);
  }
  return sum;
}

/* Adds the errors of a thread, from a place of a plane on, to the blocks of maps. Without maps there are none. */
template <class Work>
VMAFX_DEVICE void add_to_map(const Work&, unsigned, int, int, uint64_t) {}
VMAFX_DEVICE void add_to_map(const PsnrMapWork& work, unsigned plane, int x, int y, uint64_t sum) {
  if (sum)
    gpu::atomic_add(&work.blocks[gpu::block_id().z] + work.first_block[plane] +
                        y / kPsnrBlockSide * work.across[plane] + x / kPsnrBlockSide,
                    sum);
}

/* Adds the errors of a block's tile to the sum of its plane. */
template <class T, class Error, class Work>
VMAFX_DEVICE void add_tile(const Work& work, uint64_t (&sums)[3]) {
  constexpr int n = 16 / sizeof(T);
  const unsigned block = gpu::block_id().x, frame = gpu::block_id().z;
  const unsigned plane = (block >= work.tiles[1].first) + (block >= work.tiles[2].first);
  const PsnrPlaneTiles& tiles = work.tiles[plane];
  const unsigned tile = block - tiles.first, tile_y = tile / tiles.tiles_x, tile_x = tile - tile_y * tiles.tiles_x;
  const int x = static_cast<int>(tile_x * kPsnrTilePacks + gpu::thread_id().x) * n;
  const int y = static_cast<int>(tile_y * kPsnrTileRows + gpu::thread_id().y);

  const hip::DevicePlane& ref = work.planes[plane].ref[hip::ref_index(static_cast<int>(frame))];
  const hip::DevicePlane& dist = work.planes[plane].dist[frame];
  uint64_t sum = 0;
  if (x + n <= tiles.w) sum = column_errors<T, Error>(ref, dist, x, y, tiles.h);
  else if (x < tiles.w) sum = edge_errors<T, Error>(ref, dist, x, y, tiles.w, tiles.h);
  add_to_map(work, plane, x, y, sum);
  gpu::add_block(sums[plane], sum);
}

VMAFX_DEFINE_SAMPLE_KERNELS(psnr, T, work) { add_tile<T, SquaredError>(work, work.sums[gpu::block_id().z].sse); }

VMAFX_DEFINE_SAMPLE_KERNELS(psnr_maps, T, work) { add_tile<T, SquaredError>(work, work.sums[gpu::block_id().z].sse); }

VMAFX_DEFINE_SAMPLE_KERNELS(msad, T, work) { add_tile<T, AbsoluteError>(work, work.sums[gpu::block_id().z].sad); }

}  // namespace vmafx::psnr
