/* adm: the wavelet transform of a tile. Down the columns from device memory to shared memory, then across, to the
 * bands at each thread's columns. */
#include "kernels/adm/adm_math.h"
#include "kernels/adm/adm_work.h"
#include "kernels/gpu/gpu.h"
#include "kernels/steps/mirror.h"

namespace vmafx::adm {

template <class T>
struct Picture {
  const uint8_t* data;
  int64_t stride;  // bytes

  VMAFX_DEVICE const T* row(int y) const { return reinterpret_cast<const T*>(data + y * stride); }
};

/* adm_tile_shape(), as kernels use it. */
template <int kScale>
struct Tile {
  static constexpr AdmTileShape kShape = adm_tile_shape(kScale);
  static constexpr int kW = kShape.w, kH = kShape.h, kColumns = kShape.columns;
  static constexpr int kRowThreads = kW / kColumns, kThreads = kShape.threads();

  /* Filtered rows in shared memory. For a tile at x0, column i is column 2 x0 + i - kFirst of the input; the taps
   * read from column 2 x0 - 1 to 2 (x0 + kW). At scale 0 low and high fit 16 bits and share a word; at others the row
   * of high follows that of low. Rows of dist after those of ref. */
  static constexpr int kFirst = 4, kPitch = 2 * kW + 8, kRowWords = kScale == 0 ? kPitch : 2 * kPitch;
  static constexpr int kFilteredWords = 2 * kH * kRowWords;

  static constexpr int kTaps = 2 * kColumns + 2;  // samples that the taps of a thread's columns read
};

/* The place of this thread. x and y: of its columns in the bands. */
struct Place {
  int row, column;  // in the tile
  int x, y;
};

/* The place that a tap at i reads; for places far beyond the picture, which no tap needs, any place within it. */
VMAFX_DEVICE int inside(int i, int size) { return clamped(adm_mirror(i, size), size); }

/* -- Vertical pass ------------------------------------------------------------------------------------------------- */

/* n neighboring samples, as they lie in memory. */
template <class T, int n>
struct Samples {
  static constexpr int kBits = 8 * sizeof(T), kPerWord = n * sizeof(T) < 4 ? n : 32 / kBits;
  uint32_t words[n / kPerWord];

  VMAFX_DEVICE uint32_t operator[](int i) const {
    return static_cast<uint32_t>(static_cast<T>(words[i / kPerWord] >> i % kPerWord * kBits));
  }
};

/* Loads samples of row y, mirrored if x or y is outside of the picture. */
template <int n, class T>
VMAFX_DEVICE Samples<T, n> load_mirrored(const AdmScale& scale, const Picture<T>& picture, int x, int y) {
  using To = Samples<T, n>;
  const T* row = picture.row(inside(y, scale.in_h));
  To samples = {};
  VMAFX_UNROLL
  for (int i = 0; i < n; i++) {
    const T sample = row[inside(x + i, scale.in_w)];
    samples.words[i / To::kPerWord] |= (static_cast<uint32_t>(sample) & (~0u >> (32 - To::kBits)))
                                       << i % To::kPerWord * To::kBits;
  }
  return samples;
}

template <int n, class T>
VMAFX_DEVICE Samples<T, n> load_within(const T* row) {
  constexpr int kWords = n / Samples<T, n>::kPerWord;
  if constexpr (n == 1) return {{static_cast<uint32_t>(*row)}};
  const auto pack = gpu::load_pack<kWords>(reinterpret_cast<const uint32_t*>(row));
  Samples<T, n> samples;
  VMAFX_UNROLL
  for (int i = 0; i < kWords; i++) samples.words[i] = pack.v[i];
  return samples;
}

template <int kShift>
VMAFX_DEVICE int32_t round_shift(int64_t sum) {
  return static_cast<int32_t>((sum + (1 << (kShift - 1))) >> kShift);
}

/* The bands' filters down four samples above each other. */
template <int kScale>
VMAFX_DEVICE int32_t low_down(const AdmStage& stage, int shift, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  if (kScale == 0) return static_cast<int32_t>(narrow::low_pass(stage.low_start, a, b, c, d)) >> shift;
  if (kScale == 1) return static_cast<int32_t>(narrow::low_pass(0, a, b, c, d));
  return round_shift<16>(
      adm_low_pass(static_cast<int32_t>(a), static_cast<int32_t>(b), static_cast<int32_t>(c), static_cast<int32_t>(d)));
}
template <int kScale>
VMAFX_DEVICE int32_t high_down(const AdmStage& stage, int shift, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  if (kScale == 0) return static_cast<int32_t>(narrow::high_pass(stage.high_start, a, b, c, d)) >> shift;
  if (kScale == 1) return static_cast<int32_t>(narrow::high_pass(0, a, b, c, d));
  return round_shift<16>(adm_high_pass(static_cast<int32_t>(a), static_cast<int32_t>(b), static_cast<int32_t>(c),
                                       static_cast<int32_t>(d)));
}

/* One row of the bands, n columns of the input. kDetails: also what only they need. */
template <int kScale, bool kDetails, class T, int n>
VMAFX_DEVICE void filter_row(const AdmStage& stage, const Samples<T, n>* rows, uint32_t* to) {
  const int shift = sizeof(T) == 1 ? 8 : stage.scale.vertical_shift;
  gpu::Pack<uint32_t, n> low, high;
  VMAFX_UNROLL
  for (int i = 0; i < n; i++) {
    const uint32_t a = rows[0][i], b = rows[1][i], c = rows[2][i], d = rows[3][i];
    low.v[i] = static_cast<uint32_t>(low_down<kScale>(stage, shift, a, b, c, d));
    if (!kDetails) continue;
    high.v[i] = static_cast<uint32_t>(high_down<kScale>(stage, shift, a, b, c, d));
    if (kScale == 0) low.v[i] = (low.v[i] & 0xFFFF) | high.v[i] << 16;
  }
  gpu::store_pack(to, low);
  if (kDetails && kScale > 0) gpu::store_pack(to + Tile<kScale>::kPitch, high);
}

/* Rows y and y + 1 of the bands, n columns of the input at x. `within`: no tap is outside of the picture. */
template <int kScale, bool kDetails, int n, class T>
VMAFX_DEVICE void filter_down(const AdmStage& stage, const Picture<T>& picture, int x, int y, bool within,
                              uint32_t* to) {
  Samples<T, n> rows[6];
  if (within) {
    const T* row = picture.row(2 * y - 1) + x;
    VMAFX_UNROLL
    for (int i = 0; i < 6; i++) {
      rows[i] = load_within<n>(row);
      row = reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(row) + picture.stride);
    }
  } else {
    VMAFX_UNROLL
    for (int i = 0; i < 6; i++) rows[i] = load_mirrored<n>(stage.scale, picture, x, 2 * y - 1 + i);
  }
  filter_row<kScale, kDetails>(stage, rows, to);
  filter_row<kScale, kDetails>(stage, rows + 2, to + Tile<kScale>::kRowWords);
}

/* Without an address that only memory can have. */
template <int kScale, class T>
VMAFX_DEVICE Picture<T> picture_of_row(const Picture<T> (&pictures)[2], unsigned row) {
  Picture<T> picture = pictures[0];
  if (row >= Tile<kScale>::kH) picture = pictures[1];
  return picture;
}

/* All that the taps across read for a tile at (x0, y0). */
template <int kScale, bool kDetails, class T>
VMAFX_DEVICE void filter_tile_down(const AdmStage& stage, const Picture<T> (&pictures)[2], int x0, int y0,
                                   uint32_t* filtered) {
  using Tile = adm::Tile<kScale>;
  constexpr unsigned kGroups = 2 * Tile::kW / 4, kRowPairs = Tile::kH, kTasks = kRowPairs * kGroups;
  static_assert(kTasks % Tile::kThreads == 0 && 2 * kRowPairs <= Tile::kThreads);
  const AdmScale& scale = stage.scale;
  const bool within = x0 > 0 && 2 * (x0 + Tile::kW) < scale.in_w && y0 > 0 && 2 * (y0 + Tile::kH) < scale.in_h;
  const unsigned rank = gpu::thread_rank();
  VMAFX_UNROLL
  for (unsigned first = 0; first < kTasks; first += Tile::kThreads) {
    const unsigned row = (first + rank) / kGroups * 2, x = (first + rank) % kGroups * 4;
    filter_down<kScale, kDetails, 4>(stage, picture_of_row<kScale>(pictures, row), 2 * x0 + static_cast<int>(x),
                                     y0 + static_cast<int>(row % Tile::kH), within,
                                     filtered + row * Tile::kRowWords + Tile::kFirst + x);
  }

  /* One column before and one after these. */
  if (rank < 2 * kRowPairs) {
    const unsigned row = rank / 2 * 2;
    const int x = rank % 2 ? 2 * Tile::kW : -1;
    filter_down<kScale, kDetails, 1>(stage, picture_of_row<kScale>(pictures, row), 2 * x0 + x,
                                     y0 + static_cast<int>(row % Tile::kH), within,
                                     filtered + row * Tile::kRowWords + Tile::kFirst + x);
  }
}

/* -- Horizontal pass ----------------------------------------------------------------------------------------------- */

/* Filtered samples around a thread's columns: of scale 0 only `low` has words, of both. */
template <int kScale>
struct FilteredRow {
  uint32_t low[Tile<kScale>::kTaps], high[Tile<kScale>::kTaps];
};

/* A FilteredRow's samples as numbers. */
template <int kScale>
using Row = int32_t[Tile<kScale>::kTaps];

template <int n>
VMAFX_DEVICE void load_words(const uint32_t* from, uint32_t (&words)[n]) {
  words[0] = from[-1];
  VMAFX_UNROLL
  for (int i = 0; i < n - 2; i += 4) {
    const auto pack = gpu::load_pack<4>(from + i);
    VMAFX_UNROLL
    for (int k = 0; k < 4; k++) words[1 + i + k] = pack.v[k];
  }
  words[n - 1] = from[n - 2];
}

template <int kScale>
VMAFX_DEVICE void get_low(const FilteredRow<kScale>& row, Row<kScale>& low) {
  VMAFX_UNROLL
  for (int i = 0; i < Tile<kScale>::kTaps; i++)
    low[i] = kScale == 0 ? static_cast<int16_t>(row.low[i]) : static_cast<int32_t>(row.low[i]);
}
template <int kScale>
VMAFX_DEVICE void get_high(const FilteredRow<kScale>& row, Row<kScale>& high) {
  VMAFX_UNROLL
  for (int i = 0; i < Tile<kScale>::kTaps; i++)
    high[i] = kScale == 0 ? static_cast<int32_t>(row.low[i]) >> 16 : static_cast<int32_t>(row.high[i]);
}

template <int kScale>
VMAFX_DEVICE int32_t low_across(const Row<kScale>& s, int i) {
  const int32_t a = s[2 * i], b = s[2 * i + 1], c = s[2 * i + 2], d = s[2 * i + 3];
  if (kScale == 0) return static_cast<int32_t>(narrow::low_pass(1u << 15, a, b, c, d)) >> 16;
  return round_shift<adm_horizontal_shift(kScale)>(adm_low_pass(a, b, c, d));
}
template <int kScale>
VMAFX_DEVICE int32_t high_across(const Row<kScale>& s, int i) {
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
VMAFX_DEVICE void store_a(const AdmStage& stage, int picture, const Place& at, const Row<kScale>& low) {
  using Sample = typename BandA<kScale>::Sample;
  using Tile = adm::Tile<kScale>;
  if (at.row >= Tile::kShape.step_y() || at.y < 0 || at.y >= stage.scale.h) return;
  uint8_t* plane = stage.to.plane(gpu::block_id().z, static_cast<unsigned>(picture));
  Sample* row = reinterpret_cast<Sample*>(plane + at.y * stage.to.stride);
  VMAFX_UNROLL
  for (int i = 0; i < Tile::kColumns; i += 2) {
    const int x = at.x + i;
    if (at.column + i >= Tile::kShape.step_x() || x < 0 || x >= stage.scale.w) continue;
    gpu::Pack<Sample, 2> pair;  // the row has room for a column w
    pair.v[0] = static_cast<Sample>(low_across<kScale>(low, i));
    pair.v[1] = static_cast<Sample>(low_across<kScale>(low, i + 1));
    gpu::store_pack(row + x, pair);
  }
}

/* A value for each detail band at each of the thread's columns. */
template <int kScale>
using Details = int32_t[kAdmBands][Tile<kScale>::kColumns];

template <int kScale>
VMAFX_DEVICE void details_across(const Row<kScale>& low, const Row<kScale>& high, Details<kScale>& to) {
  VMAFX_UNROLL
  for (int i = 0; i < Tile<kScale>::kColumns; i++) {
    to[0][i] = low_across<kScale>(high, i);
    to[1][i] = high_across<kScale>(low, i);
    to[2][i] = high_across<kScale>(high, i);
  }
}

}  // namespace vmafx::adm
