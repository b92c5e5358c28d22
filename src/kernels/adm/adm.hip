/* The kernels of adm: one for each scale, which makes the bands of a tile and scores them, and one that adds up rows. A
 * scale's detail bands never leave the block; only its band a does, for the next scale. */
#include "kernels/common/gpu.h"
#include "kernels/adm/adm_dwt.hip"
#include "kernels/adm/adm_narrow.h"
#include "kernels/adm/adm_tiles.h"

namespace vmafx::adm {

/* -- Decoupling and contrast sensitivity --------------------------------------------------------------------------- */

/* What the weighted magnitudes of a picture, all bands together, add to thresholds as a neighbour, and how much more at the
 * centre. */
struct Mask {
  uint32_t neighbour = 0, centre = 0;
};

/* Weighs a value that was negated by `sign`, adds it to the mask, and returns the magnitude that masking compares with
 * thresholds. */
template <int kScale>
VMAFX_DEVICE uint32_t weigh(int band, uint32_t rfactor, int32_t value, int32_t sign, Mask& mask) {
  uint32_t magnitude;
  int32_t neighbour, centre;
  if (kScale == 0) {
    const int32_t product = adm_wrap_mul(rfactor, value);
    magnitude = narrow::magnitude(product);
    const uint32_t weighted = narrow::csf_fine(band, product, sign);
    neighbour = narrow::neighbour_fine(weighted);
    centre = narrow::centre_fine(weighted);
  } else {
    magnitude = narrow::csf_coarse(rfactor, value, sign);
    neighbour = adm_neighbour_coarse(static_cast<int32_t>(magnitude));
    centre = adm_centre_coarse(static_cast<int32_t>(magnitude));
  }
  mask.neighbour += static_cast<uint32_t>(neighbour);
  mask.centre += static_cast<uint32_t>(centre - neighbour);
  return magnitude;
}

/* Both parts of the distorted picture at the thread's columns. */
struct Parts {
  uint32_t restored[kAdmBands][kAdmColumns], added[kAdmBands][kAdmColumns];  // weighted magnitudes
  Mask of_restored[kAdmColumns], of_added[kAdmColumns];
};

template <int kScale, bool kWholeLimit>
VMAFX_DEVICE void decouple(const AdmStage& stage, const Details& ref, const Details& dist, Parts& parts) {
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) {
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
      const uint32_t rfactor = stage.scale.rfactor[band];
      parts.restored[band][i] = weigh<kScale>(band, rfactor, restored, pair.sign, parts.of_restored[i]);
      parts.added[band][i] = weigh<kScale>(band, rfactor, pair.t - restored, pair.sign, parts.of_added[i]);
    }
  }
}

/* -- Masking ------------------------------------------------------------------------------------------------------- */

using Quad = gpu::Pack<uint32_t, 4>;  // what shared memory is aligned to

/* What a sample adds to its neighbours' thresholds: of the added part, of the restored one. */
using Neighbour = gpu::Pack<uint32_t, 2>;
constexpr int kAdded = 0, kRestored = 1;

/* Also to where the window of a sample at the edge of the bands finds it mirrored. */
VMAFX_DEVICE void store_neighbours(const AdmScale& scale, const Place& at, const Parts& parts, Neighbour* row) {
  Neighbour here[kAdmColumns];
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) here[i] = {{parts.of_added[i].neighbour, parts.of_restored[i].neighbour}};
  Neighbour* to = row + at.column;
  if (at.x > 1 && at.x + kAdmColumns < scale.w) {
    VMAFX_UNROLL
    for (int i = 0; i < kAdmColumns; i += 2)
      gpu::store_pack(reinterpret_cast<uint32_t*>(to + i),
                      Quad{{here[i].v[0], here[i].v[1], here[i + 1].v[0], here[i + 1].v[1]}});
    return;
  }
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) {
    const int x = at.x + i, column = at.column + i;
    if (x != -1 && x != scale.w) to[i] = here[i];
    if (x == 1 && column >= 2) to[i - 2] = here[i];
    if (x == scale.w - 1 && column < kAdmTileW - 1) to[i + 1] = here[i];
  }
}

/* Sums down the window, at the thread's columns and one on each side. */
using WindowColumns = uint32_t[kAdmColumns + 2][2];

VMAFX_DEVICE void add_window_row(const Neighbour* row, int column, WindowColumns& columns) {
  const Neighbour before = row[clamp(column - 1, kAdmTileW)], after = row[clamp(column + kAdmColumns, kAdmTileW)];
  VMAFX_UNROLL
  for (int k = 0; k < 2; k++) {
    columns[0][k] += before.v[k];
    columns[kAdmColumns + 1][k] += after.v[k];
  }
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i += 2) {
    const auto two = gpu::load_pack<4>(reinterpret_cast<const uint32_t*>(row + column + i));
    VMAFX_UNROLL
    for (int k = 0; k < 4; k++) columns[1 + i + k / 2][k % 2] += two.v[k];
  }
}

template <int kScale>
VMAFX_DEVICE void add_cubes(const AdmStage& stage, const uint32_t (&signal)[kAdmBands][kAdmColumns], int i, bool counts,
                            uint32_t threshold, uint64_t (&sums)[kAdmBands]) {
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++) {
    const uint32_t limit = counts ? threshold : narrow::no_cube(kScale, band);
    sums[band] += static_cast<uint64_t>(
        narrow::masked_cube(signal[band][i], limit << adm_threshold_shift(kScale, band), adm_square_shift(kScale, band),
                            stage.scale.cube_shift[band], stage.cube_half[band]));
  }
}

/* Sums of this thread's columns. */
struct Sums {
  uint64_t dlm[kAdmBands] = {}, aim[kAdmBands] = {}, csf_den[kAdmBands] = {};
};

/* In a tile at x0. */
VMAFX_DEVICE bool scored_column(const AdmScale& scale, int x0, int x) {
  const int from = narrow::larger(scale.left, x0 + 1), to = narrow::smaller(scale.right, x0 + kAdmTileW - 1);
  return x >= from && x < to;
}
VMAFX_DEVICE bool scored_row(const AdmScale& scale, const Place& at) {
  return at.row >= 1 && at.row < kAdmTileH - 1 && at.y >= scale.top && at.y < scale.bottom;
}

/* Which of the thread's columns count. */
using Counts = bool[kAdmColumns];

template <int kScale>
VMAFX_DEVICE void add_reference(const AdmStage& stage, const Counts& counts, const Details& ref, Sums& sums) {
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) {
    VMAFX_UNROLL
    for (int band = 0; band < kAdmBands; band++)
      sums.csf_den[band] += narrow::den_cube(kScale, counts[i] ? narrow::magnitude(ref[band][i]) : 0,
                                             stage.scale.den_cube_shift, stage.den_cube_half);
  }
}

template <int kScale>
VMAFX_DEVICE void add_masked(const AdmStage& stage, const Place& at, const Counts& counts, const Parts& parts,
                             const Neighbour (&neighbours)[kAdmTileH][kAdmTileW], Sums& sums) {
  const int above = at.y == 0 ? at.row + 1 : at.row - 1, below = at.y == stage.scale.h - 1 ? at.row : at.row + 1;
  WindowColumns columns = {};
  add_window_row(neighbours[above], at.column, columns);
  add_window_row(neighbours[at.row], at.column, columns);
  add_window_row(neighbours[below], at.column, columns);
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) {
    uint32_t threshold[2] = {parts.of_added[i].centre, parts.of_restored[i].centre};
    VMAFX_UNROLL
    for (int k = 0; k < 2; k++) threshold[k] += columns[i][k] + columns[i + 1][k] + columns[i + 2][k];
    add_cubes<kScale>(stage, parts.restored, i, counts[i], threshold[kAdded], sums.dlm);
    if (stage.measure_aim) add_cubes<kScale>(stage, parts.added, i, counts[i], threshold[kRestored], sums.aim);
  }
}

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

/* In shared memory: for each sum and row of the tile, the threads' sums. */
constexpr int kRowThreads = kAdmTileW / kAdmColumns, kSumPitch = kRowThreads + 1;
constexpr int kSumWords = 2 * kAdmRowSums * kAdmTileH * kSumPitch;

/* Adds up the sums of each row of the tile, and stores them. */
VMAFX_DEVICE void store_row_sums(const AdmStage& stage, const Place& at, const Sums& sums, int y0, uint64_t* shared) {
  uint64_t* own = shared + at.row * kSumPitch + at.column / kAdmColumns;
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++) {
    own[band * kAdmTileH * kSumPitch] = sums.dlm[band];
    own[(kAdmBands + band) * kAdmTileH * kSumPitch] = sums.aim[band];
    own[(2 * kAdmBands + band) * kAdmTileH * kSumPitch] = sums.csf_den[band];
  }
  gpu::block_sync();
  static_assert(kAdmRowSums * kAdmTileH <= kAdmTileThreads);
  const unsigned rank = gpu::thread_rank();
  const int row = static_cast<int>(rank % kAdmTileH), which = static_cast<int>(rank / kAdmTileH), y = y0 + row;
  if (which >= kAdmRowSums || !scored_row(stage.scale, {row, 0, 0, y})) return;
  uint64_t sum = 0;
  VMAFX_UNROLL
  for (int i = 0; i < kRowThreads; i++) sum += shared[rank * kSumPitch + i];
  const int64_t tile = static_cast<int64_t>(which) * stage.x.scored + gpu::block_id().x - stage.x.scored_from;
  const int rows = stage.scale.bottom - stage.scale.top;
  stage.row_sums[gpu::block_id().z * stage.row_sums_stride + tile * rows + (y - stage.scale.top)] = sum;
}

/* -- A tile from top to bottom ------------------------------------------------------------------------------------- */

VMAFX_DEVICE bool scored_tile(const AdmTiling& tiling, unsigned i) {
  const int tile = static_cast<int>(i) - tiling.scored_from;
  return tile >= 0 && tile < tiling.scored;
}

/* Filtered rows, then the sums. */
template <int kScale>
constexpr int kSharedWords = kFilteredWords<kScale> > kSumWords ? kFilteredWords<kScale> : kSumWords;

template <int kScale, class T>
VMAFX_DEVICE void score_tile(const AdmStage& stage, const Picture<T> (&pictures)[2]) {
  VMAFX_SHARED(Quad, memory, [kSharedWords<kScale> / 4]);
  VMAFX_SHARED(Neighbour, neighbours, [kAdmTileH][kAdmTileW]);
  uint32_t* filtered = reinterpret_cast<uint32_t*>(memory);
  const gpu::Dim3 block = gpu::block_id();
  const int x0 = stage.x.first + static_cast<int>(block.x) * kAdmTileStepX;
  const int y0 = stage.y.first + static_cast<int>(block.y) * kAdmTileStepY;
  Place at;
  at.row = static_cast<int>(gpu::thread_rank() / kRowThreads);
  at.column = static_cast<int>(gpu::thread_rank() % kRowThreads * kAdmColumns);
  at.x = x0 + at.column;
  at.y = y0 + at.row;

  filter_tile_down<kScale>(stage, pictures, x0, y0, filtered);
  gpu::block_sync();
  const bool scored = scored_tile(stage.x, block.x) && scored_tile(stage.y, block.y);
  Details details[2] = {};
  VMAFX_UNROLL
  for (int p = 0; p < 2; p++) {
    const uint32_t* row = filtered + (p * kAdmTileH + at.row) * kRowWords<kScale>;
    const Taps taps = load_filtered<kScale>(row + kFirst + 2 * at.column);
    if (kScale < kAdmScales - 1) store_a<kScale>(stage, p, at, taps);
    if (scored) details_across<kScale>(taps, details[p]);
  }
  if (!scored) return;

  Parts parts;
  if (stage.gain_limit.whole) decouple<kScale, true>(stage, details[0], details[1], parts);
  else decouple<kScale, false>(stage, details[0], details[1], parts);
  store_neighbours(stage.scale, at, parts, neighbours[at.row]);
  Counts counts;
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) counts[i] = scored_column(stage.scale, x0, at.x + i);
  Sums sums;
  add_reference<kScale>(stage, counts, details[0], sums);
  gpu::block_sync();
  if (scored_row(stage.scale, at)) add_masked<kScale>(stage, at, counts, parts, neighbours, sums);
  store_row_sums(stage, at, sums, y0, reinterpret_cast<uint64_t*>(memory));
}

template <class T>
VMAFX_DEVICE void score_samples(const AdmStage& stage, const hip::BatchPlanes& planes) {
  const int frame = static_cast<int>(gpu::block_id().z);
  const hip::DevicePlane &ref = planes.ref[hip::ref_index(frame)], &dist = planes.dist[frame];
  const Picture<T> pictures[2] = {{ref.data, ref.stride}, {dist.data, dist.stride}};
  score_tile<0>(stage, pictures);
}

template <int kScale>
VMAFX_DEVICE void score_bands(const AdmStage& stage) {
  const uint8_t* first = stage.from.data.get() + 2 * static_cast<int64_t>(gpu::block_id().z) * stage.from.bytes;
  const Picture<typename BandA<kScale - 1>::Sample> pictures[2] = {{first, stage.from.stride},
                                                                   {first + stage.from.bytes, stage.from.stride}};
  score_tile<kScale>(stage, pictures);
}

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

/* Grid: blocks of rows, sums of all scales, frames. */
VMAFX_DEVICE void add_rows(const AdmRows& rows) {
  const gpu::Dim3 block = gpu::block_id();
  const unsigned index = block.y / kAdmRowSums, which = block.y % kAdmRowSums;
  const AdmRows::OfScale scale = of_scale(rows, index);
  const int row = static_cast<int>(block.x) * kAdmRowThreads + static_cast<int>(gpu::thread_rank());
  const bool is_den = which >= 2 * kAdmBands;
  int64_t rounded = 0;
  if (row < scale.rows) {
    const uint64_t* from = rows.row_sums.get() + block.z * rows.row_sums_stride + scale.first +
                           static_cast<int64_t>(which) * scale.tiles * scale.rows + row;
    uint64_t sum = 0;
    for (int tile = 0; tile < scale.tiles; tile++) sum += from[static_cast<int64_t>(tile) * scale.rows];
    const int shift = is_den ? scale.den_row_shift : scale.row_shift;
    sum += (uint64_t{1} << shift) >> 1;
    rounded = is_den ? static_cast<int64_t>(sum >> shift) : static_cast<int64_t>(sum) >> shift;
  }
  const unsigned kind = which / kAdmBands, band = which % kAdmBands;
  gpu::add_block(rows.sums.get() + block.z * rows.sums_stride + (kind * kAdmScales + index) * kAdmBands + band, rounded);
}

}  // namespace vmafx::adm

VMAFX_KERNEL(vmafx_adm_scale0_8, vmafx::kAdmTileThreads, (vmafx::AdmStage stage, vmafx::hip::BatchPlanes planes)) {
  vmafx::adm::score_samples<uint8_t>(stage, planes);
}
VMAFX_KERNEL(vmafx_adm_scale0_16, vmafx::kAdmTileThreads, (vmafx::AdmStage stage, vmafx::hip::BatchPlanes planes)) {
  vmafx::adm::score_samples<uint16_t>(stage, planes);
}
VMAFX_KERNEL(vmafx_adm_scale1, vmafx::kAdmTileThreads, (vmafx::AdmStage stage)) { vmafx::adm::score_bands<1>(stage); }
VMAFX_KERNEL(vmafx_adm_scale2, vmafx::kAdmTileThreads, (vmafx::AdmStage stage)) { vmafx::adm::score_bands<2>(stage); }
VMAFX_KERNEL(vmafx_adm_scale3, vmafx::kAdmTileThreads, (vmafx::AdmStage stage)) { vmafx::adm::score_bands<3>(stage); }
VMAFX_KERNEL(vmafx_adm_rows, vmafx::kAdmRowThreads, (vmafx::AdmRows rows)) { vmafx::adm::add_rows(rows); }
