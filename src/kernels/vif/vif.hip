/* The kernels of vif, in data-flow order: the planes of scales 1, 2 and 3, each from those before, then the sums of all
 * scales at once. */
#include <bit>

#include "kernels/gpu/gpu.h"
#include "kernels/vif/vif_filter.hip"
#include "kernels/vif/vif_work.h"

namespace vmafx::vif_device {

// -- Decimation ------------------------------------------------------------------------------------------------------

/* Makes the next scale's planes from two planes that need not belong together; the first one is called ref. */
template <int next, class T>
VMAFX_DEVICE void decimate(const VifWork& work) {
  constexpr int kHalf = kVifHalfWidth[next], kMargin = vif_margin(next - 1), kColumns = vif_decimated_columns(next);
  constexpr int kRows = 2 * (kVifDecimatedRows - 1) + 2 * kHalf + 1, kRun = kVifDecimatedRun, kPack = 4;
  constexpr int kSkip = kMargin - kHalf, kPacks = (kSkip + 2 * (kRun - 1) + 2 * kHalf + kPack) / kPack;
  using Tile = Staged<T, kRows>;
  VMAFX_SHARED(Tile, staged, [1]);
  VMAFX_SHARED(uint32_t, filtered, [kVifDecimatedRows][kVifThreads]);  // ref in the low half
  const unsigned first = work.decimated.plane[2 * block_id().z], second = work.decimated.plane[2 * block_id().z + 1];
  const Pair<T> in = pair_of<T>(work, next - 1, first, second);
  const VifScale& out = work.scale[next];
  const int thread = static_cast<int>(thread_id().x);
  const int x0 = static_cast<int>(block_id().x) * kColumns, y0 = static_cast<int>(block_id().y) * kVifDecimatedRows;
  stage<kHalf>(in, 2 * x0 - kMargin, 2 * y0 - kHalf, staged[0]);
  block_sync();

  uint32_t ref[kRows], dist[kRows];
  const int from = column_of_thread<kHalf>(2 * x0 - kMargin, in.w);
  load_column(staged[0].ref, from, ref);
  load_column(staged[0].dist, from, dist);
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
  store_pack(reinterpret_cast<uint16_t*>(out.planes.plane(first / 2, first % 2) + at), ref_out);
  store_pack(reinterpret_cast<uint16_t*>(out.planes.plane(second / 2, second % 2) + at), dist_out);
}

VMAFX_DEFINE_DENSE_SAMPLE_KERNELS(vif_decimate, 5, 5, T, work) { decimate<1, T>(work); }
VMAFX_DEFINE_DENSE_KERNEL(vif_decimate_1, 5, work) { decimate<2, uint16_t>(work); }
VMAFX_DEFINE_DENSE_KERNEL(vif_decimate_2, 5, work) { decimate<3, uint16_t>(work); }

// -- Sums ------------------------------------------------------------------------------------------------------------

/* The sums of a run: 8 samples and below 2^16 each, but for num_non_log. */
struct RefSums {
  int32_t den_log;
  int32_t non_logs;  // samples without the log form
};
struct DistSums {
  int32_t num_log;
  int64_t num_non_log;
};

/* A quantity after the vertical pass: means Q8, squares Q16. A thread of the horizontal pass begins two packs of four
 * after its neighbor. With even and odd packs apart, on other banks, neighbors read neighboring packs. */
inline constexpr int kPack = 4, kOddPacks = kVifThreads / 2 + 16, kRowWords = kOddPacks + kVifThreads / 2;
using FilteredRow = uint32_t[kRowWords];
using Filtered = FilteredRow[kVifTileRows];
struct FilteredRef {
  Filtered mu1, xx;
};
struct FilteredDist {
  Filtered mu2, yy, xy;
};

/* A block's memory for its tile. The reference's part stays for all frames of a group, which are `several` or one; a
 * frame's part holds samples first, then the results of the vertical pass. */
template <bool several>
struct TileMemory {
  alignas(16) FilteredRef ref;
  union {
    FilteredDist dist;
    unsigned char bytes[sizeof(FilteredDist)];
  };
  RefSums ref_sums[several ? kVifThreads : 1];  // one for each thread
};

/* A block's memory if shared memory is scarce: samples, T of scale 0, and then two quantities after each other. */
template <class T, bool several>
struct TurnMemory {
  using OfScale0 = Staged<T, kVifTileRows + 2 * kVifHalfWidth[0]>;
  using OfScale1 = Staged<uint16_t, kVifTileRows + 2 * kVifHalfWidth[1]>;  // larger than those of scales 2 and 3

  union {
    alignas(16) Filtered of[2];
    unsigned char bytes[sizeof(OfScale0) > sizeof(OfScale1) ? sizeof(OfScale0) : sizeof(OfScale1)];
  };
};

/* The samples of a tile, in either memory. */
template <class T, int rows, class Memory>
VMAFX_DEVICE Staged<T, rows>& staged_in(Memory& memory) {
  static_assert(sizeof(Staged<T, rows>) <= sizeof memory.bytes);
  return *reinterpret_cast<Staged<T, rows>*>(memory.bytes);
}

VMAFX_DEVICE int place_of(int column) {
  return (column / kPack % 2) * kOddPacks + column / (2 * kPack) * kPack + column % kPack;
}

/* The functions below make a quantity of the tile's rows, of this thread's column. */
template <int scale, int rows>
VMAFX_DEVICE void filter_means(const uint32_t (&samples)[rows], int bpc, Filtered& filtered, int place) {
  VMAFX_UNROLL
  for (int i = 0; i < kVifTileRows; i++) filtered[i][place] = mean<scale>(samples, i, vif_shifts(scale, bpc).mean);
}

template <int scale, bool doubles, class T, int rows>
VMAFX_DEVICE void filter_products(const uint32_t (&a)[rows], const uint32_t (&b)[rows], int bpc, Filtered& filtered,
                                  int place) {
  const Products<rows> products = {a, b};
  if constexpr (sizeof(T) == 1) {  // nothing to round, and two products and the sum fit 32 bits
    VMAFX_UNROLL
    for (int i = 0; i < kVifTileRows; i++) filtered[i][place] = weigh<scale>(products, i, 0);
  } else {
    uint32_t means[kVifTileRows];
    LongMeans<scale, doubles>::get(products, 0, vif_shifts(scale, bpc).square, means);
    VMAFX_UNROLL
    for (int i = 0; i < kVifTileRows; i++) filtered[i][place] = means[i];
  }
}

/* The place where this block's tile begins. With several frames it is computed anew for each, as registers are
 * scarce. */
struct TilePlace {
  int x, y;
};
template <int scale, bool several>
VMAFX_DEVICE TilePlace tile_place(const VifScale& of) {
  const unsigned block = several ? anew_of_block(block_id().x) : block_id().x;
  const int tile = static_cast<int>(block) - of.first_block;
  const int down = static_cast<int>(static_cast<uint64_t>(tile) * of.tiles_inverse >> 32);
  return {(tile - down * of.tiles_across) * vif_tile_columns(scale), down * kVifTileRows};
}

template <class T, int staged_rows, int rows>
VMAFX_DEVICE void load_samples(const T (&staged)[staged_rows][kVifThreads], int column, uint32_t (&samples)[rows]) {
  load_column(staged, column, samples);
  if constexpr (sizeof(T) == 1) {
    VMAFX_UNROLL
    for (int k = 0; k < rows; k++) samples[k] = forget_range(samples[k]);
  }
}

/* with_ref: also what is of the reference alone. */
template <int scale, bool doubles, class T, bool several>
VMAFX_DEVICE void filter_columns(const Pair<T>& in, const TilePlace& tile, int bpc, bool with_ref,
                                 TileMemory<several>& memory) {
  constexpr int kHalf = kVifHalfWidth[scale], kRows = kVifTileRows + 2 * kHalf;
  auto& staged = staged_in<T, kRows>(memory);
  stage<kHalf>(in, tile.x - vif_margin(scale), tile.y - kHalf, staged);
  block_sync();
  const int place = place_of(static_cast<int>(thread_id().x));
  const int column = column_of_thread<kHalf>(tile.x - vif_margin(scale), in.w);
  /* In this order nvcc keeps all in the 80 registers that let three blocks share a multiprocessor. */
  uint32_t ref[kRows], dist[kRows];
  load_samples(staged.ref, column, ref);
  if (with_ref) {
    filter_products<scale, doubles, T>(ref, ref, bpc, memory.ref.xx, place);
    filter_means<scale>(ref, bpc, memory.ref.mu1, place);
  }
  load_samples(staged.dist, column, dist);
  block_sync();
  filter_means<scale>(dist, bpc, memory.dist.mu2, place);
  filter_products<scale, doubles, T>(ref, dist, bpc, memory.dist.xy, place);
  filter_products<scale, doubles, T>(dist, dist, bpc, memory.dist.yy, place);
}

/* The place of a run: in a row of the tile, from `place` on. */
struct RunPlace {
  int row, place;
  int samples;  // 0 to kVifRun: how many count
};

template <class T>
using OfRun = T[kVifRun];

/* Words as they lie in a row, packs in turn even and odd. */
template <int packs>
VMAFX_DEVICE void load_run(const FilteredRow& row, int place, uint32_t (&values)[packs * kPack]) {
  VMAFX_UNROLL
  for (int p = 0; p < packs; p++) {
    const auto pack = load_pack<kPack>(&row[place + p % 2 * kOddPacks + p / 2 * kPack]);
    VMAFX_UNROLL
    for (int i = 0; i < kPack; i++) values[p * kPack + i] = pack.v[i];
  }
}

template <class T>
VMAFX_DEVICE void store_run(const OfRun<T>& values, FilteredRow& row, int place) {
  VMAFX_UNROLL
  for (int p = 0; p < kVifRun / kPack; p++) {
    Pack<uint32_t, kPack> pack;
    VMAFX_UNROLL
    for (int i = 0; i < kPack; i++) pack.v[i] = static_cast<uint32_t>(values[p * kPack + i]);
    store_pack(&row[place + p * kOddPacks], pack);
  }
}

/* The windows of a run. */
template <int scale, bool doubles>
struct Windows {
  static constexpr int kSkip = vif_margin(scale) - kVifHalfWidth[scale];  // samples before the first window
  static constexpr int kPacks = (kSkip + kVifRun + 2 * kVifHalfWidth[scale] + kPack - 1) / kPack;

  VMAFX_DEVICE static void filter_means(const FilteredRow& row, int place, OfRun<uint32_t>& means) {
    uint32_t values[kPacks * kPack];
    load_run<kPacks>(row, place, values);
    VMAFX_UNROLL
    for (int i = 0; i < kVifRun; i++) means[i] = weigh<scale>(values, kSkip + i, 0);
  }

  /* Variances, or covariances, Q16. */
  VMAFX_DEVICE static void filter_products(const FilteredRow& row, int place, const OfRun<uint32_t>& a,
                                           const OfRun<uint32_t>& b, OfRun<int32_t>& sigmas) {
    uint32_t values[kPacks * kPack], means[kVifRun];
    load_run<kPacks>(row, place, values);
    LongMeans<scale, doubles>::get(values, kSkip, 16, means);
    VMAFX_UNROLL
    for (int i = 0; i < kVifRun; i++) sigmas[i] = static_cast<int32_t>(means[i] - vif_mean_product(a[i], b[i]));
  }
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

/* Samples behind the last column become flat. */
VMAFX_DEVICE void flatten_behind(int samples, OfRun<int32_t>& sigmas) {
  if (samples == kVifRun) return;
  VMAFX_UNROLL
  for (int i = 1; i < kVifRun; i++) sigmas[i] = i < samples ? sigmas[i] : 0;
}

/* A run of the reference. */
struct RefRun {
  OfRun<uint32_t> mu1;
  OfRun<int32_t> sigma1_sq;
  RefSums sums;

  template <int scale, bool doubles>
  VMAFX_DEVICE void filter(const FilteredRef& ref, const RunPlace& at) {
    Windows<scale, doubles>::filter_means(ref.mu1[at.row], at.place, mu1);
    filter_variances<scale, doubles>(ref.xx, at);
  }
  /* Computes the variances, which follow from the means. */
  template <int scale, bool doubles>
  VMAFX_DEVICE void filter_variances(const Filtered& xx, const RunPlace& at) {
    Windows<scale, doubles>::filter_products(xx[at.row], at.place, mu1, mu1, sigma1_sq);
    flatten_behind(at.samples, sigma1_sq);
    sums = sums_of<0, kVifRun>(at.samples);
  }

  /* The sums of n samples from `first` on, of which `samples` count. */
  template <int first, int n>
  VMAFX_DEVICE RefSums sums_of(int samples) const {
    RefSums added = {};
    VMAFX_UNROLL
    for (int i = first; i < first + n; i++) {
      const bool has_log = sigma1_sq[i] >= kVifNoise;
      const int32_t sigma = has_log ? sigma1_sq[i] : kVifNoise;
      added.den_log += log2_above_noise(float_toward_zero(static_cast<uint32_t>(sigma + kVifNoise)));
      added.non_logs += !has_log;
    }
    added.den_log -= 2048 * added.non_logs;
    added.non_logs -= n - samples;
    return added;
  }

  /* For the other frames of the group, in place of what it was made of. */
  VMAFX_DEVICE void store(FilteredRef& ref, RefSums* ref_sums, const RunPlace& at) const {
    store_run(mu1, ref.mu1[at.row], at.place);
    store_run(sigma1_sq, ref.xx[at.row], at.place);
    ref_sums[thread_id().x] = sums;
  }
  VMAFX_DEVICE void load(const FilteredRef& ref, const RefSums* ref_sums, const RunPlace& at) {
    uint32_t sigmas[kVifRun];
    load_run<kVifRun / kPack>(ref.mu1[at.row], at.place, mu1);
    load_run<kVifRun / kPack>(ref.xx[at.row], at.place, sigmas);
    VMAFX_UNROLL
    for (int i = 0; i < kVifRun; i++) sigma1_sq[i] = static_cast<int32_t>(sigmas[i]);
    sums = ref_sums[thread_id().x];
  }
};

/* vif_add_sample() of vif_math.h without a branch, so that the samples of a run overlap. A sample without the log form
 * takes part with sigma1_sq = kVifNoise, which adds 2048 to den_log, and with sigma12 = 0, which adds nothing to
 * num_log. */
VMAFX_DEVICE void add_sample(int32_t s1, int32_t s2, int32_t s12, double gain_limit, DistSums& sums) {
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
  sums.num_non_log += has_log ? 0 : sigma2_sq;
}

/* A run of the distorted picture, beside the reference's. */
struct DistRun {
  OfRun<uint32_t> mu2;
  OfRun<int32_t> sigma2_sq, sigma12;

  template <int scale, bool doubles>
  VMAFX_DEVICE void filter(const FilteredDist& dist, const RefRun& ref, const RunPlace& at) {
    using Windows = vif_device::Windows<scale, doubles>;
    Windows::filter_means(dist.mu2[at.row], at.place, mu2);
    Windows::filter_products(dist.xy[at.row], at.place, ref.mu1, mu2, sigma12);
    Windows::filter_products(dist.yy[at.row], at.place, mu2, mu2, sigma2_sq);
  }
  VMAFX_DEVICE DistSums sums(const RefRun& ref, int samples, double gain_limit) {
    flatten_behind(samples, sigma2_sq);
    return sums_of<0, kVifRun>(ref, gain_limit);
  }

  /* The sums of n samples from `first` on; those that do not count are flat. */
  template <int first, int n>
  VMAFX_DEVICE DistSums sums_of(const RefRun& ref, double gain_limit) const {
    DistSums sums = {};
    VMAFX_UNROLL
    for (int i = first; i < first + n; i++) add_sample(ref.sigma1_sq[i], sigma2_sq[i], sigma12[i], gain_limit, sums);
    return sums;
  }
};

/* The place of this thread's run in the tile. */
template <int scale, bool several>
VMAFX_DEVICE RunPlace run_place(const VifScale& of) {
  constexpr int kColumns = vif_tile_columns(scale), kRunThreads = kVifThreads / kVifTileRows;
  const TilePlace tile = tile_place<scale, several>(of);
  const int thread = static_cast<int>(several ? anew(thread_id().x) : thread_id().x), row = thread / kRunThreads;
  const int column = thread % kRunThreads * kVifRun, behind = of.w - tile.x - column;
  const bool is_inside = column < kColumns && tile.y + row < of.h && behind > 0;
  return {row, place_of(column), !is_inside ? 0 : behind < kVifRun ? behind : kVifRun};
}

VMAFX_DEVICE void add_to_block(VifScaleSums& block, const RefSums& ref, const DistSums& dist) {
  auto* const words = reinterpret_cast<uint64_t*>(&block);
  const int64_t values[] = {dist.num_log, ref.den_log, dist.num_non_log, ref.non_logs};
  VMAFX_UNROLL
  for (int i = 0; i < 4; i++)
    if (values[i]) atomic_add(&words[i], static_cast<uint64_t>(values[i]));
}

/* Adds a run, whose samples that do not count are flat, to the blocks of maps. Without maps there are none. */
template <int scale, bool several>
VMAFX_DEVICE void add_to_blocks(const VifWork&, unsigned, const RunPlace&, const RefRun&, const DistRun&) {}
template <int scale, bool several>
VMAFX_DEVICE void add_to_blocks(const VifMapWork& work, unsigned frame, const RunPlace& at, const RefRun& ref,
                                const DistRun& dist) {
  constexpr int kSide = kVifBlockSide >> scale, kPart = kSide < kVifRun ? kSide : kVifRun;
  static_assert(kVifRun % kPart == 0 && kSide % kPart == 0 && vif_tile_columns(scale) % kVifRun == 0);
  const TilePlace tile = tile_place<scale, several>(work.scale[scale]);
  const int column = static_cast<int>(thread_id().x) % (kVifThreads / kVifTileRows) * kVifRun;
  VifScaleSums* const row =
      &work.blocks[frame] + scale * work.blocks_of_scale + (tile.y + at.row) / kSide * work.blocks_across;
  const int block = (tile.x + column) / kSide;
  add_to_block(row[block], ref.sums_of<0, kPart>(at.samples < kPart ? at.samples : kPart),
               dist.sums_of<0, kPart>(ref, work.gain_limit));
  if constexpr (kPart < kVifRun) {
    static_assert(kVifRun == 2 * kPart);
    if (at.samples > kPart)
      add_to_block(row[block + 1], ref.sums_of<kPart, kPart>(at.samples - kPart),
                   dist.sums_of<kPart, kPart>(ref, work.gain_limit));
  }
}

VMAFX_DEVICE unsigned first_frame(const VifWork& work) { return work.groups.first[block_id().z]; }
template <bool several>
VMAFX_DEVICE unsigned end_frame(const VifWork& work) {
  return work.groups.first[(several ? anew_of_block(block_id().z) : block_id().z) + 1];
}

/* Adds the sums of the threads' runs to a frame. */
template <int scale>
VMAFX_DEVICE void add_runs(const VifWork& work, unsigned frame, const RefSums& ref, const DistSums& dist) {
  add_waves(work.sums[frame].scale[scale], {.num_log = wave_add(dist.num_log),
                                            .den_log = wave_add(ref.den_log),
                                            .num_non_log = wave_add(dist.num_non_log),
                                            .den_non_log = wave_add(ref.non_logs)});
}

/* Adds a tile of one frame of a group. Values of the reference alone are made for the first frame, and kept for those
 * behind it. */
template <int scale, bool doubles, class T, class Work, bool several>
VMAFX_DEVICE void add_frame(const Work& work, unsigned frame, bool is_first, TileMemory<several>& memory) {
  const Pair<T> in = pair_of<T>(work, scale, vif_plane(work.groups.picture[frame], 0), vif_plane(frame, 1));
  filter_columns<scale, doubles>(in, tile_place<scale, several>(work.scale[scale]), work.bpc, is_first, memory);
  block_sync();

  const RunPlace at = run_place<scale, several>(work.scale[scale]);
  RefRun ref = {};
  if (at.samples) {
    if (is_first) ref.filter<scale, doubles>(memory.ref, at);
    else ref.load(memory.ref, memory.ref_sums, at);
  }
  if (several && is_first && frame + 1 < end_frame<several>(work)) {
    block_sync();  // the neighbors have read what is overwritten here
    if (at.samples) ref.store(memory.ref, memory.ref_sums, at);
  }
  DistSums sums = {};
  if (at.samples) {
    DistRun dist;
    dist.filter<scale, doubles>(memory.dist, ref, at);
    sums = dist.sums(ref, at.samples, work.gain_limit);
    add_to_blocks<scale, several>(work, frame, at, ref, dist);
  }
  add_runs<scale>(work, frame, ref.sums, sums);
}

template <int scale, bool doubles, class T, class Work, bool several>
VMAFX_DEVICE void add_tile(const Work& work, TileMemory<several>& memory) {
  const unsigned first = first_frame(work);
  unsigned frame = first;
  do add_frame<scale, doubles, T>(work, frame, !several || frame == first, memory);
  while (several && ++frame < end_frame<several>(work));
}

/* Adds a tile of one frame if shared memory is scarce: quantity after quantity. Values of the reference alone stay in
 * registers. */
template <int scale, bool doubles, class T, class Work, class OfScale0, bool several>
VMAFX_DEVICE void add_frame(const Work& work, unsigned frame, bool is_first, TurnMemory<OfScale0, several>& memory,
                            RefRun& ref_run) {
  using Windows = vif_device::Windows<scale, doubles>;
  constexpr int kHalf = kVifHalfWidth[scale], kRows = kVifTileRows + 2 * kHalf;
  const Pair<T> in = pair_of<T>(work, scale, vif_plane(work.groups.picture[frame], 0), vif_plane(frame, 1));
  const TilePlace tile = tile_place<scale, several>(work.scale[scale]);
  const RunPlace at = run_place<scale, several>(work.scale[scale]);
  const int column = column_of_thread<kHalf>(tile.x - vif_margin(scale), in.w);
  const int place = place_of(static_cast<int>(thread_id().x));
  auto& staged = staged_in<T, kRows>(memory);
  stage<kHalf>(in, tile.x - vif_margin(scale), tile.y - kHalf, staged);
  block_sync();
  uint32_t ref[kRows], dist[kRows];
  load_samples(staged.ref, column, ref);
  load_samples(staged.dist, column, dist);
  block_sync();

  DistRun dist_run = {};
  if (is_first) filter_means<scale>(ref, work.bpc, memory.of[0], place);
  filter_means<scale>(dist, work.bpc, memory.of[1], place);
  block_sync();
  if (at.samples) {
    if (is_first) Windows::filter_means(memory.of[0][at.row], at.place, ref_run.mu1);
    Windows::filter_means(memory.of[1][at.row], at.place, dist_run.mu2);
  }
  block_sync();
  if (is_first) filter_products<scale, doubles, T>(ref, ref, work.bpc, memory.of[0], place);
  filter_products<scale, doubles, T>(dist, dist, work.bpc, memory.of[1], place);
  block_sync();
  if (at.samples) {
    if (is_first) ref_run.filter_variances<scale, doubles>(memory.of[0], at);
    Windows::filter_products(memory.of[1][at.row], at.place, dist_run.mu2, dist_run.mu2, dist_run.sigma2_sq);
  }
  block_sync();
  filter_products<scale, doubles, T>(ref, dist, work.bpc, memory.of[0], place);
  block_sync();
  DistSums sums = {};
  if (at.samples) {
    Windows::filter_products(memory.of[0][at.row], at.place, ref_run.mu1, dist_run.mu2, dist_run.sigma12);
    sums = dist_run.sums(ref_run, at.samples, work.gain_limit);
    add_to_blocks<scale, several>(work, frame, at, ref_run, dist_run);
  }
  add_runs<scale>(work, frame, ref_run.sums, sums);
}

template <int scale, bool doubles, class T, class Work, class OfScale0, bool several>
VMAFX_DEVICE void add_tile(const Work& work, TurnMemory<OfScale0, several>& memory) {
  const unsigned first = first_frame(work);
  RefRun ref = {};
  unsigned frame = first;
  do add_frame<scale, doubles, T>(work, frame, !several || frame == first, memory, ref);
  while (several && ++frame < end_frame<several>(work));
}

template <bool doubles, class T, class Work, class Memory>
VMAFX_DEVICE void add_tile(const Work& work, Memory& memory) {
  const int block = static_cast<int>(block_id().x);
  if (block < work.scale[1].first_block) add_tile<0, doubles, T>(work, memory);
  else if (block < work.scale[2].first_block) add_tile<1, doubles, uint16_t>(work, memory);
  else if (block < work.scale[3].first_block) add_tile<2, doubles, uint16_t>(work, memory);
  else add_tile<3, false, uint16_t>(work, memory);  // too few samples to matter; fewer registers
}

template <class T, class Memory, class Work>
VMAFX_DEVICE void add_sums_in(const Work& work) {
  VMAFX_SHARED(Memory, memory, [1]);
  if (double_is_fast()) add_tile<true, T>(work, memory[0]);
  else add_tile<false, T>(work, memory[0]);
}

template <class T, bool several, class Work>
VMAFX_DEVICE void add_sums(const Work& work) {
  if (shared_memory_is_scarce()) add_sums_in<T, TurnMemory<T, several>>(work);
  else add_sums_in<T, TileMemory<several>>(work);
}

/* One source, compiled twice: a loop takes registers and time, even if it runs only once. */
VMAFX_DEFINE_DENSE_SAMPLE_KERNELS(vif_sums, 3, 3, T, work) { add_sums<T, false>(work); }
VMAFX_DEFINE_DENSE_SAMPLE_KERNELS(vif_group_sums, 3, 3, T, work) { add_sums<T, true>(work); }
VMAFX_DEFINE_DENSE_SAMPLE_KERNELS(vif_map_sums, 3, 3, T, work) { add_sums<T, true>(work); }

}  // namespace vmafx::vif_device
