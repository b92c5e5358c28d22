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

/* A value for each of four neighboring columns, in halves of words: the first and the third, the second and the fourth;
 * and of the fifth and the sixth, as far as they are known. */
struct Columns {
  uint32_t even, odd, fifth, sixth;

  /* The values on the right of the odd ones. */
  VMAFX_DEVICE uint32_t beside_odd() const { return even >> 16 | fifth << 16; }
};

inline constexpr uint32_t kHalves = 0x00010001; /* times a value: in both halves */
inline constexpr int kLevelBits = 11;
inline constexpr uint32_t kAllLevels = kHalves * ((1u << kLevelBits) - 1);
static_assert(kCambiMostLevel < 1 << kLevelBits);

/* Six samples of each row of a plane. `together`: side by side, the first at a multiple of four. */
template <class T, bool together>
struct Samples {
  const uint8_t* first;  // of those that are together, else of the plane
  int64_t beside[6];     // bytes to each from the first, where they are not together
  int bpc;

  VMAFX_DEVICE uint32_t at(const uint8_t* row, int k) const {
    return cambi_ten_bits(*reinterpret_cast<const T*>(row + beside[k]), bpc);
  }
  VMAFX_DEVICE Columns row(int64_t offset) const {
    const uint8_t* const row = first + offset;
    if constexpr (!together)
      return {at(row, 0) | at(row, 2) << 16, at(row, 1) | at(row, 3) << 16, at(row, 4), at(row, 5)};
    const T* const samples = reinterpret_cast<const T*>(row);
    const auto four = gpu::load_pack<4>(samples);
    const auto behind = gpu::load_pack<2>(samples + 4);
    const auto in_halves = [&](int one, int other) {
      return cambi_ten_bits(four.v[one], bpc) | cambi_ten_bits(four.v[other], bpc) << 16;
    };
    return {in_halves(0, 2), in_halves(1, 3), cambi_ten_bits(behind.v[0], bpc), cambi_ten_bits(behind.v[1], bpc)};
  }
};

/* Samples of a row, or, where they are averaged, sums of two. */
template <bool averaged>
VMAFX_DEVICE Columns sums_across(const Columns& row) {
  if constexpr (!averaged) return row;
  else return {row.even + row.odd, row.odd + row.beside_odd(), row.fifth + row.sixth, 0};
}

/* Levels, by such sums of their row and of that below. */
template <bool averaged>
VMAFX_DEVICE Columns levels_of(const Columns& row, const Columns& below) {
  if constexpr (!averaged) return row;
  else
    return {(row.even + below.even) >> 2 & kAllLevels, (row.odd + below.odd) >> 2 & kAllLevels,
            (row.fifth + below.fifth) >> 2, 0};
}

/* Bytes of four columns: 1 where the level to the right or that below is another one, else 0. */
VMAFX_DEVICE uint32_t edges_of(const Columns& row, const Columns& below) {
  const uint32_t even = (row.even ^ row.odd) | (row.even ^ below.even);
  const uint32_t odd = (row.odd ^ row.beside_odd()) | (row.odd ^ below.odd);
  /* A difference with all bits of a level added: as many bits are not enough, but for 0. */
  return ((even + kAllLevels) >> kLevelBits & kHalves) | ((odd + kAllLevels) >> (kLevelBits - 8) & kHalves << 8);
}

/* A tile of the picture: its levels, and the edges in it and kCambiMaskRadius around it, by words of four columns. */
struct PrepareTile {
  static constexpr int kReach = kCambiMaskRadius, kFours = kCambiPrepareColumns / 4;
  static constexpr int kGroups = kCambiPrepareThreads / kFours;  // of threads: one has some rows of all columns
  static constexpr int kEdgesRun = (kCambiPrepareH + 2 * kReach + kGroups - 1) / kGroups,
                       kRun = kCambiPrepareH / kGroups;
  static constexpr int kEdgesH = kEdgesRun * kGroups, kRawH = kEdgesH + 2;
  using Levels = gpu::Pack<uint32_t, 2>;  // Columns::even and odd

  int64_t* rows;              // [kRawH]: bytes to those of the plane that the rows come from
  uint32_t (*edges)[kFours];  // [kEdgesH]
  Levels (*levels)[kFours];   // [kCambiPrepareH]
  int w, h, x0, y0;           // of the picture; of the tile's first column with a word

  /* A thread makes levels and edges of some rows of its four columns. Those outside of the picture count as edges; the
   * samples there are those of its borders, so that no border is one. */
  template <bool averaged, class From>
  VMAFX_DEVICE void fill(const From& from, int four, int group) const {
    const int x = x0 + 4 * (four - 1), first = group * kEdgesRun;
    uint32_t outside = 0;
    VMAFX_UNROLL
    for (int k = 0; k < 4; k++) outside |= static_cast<uint32_t>(x + k < 0 || x + k >= w) << 8 * k;
    Columns above = sums_across<averaged>(from.row(rows[first])), here = {};
    VMAFX_UNROLL
    for (int i = 0; i <= kEdgesRun; i++) {
      const Columns next = sums_across<averaged>(from.row(rows[first + i + 1]));
      const Columns below = levels_of<averaged>(above, next);
      above = next;
      if (i > 0) {
        const int row = first + i - 1, y = y0 - kReach + row;
        edges[row][four] = y >= 0 && y < h ? edges_of(here, below) | outside : 0x01010101;
        if (row >= kReach && row < kReach + kCambiPrepareH) levels[row - kReach][four] = {here.even, here.odd};
      }
      here = below;
    }
  }

  /* Writes the words of some rows of the thread's columns, or of each second sample of each second row. */
  VMAFX_DEVICE void write(const CambiSide& side, bool halved, int four, int group, uint16_t* words) const {
    const int x = x0 + 4 * (four - 1), half = halved, to_w = side.scale[0].w;
    const bool whole = !halved && to_w % 4 == 0;
    /* This less the number of edges around a sample has kMasked set if they are few enough. */
    const uint32_t mask = kHalves * (kMasked + static_cast<uint32_t>(kCambiMaskArea - 1 - side.mask_above));
    uint32_t sums[3] = {}, ring[3][2 * kReach + 1];
    VMAFX_UNROLL
    for (int i = 0; i < kRun + 2 * kReach; i++) {
      const int row = group * kRun + i, y = y0 + row - 2 * kReach;
      VMAFX_UNROLL
      for (int k = 0; k < 3; k++) {
        const uint32_t more = edges[row][four + k - 1];
        sums[k] += more;
        if (i > 2 * kReach) sums[k] -= ring[k][i % (2 * kReach + 1)];
        ring[k][i % (2 * kReach + 1)] = more;
      }
      if (i < 2 * kReach || y >= h) continue;
      /* The windows of the four columns reach three to the left and three to the right. */
      static_assert(kReach == 3);
      const uint32_t all = gpu::add_bytes(sums[1], 0);
      const uint32_t first = gpu::add_bytes_of(sums[0], 0xffffff00, all);
      const uint32_t second = gpu::add_bytes_of(sums[0], 0xffff0000, gpu::add_bytes_of(sums[2], 0xff, all));
      const uint32_t third = gpu::add_bytes_of(sums[0], 0xff000000, gpu::add_bytes_of(sums[2], 0xffff, all));
      const uint32_t fourth = gpu::add_bytes_of(sums[2], 0xffffff, all);
      const Levels level = levels[row - 2 * kReach][four];
      const uint32_t even = level.v[0] | ((mask - (first + (third << 16))) & kHalves * kMasked);
      const uint32_t odd = level.v[1] | ((mask - (second + (fourth << 16))) & kHalves * kMasked);
      uint16_t* const to = words + static_cast<int64_t>(y >> half) * to_w + (x >> half);
      if (whole) {
        gpu::store_pack(reinterpret_cast<uint32_t*>(to),
                        Levels{(even & 0xffff) | odd << 16, even >> 16 | (odd & 0xffff0000)});
      } else if ((y & half) == 0) {
        to[0] = static_cast<uint16_t>(even);
        if (!halved && x + 1 < w) to[1] = static_cast<uint16_t>(odd);
        if (x + 2 < w) to[2 >> half] = static_cast<uint16_t>(even >> 16);
        if (!halved && x + 3 < w) to[3] = static_cast<uint16_t>(odd >> 16);
      }
    }
  }
};

VMAFX_DEFINE_SAMPLE_KERNELS(cambi_prepare, T, work) {
  using Tile = PrepareTile;
  VMAFX_SHARED(int64_t, rows, [Tile::kRawH]);
  VMAFX_SHARED(uint32_t, edges, [Tile::kEdgesH][Tile::kFours]);
  VMAFX_SHARED(Tile::Levels, levels, [kCambiPrepareH][Tile::kFours]);

  const Picture picture(work);
  const CambiSide& side = picture.side;
  const int thread = static_cast<int>(gpu::thread_id().x), block = static_cast<int>(gpu::block_id().x);
  const int tiles_x = (side.w + kCambiPrepareW - 1) / kCambiPrepareW;
  const int tiles = tiles_x * ((side.h + kCambiPrepareH - 1) / kCambiPrepareH);
  if (block >= tiles) return;

  uint64_t* const digits = picture.digits(work, 0, 0);
  for (int i = block * kCambiPrepareThreads + thread; i < kCambiScales * kCambiKeyDigits * kCambiDigitValues;
       i += tiles * kCambiPrepareThreads)
    digits[i] = 0;

  const hip::DevicePlane& plane =
      picture.is_dist ? work.luma.dist[picture.frame] : work.luma.ref[hip::ref_index(picture.frame)];
  const Tile tile = {
      rows, edges, levels, side.w, side.h, block % tiles_x * kCambiPrepareW, block / tiles_x * kCambiPrepareH};
  if (thread < Tile::kRawH)
    rows[thread] = nearest(side.rows, clamped(tile.y0 - Tile::kReach + thread, side.h)) * plane.stride;
  gpu::block_sync();

  const int four = thread % Tile::kFours, group = thread / Tile::kFours, x = tile.x0 + 4 * (four - 1);
  const int bpc = sizeof(T) == 1 ? 8 : work.params.bpc;
  const auto fill = [&](const auto& from) {
    if (work.params.anti_dither) tile.fill<true>(from, four, group);
    else tile.fill<false>(from, four, group);
  };
  if (side.columns.from == 0 && x >= 0 && x + 6 <= side.w) {
    fill(Samples<T, true>{plane.data + x * static_cast<int>(sizeof(T)), {}, bpc});
  } else {
    Samples<T, false> from = {plane.data, {}, bpc};
    VMAFX_UNROLL
    for (int k = 0; k < 6; k++)
      from.beside[k] = nearest(side.columns, clamped(x + k, side.w)) * static_cast<int>(sizeof(T));
    fill(from);
  }
  gpu::block_sync();
  if (four == 0 || four > kCambiPrepareW / 4 || x >= side.w) return;
  tile.write(side, work.params.halved, four, group, reinterpret_cast<uint16_t*>(picture.area(work) + side.prepared));
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
