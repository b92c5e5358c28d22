/* The kernels of vif, in data-flow order: the planes of scales 1, 2 and 3, each from those before, then the sums of all
 * scales at once. */
#include <bit>

#include "kernels/gpu/gpu.h"
#include "kernels/vif/vif_filter.hip"
#include "kernels/vif/vif_work.h"

namespace vmafx::vif_device {

// -- Decimation ------------------------------------------------------------------------------------------------------

template <int next, class T>
VMAFX_DEVICE void decimate(const VifWork& work, const Pair<T>& in) {
  constexpr int kHalf = kVifHalfWidth[next], kMargin = vif_margin(next - 1), kColumns = vif_decimated_columns(next);
  constexpr int kRows = 2 * (kVifDecimatedRows - 1) + 2 * kHalf + 1, kRun = kVifDecimatedRun, kPack = 4;
  constexpr int kSkip = kMargin - kHalf, kPacks = (kSkip + 2 * (kRun - 1) + 2 * kHalf + kPack) / kPack;
  using Tile = Staged<T, kRows>;
  VMAFX_SHARED(Tile, staged, [1]);
  VMAFX_SHARED(uint32_t, filtered, [kVifDecimatedRows][kVifThreads]);  // ref in the low half
  const VifScale& out = work.scale[next];
  const int thread = static_cast<int>(thread_id().x);
  const int x0 = static_cast<int>(block_id().x) * kColumns, y0 = static_cast<int>(block_id().y) * kVifDecimatedRows;
  stage<kHalf>(in, 2 * x0 - kMargin, 2 * y0 - kHalf, staged[0]);
  block_sync();

  uint32_t ref[kRows], dist[kRows];
  load_column<kHalf>(staged[0], 2 * x0 - kMargin, in.w, ref, dist);
  const int shift = vif_shifts(next - 1, work.bpc).mean;
  VMAFX_UNROLL
  for (int i = 0; i < kVifDecimatedRows; i++)
    filtered[i][thread] = mean<next>(ref, 2 * i, shift) | mean<next>(dist, 2 * i, shift) << 16;
  block_sync();

  constexpr int kRunThreads = kVifThreads / kVifDecimatedRows;
  const int row = thread / kRunThreads, column = thread % kRunThreads * kRun, x = x0 + column, y = y0 + row;
  if (column >= kColumns || x >= out.w || y >= out.h) return;
  uint32_t ref_window[kPacks * kPack], dist_window[kPacks * kPack];
  VMAFX_UNROLL
  for (int p = 0; p < kPacks; p++) {
    const auto both = load_pack<kPack>(&filtered[row][2 * column + p * kPack]);
    VMAFX_UNROLL
    for (int i = 0; i < kPack; i++) {
      ref_window[p * kPack + i] = both.v[i] & 0xffff;
      dist_window[p * kPack + i] = both.v[i] >> 16;
    }
  }
  Pack<uint16_t, kRun> ref_out, dist_out;
  VMAFX_UNROLL
  for (int i = 0; i < kRun; i++) {
    ref_out.v[i] = static_cast<uint16_t>(mean<next>(ref_window, kSkip + 2 * i, 16));
    dist_out.v[i] = static_cast<uint16_t>(mean<next>(dist_window, kSkip + 2 * i, 16));
  }
  /* A run may end beyond the row, in its padding. */
  const int64_t at = y * out.planes.stride + x * 2;
  store_pack(reinterpret_cast<uint16_t*>(out.planes.plane(block_id().z, 0) + at), ref_out);
  store_pack(reinterpret_cast<uint16_t*>(out.planes.plane(block_id().z, 1) + at), dist_out);
}

VMAFX_DEFINE_DENSE_SAMPLE_KERNELS(vif_decimate, 5, T, work) { decimate<1>(work, luma_pair<T>(work)); }
VMAFX_DEFINE_DENSE_KERNEL(vif_decimate_1, 5, work) { decimate<2>(work, decimated_pair(work, 1)); }
VMAFX_DEFINE_DENSE_KERNEL(vif_decimate_2, 5, work) { decimate<3>(work, decimated_pair(work, 2)); }

// -- Sums ------------------------------------------------------------------------------------------------------------

/* What the vertical pass leaves of a row: means Q8, squares Q16. A thread of the horizontal pass begins two packs of
 * four after its neighbor. With even and odd packs apart, on other banks, neighbors read neighboring packs. */
enum Quantity { kMu1, kMu2, kXx, kYy, kXy, kQuantities };
inline constexpr int kPack = 4, kOddPacks = kVifThreads / 2 + 16, kRowWords = kOddPacks + kVifThreads / 2;
using FilteredRow = uint32_t[kQuantities][kRowWords];

/* What a block keeps of its tile: samples first, then what the vertical pass makes of them. */
union TileMemory {
  alignas(16) FilteredRow filtered[kVifTileRows];
  unsigned char bytes[sizeof filtered];

  template <class T, int rows>
  VMAFX_DEVICE Staged<T, rows>& staged() {
    static_assert(sizeof(Staged<T, rows>) <= sizeof bytes);
    return *reinterpret_cast<Staged<T, rows>*>(bytes);
  }
};

VMAFX_DEVICE int place_of(int column) {
  return (column / kPack % 2) * kOddPacks + column / (2 * kPack) * kPack + column % kPack;
}

/* These make a quantity of the tile's rows, of this thread's column. */
template <int scale, int rows>
VMAFX_DEVICE void filter_means(const uint32_t (&samples)[rows], int bpc, FilteredRow* filtered, Quantity quantity,
                               int place) {
  VMAFX_UNROLL
  for (int i = 0; i < kVifTileRows; i++)
    filtered[i][quantity][place] = mean<scale>(samples, i, vif_shifts(scale, bpc).mean);
}

template <int scale, bool doubles, class T, int rows>
VMAFX_DEVICE void filter_products(const uint32_t (&a)[rows], const uint32_t (&b)[rows], int bpc, FilteredRow* filtered,
                                  Quantity quantity, int place) {
  const Products<rows> products = {a, b};
  if constexpr (sizeof(T) == 1) {  // nothing to round, and two products and the sum fit 32 bits
    VMAFX_UNROLL
    for (int i = 0; i < kVifTileRows; i++) filtered[i][quantity][place] = weigh<scale>(products, i, 0);
  } else {
    uint32_t means[kVifTileRows];
    LongMeans<scale, doubles>::get(products, 0, vif_shifts(scale, bpc).square, means);
    VMAFX_UNROLL
    for (int i = 0; i < kVifTileRows; i++) filtered[i][quantity][place] = means[i];
  }
}

template <int scale, bool doubles, class T>
VMAFX_DEVICE void filter_columns(const Pair<T>& in, int x, int y, int bpc, TileMemory& memory) {
  constexpr int kHalf = kVifHalfWidth[scale], kRows = kVifTileRows + 2 * kHalf;
  auto& staged = memory.staged<T, kRows>();
  stage<kHalf>(in, x - vif_margin(scale), y - kHalf, staged);
  block_sync();
  uint32_t ref[kRows], dist[kRows];
  load_column<kHalf>(staged, x - vif_margin(scale), in.w, ref, dist);
  block_sync();
  if constexpr (sizeof(T) == 1) {
    VMAFX_UNROLL
    for (int k = 0; k < kRows; k++) {
      ref[k] = forget_range(ref[k]);
      dist[k] = forget_range(dist[k]);
    }
  }

  const int place = place_of(static_cast<int>(thread_id().x));
  const auto filter_all_means = [&] {
    filter_means<scale>(ref, bpc, memory.filtered, kMu1, place);
    filter_means<scale>(dist, bpc, memory.filtered, kMu2, place);
  };
  /* In these orders nvcc keeps all in the 80 registers that let three blocks share a multiprocessor. */
  if constexpr (sizeof(T) == 1) filter_all_means();
  filter_products<scale, doubles, T>(ref, ref, bpc, memory.filtered, kXx, place);
  filter_products<scale, doubles, T>(dist, dist, bpc, memory.filtered, kYy, place);
  filter_products<scale, doubles, T>(ref, dist, bpc, memory.filtered, kXy, place);
  if constexpr (sizeof(T) > 1) filter_all_means();
}

/* The variances and the covariance in the windows of a run, Q16. */
template <int scale, bool doubles>
struct Run {
  static constexpr int kSkip = vif_margin(scale) - kVifHalfWidth[scale];  // samples before the first window
  static constexpr int kPacks = (kSkip + kVifRun + 2 * kVifHalfWidth[scale] + kPack - 1) / kPack;

  int32_t sigma1_sq[kVifRun], sigma2_sq[kVifRun], sigma12[kVifRun];

  /* From `column` of the tile on. */
  VMAFX_DEVICE void filter(const FilteredRow& row, int column) {
    const int place = place_of(column);
    uint32_t mu1[kVifRun], mu2[kVifRun];
    filter_means(row[kMu1], place, mu1);
    filter_means(row[kMu2], place, mu2);
    filter_products(row[kXx], place, mu1, mu1, sigma1_sq);
    filter_products(row[kYy], place, mu2, mu2, sigma2_sq);
    filter_products(row[kXy], place, mu1, mu2, sigma12);
  }

 private:
  VMAFX_DEVICE static void load(const uint32_t (&row)[kRowWords], int place, uint32_t (&values)[kPacks * kPack]) {
    VMAFX_UNROLL
    for (int p = 0; p < kPacks; p++) {
      const auto pack = load_pack<kPack>(&row[place + p % 2 * kOddPacks + p / 2 * kPack]);
      VMAFX_UNROLL
      for (int i = 0; i < kPack; i++) values[p * kPack + i] = pack.v[i];
    }
  }

  VMAFX_DEVICE static void filter_means(const uint32_t (&row)[kRowWords], int place, uint32_t (&means)[kVifRun]) {
    uint32_t values[kPacks * kPack];
    load(row, place, values);
    VMAFX_UNROLL
    for (int i = 0; i < kVifRun; i++) means[i] = weigh<scale>(values, kSkip + i, 0);
  }

  VMAFX_DEVICE static void filter_products(const uint32_t (&row)[kRowWords], int place, const uint32_t (&a)[kVifRun],
                                           const uint32_t (&b)[kVifRun], int32_t (&sigmas)[kVifRun]) {
    uint32_t values[kPacks * kPack], means[kVifRun];
    load(row, place, values);
    LongMeans<scale, doubles>::get(values, kSkip, 16, means);
    VMAFX_UNROLL
    for (int i = 0; i < kVifRun; i++) sigmas[i] = static_cast<int32_t>(means[i] - vif_mean_product(a[i], b[i]));
  }
};

/* The sums of a run: 8 samples and below 2^16 each, but for num_non_log. */
struct RunSums {
  int32_t num_log, den_log;
  int32_t non_logs;  // samples without the log form
  int64_t num_non_log;
};

/* vif_log2(x) - 17 * 2048 for x >= 2^17, rounded toward zero: exponent and leading bits are where vif_log2_entry() has
 * them when it shifts by 15, and so is its `bulge`, in [2^23, 2^24), below the exponent 0x4b. */
VMAFX_DEVICE int32_t log2_above_noise(float x) {
  constexpr uint32_t kZero = ((127u + 17) << 26) + 0x4b000000u;
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const float u = std::bit_cast<float>((bits & 0x007fff00) | 0x3f800000) - 1.5f;
  float bulge = kVifLog2Poly[kVifLog2Degree];
  VMAFX_UNROLL
  for (int k = kVifLog2Degree - 1; k >= 0; k--) bulge = multiply_add(bulge, u, kVifLog2Poly[k]);
  return static_cast<int32_t>((((bits & 0xffffff00) << 3) + std::bit_cast<uint32_t>(bulge) - kZero) >> 15);
}

/* vif_add_sample() of vif_math.h without a branch, so that the samples of a run overlap. A sample without the log form takes part with sigma1_sq = kVifNoise, which adds 2048 to den_log, and with sigma12 =
 * 0, which adds nothing to num_log. */
VMAFX_DEVICE void add_sample(int32_t s1, int32_t s2, int32_t s12, double gain_limit, RunSums& sums) {
  const bool has_log = s1 >= kVifNoise;
  const int32_t sigma1_sq = has_log ? s1 : kVifNoise, sigma2_sq = s2 > 0 ? s2 : 0;
  const int32_t sigma12 = has_log && s2 > 0 && s12 > 0 ? s12 : 0;

  const double s1_as_double = sigma1_sq, s12_as_double = sigma12;
  const double g = divide(s12_as_double, s1_as_double + kVifEpsilon);
  const double residual = sigma2_sq - g * s12_as_double;
  const int32_t sv = static_cast<int32_t>(residual);  // > -2^25: |sigma12| is at most sqrt(s1 * s2) and some rounding
  const uint32_t noise = static_cast<uint32_t>((sv > 0 ? sv : 0) + kVifNoise);
  const double gain = g < gain_limit ? g : gain_limit;
  const uint64_t total = static_cast<uint64_t>(gain * gain * s1_as_double) + noise;

  sums.num_log += log2_above_noise(float_toward_zero(total)) - log2_above_noise(float_toward_zero(noise));
  sums.den_log += log2_above_noise(float_toward_zero(static_cast<uint32_t>(sigma1_sq + kVifNoise)));
  sums.non_logs += !has_log;
  sums.num_non_log += has_log ? 0 : sigma2_sq;
}

/* Of a run of samples[0 to kVifRun]. */
template <int scale, bool doubles>
VMAFX_DEVICE RunSums run_sums(const FilteredRow& row, int column, int samples, double gain_limit) {
  RunSums sums = {};
  if (samples <= 0) return sums;
  Run<scale, doubles> run;
  run.filter(row, column);
  if (samples < kVifRun) {  // those behind the last column become flat
    VMAFX_UNROLL
    for (int i = 1; i < kVifRun; i++) {
      run.sigma1_sq[i] = i < samples ? run.sigma1_sq[i] : 0;
      run.sigma2_sq[i] = i < samples ? run.sigma2_sq[i] : 0;
    }
  }
  VMAFX_UNROLL
  for (int i = 0; i < kVifRun; i++) add_sample(run.sigma1_sq[i], run.sigma2_sq[i], run.sigma12[i], gain_limit, sums);
  sums.den_log -= 2048 * sums.non_logs;
  sums.non_logs -= kVifRun - samples;
  return sums;
}

template <int scale, bool doubles, class T>
VMAFX_DEVICE void add_tile(const VifWork& work, const Pair<T>& in, TileMemory& memory) {
  constexpr int kColumns = vif_tile_columns(scale), kRunThreads = kVifThreads / kVifTileRows;
  const VifScale& of = work.scale[scale];
  const int tile = static_cast<int>(block_id().x) - of.first_block;
  const int tile_y = static_cast<int>(static_cast<uint64_t>(tile) * of.tiles_inverse >> 32);
  const int x0 = (tile - tile_y * of.tiles_across) * kColumns, y0 = tile_y * kVifTileRows;
  const int thread = static_cast<int>(thread_id().x), row = thread / kRunThreads;
  const int column = thread % kRunThreads * kVifRun, behind = in.w - x0 - column;
  const int samples = column >= kColumns || y0 + row >= in.h || behind < 0 ? 0 : behind < kVifRun ? behind : kVifRun;
  filter_columns<scale, doubles>(in, x0, y0, work.bpc, memory);
  block_sync();

  const RunSums sums = run_sums<scale, doubles>(memory.filtered[row], column, samples, work.gain_limit);
  add_waves(work.sums[block_id().z].scale[scale], {.num_log = wave_add(sums.num_log),
                                                   .den_log = wave_add(sums.den_log),
                                                   .num_non_log = wave_add(sums.num_non_log),
                                                   .den_non_log = wave_add(sums.non_logs)});
}

template <bool doubles, class T>
VMAFX_DEVICE void add_tile(const VifWork& work, TileMemory& memory) {
  const int block = static_cast<int>(block_id().x);
  if (block < work.scale[1].first_block) add_tile<0, doubles>(work, luma_pair<T>(work), memory);
  else if (block < work.scale[2].first_block) add_tile<1, doubles>(work, decimated_pair(work, 1), memory);
  else if (block < work.scale[3].first_block) add_tile<2, doubles>(work, decimated_pair(work, 2), memory);
  else add_tile<3, false>(work, decimated_pair(work, 3), memory);  // too few samples to matter; fewer registers
}

VMAFX_DEFINE_DENSE_SAMPLE_KERNELS(vif_sums, 3, T, work) {
  VMAFX_SHARED(TileMemory, memory, [1]);
  if (double_is_fast()) add_tile<true, T>(work, memory[0]);
  else add_tile<false, T>(work, memory[0]);
}

}  // namespace vmafx::vif_device
