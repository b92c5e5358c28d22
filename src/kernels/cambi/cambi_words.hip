/* Kernels of cambi: the words of each scale, a level and whether it is masked. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_WORDS_HIP
#define VMAFX_KERNELS_CAMBI_CAMBI_WORDS_HIP

#include "kernels/cambi/cambi_work.h"
#include "kernels/gpu/gpu.h"

namespace vmafx::cambi {

inline constexpr uint32_t kMasked = 0x8000;

struct Picture {
  const CambiSide& side;
  int index, frame;
  bool is_dist;

  VMAFX_DEVICE explicit Picture(const CambiWork& work)
      : side(work.side[gpu::block_id().z >= static_cast<unsigned>(work.frames)]),
        index(static_cast<int>(gpu::block_id().z)), frame(index % work.frames), is_dist(index < work.frames) {}

  VMAFX_DEVICE uint8_t* area(const CambiWork& work) const {
    return work.scratch + side.first_picture + frame * side.picture_bytes;
  }
  VMAFX_DEVICE uint16_t* words(const CambiWork& work, int scale) const {
    return reinterpret_cast<uint16_t*>(area(work) + side.scale[scale].words);
  }
  VMAFX_DEVICE uint32_t* keys(const CambiWork& work, int scale) const {
    return reinterpret_cast<uint32_t*>(area(work) + side.scale[scale].keys);
  }
  VMAFX_DEVICE uint64_t* digits(const CambiWork& work, int scale, int step) const {
    return reinterpret_cast<uint64_t*>(area(work) + side.digits) + (kCambiKeyDigits * scale + step) * kCambiDigitValues;
  }
  VMAFX_DEVICE CambiScaleSums& sums(const CambiWork& work, int scale) const {
    CambiSums& both = work.sums[frame];
    return (is_dist ? both.dist : both.ref)[scale];
  }
};

/* -- prepare ------------------------------------------------------------------------------------------------------- */

VMAFX_DEVICE int clamped(int i, int size) { return i < 0 ? 0 : i < size ? i : size - 1; }

/* Which sample of the picture is sample i here. */
VMAFX_DEVICE int nearest(const CambiResampling& resampling, int i) {
  if (resampling.from == 0) return i;
  const int mark = i / resampling.stride;
  float at = resampling.marks[mark];
  VMAFX_ROLLED
  for (int k = mark * resampling.stride; k < i; k++) at += resampling.step;
  return cambi_nearest(at, resampling.from);
}

struct LevelPair {
  uint32_t here, right;
};

/* Samples of a row, or, where they are averaged, sums of two. */
VMAFX_DEVICE LevelPair sums_across(const uint16_t* row, int column, bool two) {
  const uint32_t here = row[column], right = row[column + 1];
  if (!two) return {here, right};
  return {here + right, right + row[column + 2]};
}

/* A thread takes a column of the tile with what lies beside it, in each step some of its rows. */
VMAFX_DEFINE_SAMPLE_KERNELS(cambi_prepare, T, work) {
  constexpr int kReach = kCambiMaskRadius, kColumns = kCambiPrepareColumns;
  constexpr int kGroups = kCambiPrepareThreads / kColumns, kRun = kCambiPrepareH / kGroups;
  constexpr int kRawH = kCambiPrepareH + 2 * kReach + 2;
  VMAFX_SHARED(int32_t, rows, [kRawH]);
  VMAFX_SHARED(uint16_t, raw, [kRawH][kColumns]);
  VMAFX_SHARED(uint16_t, levels, [kCambiPrepareH][kColumns]);
  VMAFX_SHARED(uint8_t, column_sums, [kCambiPrepareH][kColumns]);

  const Picture picture(work);
  const CambiSide& side = picture.side;
  const int thread = static_cast<int>(gpu::thread_id().x), block = static_cast<int>(gpu::block_id().x);
  const int tiles_x = (side.w + kCambiPrepareW - 1) / kCambiPrepareW;
  const int tiles = tiles_x * ((side.h + kCambiPrepareH - 1) / kCambiPrepareH);
  if (block >= tiles) return;
  const int x0 = block % tiles_x * kCambiPrepareW, y0 = block / tiles_x * kCambiPrepareH;
  const int column = thread % kColumns, group = thread / kColumns, x = x0 - kReach + column;

  uint64_t* const digits = picture.digits(work, 0, 0);
  for (int i = block * kCambiPrepareThreads + thread; i < kCambiScales * kCambiKeyDigits * kCambiDigitValues;
       i += tiles * kCambiPrepareThreads)
    digits[i] = 0;
  if (thread < kRawH) rows[thread] = nearest(side.rows, clamped(y0 - kReach + thread, side.h));
  gpu::block_sync();
  const hip::DevicePlane& plane =
      picture.is_dist ? work.luma.dist[picture.frame] : work.luma.ref[hip::ref_index(picture.frame)];
  const uint8_t* const from = plane.data + nearest(side.columns, clamped(x, side.w)) * static_cast<int>(sizeof(T));
  VMAFX_UNROLL
  for (int i = 0; i < (kRawH + kGroups - 1) / kGroups; i++) {
    const int y = i * kGroups + group;
    if (y < kRawH)
      raw[y][column] = static_cast<uint16_t>(
          cambi_ten_bits(*reinterpret_cast<const T*>(from + rows[y] * plane.stride), work.params.bpc));
  }
  gpu::block_sync();

  /* The flags of the last rows are bits of a number. The last two columns only help. */
  if (column < kColumns - 2) {
    const bool last_column = x + 1 == side.w, inside = x >= 0 && x < side.w;
    const int first = group * kRun;
    uint32_t flags = 0;
    LevelPair above = sums_across(raw[first], column, work.params.anti_dither), here = {};
    for (int r = 0; r <= kRun + 2 * kReach; r++) {
      /* Levels of row r here and to its right: at the borders samples are there twice, as good as not at all. */
      const LevelPair next = sums_across(raw[first + r + 1], column, work.params.anti_dither);
      LevelPair level = above;
      if (work.params.anti_dither) level = {(above.here + next.here) / 4, (above.right + next.right) / 4};
      above = next;
      if (r > 0) {
        const int y = y0 - kReach + first + r - 1; /* the row before: this one is below it */
        const bool flat = inside && y >= 0 && y < side.h && (last_column || here.here == here.right) &&
                          (y + 1 == side.h || here.here == level.here);
        flags = flags << 1 | flat;
        if (r > 2 * kReach)
          column_sums[first + r - 1 - 2 * kReach][column] =
              static_cast<uint8_t>(__builtin_popcount(flags & ((2u << 2 * kReach) - 1)));
      }
      if (r >= kReach && r < kReach + kRun) levels[first + r - kReach][column] = static_cast<uint16_t>(level.here);
      here = level;
    }
  }
  gpu::block_sync();

  const int step = work.params.halved ? 2 : 1, w = side.scale[0].w, tx = column - kReach;
  uint16_t* const words = reinterpret_cast<uint16_t*>(picture.area(work) + side.prepared);
  if (tx < 0 || tx >= kCambiPrepareW || x >= side.w || tx % step) return;
  for (int ty = group * step; ty < kCambiPrepareH && y0 + ty < side.h; ty += kGroups * step) {
    int sum = 0;
    VMAFX_UNROLL
    for (int k = -kReach; k <= kReach; k++) sum += column_sums[ty][column + k];
    const uint32_t word = levels[ty][column] | (sum > side.mask_above ? kMasked : 0);
    words[static_cast<int64_t>((y0 + ty) / step) * w + x / step] = static_cast<uint16_t>(word);
  }
}

/* -- filter -------------------------------------------------------------------------------------------------------- */

struct Words {
  const uint16_t* data;
  int stride, step;  // words from one row of data to the next; samples of it for one here
  int w, h;

  VMAFX_DEVICE uint32_t at(int x, int y) const { return data[static_cast<int64_t>(y * step) * stride + x * step]; }
  VMAFX_DEVICE uint32_t level(int x, int y) const { return at(x, y) & (kMasked - 1); }
  VMAFX_DEVICE uint32_t filtered(int x, int y) const {
    const uint32_t here = level(x, y);
    return x > 0 && x < w - 1 ? cambi_mode(level(x - 1, y), here, level(x + 1, y)) : here;
  }
};

VMAFX_DEFINE_KERNEL(cambi_filter, work) {
  const Picture picture(work);
  const CambiScalePlanes& to = picture.side.scale[work.scale];
  Words from = {reinterpret_cast<const uint16_t*>(picture.area(work) + picture.side.prepared), to.w, 1, to.w, to.h};
  if (work.scale > 0) {
    from.data = picture.words(work, work.scale - 1);
    from.stride = picture.side.scale[work.scale - 1].w;
    from.step = 2;
  }
  const int x = static_cast<int>(gpu::block_id().x * kCambiFilterW + gpu::thread_id().x);
  const int first = static_cast<int>(gpu::block_id().y * kCambiFilterH + gpu::thread_id().y * kCambiFilterRows);
  if (x >= to.w || first >= to.h) return;
  uint16_t* const words = picture.words(work, work.scale);
  uint32_t above = first > 0 ? from.filtered(x, first - 1) : 0, here = from.filtered(x, first);
  for (int y = first; y < first + kCambiFilterRows && y < to.h; y++) {
    const uint32_t below = y + 1 < to.h ? from.filtered(x, y + 1) : 0, word = from.at(x, y);
    const bool inside = y > 0 && y < to.h - 1;
    words[static_cast<int64_t>(y) * to.w + x] =
        static_cast<uint16_t>(inside ? cambi_mode(above, here, below) | (word & kMasked) : word);
    above = here;
    here = below;
  }
}

}  // namespace vmafx::cambi

#endif
