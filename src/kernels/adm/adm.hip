/* The kernels of adm: one for each scale, which makes the bands of a tile and scores them, and one that adds up rows.
 * For several views, a scale's kernel decouples once, then weighs, masks and adds up for each of them.
 * A scale's detail bands never leave the block; only its band a does, for the next scale. */
#include "kernels/adm/adm_dwt.hip"
#include "kernels/adm/adm_math.h"
#include "kernels/adm/adm_work.h"
#include "kernels/gpu/gpu.h"

namespace vmafx::adm {

/* -- Decoupling and contrast sensitivity --------------------------------------------------------------------------- */

/* The sums that the weighted magnitudes of a picture, all bands together, add to the thresholds around a sample, and
 * how much more they add to its own. */
struct Mask {
  uint32_t neighbor = 0, center = 0;
};

/* Weighs a value that was negated by `sign`, adds it to the mask, and returns the magnitude that masking compares
 * with thresholds. */
template <int kScale>
VMAFX_DEVICE uint32_t weigh(int band, uint32_t rfactor, int32_t value, int32_t sign, Mask& mask) {
  uint32_t magnitude;
  int32_t neighbor, center;
  if (kScale == 0) {
    const int32_t product = adm_wrap_mul(rfactor, value);
    magnitude = narrow::magnitude(product);
    const uint32_t weighted = narrow::csf_fine(band, product, sign);
    neighbor = narrow::neighbor_fine(weighted);
    center = narrow::center_fine(weighted);
  } else {
    magnitude = narrow::csf_coarse(rfactor, value, sign);
    neighbor = adm_neighbor_coarse(static_cast<int32_t>(magnitude));
    center = adm_center_coarse(static_cast<int32_t>(magnitude));
  }
  mask.neighbor += static_cast<uint32_t>(neighbor);
  mask.center += static_cast<uint32_t>(center - neighbor);
  return magnitude;
}

/* For each detail band at each of the thread's columns. */
template <int kScale>
using Magnitudes = uint32_t[kAdmBands][Tile<kScale>::kColumns];

/* The restored and the added part of the distorted picture, before they are weighted. */
template <int kScale>
struct Decoupled {
  int32_t restored[kAdmBands][Tile<kScale>::kColumns], added[kAdmBands][Tile<kScale>::kColumns];
};

/* Both parts, as one view has them. */
template <int kScale>
struct Parts {
  Magnitudes<kScale> restored, added;  // weighted
  Mask of_restored[Tile<kScale>::kColumns], of_added[Tile<kScale>::kColumns];
};

/* Gives `take` the column, the band, and the restored and the added part, negated by the sign that it gives, too. */
template <int kScale, bool kWholeLimit, class Take>
VMAFX_DEVICE void decouple(const AdmStage& stage, const Details<kScale>& ref, const Details<kScale>& dist,
                           const Take& take) {
  VMAFX_UNROLL
  for (int i = 0; i < Tile<kScale>::kColumns; i++) {
    const bool aligned = kScale == 0 ? narrow::aligned_fine(ref[0][i], ref[1][i], dist[0][i], dist[1][i])
                                     : narrow::aligned_coarse(ref[0][i], ref[1][i], dist[0][i], dist[1][i]);
    VMAFX_UNROLL
    for (int band = 0; band < kAdmBands; band++) {
      const narrow::Pair pair = narrow::pair(ref[band][i], dist[band][i]);
      const narrow::Divisor divisor = kScale == 0 ? narrow::divisor_fine(pair.o) : narrow::divisor_coarse(pair.o);
      const float inverse = gpu::near_inverse(static_cast<float>(divisor.leading));
      const int32_t restored =
          kScale == 0 ? narrow::restored_fine<kWholeLimit>(pair, divisor, inverse, aligned, stage.gain_limit)
                      : narrow::restored_coarse<kWholeLimit>(pair, divisor, inverse, aligned, stage.gain_limit);
      take(i, band, restored, pair.t - restored, pair.sign);
    }
  }
}

template <int kScale, class Take>
VMAFX_DEVICE void decouple(const AdmStage& stage, const Details<kScale>& ref, const Details<kScale>& dist,
                           const Take& take) {
  if (stage.gain_limit.whole) decouple<kScale, true>(stage, ref, dist, take);
  else decouple<kScale, false>(stage, ref, dist, take);
}

/* Decouples and weighs for the only view. */
template <int kScale>
VMAFX_DEVICE void decouple_and_weigh(const AdmStage& stage, const Details<kScale>& ref, const Details<kScale>& dist,
                                     Parts<kScale>& parts) {
  decouple<kScale>(stage, ref, dist, [&](int i, int band, int32_t restored, int32_t added, int32_t sign) {
    const uint32_t rfactor = stage.rfactor[0][band];
    parts.restored[band][i] = weigh<kScale>(band, rfactor, restored, sign, parts.of_restored[i]);
    parts.added[band][i] = weigh<kScale>(band, rfactor, added, sign, parts.of_added[i]);
  });
}

/* The sensitivities of a view. */
struct Factors {
  uint32_t of_band[kAdmBands] = {};
};

/* stage.rfactor[view], without an address that only memory can have. */
VMAFX_DEVICE Factors factors_of(const AdmStage& stage, int view) {
  Factors factors;
  VMAFX_UNROLL
  for (int i = 0; i < kAdmMostViews; i++) {
    VMAFX_UNROLL
    for (int band = 0; band < kAdmBands; band++)
      if (i == view) factors.of_band[band] = stage.rfactor[i][band];
  }
  return factors;
}

/* Weighs what was decoupled for a view. */
template <int kScale>
VMAFX_DEVICE void weigh_parts(const Factors& factors, const Decoupled<kScale>& decoupled, Parts<kScale>& parts) {
  VMAFX_UNROLL
  for (int i = 0; i < Tile<kScale>::kColumns; i++) {
    VMAFX_UNROLL
    for (int band = 0; band < kAdmBands; band++) {
      const uint32_t rfactor = factors.of_band[band];
      parts.restored[band][i] = weigh<kScale>(band, rfactor, decoupled.restored[band][i], 0, parts.of_restored[i]);
      parts.added[band][i] = weigh<kScale>(band, rfactor, decoupled.added[band][i], 0, parts.of_added[i]);
    }
  }
}

/* -- Masking ------------------------------------------------------------------------------------------------------- */

using Quad = gpu::Pack<uint32_t, 4>;  // the alignment of shared memory

/* A sample's shares in its neighbors' thresholds: of the added part, of the restored one. */
using Neighbor = gpu::Pack<uint32_t, 2>;
constexpr int kAdded = 0, kRestored = 1;

/* Stores a thread's neighbor sums, also at the places where windows at the edge of the bands find them mirrored. */
template <int kScale>
VMAFX_DEVICE void store_neighbors(const AdmScale& scale, const Place& at, const Parts<kScale>& parts, Neighbor* row) {
  Neighbor here[Tile<kScale>::kColumns];
  VMAFX_UNROLL
  for (int i = 0; i < Tile<kScale>::kColumns; i++)
    here[i] = {{parts.of_added[i].neighbor, parts.of_restored[i].neighbor}};
  Neighbor* to = row + at.column;
  if (at.x > 1 && at.x + Tile<kScale>::kColumns < scale.w) {
    VMAFX_UNROLL
    for (int i = 0; i < Tile<kScale>::kColumns; i += 2)
      gpu::store_pack(reinterpret_cast<uint32_t*>(to + i),
                      Quad{{here[i].v[0], here[i].v[1], here[i + 1].v[0], here[i + 1].v[1]}});
    return;
  }
  VMAFX_UNROLL
  for (int i = 0; i < Tile<kScale>::kColumns; i++) {
    const int x = at.x + i, column = at.column + i;
    if (x != -1 && x != scale.w) to[i] = here[i];
    if (x == 1 && column >= 2) to[i - 2] = here[i];
    if (x == scale.w - 1 && column < Tile<kScale>::kW - 1) to[i + 1] = here[i];
  }
}

/* Sums down the window, at the thread's columns and one on each side. */
template <int kScale>
using WindowColumns = uint32_t[Tile<kScale>::kColumns + 2][2];

template <int kScale>
VMAFX_DEVICE void add_window_row(const Neighbor* row, int column, WindowColumns<kScale>& columns) {
  using Tile = adm::Tile<kScale>;
  const Neighbor before = row[clamped(column - 1, Tile::kW)], after = row[clamped(column + Tile::kColumns, Tile::kW)];
  VMAFX_UNROLL
  for (int k = 0; k < 2; k++) {
    columns[0][k] += before.v[k];
    columns[Tile::kColumns + 1][k] += after.v[k];
  }
  VMAFX_UNROLL
  for (int i = 0; i < Tile::kColumns; i += 2) {
    const auto two = gpu::load_pack<4>(reinterpret_cast<const uint32_t*>(row + column + i));
    VMAFX_UNROLL
    for (int k = 0; k < 4; k++) columns[1 + i + k / 2][k % 2] += two.v[k];
  }
}

/* The thresholds at the thread's columns, of one picture as the mask. */
template <int kScale>
using Thresholds = uint32_t[Tile<kScale>::kColumns];

template <int kScale>
VMAFX_DEVICE void add_windows(const AdmScale& scale, const Place& at, const Parts<kScale>& parts,
                              const Neighbor (&neighbors)[Tile<kScale>::kH][Tile<kScale>::kW],
                              Thresholds<kScale> (&thresholds)[2]) {
  const int above = at.y == 0 ? at.row + 1 : at.row - 1, below = at.y == scale.h - 1 ? at.row : at.row + 1;
  WindowColumns<kScale> columns = {};
  add_window_row<kScale>(neighbors[above], at.column, columns);
  add_window_row<kScale>(neighbors[at.row], at.column, columns);
  add_window_row<kScale>(neighbors[below], at.column, columns);
  VMAFX_UNROLL
  for (int i = 0; i < Tile<kScale>::kColumns; i++) {
    thresholds[kAdded][i] = parts.of_added[i].center;
    thresholds[kRestored][i] = parts.of_restored[i].center;
    VMAFX_UNROLL
    for (int k = 0; k < 2; k++) thresholds[k][i] += columns[i][k] + columns[i + 1][k] + columns[i + 2][k];
  }
}

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

/* In a tile at x0. */
template <int kScale>
VMAFX_DEVICE bool scored_column(const AdmScale& scale, int x0, int x) {
  const int from = narrow::larger(scale.left, x0 + 1), to = narrow::smaller(scale.right, x0 + Tile<kScale>::kW - 1);
  return x >= from && x < to;
}
template <int kScale>
VMAFX_DEVICE bool scored_row(const AdmScale& scale, int row, int y) {
  return row >= 1 && row < Tile<kScale>::kH - 1 && y >= scale.top && y < scale.bottom;
}

/* Flags for the thread's columns that count. */
template <int kScale>
using Counts = bool[Tile<kScale>::kColumns];

/* A thread's sums over its columns: of dlm, aim or csf_den. */
struct Sums {
  uint64_t band[kAdmBands] = {};
};

/* A thread's sums are over all its columns; for maps over two at a time, which are in one block. */
template <int kScale, bool kMaps>
constexpr int kSummedColumns = kMaps ? 2 : Tile<kScale>::kColumns;
template <int kScale, bool kMaps>
constexpr int kSumsOfThread = Tile<kScale>::kColumns / kSummedColumns<kScale, kMaps>;

template <int kScale, int kColumns>
VMAFX_DEVICE Sums sum_of_reference(const AdmStage& stage, const Counts<kScale>& counts, const Details<kScale>& ref,
                                   int first) {
  Sums sums;
  VMAFX_UNROLL
  for (int i = first; i < first + kColumns; i++) {
    VMAFX_UNROLL
    for (int band = 0; band < kAdmBands; band++)
      sums.band[band] += narrow::den_cube(kScale, counts[i] ? narrow::magnitude(ref[band][i]) : 0,
                                          stage.scale.den_cube_shift, stage.den_cube_half);
  }
  return sums;
}

template <int kScale, int kColumns>
VMAFX_DEVICE Sums sum_of_masked(const AdmStage& stage, const Counts<kScale>& counts, const Magnitudes<kScale>& signal,
                                const Thresholds<kScale>& thresholds, int first) {
  Sums sums;
  VMAFX_UNROLL
  for (int i = first; i < first + kColumns; i++) {
    VMAFX_UNROLL
    for (int band = 0; band < kAdmBands; band++) {
      const uint32_t threshold = counts[i] ? thresholds[i] : narrow::no_cube(kScale, band);
      sums.band[band] += static_cast<uint64_t>(
          narrow::masked_cube(signal[band][i], threshold << adm_threshold_shift(kScale, band),
                              adm_square_shift(kScale, band), stage.scale.cube_shift[band], stage.cube_half[band]));
    }
  }
  return sums;
}

/* In shared memory: for each sum and row of the tile, the threads' sums. */
template <int kScale, bool kMaps>
constexpr int kRowPitch = Tile<kScale>::kRowThreads * kSumsOfThread<kScale, kMaps> + 1;
template <int kScale, bool kMaps>
constexpr int kSumWords = 2 * kAdmRowSums * Tile<kScale>::kH * kRowPitch<kScale, kMaps>;

enum Kind { kDlm, kAim, kDen };

/* `first`: of the columns that the sums are over. */
template <int kScale, bool kMaps>
VMAFX_DEVICE void put_sums(const Place& at, int first, Kind kind, const Sums& sums, uint64_t* shared) {
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++)
    shared[((kind * kAdmBands + band) * Tile<kScale>::kH + at.row) * kRowPitch<kScale, kMaps> +
           (at.column + first) / kSummedColumns<kScale, kMaps>] = sums.band[band];
}

/* Adds up a row of a tile block by block, and stores the sums, `rows` words apart. */
template <int kScale>
VMAFX_DEVICE void store_block_sums(const AdmStage& stage, int x0, const uint64_t* shared, uint64_t* to, int rows) {
  constexpr int kSide = adm_block_side(kScale);
  const int first = narrow::larger(stage.scale.left, x0 + 1) / kSide;
  uint64_t sums[kAdmBlocksAcross] = {};
  for (int i = 0; i < Tile<kScale>::kW / 2; i++) {
    const int block = (x0 + 2 * i - first * kSide) / kSide;  // of columns that do not count: any block, and no sum
    VMAFX_UNROLL
    for (int b = 0; b < kAdmBlocksAcross; b++) sums[b] += block == b ? shared[i] : 0;
  }
  VMAFX_UNROLL
  for (int b = 0; b < kAdmBlocksAcross; b++) to[b * rows] = sums[b];
}

/* Adds up the sums of each row of the tile, and stores them as those of a view. */
template <int kScale, bool kMaps>
VMAFX_DEVICE void store_row_sums(const AdmStage& stage, int view, int x0, int y0, const uint64_t* shared) {
  constexpr int kH = Tile<kScale>::kH;
  static_assert(kAdmRowSums * kH <= Tile<kScale>::kThreads);
  const unsigned rank = gpu::thread_rank();
  const int row = static_cast<int>(rank % kH), which = static_cast<int>(rank / kH), y = y0 + row;
  if (which >= kAdmRowSums || !scored_row<kScale>(stage.scale, row, y)) return;
  const int64_t tile =
      static_cast<int64_t>(view * kAdmRowSums + which) * stage.x.scored + gpu::block_id().x - stage.x.scored_from;
  const int rows = stage.scale.bottom - stage.scale.top;
  const int64_t frame = gpu::block_id().z * stage.row_sums_stride;
  if constexpr (kMaps) {
    uint64_t* const to = &stage.row_sums[frame + tile * kAdmBlocksAcross * rows + (y - stage.scale.top)];
    store_block_sums<kScale>(stage, x0, shared + rank * kRowPitch<kScale, kMaps>, to, rows);
  } else {
    uint64_t sum = 0;
    VMAFX_UNROLL
    for (int i = 0; i < Tile<kScale>::kRowThreads; i++) sum += shared[rank * kRowPitch<kScale, kMaps> + i];
    stage.row_sums[frame + tile * rows + (y - stage.scale.top)] = sum;
  }
}

/* -- A tile from top to bottom ------------------------------------------------------------------------------------- */

VMAFX_DEVICE bool has_scored(const AdmTiling& tiling, unsigned i) {
  const int tile = static_cast<int>(i) - tiling.scored_from;
  return tile >= 0 && tile < tiling.scored;
}

/* Shared memory of a block: filtered rows, then the sums. */
template <int kScale, bool kMaps>
constexpr int kSharedWords = narrow::larger(Tile<kScale>::kFilteredWords, kSumWords<kScale, kMaps>);

template <int kScale>
VMAFX_DEVICE const uint32_t* filtered_row(const uint32_t* filtered, int picture, const Place& at) {
  using Tile = adm::Tile<kScale>;
  return filtered + (picture * Tile::kH + at.row) * Tile::kRowWords + Tile::kFirst + 2 * at.column;
}

/* Only the band a. */
template <int kScale, class T>
VMAFX_DEVICE void transform_tile(const AdmStage& stage, const Picture<T> (&pictures)[2], int x0, int y0,
                                 const Place& at, uint32_t* filtered) {
  filter_tile_down<kScale, false>(stage, pictures, x0, y0, filtered);
  gpu::block_sync();
  VMAFX_UNROLL
  for (int p = 0; p < 2; p++) {
    FilteredRow<kScale> row;
    load_words(filtered_row<kScale>(filtered, p, at), row.low);
    Row<kScale> low;
    get_low(row, low);
    store_a<kScale>(stage, p, at, low);
  }
}

/* A thread's columns in a tile that is scored, and their share of the denominator. */
template <int kScale, bool kMaps>
struct Columns {
  Place at;
  int x0, y0;  // of the tile
  Counts<kScale> counts;
  Sums csf_den[kSumsOfThread<kScale, kMaps>];
};

template <int kScale, bool kMaps>
VMAFX_DEVICE Columns<kScale, kMaps> columns_of(const AdmStage& stage, const Place& at, int x0, int y0,
                                               const Details<kScale>& ref) {
  constexpr int kSummed = kSummedColumns<kScale, kMaps>;
  Columns<kScale, kMaps> columns;
  columns.at = at;
  columns.x0 = x0;
  columns.y0 = y0;
  VMAFX_UNROLL
  for (int i = 0; i < Tile<kScale>::kColumns; i++) columns.counts[i] = scored_column<kScale>(stage.scale, x0, at.x + i);
  VMAFX_UNROLL
  for (int i = 0; i < kSumsOfThread<kScale, kMaps>; i++)
    columns.csf_den[i] = sum_of_reference<kScale, kSummed>(stage, columns.counts, ref, i * kSummed);
  return columns;
}

/* Masks the parts of a view, whose neighbor sums have been stored, and adds up. */
template <int kScale, bool kMaps>
VMAFX_DEVICE void mask_view(const AdmStage& stage, int view, const Columns<kScale, kMaps>& columns,
                            const Parts<kScale>& parts, const Neighbor (&neighbors)[Tile<kScale>::kH][Tile<kScale>::kW],
                            uint64_t* sums) {
  constexpr int kSummed = kSummedColumns<kScale, kMaps>;
  const Place& at = columns.at;
  gpu::block_sync();
  if (scored_row<kScale>(stage.scale, at.row, at.y)) {
    VMAFX_UNROLL
    for (int i = 0; i < kSumsOfThread<kScale, kMaps>; i++)
      put_sums<kScale, kMaps>(at, i * kSummed, kDen, columns.csf_den[i], sums);
    Thresholds<kScale> thresholds[2];
    add_windows<kScale>(stage.scale, at, parts, neighbors, thresholds);
    VMAFX_UNROLL
    for (int i = 0; i < Tile<kScale>::kColumns; i += kSummed) {
      const Sums dlm = sum_of_masked<kScale, kSummed>(stage, columns.counts, parts.restored, thresholds[kAdded], i);
      put_sums<kScale, kMaps>(at, i, kDlm, dlm, sums);
      Sums aim;
      if (stage.measure_aim)
        aim = sum_of_masked<kScale, kSummed>(stage, columns.counts, parts.added, thresholds[kRestored], i);
      put_sums<kScale, kMaps>(at, i, kAim, aim, sums);
    }
  }
  gpu::block_sync();
  store_row_sums<kScale, kMaps>(stage, view, columns.x0, columns.y0, sums);
}

template <int kScale>
VMAFX_DEVICE void score_views(const AdmStage& stage, const Columns<kScale, false>& columns, const Details<kScale>& ref,
                              const Details<kScale>& dist, Neighbor (&neighbors)[Tile<kScale>::kH][Tile<kScale>::kW],
                              uint64_t* sums) {
  Decoupled<kScale> decoupled;
  decouple<kScale>(stage, ref, dist, [&](int i, int band, int32_t restored, int32_t added, int32_t sign) {
    decoupled.restored[band][i] = (restored ^ sign) - sign;
    decoupled.added[band][i] = (added ^ sign) - sign;
  });
  for (int view = 0; view < stage.views; view++) {
    Parts<kScale> parts;
    weigh_parts<kScale>(factors_of(stage, view), decoupled, parts);
    store_neighbors<kScale>(stage.scale, columns.at, parts, neighbors[columns.at.row]);
    mask_view<kScale, false>(stage, view, columns, parts, neighbors, sums);
  }
}

/* The kernels: for one view, for several, and for one with the sums of maps. */
enum class Variant { kOne, kSeveral, kMaps };

template <int kScale, Variant kVariant, class T>
VMAFX_DEVICE void score_tile(const AdmStage& stage, const Picture<T> (&pictures)[2], int x0, int y0, const Place& at,
                             uint32_t* memory) {
  using Tile = adm::Tile<kScale>;
  VMAFX_SHARED(Neighbor, neighbors, [Tile::kH][Tile::kW]);
  filter_tile_down<kScale, true>(stage, pictures, x0, y0, memory);
  gpu::block_sync();
  Details<kScale> details[2];
  VMAFX_UNROLL
  for (int p = 0; p < 2; p++) {
    const uint32_t* words = filtered_row<kScale>(memory, p, at);
    FilteredRow<kScale> row;
    load_words(words, row.low);
    if (kScale > 0) load_words(words + Tile::kPitch, row.high);
    Row<kScale> low, high;
    get_low(row, low);
    get_high(row, high);
    if (kScale < kAdmScales - 1) store_a<kScale>(stage, p, at, low);
    details_across<kScale>(low, high, details[p]);
  }

  uint64_t* sums = reinterpret_cast<uint64_t*>(memory);
  if constexpr (kVariant == Variant::kSeveral) {
    const Columns<kScale, false> columns = columns_of<kScale, false>(stage, at, x0, y0, details[0]);
    score_views<kScale>(stage, columns, details[0], details[1], neighbors, sums);
  } else {
    Parts<kScale> parts;
    decouple_and_weigh<kScale>(stage, details[0], details[1], parts);
    store_neighbors<kScale>(stage.scale, at, parts, neighbors[at.row]);
    constexpr bool kMaps = kVariant == Variant::kMaps;
    const Columns<kScale, kMaps> columns = columns_of<kScale, kMaps>(stage, at, x0, y0, details[0]);
    mask_view<kScale, kMaps>(stage, 0, columns, parts, neighbors, sums);
  }
}

/* Grid: tiles across, tiles down, frames. */
template <int kScale, Variant kVariant, class T>
VMAFX_DEVICE void run_tile(const AdmStage& stage, const Picture<T> (&pictures)[2]) {
  using Tile = adm::Tile<kScale>;
  constexpr bool kHasMap = kVariant == Variant::kMaps;
  constexpr int kQuads = kSharedWords<kScale, kHasMap> / 4;
  VMAFX_SHARED(Quad, memory, [kQuads]);
  uint32_t* words = reinterpret_cast<uint32_t*>(memory);
  const gpu::Dim3 block = gpu::block_id();
  const int x0 = stage.x.first + static_cast<int>(block.x) * Tile::kShape.step_x();
  const int y0 = stage.y.first + static_cast<int>(block.y) * Tile::kShape.step_y();
  Place at;
  at.row = static_cast<int>(gpu::thread_rank() / Tile::kRowThreads);
  at.column = static_cast<int>(gpu::thread_rank() % Tile::kRowThreads * Tile::kColumns);
  at.x = x0 + at.column;
  at.y = y0 + at.row;
  const bool scored = has_scored(stage.x, block.x) && has_scored(stage.y, block.y);
  if (scored || kScale == kAdmScales - 1) score_tile<kScale, kVariant>(stage, pictures, x0, y0, at, words);
  else transform_tile<kScale>(stage, pictures, x0, y0, at, words);
}

template <Variant kVariant, class T>
VMAFX_DEVICE void score_samples(const AdmStage& stage) {
  const int frame = static_cast<int>(gpu::block_id().z);
  const hip::DevicePlane &ref = stage.luma.ref[hip::ref_index(frame)], &dist = stage.luma.dist[frame];
  const Picture<T> pictures[2] = {{ref.data, ref.stride}, {dist.data, dist.stride}};
  run_tile<0, kVariant>(stage, pictures);
}

template <int kScale, Variant kVariant>
VMAFX_DEVICE void score_bands(const AdmStage& stage) {
  const PlanePairs<uint8_t>& from = stage.from;
  const Picture<typename BandA<kScale - 1>::Sample> pictures[2] = {{from.plane(gpu::block_id().z, 0), from.stride},
                                                                   {from.plane(gpu::block_id().z, 1), from.stride}};
  run_tile<kScale, kVariant>(stage, pictures);
}

VMAFX_DEFINE_SAMPLE_KERNELS(adm_scale0, T, stage) { score_samples<Variant::kOne, T>(stage); }
VMAFX_DEFINE_KERNEL(adm_scale1, stage) { score_bands<1, Variant::kOne>(stage); }
VMAFX_DEFINE_KERNEL(adm_scale2, stage) { score_bands<2, Variant::kOne>(stage); }
VMAFX_DEFINE_KERNEL(adm_scale3, stage) { score_bands<3, Variant::kOne>(stage); }

VMAFX_DEFINE_SAMPLE_KERNELS(adm_views_scale0, T, stage) { score_samples<Variant::kSeveral, T>(stage); }
VMAFX_DEFINE_KERNEL(adm_views_scale1, stage) { score_bands<1, Variant::kSeveral>(stage); }
VMAFX_DEFINE_KERNEL(adm_views_scale2, stage) { score_bands<2, Variant::kSeveral>(stage); }
VMAFX_DEFINE_KERNEL(adm_views_scale3, stage) { score_bands<3, Variant::kSeveral>(stage); }

VMAFX_DEFINE_SAMPLE_KERNELS(adm_map_scale0, T, stage) { score_samples<Variant::kMaps, T>(stage); }
VMAFX_DEFINE_KERNEL(adm_map_scale1, stage) { score_bands<1, Variant::kMaps>(stage); }
VMAFX_DEFINE_KERNEL(adm_map_scale2, stage) { score_bands<2, Variant::kMaps>(stage); }
VMAFX_DEFINE_KERNEL(adm_map_scale3, stage) { score_bands<3, Variant::kMaps>(stage); }

/* -- Rows ---------------------------------------------------------------------------------------------------------- */

/* rows.scale[index], without an address that only memory can have. */
VMAFX_DEVICE AdmRows::OfScale of_scale(const AdmRows& rows, unsigned index) {
  AdmRows::OfScale scale = {};
  VMAFX_UNROLL
  for (unsigned i = 0; i < kAdmScales; i++) {
    if (i != index) continue;
    scale.rows = rows.scale[i].rows;
    scale.tiles = rows.scale[i].tiles;
    scale.row_shift = rows.scale[i].row_shift;
    scale.den_row_shift = rows.scale[i].den_row_shift;
    scale.first = rows.scale[i].first;
  }
  return scale;
}

/* Grid: blocks of rows, sums of all views and scales, frames. */
VMAFX_DEFINE_KERNEL(adm_rows, rows) {
  const gpu::Dim3 block = gpu::block_id();
  constexpr unsigned kOfView = kAdmScales * kAdmRowSums;
  const unsigned view = block.y / kOfView, index = block.y % kOfView / kAdmRowSums, which = block.y % kAdmRowSums;
  const AdmRows::OfScale scale = of_scale(rows, index);
  if (block.x * kAdmRowsPerBlock >= static_cast<unsigned>(scale.rows)) return;
  const unsigned part = gpu::thread_id().y, row_of_block = gpu::thread_id().x;
  const int row = static_cast<int>(block.x * kAdmRowsPerBlock + row_of_block);
  uint64_t sum = 0;
  if (row < scale.rows) {
    const uint64_t* from = rows.row_sums.get() + block.z * rows.row_sums_stride + scale.first +
                           int64_t{view * kAdmRowSums + which} * scale.tiles * scale.rows + row;
    for (int tile = static_cast<int>(part); tile < scale.tiles; tile += kAdmThreadsPerRow)
      sum += from[static_cast<int64_t>(tile) * scale.rows];
  }
  VMAFX_SHARED(uint64_t, parts, [kAdmThreadsPerRow][kAdmRowsPerBlock]);
  parts[part][row_of_block] = sum;
  gpu::block_sync();
  const unsigned kind = which / kAdmBands, band = which % kAdmBands;
  const bool is_den = kind == kDen;
  int64_t rounded = 0;
  if (part == 0) {
    VMAFX_UNROLL
    for (unsigned i = 1; i < kAdmThreadsPerRow; i++) sum += parts[i][row_of_block];
    const int shift = is_den ? scale.den_row_shift : scale.row_shift;
    sum += (uint64_t{1} << shift) >> 1;
    rounded = is_den ? static_cast<int64_t>(sum >> shift) : static_cast<int64_t>(sum) >> shift;
  }
  AdmSums& sums = (&rows.sums[block.z])[view];
  auto& of_den = reinterpret_cast<int64_t(&)[kAdmScales][kAdmBands]>(sums.csf_den);  // a word is a word
  gpu::add_block((kind == kDlm ? sums.dlm : kind == kAim ? sums.aim : of_den)[index][band], rounded);
}

/* rows.scale[index], as above. */
VMAFX_DEVICE AdmMapRows::OfScale of_scale(const AdmMapRows& rows, unsigned index) {
  AdmMapRows::OfScale scale = {};
  VMAFX_UNROLL
  for (unsigned i = 0; i < kAdmScales; i++)
    if (i == index) scale = rows.scale[i];
  return scale;
}

template <class Sum>
VMAFX_DEVICE void hand_out_row(const AdmMapRows::OfScale& scale, unsigned index, unsigned which, int row,
                               const uint64_t* from, AdmBlockSums* blocks) {
  const int side = adm_block_side(static_cast<int>(index)), step = adm_tile_shape(static_cast<int>(index)).step_x();
  blocks += scale.first_block + int64_t{(scale.top + row) / side} * scale.across;
  RowParts<Sum> parts(which / kAdmBands == kDen ? scale.rows.den_row_shift : scale.rows.row_shift);
  for (int i = 0; i < scale.rows.tiles; i++) {  // of sums, from left to right
    const int x0 = scale.first + i / kAdmBlocksAcross * step;
    const Sum part = parts.take(from[static_cast<int64_t>(i) * scale.rows.rows]);
    if (!part) continue;
    AdmBlockSums* const block = blocks + narrow::larger(scale.left, x0 + 1) / side + i % kAdmBlocksAcross;
    gpu::atomic_add(reinterpret_cast<uint64_t*>(block) + which, static_cast<uint64_t>(part));
  }
}

/* Grid: blocks of rows, sums of all scales, frames. */
VMAFX_DEFINE_KERNEL(adm_map_rows, rows) {
  static_assert(sizeof(AdmBlockSums) == kAdmRowSums * sizeof(uint64_t));
  const gpu::Dim3 block = gpu::block_id();
  const unsigned index = block.y / kAdmRowSums, which = block.y % kAdmRowSums;
  const AdmMapRows::OfScale scale = of_scale(rows, index);
  const int row = static_cast<int>(block.x * kAdmRowsPerBlock + gpu::thread_id().x);
  if (row >= scale.rows.rows) return;
  const uint64_t* from = rows.row_sums.get() + block.z * rows.row_sums_stride + scale.rows.first +
                         int64_t{which} * scale.rows.tiles * scale.rows.rows + row;
  if (which / kAdmBands == kDen) hand_out_row<uint64_t>(scale, index, which, row, from, &rows.blocks[block.z]);
  else hand_out_row<int64_t>(scale, index, which, row, from, &rows.blocks[block.z]);
}

}  // namespace vmafx::adm
