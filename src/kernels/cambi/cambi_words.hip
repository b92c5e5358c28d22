/* Kernels of cambi: the words of each scale, a level and whether it is masked. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_WORDS_HIP
#define VMAFX_KERNELS_CAMBI_CAMBI_WORDS_HIP

#include "kernels/cambi/cambi_work.h"
#include "kernels/gpu/gpu.h"
#include "kernels/steps/mirror.h"

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

/* The sample of the picture that is nearest to sample i here. */
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
template <bool two>
VMAFX_DEVICE LevelPair sums_across(const uint16_t* row) {
  const uint32_t here = row[0], right = row[1];
  if constexpr (!two) return {here, right};
  else return {here + right, right + row[2]};
}

struct MaskColumn {
  bool inside, is_last;
  int h;
};

/* How many of the rows around each of a run of rows are flat. y: the row of raw[0]. The flags of the last rows
 * are bits of a number. At the borders samples are there twice, as good as not at all. */
template <bool anti_dither, int run>
VMAFX_DEVICE void mask_column(const MaskColumn& mask, int y, const uint16_t* raw, uint8_t* sums) {
  constexpr int kReach = kCambiMaskRadius, kColumns = kCambiPrepareColumns;
  uint32_t flags = 0;
  LevelPair above = sums_across<anti_dither>(raw), here = {};
  VMAFX_UNROLL
  for (int r = 0; r <= run + 2 * kReach; r++) {
    /* Levels of row r here and to its right. */
    const LevelPair next = sums_across<anti_dither>(raw + (r + 1) * kColumns);
    LevelPair level = above;
    if constexpr (anti_dither) level = {(above.here + next.here) / 4, (above.right + next.right) / 4};
    above = next;
    if (r > 0) {
      const int before = y + r - 1; /* this row is below it */
      const bool flat = mask.inside && before >= 0 && before < mask.h && (mask.is_last || here.here == here.right) &&
                        (before + 1 == mask.h || here.here == level.here);
      flags = flags << 1 | flat;
      if (r > 2 * kReach)
        sums[(r - 1 - 2 * kReach) * kColumns] =
            static_cast<uint8_t>(__builtin_popcount(flags & ((2u << 2 * kReach) - 1)));
    }
    here = level;
  }
}

/* A thread takes a column of the tile with what lies beside it, in each step some of its rows. */
VMAFX_DEFINE_SAMPLE_KERNELS(cambi_prepare, T, work) {
  constexpr int kReach = kCambiMaskRadius, kColumns = kCambiPrepareColumns;
  constexpr int kGroups = kCambiPrepareThreads / kColumns, kRun = kCambiPrepareH / kGroups;
  constexpr int kRawH = kCambiPrepareH + 2 * kReach + 2;
  VMAFX_SHARED(int32_t, rows, [kRawH]);
  VMAFX_SHARED(uint16_t, raw, [kRawH][kColumns]);
  VMAFX_SHARED(uint32_t, column_sums, [kCambiPrepareH][kColumns / 4]);  // a byte each

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
  if (thread < kCambiPrepareH) column_sums[thread][kColumns / 4 - 1] = 0; /* the last two columns have none */
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

  if (column < kColumns - 2) {
    const MaskColumn mask = {x >= 0 && x < side.w, x + 1 == side.w, side.h};
    const int first = group * kRun;
    uint8_t* const sums = reinterpret_cast<uint8_t*>(column_sums[first]) + column;
    if (work.params.anti_dither) mask_column<true, kRun>(mask, y0 - kReach + first, &raw[first][column], sums);
    else mask_column<false, kRun>(mask, y0 - kReach + first, &raw[first][column], sums);
  }
  gpu::block_sync();

  const int step = work.params.halved ? 2 : 1, w = side.scale[0].w, tx = column - kReach;
  uint16_t* const words = reinterpret_cast<uint16_t*>(picture.area(work) + side.prepared);
  if (tx < 0 || tx >= kCambiPrepareW || x >= side.w || tx % step) return;
  for (int ty = group * step; ty < kCambiPrepareH && y0 + ty < side.h; ty += kGroups * step) {
    static_assert(kReach == 3);
    const uint32_t* const four = column_sums[ty] + tx / 4;
    const int shift = tx % 4 * 8;
    const uint64_t before = four[0] | uint64_t{four[1]} << 32, behind = four[1] | uint64_t{four[2]} << 32;
    const auto left = static_cast<uint32_t>(before >> shift), right = static_cast<uint32_t>(behind >> shift);
    const uint32_t sum = gpu::add_bytes(right & 0xffffff, gpu::add_bytes(left, 0));
    const uint16_t *const here = &raw[ty + kReach][column], *const below = here + kColumns;
    const uint32_t level =
        work.params.anti_dither ? (uint32_t{here[0]} + here[1] + below[0] + below[1]) / 4 : uint32_t{here[0]};
    const uint32_t word = level | (static_cast<int>(sum) > side.mask_above ? kMasked : 0);
    words[static_cast<int64_t>((y0 + ty) / step) * w + x / step] = static_cast<uint16_t>(word);
  }
}

/* -- filter -------------------------------------------------------------------------------------------------------- */

/* A column of words, and what lies beside it; in the first and the last column itself. */
struct WordColumn {
  const uint16_t* data;  // of row 0
  int64_t stride;        // words from one row to the next
  int beside;

  struct Word {
    uint32_t word, filtered;  // as it is; its level, filtered along the row
  };
  VMAFX_DEVICE Word at(int y) const {
    const uint16_t* const here = data + y * stride;
    const uint32_t word = *here, level = word & (kMasked - 1);
    return {word, cambi_mode(here[-beside] & (kMasked - 1), level, here[beside] & (kMasked - 1))};
  }
};

/* Rows of a column from `first` on. `inside`: with one before and one behind them. */
template <bool inside>
VMAFX_DEVICE void filter_column(const WordColumn& column, int first, const CambiScalePlanes& to, uint16_t* words) {
  WordColumn::Word above = inside || first > 0 ? column.at(first - 1) : WordColumn::Word{}, here = column.at(first);
  VMAFX_UNROLL
  for (int i = 0; i < kCambiFilterRows; i++) {
    const int y = first + i;
    if (!inside && y >= to.h) break;
    const bool has_below = inside || y + 1 < to.h;
    const WordColumn::Word below = has_below ? column.at(y + 1) : WordColumn::Word{};
    const uint32_t filtered = cambi_mode(above.filtered, here.filtered, below.filtered) | (here.word & kMasked);
    words[static_cast<int64_t>(y) * to.w] =
        static_cast<uint16_t>((inside || y > 0) && has_below ? filtered : here.word);
    above = here;
    here = below;
  }
}

VMAFX_DEFINE_KERNEL(cambi_filter, work) {
  const Picture picture(work);
  const CambiScalePlanes& to = picture.side.scale[work.scale];
  const int x = static_cast<int>(gpu::block_id().x * kCambiFilterW + gpu::thread_id().x);
  const int first = static_cast<int>(gpu::block_id().y * kCambiFilterH + gpu::thread_id().y * kCambiFilterRows);
  if (x >= to.w || first >= to.h) return;
  const bool inside = x > 0 && x < to.w - 1;
  WordColumn from = {reinterpret_cast<const uint16_t*>(picture.area(work) + picture.side.prepared) + x, to.w, inside};
  if (work.scale > 0)
    from = {picture.words(work, work.scale - 1) + 2 * x, int64_t{2} * picture.side.scale[work.scale - 1].w, 2 * inside};
  uint16_t* const words = picture.words(work, work.scale) + x;
  if (first > 0 && first + kCambiFilterRows < to.h) filter_column<true>(from, first, to, words);
  else filter_column<false>(from, first, to, words);
}

}  // namespace vmafx::cambi

#endif
