/* The kernel of recolor.h. Block z works on picture z: on a tile of its luma, and on the chroma that belongs to it, for
 * which it also converts the samples around the tile. */
#include "kernels/gpu/gpu.h"
#include "kernels/recolor/recolor_math-inl.h"
#include "kernels/recolor/recolor_work.h"

namespace vmafx::recolor_device {

using namespace gpu;

/* The chroma of a tile, and of a sample around it on each side, as numbers. */
inline constexpr int kWidth = kRecolorColumns + 2, kHeight = kRecolorRows + 2;

VMAFX_DEVICE void store_code(const Recolor& p, const RecolorPicture& picture, int plane, int x, int y, int code) {
  uint8_t* const row = picture.to[plane].get() + y * picture.to_stride[plane];
  if (p.bpc == 8) row[x] = static_cast<uint8_t>(code);
  else reinterpret_cast<uint16_t*>(row)[x] = static_cast<uint16_t>(code);
}

/* The tile of this block: its first luma sample, and that of chroma. */
struct Tile {
  int x, y;
  VMAFX_DEVICE static Tile of_block() {
    return {static_cast<int>(block_id().x) * kRecolorColumns, static_cast<int>(block_id().y) * kRecolorRows};
  }
};

/* Writes the luma of the tile, and leaves its chroma in `cb` and `cr`. */
template <class T>
VMAFX_DEVICE void convert_tile(const RecolorWork& work, const RecolorPicture& picture, const Tile& tile, float* cb,
                               float* cr) {
  const Recolor& p = work.params;
  const int w = p.source.w, h = p.source.h;
  const bool reads_around = p.has_chroma && !p.keeps_planes && (p.across.halved || p.down.halved);
  for (unsigned i = thread_rank(); i < kWidth * kHeight; i += thread_count()) {
    const int column = static_cast<int>(i % kWidth), row = static_cast<int>(i / kWidth);
    const int x = tile.x - 1 + column, y = tile.y - 1 + row;
    const bool in_tile = column > 0 && column <= kRecolorColumns && row > 0 && row <= kRecolorRows && x < w && y < h;
    if (x > w + 1 || y > h + 1 || !(in_tile || reads_around)) continue;
    const ColorTriple color = color_at(p, work.tables.get(), inside_picture(x, w), inside_picture(y, h),
                                       [&](int plane, int at) { return row_of<T>(picture.from[plane], at); });
    if (in_tile && picture.to[0].get()) store_code(p, picture, 0, x, y, luma_code(p, color.a));
    cb[i] = color.b;
    cr[i] = color.c;
  }
}

/* The number of chroma sample (k, j) of the tile, the one at its corner being (0, 0). */
VMAFX_DEVICE float tile_chroma(const Recolor& p, const float* chroma, int k, int j) {
  const auto across = [&](int row) {
    const float* at = chroma + row * kWidth + (p.across.halved ? 2 * k : k + 1);
    return p.across.halved ? chroma_mean(p.across, at[0], at[1], at[2], at[3]) : at[0];
  };
  if (!p.down.halved) return across(j + 1);
  return chroma_mean(p.down, across(2 * j), across(2 * j + 1), across(2 * j + 2), across(2 * j + 3));
}

template <class T>
VMAFX_DEVICE void write_chroma(const Recolor& p, const RecolorPicture& picture, const Tile& tile, const float* cb,
                               const float* cr) {
  const int half_x = p.across.halved ? 1 : 0, half_y = p.down.halved ? 1 : 0;
  const unsigned columns = kRecolorColumns >> half_x, rows = kRecolorRows >> half_y;
  for (unsigned i = thread_rank(); i < columns * rows; i += thread_count()) {
    const int k = static_cast<int>(i & (columns - 1)), j = static_cast<int>(i / columns);
    const int x = (tile.x >> half_x) + k, y = (tile.y >> half_y) + j;
    if (x >= p.chroma_w || y >= p.chroma_h) continue;
    for (int plane = 1; plane < 3; plane++) {
      if (!picture.to[plane].get()) continue;
      const float number = p.keeps_planes ? kept_chroma(p, row_of<T>(picture.from[plane], y)[x])
                                          : tile_chroma(p, plane == 1 ? cb : cr, k, j);
      store_code(p, picture, plane, x, y, chroma_code(p, number));
    }
  }
}

VMAFX_DEFINE_SAMPLE_KERNELS(recolor, T, work) {
  VMAFX_SHARED(float, cb, [kWidth * kHeight]);
  VMAFX_SHARED(float, cr, [kWidth * kHeight]);
  const RecolorPicture& picture = work.picture[block_id().z];
  const Tile tile = Tile::of_block();
  convert_tile<T>(work, picture, tile, cb, cr);
  block_sync();
  if (work.params.has_chroma) write_chroma<T>(work.params, picture, tile, cb, cr);
}

}  // namespace vmafx::recolor_device
