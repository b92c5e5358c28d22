/* The kernels of adm: one for each scale, which makes the bands of a tile and scores them, and one that adds up rows. A
 * scale's detail bands never leave the block; only its band a does, for the next scale. */
#include "kernels/common/gpu.h"
#include "kernels/adm/adm_math.h"
#include "kernels/adm/adm_tiles.h"

namespace vmafx::adm {

template <class T>
struct Picture {
  const T* data;
  int64_t stride;  // bytes

  VMAFX_DEVICE const T* row(int y) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(data) + y * stride);
  }
};

/* The place of this thread. x and y: of its columns in the bands. */
struct Place {
  int row, group;  // in the tile
  int x, y;
};

VMAFX_DEVICE int clamp(int i, int size) { return i < 0 ? 0 : i < size ? i : size - 1; }

/* Where a tap at i reads; far beyond the picture, where no tap is, anywhere within it. */
VMAFX_DEVICE int inside(int i, int size) { return clamp(adm_mirror(i, size), size); }

/* -- Vertical pass: from device memory to shared memory ------------------------------------------------------------ */

/* Filtered rows of both pictures. Column i is column 2 x0 + i - kFirst of the input, for a tile at x0; the taps read from
 * 2 x0 - 1 to 2 x0 + 128. */
constexpr int kFirst = 4, kPitch = 2 * kAdmTileW + 8;

/* At scale 0 low and high fit 16 bits and share a word. */
template <int kScale>
constexpr int kWordsPerSample = kScale == 0 ? 1 : 2;
template <int kScale>
constexpr int kRowWords = kWordsPerSample<kScale> * kPitch;
template <int kScale>
constexpr int kFilteredWords = 2 * kAdmTileH * kRowWords<kScale>;

using Quad = gpu::Pack<uint32_t, 4>;  // what shared memory is aligned to

/* The reduction takes the same memory later. */
constexpr int kSumPitch = kAdmTileW / kAdmColumns + 1;
constexpr int kSumWords = 2 * kAdmRowSums * kAdmTileH * kSumPitch;
template <int kScale>
constexpr int kSharedWords = kFilteredWords<kScale> > kSumWords ? kFilteredWords<kScale> : kSumWords;

/* Sign-extended. */
template <int n, class T>
VMAFX_DEVICE void load_samples(const T* row, int x, int w, uint32_t (&samples)[n]) {
  if (n > 1 && x >= 0 && x + n <= w) {
    const auto pack = gpu::load_pack<n>(row + x);
    VMAFX_UNROLL
    for (int i = 0; i < n; i++) samples[i] = static_cast<uint32_t>(pack.v[i]);
  } else {
    VMAFX_UNROLL
    for (int i = 0; i < n; i++) samples[i] = static_cast<uint32_t>(row[inside(x + i, w)]);
  }
}

/* Stores n samples of a filtered row. */
template <int kScale, int n>
VMAFX_DEVICE void store_filtered(uint32_t* row, const int32_t (&low)[n], const int32_t (&high)[n]) {
  gpu::Pack<uint32_t, n> words, more;
  VMAFX_UNROLL
  for (int i = 0; i < n; i++) {
    if (kScale == 0) {
      words.v[i] = (static_cast<uint32_t>(low[i]) & 0xFFFF) | static_cast<uint32_t>(high[i]) << 16;
    } else {
      words.v[i] = static_cast<uint32_t>(low[i]);
      more.v[i] = static_cast<uint32_t>(high[i]);
    }
  }
  gpu::store_pack(row, words);
  if (kScale > 0) gpu::store_pack(row + kPitch, more);
}

template <int kShift>
VMAFX_DEVICE int32_t round_shift(int64_t sum) {
  return static_cast<int32_t>((sum + (1 << (kShift - 1))) >> kShift);
}

/* The four samples above each other. */
template <int kScale>
VMAFX_DEVICE void filter_sample(const AdmStage& stage, uint32_t a, uint32_t b, uint32_t c, uint32_t d, int32_t& low,
                                int32_t& high) {
  if (kScale == 0) {
    const int shift = stage.scale.vertical_shift;
    const uint32_t half = 1u << (shift - 1);
    low = static_cast<int32_t>(narrow::low_pass(half - narrow::kLowGain * stage.centre, a, b, c, d)) >> shift;
    high = static_cast<int32_t>(narrow::high_pass(half, a, b, c, d)) >> shift;
  } else if (kScale == 1) {
    low = static_cast<int32_t>(narrow::low_pass(0, a, b, c, d));
    high = static_cast<int32_t>(narrow::high_pass(0, a, b, c, d));
  } else {
    const int32_t s[] = {static_cast<int32_t>(a), static_cast<int32_t>(b), static_cast<int32_t>(c),
                         static_cast<int32_t>(d)};
    low = round_shift<16>(adm_low_pass(s[0], s[1], s[2], s[3]));
    high = round_shift<16>(adm_high_pass(s[0], s[1], s[2], s[3]));
  }
}

/* Rows y and y + 1 of the bands, n columns of the input at x. */
template <int kScale, int n, class T>
VMAFX_DEVICE void filter_down(const AdmStage& stage, const Picture<T>& picture, int x, int y, uint32_t* to) {
  uint32_t samples[6][n];
  VMAFX_UNROLL
  for (int i = 0; i < 6; i++)
    load_samples(picture.row(inside(2 * y - 1 + i, stage.scale.in_h)), x, stage.scale.in_w, samples[i]);
  VMAFX_UNROLL
  for (int row = 0; row < 2; row++) {
    int32_t low[n], high[n];
    VMAFX_UNROLL
    for (int i = 0; i < n; i++)
      filter_sample<kScale>(stage, samples[2 * row][i], samples[2 * row + 1][i], samples[2 * row + 2][i],
                            samples[2 * row + 3][i], low[i], high[i]);
    store_filtered<kScale>(to + row * kRowWords<kScale>, low, high);
  }
}

/* All that the taps across read for a tile at (x0, y0). */
template <int kScale, class T>
VMAFX_DEVICE void filter_tile_down(const AdmStage& stage, const Picture<T> (&pictures)[2], int x0, int y0,
                                   uint32_t* filtered) {
  constexpr int kGroups = 2 * kAdmTileW / 4, kPairs = kAdmTileH / 2;
  static_assert(kGroups * kPairs == kAdmTileThreads);
  const unsigned rank = gpu::thread_rank();
  const int x = static_cast<int>(rank % kGroups * 4), pair = static_cast<int>(rank / kGroups);
  VMAFX_UNROLL
  for (int p = 0; p < 2; p++)
    filter_down<kScale, 4>(stage, pictures[p], 2 * x0 + x, y0 + 2 * pair,
                           filtered + (p * kAdmTileH + 2 * pair) * kRowWords<kScale> + kFirst + x);

  /* One column before and one after these. */
  if (rank < 4 * kPairs) {
    const int column = rank & 1 ? 2 * kAdmTileW : -1, its_pair = static_cast<int>(rank >> 2);
    const bool is_dist = rank >> 1 & 1;
    Picture<T> picture = pictures[0];
    if (is_dist) picture = pictures[1];
    filter_down<kScale, 1>(stage, picture, 2 * x0 + column, y0 + 2 * its_pair,
                           filtered + ((is_dist ? kAdmTileH : 0) + 2 * its_pair) * kRowWords<kScale> + kFirst + column);
  }
}

/* -- Horizontal pass: to the bands at this thread's columns -------------------------------------------------------- */

constexpr int kTaps = 2 * kAdmColumns + 2;  // samples that the taps of neighbouring columns read

VMAFX_DEVICE void load_taps(const uint32_t* row, uint32_t (&words)[kTaps]) {
  words[0] = row[-1];
  VMAFX_UNROLL
  for (int i = 0; i < 2; i++) {
    const auto pack = gpu::load_pack<4>(row + 4 * i);
    VMAFX_UNROLL
    for (int k = 0; k < 4; k++) words[1 + 4 * i + k] = pack.v[k];
  }
  words[kTaps - 1] = row[kTaps - 2];
}

struct Taps {
  int32_t low[kTaps], high[kTaps];
};

template <int kScale>
VMAFX_DEVICE Taps load_filtered(const uint32_t* row) {
  Taps taps;
  uint32_t words[kTaps], more[kTaps];
  load_taps(row, words);
  if (kScale > 0) load_taps(row + kPitch, more);
  VMAFX_UNROLL
  for (int i = 0; i < kTaps; i++) {
    taps.low[i] = kScale == 0 ? static_cast<int16_t>(words[i]) : static_cast<int32_t>(words[i]);
    taps.high[i] = kScale == 0 ? static_cast<int32_t>(words[i]) >> 16 : static_cast<int32_t>(more[i]);
  }
  return taps;
}

template <int kScale>
VMAFX_DEVICE int32_t low_across(const int32_t (&s)[kTaps], int i) {
  const int32_t a = s[2 * i], b = s[2 * i + 1], c = s[2 * i + 2], d = s[2 * i + 3];
  if (kScale == 0) return static_cast<int32_t>(narrow::low_pass(1u << 15, a, b, c, d)) >> 16;
  return round_shift<adm_horizontal_shift(kScale)>(adm_low_pass(a, b, c, d));
}
template <int kScale>
VMAFX_DEVICE int32_t high_across(const int32_t (&s)[kTaps], int i) {
  const int32_t a = s[2 * i], b = s[2 * i + 1], c = s[2 * i + 2], d = s[2 * i + 3];
  if (kScale == 0) return static_cast<int32_t>(narrow::high_pass(1u << 15, a, b, c, d)) >> 16;
  return round_shift<adm_horizontal_shift(kScale)>(adm_high_pass(a, b, c, d));
}

/* The samples of band a are 16 bits wide at scale 0. */
template <int kScale>
struct BandA {
  using Sample = int32_t;
};
template <>
struct BandA<0> {
  using Sample = int16_t;
};

template <int kScale>
VMAFX_DEVICE void store_a(const AdmStage& stage, int picture, const Place& at, const Taps& taps) {
  using Sample = typename BandA<kScale>::Sample;
  if (at.row >= kAdmTileStepY || at.y < 0 || at.y >= stage.scale.h) return;
  const int64_t plane = 2 * static_cast<int64_t>(gpu::block_id().z) + picture;
  Sample* row = reinterpret_cast<Sample*>(stage.to.data.get() + plane * stage.to.bytes + at.y * stage.to.stride);
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i += 2) {
    const int x = at.x + i;
    if (at.group * kAdmColumns + i >= kAdmTileStepX || x < 0 || x >= stage.scale.w) continue;
    gpu::Pack<Sample, 2> pair;  // the row has room for a column w
    pair.v[0] = static_cast<Sample>(low_across<kScale>(taps.low, i));
    pair.v[1] = static_cast<Sample>(low_across<kScale>(taps.low, i + 1));
    gpu::store_pack(row + x, pair);
  }
}

/* A value for each detail band at each of the thread's columns. */
using Details = int32_t[kAdmBands][kAdmColumns];

template <int kScale>
VMAFX_DEVICE void details_across(const Taps& taps, Details& to) {
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) {
    to[0][i] = low_across<kScale>(taps.high, i);
    to[1][i] = high_across<kScale>(taps.low, i);
    to[2][i] = high_across<kScale>(taps.high, i);
  }
}

/* -- Decoupling and contrast sensitivity --------------------------------------------------------------------------- */

/* What the weighted magnitudes of a picture, all bands together, add to thresholds as a neighbour, and how much more at the
 * centre. */
struct Mask {
  uint32_t neighbour = 0, centre = 0;
};

/* Weighs `value`, adds it to the mask, and returns the magnitude that masking compares with thresholds. */
template <int kScale>
VMAFX_DEVICE uint32_t weigh(int band, uint32_t rfactor, int32_t value, Mask& mask) {
  uint32_t magnitude;
  int32_t neighbour, centre;
  if (kScale == 0) {
    const int32_t product = adm_wrap_mul(rfactor, value);
    magnitude = narrow::magnitude(product);
    const uint32_t weighted = narrow::magnitude(narrow::csf_fine(band, product));
    neighbour = narrow::neighbour_fine(weighted);
    centre = narrow::centre_fine(weighted);
  } else {
    const int32_t weighted = adm_csf_coarse(rfactor, value);
    magnitude = narrow::magnitude(weighted);
    neighbour = adm_neighbour_coarse(weighted);
    centre = adm_centre_coarse(weighted);
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
      const int32_t o = ref[band][i], t = dist[band][i];
      const int32_t restored = kScale == 0 ? narrow::restored_fine<kWholeLimit>(o, t, aligned, stage.gain_limit)
                                           : narrow::restored_coarse<kWholeLimit>(o, t, aligned, stage.gain_limit);
      const uint32_t rfactor = stage.scale.rfactor[band];
      parts.restored[band][i] = weigh<kScale>(band, rfactor, restored, parts.of_restored[i]);
      parts.added[band][i] = weigh<kScale>(band, rfactor, adm_wrap_sub(t, restored), parts.of_added[i]);
    }
  }
}

/* -- Masking ------------------------------------------------------------------------------------------------------- */

/* What a sample adds to its neighbours' thresholds: of the added part, of the restored one. */
using Neighbour = gpu::Pack<uint32_t, 2>;
constexpr int kAdded = 0, kRestored = 1;

/* Also to where the window of a sample at the edge of the bands finds it mirrored. */
VMAFX_DEVICE void store_neighbours(const AdmScale& scale, const Place& at, const Parts& parts, Neighbour* row) {
  Neighbour here[kAdmColumns];
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) here[i] = {{parts.of_added[i].neighbour, parts.of_restored[i].neighbour}};
  Neighbour* to = row + at.group * kAdmColumns;
  if (at.x > 1 && at.x + kAdmColumns < scale.w) {
    VMAFX_UNROLL
    for (int i = 0; i < kAdmColumns; i += 2)
      gpu::store_pack(reinterpret_cast<uint32_t*>(to + i),
                      Quad{{here[i].v[0], here[i].v[1], here[i + 1].v[0], here[i + 1].v[1]}});
    return;
  }
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) {
    const int x = at.x + i, column = at.group * kAdmColumns + i;
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
VMAFX_DEVICE void add_cubes(const AdmScale& scale, const uint32_t (&signal)[kAdmBands][kAdmColumns], int i,
                            uint32_t threshold, uint64_t (&sums)[kAdmBands]) {
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++)
    sums[band] += static_cast<uint64_t>(
        narrow::masked_cube(signal[band][i], threshold << adm_threshold_shift(kScale, band),
                            adm_square_shift(kScale, band), scale.cube_shift[band]));
}

/* Sums of this thread's columns. */
struct Sums {
  uint64_t dlm[kAdmBands] = {}, aim[kAdmBands] = {}, csf_den[kAdmBands] = {};
};

VMAFX_DEVICE bool scored_column(const AdmScale& scale, const Place& at, int i) {
  const int column = at.group * kAdmColumns + i, x = at.x + i;
  return column >= 1 && column < kAdmTileW - 1 && x >= scale.left && x < scale.right;
}
VMAFX_DEVICE bool scored_row(const AdmScale& scale, const Place& at) {
  return at.row >= 1 && at.row < kAdmTileH - 1 && at.y >= scale.top && at.y < scale.bottom;
}

template <int kScale>
VMAFX_DEVICE void add_reference(const AdmScale& scale, const Place& at, const Details& ref, Sums& sums) {
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) {
    if (!scored_column(scale, at, i)) continue;
    VMAFX_UNROLL
    for (int band = 0; band < kAdmBands; band++)
      sums.csf_den[band] += narrow::den_cube(kScale, ref[band][i], scale.den_cube_shift);
  }
}

template <int kScale>
VMAFX_DEVICE void add_masked(const AdmStage& stage, const Place& at, const Parts& parts,
                             const Neighbour (&neighbours)[kAdmTileH][kAdmTileW], Sums& sums) {
  const AdmScale& scale = stage.scale;
  const int above = at.y == 0 ? at.row + 1 : at.row - 1, below = at.y == scale.h - 1 ? at.row : at.row + 1;
  WindowColumns columns = {};
  add_window_row(neighbours[above], at.group * kAdmColumns, columns);
  add_window_row(neighbours[at.row], at.group * kAdmColumns, columns);
  add_window_row(neighbours[below], at.group * kAdmColumns, columns);
  VMAFX_UNROLL
  for (int i = 0; i < kAdmColumns; i++) {
    if (!scored_column(scale, at, i)) continue;
    uint32_t threshold[2] = {parts.of_added[i].centre, parts.of_restored[i].centre};
    VMAFX_UNROLL
    for (int k = 0; k < 2; k++) threshold[k] += columns[i][k] + columns[i + 1][k] + columns[i + 2][k];
    add_cubes<kScale>(scale, parts.restored, i, threshold[kAdded], sums.dlm);
    if (stage.measure_aim) add_cubes<kScale>(scale, parts.added, i, threshold[kRestored], sums.aim);
  }
}

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

/* Adds up the sums of each row of the tile, and stores them. */
VMAFX_DEVICE void store_row_sums(const AdmStage& stage, const Place& at, const Sums& sums, int y0, uint64_t* shared) {
  constexpr int kGroups = kAdmTileW / kAdmColumns;
  uint64_t* own = shared + at.row * kSumPitch + at.group;
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
  for (int i = 0; i < kGroups; i++) sum += shared[rank * kSumPitch + i];
  const int64_t tile = static_cast<int64_t>(which) * stage.x.scored + gpu::block_id().x - stage.x.scored_from;
  const int rows = stage.scale.bottom - stage.scale.top;
  stage.row_sums[gpu::block_id().z * stage.row_sums_stride + tile * rows + (y - stage.scale.top)] = sum;
}

/* -- A tile from top to bottom ------------------------------------------------------------------------------------- */

VMAFX_DEVICE bool scored_tile(const AdmTiling& tiling, unsigned i) {
  const int tile = static_cast<int>(i) - tiling.scored_from;
  return tile >= 0 && tile < tiling.scored;
}

template <int kScale, class T>
VMAFX_DEVICE void score_tile(const AdmStage& stage, const Picture<T> (&pictures)[2]) {
  VMAFX_SHARED(Quad, memory, [kSharedWords<kScale> / 4]);
  VMAFX_SHARED(Neighbour, neighbours, [kAdmTileH][kAdmTileW]);
  uint32_t* filtered = reinterpret_cast<uint32_t*>(memory);
  const gpu::Dim3 block = gpu::block_id();
  const int x0 = stage.x.first + static_cast<int>(block.x) * kAdmTileStepX;
  const int y0 = stage.y.first + static_cast<int>(block.y) * kAdmTileStepY;
  const unsigned rank = gpu::thread_rank();
  Place at;
  at.row = static_cast<int>(rank / (kAdmTileW / kAdmColumns));
  at.group = static_cast<int>(rank % (kAdmTileW / kAdmColumns));
  at.x = x0 + at.group * kAdmColumns;
  at.y = y0 + at.row;

  filter_tile_down<kScale>(stage, pictures, x0, y0, filtered);
  gpu::block_sync();
  const bool scored = scored_tile(stage.x, block.x) && scored_tile(stage.y, block.y);
  Details details[2] = {};
  VMAFX_UNROLL
  for (int p = 0; p < 2; p++) {
    const uint32_t* row = filtered + (p * kAdmTileH + at.row) * kRowWords<kScale>;
    const Taps taps = load_filtered<kScale>(row + kFirst + at.group * 2 * kAdmColumns);
    if (kScale < kAdmScales - 1) store_a<kScale>(stage, p, at, taps);
    if (scored) details_across<kScale>(taps, details[p]);
  }
  if (!scored) return;

  Sums sums;
  Parts parts;
  add_reference<kScale>(stage.scale, at, details[0], sums);
  if (stage.gain_limit.whole) decouple<kScale, true>(stage, details[0], details[1], parts);
  else decouple<kScale, false>(stage, details[0], details[1], parts);
  store_neighbours(stage.scale, at, parts, neighbours[at.row]);
  gpu::block_sync();
  if (scored_row(stage.scale, at)) add_masked<kScale>(stage, at, parts, neighbours, sums);
  store_row_sums(stage, at, sums, y0, reinterpret_cast<uint64_t*>(memory));
}

template <class T>
VMAFX_DEVICE void score_samples(const AdmStage& stage, const hip::BatchPlanes& planes) {
  const int frame = static_cast<int>(gpu::block_id().z);
  const hip::DevicePlane &ref = planes.ref[hip::ref_index(frame)], &dist = planes.dist[frame];
  const Picture<T> pictures[2] = {{reinterpret_cast<const T*>(ref.data.get()), ref.stride},
                                  {reinterpret_cast<const T*>(dist.data.get()), dist.stride}};
  score_tile<0>(stage, pictures);
}

template <int kScale>
VMAFX_DEVICE void score_bands(const AdmStage& stage) {
  using T = typename BandA<kScale - 1>::Sample;
  const uint8_t* first = stage.from.data.get() + 2 * static_cast<int64_t>(gpu::block_id().z) * stage.from.bytes;
  const Picture<T> pictures[2] = {{reinterpret_cast<const T*>(first), stage.from.stride},
                                  {reinterpret_cast<const T*>(first + stage.from.bytes), stage.from.stride}};
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
