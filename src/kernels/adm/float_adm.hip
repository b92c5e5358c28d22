/* The kernels of float_adm: one launch for each scale, which makes the bands of a tile and scores them. A scale's
 * detail bands never leave the block; only its band a does, for the next scale. Grid: tiles across, tiles down,
 * frames. */
#include "kernels/adm/float_adm_math-inl.h"
#include "kernels/adm/float_adm_work.h"
#include "kernels/arithmetic/fixed.h"
#include "kernels/gpu/gpu.h"

namespace vmafx::float_adm {

constexpr int kW = kFloatAdmTileW, kH = kFloatAdmTileH, kColumns = kFloatAdmColumns;
constexpr int kRowThreads = kW / kColumns;
constexpr int kTaps = 2 * kColumns + 2;  // samples that the taps of a thread's columns read

/* Filtered rows in shared memory: for a tile at x0, column i is column 2 x0 + i - kFirst of the input; the taps read
 * from column 2 x0 - 1 to 2 (x0 + kW). */
constexpr int kFirst = 4, kPitch = 2 * kW + 8;
using Quad = gpu::Pack<float, 4>;
struct Filtered {
  Quad low[2][kH][kPitch / 4], high[2][kH][kPitch / 4];  // [0] is ref's, [1] dist's
};

/* The shares of a part of a picture in the thresholds around each sample. */
using Shares = float[kAdmBands][kH][kW];
struct Masks {
  Shares of_restored, of_added;
};

/* The place of this thread. x and y: of its columns in the bands. */
struct Place {
  int row, column;  // in the tile
  int x, y;
};

template <class T>
struct Picture {
  const T* data;   // at column first_x of row first_y
  int64_t stride;  // bytes
  int first_x, first_y;

  VMAFX_DEVICE const T* at(int x, int y) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(data) + (y - first_y) * stride) + (x - first_x);
  }
};

VMAFX_DEVICE float sample(float value, float) { return value; }
VMAFX_DEVICE float sample(uint8_t value, float scale) { return static_cast<float>(value) * scale - 128.0f; }
VMAFX_DEVICE float sample(uint16_t value, float scale) { return static_cast<float>(value) * scale - 128.0f; }

VMAFX_DEVICE int clamp(int i, int begin, int end) { return i < begin ? begin : i < end ? i : end - 1; }

/* The place that a tap at i reads; for taps that do not count, any place that exists. */
VMAFX_DEVICE int inside(int i, int size, const FloatAdmRange& there) {
  return clamp(adm_mirror(i, size), there.begin, there.end);
}

/* -- Vertical pass ------------------------------------------------------------------------------------------------- */

template <int n, class T>
VMAFX_DEVICE void load_row(const FloatAdmStage& stage, const Picture<T>& picture, int x, int y, bool within,
                           float (&to)[n]) {
  if (within) {
    const auto pack = gpu::load_pack<n>(picture.at(x, y));
    VMAFX_UNROLL
    for (int i = 0; i < n; i++) to[i] = sample(pack.v[i], stage.sample_scale);
    return;
  }
  const int row = inside(y, stage.scale.in_h, stage.from.y);
  VMAFX_UNROLL
  for (int i = 0; i < n; i++)
    to[i] = sample(*picture.at(inside(x + i, stage.scale.in_w, stage.from.x), row), stage.sample_scale);
}

/* n columns of the input at x, to rows y and y + 1 of the bands: put(0 or 1, low, high). */
template <int n, class T, class Put>
VMAFX_DEVICE void filter_down(const FloatAdmStage& stage, const Picture<T>& picture, int x, int y, bool within,
                              Put put) {
  float rows[6][n];
  VMAFX_UNROLL
  for (int i = 0; i < 6; i++) load_row(stage, picture, x, 2 * y - 1 + i, within, rows[i]);
  VMAFX_UNROLL
  for (int r = 0; r < 2; r++) {
    gpu::Pack<float, n> low, high;
    VMAFX_UNROLL
    for (int i = 0; i < n; i++) {
      const float a = rows[2 * r][i], b = rows[2 * r + 1][i], c = rows[2 * r + 2][i], d = rows[2 * r + 3][i];
      low.v[i] = float_adm_low_pass(a, b, c, d);
      high.v[i] = float_adm_high_pass(a, b, c, d);
    }
    put(r, low, high);
  }
}

/* Without an address that only memory can have. */
template <class T>
VMAFX_DEVICE Picture<T> pick(const Picture<T> (&pictures)[2], unsigned which) {
  Picture<T> picture = pictures[0];
  if (which) picture = pictures[1];
  return picture;
}

/* All that the taps across read for a tile at (x0, y0). */
template <class T>
VMAFX_DEVICE void filter_tile_down(const FloatAdmStage& stage, const Picture<T> (&pictures)[2], int x0, int y0,
                                   Filtered& filtered) {
  constexpr unsigned kGroups = 2 * kW / 4, kRowPairs = kH / 2;
  static_assert(2 * kRowPairs * kGroups == kFloatAdmThreads);
  const FloatAdmRange &there_x = stage.from.x, &there_y = stage.from.y;
  const bool within = 2 * x0 - 1 >= there_x.begin && 2 * (x0 + kW) < there_x.end && 2 * y0 - 1 >= there_y.begin &&
                      2 * (y0 + kH) < there_y.end;
  const unsigned rank = gpu::thread_rank();
  {
    const unsigned which = rank / (kRowPairs * kGroups), row = rank / kGroups % kRowPairs * 2, group = rank % kGroups;
    filter_down<4>(stage, pick(pictures, which), 2 * x0 + static_cast<int>(4 * group), y0 + static_cast<int>(row),
                   within, [&](int r, const Quad& low, const Quad& high) {
                     filtered.low[which][row + r][kFirst / 4 + group] = low;
                     filtered.high[which][row + r][kFirst / 4 + group] = high;
                   });
  }

  /* One column before and one after these. */
  if (rank < 4 * kRowPairs) {
    const unsigned which = rank / (2 * kRowPairs), row = rank / 2 % kRowPairs * 2;
    const int column = rank % 2 ? 2 * kW : -1;
    filter_down<1>(stage, pick(pictures, which), 2 * x0 + column, y0 + static_cast<int>(row), within,
                   [&](int r, const gpu::Pack<float, 1>& low, const gpu::Pack<float, 1>& high) {
                     reinterpret_cast<float*>(filtered.low[which][row + r])[kFirst + column] = low.v[0];
                     reinterpret_cast<float*>(filtered.high[which][row + r])[kFirst + column] = high.v[0];
                   });
  }
}

/* -- Horizontal pass ----------------------------------------------------------------------------------------------- */

using Row = float[kTaps];

VMAFX_DEVICE void load_taps(const Quad* quads, int column, Row& row) {
  static_assert(kColumns == 2);
  const float* from = reinterpret_cast<const float*>(quads) + kFirst + 2 * column;
  row[0] = from[-1];
  const Quad middle = gpu::load_pack<4>(from);
  VMAFX_UNROLL
  for (int i = 0; i < 4; i++) row[1 + i] = middle.v[i];
  row[5] = from[4];
}

VMAFX_DEVICE float low_across(const Row& s, int i) {
  return float_adm_low_pass(s[2 * i], s[2 * i + 1], s[2 * i + 2], s[2 * i + 3]);
}
VMAFX_DEVICE float high_across(const Row& s, int i) {
  return float_adm_high_pass(s[2 * i], s[2 * i + 1], s[2 * i + 2], s[2 * i + 3]);
}

VMAFX_DEVICE void store_a(const FloatAdmStage& stage, int picture, const Place& at, const Row& low) {
  const FloatAdmBand& to = stage.to;
  if (at.row >= kFloatAdmStepY || at.column >= kFloatAdmStepX || at.y < to.y.begin || at.y >= to.y.end ||
      at.x < to.x.begin || at.x >= to.x.end)
    return;
  float* row =
      to.planes.plane(gpu::block_id().z, static_cast<unsigned>(picture)) + (at.y - to.y.begin) * to.planes.stride;
  gpu::Pack<float, 2> pair; /* the row has room for a column at to.x.end */
  pair.v[0] = low_across(low, 0);
  pair.v[1] = low_across(low, 1);
  gpu::store_pack(row + (at.x - to.first_x), pair);
}

/* A value for each detail band at each of the thread's columns. */
using Details = float[kAdmBands][kColumns];

VMAFX_DEVICE void details_across(const Row& low, const Row& high, Details& to) {
  VMAFX_UNROLL
  for (int i = 0; i < kColumns; i++) {
    to[0][i] = low_across(high, i);
    to[1][i] = high_across(low, i);
    to[2][i] = high_across(high, i);
  }
}

/* -- Decoupling and contrast sensitivity --------------------------------------------------------------------------- */

/* Weighted magnitudes. */
struct Parts {
  Details restored, added, reference;
};

VMAFX_DEVICE void decouple(const FloatAdmStage& stage, const Details& o, const Details& t, Parts& parts) {
  VMAFX_UNROLL
  for (int i = 0; i < kColumns; i++) {
    const bool aligned = float_adm_aligned(o[0][i], o[1][i], t[0][i], t[1][i]);
    VMAFX_UNROLL
    for (int band = 0; band < kAdmBands; band++) {
      const float restored = float_adm_restored(o[band][i], t[band][i], aligned, stage.gain_limit);
      const float weight = stage.scale.weight[band];
      parts.restored[band][i] = float_adm_weighted(restored, weight);
      parts.added[band][i] = float_adm_weighted(t[band][i] - restored, weight);
      parts.reference[band][i] = float_adm_weighted(o[band][i], weight);
    }
  }
}

VMAFX_DEVICE void store_shares(const Place& at, const Details& signal, Shares& shares) {
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++) {
    gpu::Pack<float, kColumns> pack;
    VMAFX_UNROLL
    for (int i = 0; i < kColumns; i++) pack.v[i] = float_adm_share(signal[band][i]);
    gpu::store_pack(&shares[band][at.row][at.column], pack);
  }
}

/* -- Masking ------------------------------------------------------------------------------------------------------- */

/* The place in the tile of the window around the thread's columns. */
struct Window {
  int row[3], column[kColumns + 2];

  VMAFX_DEVICE Window(const AdmExtent& scale, const Place& at) {
    VMAFX_UNROLL
    for (int i = 0; i < 3; i++) row[i] = clamp(at.row + adm_mirror(at.y - 1 + i, scale.h) - at.y, 0, kH);
    VMAFX_UNROLL
    for (int i = 0; i < kColumns + 2; i++)
      column[i] = clamp(at.column + adm_mirror(at.x - 1 + i, scale.w) - at.x, 0, kW);
  }
};

/* Adds a band's shares to the thresholds at the thread's columns. */
VMAFX_DEVICE void mask_band(const Window& window, const float (&shares)[kH][kW], const float (&here)[kColumns],
                            float (&to)[kColumns]) {
  float around[3][kColumns + 2];
  VMAFX_UNROLL
  for (int y = 0; y < 3; y++) {
    VMAFX_UNROLL
    for (int x = 0; x < kColumns + 2; x++) around[y][x] = shares[window.row[y]][window.column[x]];
  }
  VMAFX_UNROLL
  for (int i = 0; i < kColumns; i++)
    to[i] = float_adm_masking([&](int dx, int dy) { return around[1 + dy][1 + i + dx]; }, here[i]);
}

/* Thresholds at the thread's columns, of which those count that have their neighbors in the tile. */
VMAFX_DEVICE void thresholds(const Window& window, const Shares& shares, const Details& here, float (&to)[kColumns]) {
  Details of;
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++) mask_band(window, shares[band], here[band], of[band]);
  VMAFX_UNROLL
  for (int i = 0; i < kColumns; i++) to[i] = float_adm_threshold(of[0][i], of[1][i], of[2][i]);
}

/* -- Sums ---------------------------------------------------------------------------------------------------------- */

/* The thread's columns that are this tile's to score: of these `counted` are, the others have no part in the sums. */
struct Scored {
  bool mine[kColumns], counted[kColumns];

  VMAFX_DEVICE Scored(const FloatAdmStage& stage, const Place& at) {
    const FloatAdmScale& scale = stage.scale;
    const bool row = at.row >= 1 && at.row <= kFloatAdmStepY && at.y >= scale.top && at.y < scale.bottom;
    VMAFX_UNROLL
    for (int i = 0; i < kColumns; i++) {
      const int column = at.column + i, x = at.x + i;
      mine[i] = row && column >= 1 && column <= kFloatAdmStepX && x >= stage.columns.begin && x < stage.columns.end;
      counted[i] = mine[i] && x >= scale.left && x < scale.right;
    }
  }
};

/* Cubes become planes, one for each sum. */
class Cubes {
 public:
  VMAFX_DEVICE Cubes(const FloatAdmStage& stage, const Place& at) : scored_(stage, at) {
    const RowValues& values = stage.values;
    plane_size_ = values.row(0, 1, 0);
    to_ = values.first.get() + values.row(static_cast<int>(gpu::block_id().z), 0, at.y - stage.scale.top) +
          (at.x - stage.columns.begin);
  }
  VMAFX_DEVICE void add(int sum, const float (&x)[kColumns]) {
    static_assert(kColumns == 2);
    float* to = to_ + sum * plane_size_;
    gpu::Pack<float, kColumns> cubes;
    VMAFX_UNROLL
    for (int i = 0; i < kColumns; i++) cubes.v[i] = scored_.counted[i] ? float_adm_cube(x[i]) : 0;
    if (scored_.mine[0] && scored_.mine[1]) gpu::store_pack(to, cubes);
    else if (scored_.mine[0]) to[0] = cubes.v[0];
    else if (scored_.mine[1]) to[1] = cubes.v[1];
  }

 private:
  Scored scored_;
  int64_t plane_size_;
  float* to_;
};

/* Adds each power to the bin of its exponent: no thread has more than a few. */
class Powers {
 public:
  VMAFX_DEVICE Powers(const FloatAdmStage& stage, const Place& at)
      : scored_(stage, at), sums_(stage.sums[gpu::block_id().z]), p_norm_(stage.p_norm) {}
  VMAFX_DEVICE void add(int sum, const float (&x)[kColumns]) {
    VMAFX_UNROLL
    for (int i = 0; i < kColumns; i++) {
      const FloatAdmPower power = float_adm_power(x[i], p_norm_);
      if (scored_.counted[i] && power.bin < kFloatAdmBins)
        gpu::atomic_add(&sums_.bin[sum][power.bin],
                        static_cast<uint64_t>(to_fixed<kFloatAdmPowerBits>(static_cast<double>(power.power))));
    }
  }

 private:
  Scored scored_;
  FloatAdmPowerSums& sums_;
  float p_norm_;
};

template <class Sums>
VMAFX_DEVICE void add_excess(Sums& sums, int kind, const Details& signal, const float (&threshold)[kColumns]) {
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++) {
    float excess[kColumns];
    VMAFX_UNROLL
    for (int i = 0; i < kColumns; i++) excess[i] = float_adm_excess(signal[band][i], threshold[i]);
    sums.add(float_adm_sum_index(kind, 0, band), excess);
  }
}

template <class Sums>
VMAFX_DEVICE void add_parts(const FloatAdmStage& stage, const Place& at, const Parts& parts, const Masks& masks) {
  float of_added[kColumns] = {}, of_restored[kColumns] = {};
  if (stage.masked) {
    const Window window(stage.scale, at);
    thresholds(window, masks.of_added, parts.added, of_added);
    thresholds(window, masks.of_restored, parts.restored, of_restored);
  }
  Sums sums(stage, at);
  add_excess(sums, kFloatAdmDlm, parts.restored, of_added);
  add_excess(sums, kFloatAdmAim, parts.added, of_restored);
  VMAFX_UNROLL
  for (int band = 0; band < kAdmBands; band++)
    sums.add(float_adm_sum_index(kFloatAdmDen, 0, band), parts.reference[band]);
}

/* -- A tile from top to bottom ------------------------------------------------------------------------------------- */

VMAFX_DEVICE bool overlap(int begin, int end, int from, int to) { return begin < to && from < end; }

template <class Sums, class T>
VMAFX_DEVICE void run_tile(const FloatAdmStage& stage, const Picture<T> (&pictures)[2]) {
  VMAFX_SHARED(Filtered, filtered, [1]);
  VMAFX_SHARED(Masks, masks, [1]);
  const gpu::Dim3 block = gpu::block_id();
  const int x0 = stage.first_x + static_cast<int>(block.x) * kFloatAdmStepX;
  const int y0 = stage.first_y + static_cast<int>(block.y) * kFloatAdmStepY;
  Place at;
  at.row = static_cast<int>(gpu::thread_rank() / kRowThreads);
  at.column = static_cast<int>(gpu::thread_rank() % kRowThreads * kColumns);
  at.x = x0 + at.column;
  at.y = y0 + at.row;

  filter_tile_down(stage, pictures, x0, y0, filtered[0]);
  gpu::block_sync();
  Details details[2];
  VMAFX_UNROLL
  for (int p = 0; p < 2; p++) {
    Row low, high;
    load_taps(filtered[0].low[p][at.row], at.column, low);
    load_taps(filtered[0].high[p][at.row], at.column, high);
    if (stage.makes_a) store_a(stage, p, at, low);
    details_across(low, high, details[p]);
  }
  const FloatAdmScale& scale = stage.scale;
  const bool scored = stage.scored &&
                      overlap(x0 + 1, x0 + 1 + kFloatAdmStepX, stage.columns.begin, stage.columns.end) &&
                      overlap(y0 + 1, y0 + 1 + kFloatAdmStepY, scale.top, scale.bottom);
  if (!scored) return;

  Parts parts;
  decouple(stage, details[0], details[1], parts);
  if (stage.masked) {
    store_shares(at, parts.restored, masks[0].of_restored);
    store_shares(at, parts.added, masks[0].of_added);
    gpu::block_sync();
  }
  add_parts<Sums>(stage, at, parts, masks[0]);
}

template <class Sums, class T>
VMAFX_DEVICE void score_samples(const FloatAdmStage& stage) {
  const int frame = static_cast<int>(gpu::block_id().z);
  const hip::DevicePlane &ref = stage.luma.ref[hip::ref_index(frame)], &dist = stage.luma.dist[frame];
  const Picture<T> pictures[2] = {{reinterpret_cast<const T*>(ref.data.get()), ref.stride, 0, 0},
                                  {reinterpret_cast<const T*>(dist.data.get()), dist.stride, 0, 0}};
  run_tile<Sums>(stage, pictures);
}

template <class Sums>
VMAFX_DEVICE void score_bands(const FloatAdmStage& stage) {
  const FloatAdmBand& from = stage.from;
  const int64_t stride = from.planes.stride * static_cast<int64_t>(sizeof(float));
  const Picture<float> pictures[2] = {{from.planes.plane(gpu::block_id().z, 0), stride, from.first_x, from.y.begin},
                                      {from.planes.plane(gpu::block_id().z, 1), stride, from.first_x, from.y.begin}};
  run_tile<Sums>(stage, pictures);
}

VMAFX_DEFINE_SAMPLE_KERNELS(float_adm, T, stage) { score_samples<Cubes, T>(stage); }
VMAFX_DEFINE_KERNEL(float_adm_bands, stage) { score_bands<Cubes>(stage); }
VMAFX_DEFINE_SAMPLE_KERNELS(float_adm_powers, T, stage) { score_samples<Powers, T>(stage); }
VMAFX_DEFINE_KERNEL(float_adm_powers_bands, stage) { score_bands<Powers>(stage); }

}  // namespace vmafx::float_adm
