/* cambi, the SIMD twin: one source for every instruction set, equal to cambi_plain.cpp to the last bit.
 *
 *   prepare    samples at 10 bit, averaged; the mask from sums of flat samples over seven rows, then seven columns
 *   filter     the mode filter, the samples of the next scale, and of this one its cells: levels that matter
 *              (cambi_rows.h)
 *   count      For each cell and column, how often it is in the window. A row that comes in and one that goes out are
 *              cut into runs where both have one cell; a run adds a trapezoid to the counts of its cell, or, where both
 *              are the same, nothing. Bands are long runs. In places with short runs, each cell of a block of columns
 *              adds the sum of all of its runs there: for each window, how many of the block's columns with that cell
 *              are in it.
 *   keys       A vector of columns at a time: for each cell in it, its columns take the counts of that cell and its
 *              neighbors, which are rows, so nothing is gathered. Then c of all columns at once.
 *
 * Counts are back at 0 after the last row, so that only cells that occur are cleared, once a frame.
 *
 * Measured, 1920x1080 of 8 bit on AVX-512 (Zen 4): 3.0 ms where textures leave few samples masked, 1.1 with
 * cambi_high_res_speedup=1080; 9.8 and 3.1 where all of it is bands. libvmaf: 12.9 and 38 without, 12 with it. Encodes
 * of 10 bit, on a Xeon: 9.0 to 10.8 ms, libvmaf 24 to 26 (docs/performance.md). */
#include "kernels/cambi/cambi.h"

#include <bit>
#include <cstring>

#include "kernels/cambi/cambi_rows.h"
#include "kernels/steps/prefetch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cambi/cambi_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
#include "kernels/cambi/cambi_math-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace vmafx::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

/* No vectors here: the definition does it. */
void cambi(const CambiParams& params, const CambiView& view, const SamplePlane& luma, std::byte* scratch,
           const CambiRowSink& rows, CambiScaleSums* sums) {
  cambi_plain(params, view, luma, scratch, rows, sums);
}

#else

using D = hn::ScalableTag<uint16_t>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;
constexpr D d;
int lanes() { return static_cast<int>(hn::Lanes(d)); }

/* The bits that libvmaf's windows count in: cambi_sum_bits(). */
constexpr int kSumBits = 24;

HWY_INLINE V load(const uint16_t* from) { return hn::LoadU(d, from); }
HWY_INLINE void store(V v, uint16_t* to) { hn::StoreU(v, d, to); }
HWY_INLINE V all(int value) { return hn::Set(d, static_cast<uint16_t>(value)); }

/* -- Samples and mask ---------------------------------------------------------------------------------------------- */

/* The even ones of 2n samples; maybe in place. */
void keep_even(const uint16_t* from, uint16_t* to, int n) {
  for (int x = 0; x < n; x += lanes())
    store(hn::ConcatEven(d, load(from + 2 * x + lanes()), load(from + 2 * x)), to + x);
}

/* A row of cambi_ten_bits(). */
template <class T>
void ten_bit_row(const T* from, int w, int bpc, uint16_t* to) {
  const int up = bpc < 10 ? 10 - bpc : 0, down = bpc > 10 ? bpc - 10 : 0;
  const V most = all((1 << bpc) - 1), rounding = all(down ? 1 << (down - 1) : 0);
  int x = 0;
  if constexpr (sizeof(T) == 1) {
    const hn::Rebind<uint8_t, D> d8;
    for (; x + lanes() <= w; x += lanes()) store(hn::ShiftLeft<2>(hn::PromoteTo(d, hn::LoadU(d8, from + x))), to + x);
  } else {
    /* Rounding, 16-bit samples may pass 65535: half of it is added to what is shifted by one. */
    for (; x + lanes() <= w; x += lanes()) {
      const V inside = hn::Min(load(from + x), most);
      V level = inside;
      if (up) level = hn::ShiftLeft<1>(inside);
      if (down) level = hn::ShiftRightSame(hn::Add(hn::ShiftRight<1>(inside), hn::ShiftRight<1>(rounding)), down - 1);
      if (down == 1) level = hn::Add(hn::ShiftRight<1>(inside), hn::And(inside, all(1)));
      store(level, to + x);
    }
  }
  for (; x < w; x++) to[x] = static_cast<uint16_t>(cambi_ten_bits(from[x], bpc));
}

/* The mean of 2x2; `below` is null in the last row. */
void average_row(uint16_t* row, uint16_t* below, int w, uint16_t* to) {
  const int corner = row[w - 1], corner_below = below ? below[w - 1] : 0;
  for (int x = 0; x < w; x += lanes()) {
    const V across = hn::Add(load(row + x), load(row + x + 1));
    const V mean = below ? hn::ShiftRight<2>(hn::Add(across, hn::Add(load(below + x), load(below + x + 1))))
                         : hn::ShiftRight<1>(across);
    store(mean, to + x);
  }
  to[w - 1] = static_cast<uint16_t>(below ? (corner + corner_below) / 2 : corner);
}

/* Samples that equal those to the right and below: 1, others 0. Adds them to the sums of their columns, and takes those
 * of seven rows before off. A null `row`: none. `ahead`: of the picture. */
void flat_row(uint16_t* row, const uint16_t* below, int w, uint16_t* flat, uint16_t* column_sums, const Ahead& ahead) {
  if (row) row[w] = row[w - 1];
  for (int x = 0; x < w; x += lanes()) {
    ahead.fetch(x);
    V now = hn::Zero(d);
    if (row) {
      const V here = load(row + x);
      M same = hn::Eq(here, load(row + x + 1));
      if (below) same = hn::And(same, hn::Eq(here, load(below + x)));
      if (x + lanes() > w) same = hn::And(same, hn::FirstN(d, w - x));
      now = hn::IfThenElseZero(same, all(1));
    }
    store(hn::Add(load(column_sums + x), hn::Sub(now, load(flat + x))), column_sums + x);
    store(now, flat + x);
  }
}

HWY_INLINE V masked(const uint16_t* column_sums, V above) {
  V sum = load(column_sums);
  for (int k = 1; k <= kCambiMaskRadius; k++) sum = hn::Add(sum, hn::Add(load(column_sums - k), load(column_sums + k)));
  return hn::IfThenElseZero(hn::Gt(sum, above), all(kCambiMasked));
}

/* Words of samples and mask, of the first scale that counts. */
template <class T>
class Preparation {
 public:
  Preparation(const CambiParams& params, const CambiView& view, const Plane<const T>& luma, const CambiMemory& memory)
      : params_(params), view_(view), luma_(luma), memory_(memory) {}

  void run() const {
    for (int y = 0; y < memory_.flat.rows.h; y++) clear(memory_.flat(y));
    clear(memory_.column_sums);
    raw_row(0);
    sample_row(0);
    for (int y = 0; y < view_.h + kCambiMaskRadius; y++) {
      if (y + 1 < view_.h) sample_row(y + 1);
      uint16_t* const row = y < view_.h ? samples(y) : nullptr;
      flat_row(row, y + 1 < view_.h ? samples(y + 1) : nullptr, view_.w, memory_.flat(y), memory_.column_sums,
               Ahead(luma_, picture_row(std::min(y + 3, view_.h - 1))));
      if (y >= kCambiMaskRadius) mask_row(y - kCambiMaskRadius);
    }
  }

 private:
  void clear(uint16_t* row) const { std::memset(row - kCambiMargin, 0, sizeof(uint16_t) * cambi_row_words(view_.w)); }
  uint16_t* samples(int y) const { return params_.halved ? memory_.even(y) : memory_.plane[0].row(y); }

  int picture_row(int y) const { return view_.rows.empty() ? y : view_.rows[y]; }

  void raw_row(int y) const {
    const T* const from = luma_.row(picture_row(y));
    uint16_t* const to = params_.anti_dither ? memory_.raw(y) : samples(y);
    if (view_.columns.empty()) return ten_bit_row(from, view_.w, params_.bpc, to);
    for (int x = 0; x < view_.w; x++)
      to[x] = static_cast<uint16_t>(cambi_ten_bits(from[view_.columns[x]], params_.bpc));
  }

  /* Row y, of which the raw one is there, if there is one. */
  void sample_row(int y) const {
    if (params_.anti_dither) {
      if (y + 1 < view_.h) raw_row(y + 1);
      average_row(memory_.raw(y), y + 1 < view_.h ? memory_.raw(y + 1) : nullptr, view_.w, samples(y));
    } else if (y > 0) {
      raw_row(y);
    }
    if (params_.halved && y % 2 == 0) keep_even(samples(y), memory_.plane[0].row(y / 2), memory_.plane[0].w);
  }

  void mask_row(int y) const {
    if (params_.halved && y % 2) return;
    const V above = all(view_.mask_above);
    const Plane<uint16_t>& plane = memory_.plane[0];
    uint16_t *const row = plane.row(params_.halved ? y / 2 : y), *const mask = memory_.row;
    for (int x = 0; x < view_.w; x += lanes()) store(masked(memory_.column_sums + x, above), mask + x);
    if (params_.halved) keep_even(mask, mask, plane.w);
    for (int x = 0; x < plane.w; x += lanes()) store(hn::Or(load(row + x), load(mask + x)), row + x);
  }

  const CambiParams& params_;
  const CambiView& view_;
  const Plane<const T>& luma_;
  const CambiMemory& memory_;
};

/* -- Mode filter --------------------------------------------------------------------------------------------------- */

HWY_INLINE V mode(V a, V b, V c) {
  const V other = hn::IfThenElse(hn::Eq(b, c), b, hn::Min(a, hn::Min(b, c)));
  return hn::IfThenElse(hn::Or(hn::Eq(a, b), hn::Eq(a, c)), a, other);
}

void filter_columns(const uint16_t* row, int w, uint16_t* to) {
  const V level = all(kCambiMasked - 1);
  for (int x = 0; x < w; x += lanes())
    store(mode(hn::And(load(row + x - 1), level), hn::And(load(row + x), level), hn::And(load(row + x + 1), level)),
          to + x);
  to[0] = row[0] & (kCambiMasked - 1);
  to[w - 1] = row[w - 1] & (kCambiMasked - 1);
}

/* Row y of the scale, of which the filtered columns are there: words of the next scale, and here cells. */
void filter_row(const CambiMemory& memory, const CambiCells& cells, int scale, int y) {
  const Plane<uint16_t> plane = memory.plane[scale];
  uint16_t* const row = plane.row(y);
  const bool filtered = y > 0 && y < plane.h - 1, feeds = scale + 1 < kCambiScales && y % 2 == 0;
  const uint16_t *above = memory.filtered(y + 2), *here = memory.filtered(y), *below = memory.filtered(y + 1);
  const V mask = all(kCambiMasked), first = all(cells.first), cell = all(cells.diffs), none = all(kCambiNoCell),
          count = all(cells.count - 2 * cells.diffs);
  for (int x = 0; x < plane.w; x += lanes()) {
    V word = load(row + x);
    if (filtered) word = hn::Or(hn::And(word, mask), mode(load(above + x), load(here + x), load(below + x)));
    if (feeds) store(word, memory.row + x);
    const V number = hn::Sub(hn::Xor(word, mask), first);  // 0x8000 and more where it is not masked
    store(hn::IfThenElse(hn::Lt(number, count), hn::Add(number, cell), none), row + x);
  }
  for (int x = plane.w; x < plane.w + kCambiMargin; x++) row[x] = kCambiNoCell;
  row[-1] = kCambiNoCell;
  if (feeds) keep_even(memory.row, memory.plane[scale + 1].row(y / 2), memory.plane[scale + 1].w);
}

void filter(const CambiMemory& memory, const CambiCells& cells, int scale) {
  const Plane<uint16_t> plane = memory.plane[scale];
  for (int y = 0; y <= plane.h; y++) {
    if (y < plane.h) filter_columns(plane.row(y), plane.w, memory.filtered(y));
    if (y > 0) filter_row(memory, cells, scale, y - 1);
  }
}

/* -- Counts -------------------------------------------------------------------------------------------------------- */

/* Blocks of columns, for places with short runs: as many columns as a vector has words, but at most 16 if no
 * instruction counts bits. */
#define VMAFX_COUNTS_BITS (HWY_TARGET == HWY_AVX3_DL)
using DBlock = hn::CappedTag<int16_t, VMAFX_COUNTS_BITS ? 32 : 16>;
constexpr int kBlock = static_cast<int>(hn::MaxLanes(DBlock()));

/* The change that columns of a block which gain or lose a cell make to that cell's counts. */
#if VMAFX_COUNTS_BITS

/* Columns of a block are bits. A column's window has some of them: their bits are counted. */
class BlockCounts {
 public:
  using Change = uint64_t;  // a bit for each column that enters, then one for each that leaves

  explicit BlockCounts(int radius) : radius_(radius) {
    for (int i = 0; i < kPlaces; i++) {
      const int place = i - kHalf, last = std::min(place, kHalf - 1), first = std::max(0, place - 2 * radius);
      seen_[i] = static_cast<uint16_t>(last < first ? 0 : (2u << last) - (1u << first));
    }
  }

  /* f(cell, change) for each cell. */
  template <class F>
  HWY_INLINE static void each(const uint16_t* gained, const uint16_t* lost, const F& f) {
    const V none = all(kCambiNoCell), row_in = load(gained), row_out = load(lost);
    const M moved = hn::Ne(row_in, row_out);
    const V in = hn::IfThenElse(moved, row_in, none), out = hn::IfThenElse(moved, row_out, none);
    HWY_ALIGN uint16_t cells[2 * kBlock];
    hn::Store(in, d, cells);
    hn::Store(out, d, cells + kBlock);
    for (Change left = bits(hn::Ne(in, none), hn::Ne(out, none)); left;) {
      const int cell = cells[std::countr_zero(left)];
      const Change here = bits(hn::Eq(in, all(cell)), hn::Eq(out, all(cell)));
      left &= ~here;
      f(cell, here);
    }
  }

  /* `counts`: of the first column whose window has one of the block. */
  HWY_INLINE void add(Change change, uint16_t* counts) const {
    const auto half = [change](int i) HWY_ATTR { return all(static_cast<uint16_t>(change >> kHalf * i)); };
    const V in_first = half(0), in_second = half(1), out_first = half(2), out_second = half(3);
    for (int i = 0; i < 2 * radius_ + kBlock; i += lanes()) {
      const V first = load(seen_ + kHalf + i), second = load(seen_ + i);
      const auto seen = [&](V of_first, V of_second) HWY_ATTR {
        return hn::Add(hn::PopulationCount(hn::And(of_first, first)), hn::PopulationCount(hn::And(of_second, second)));
      };
      store(hn::Add(load(counts + i), hn::Sub(seen(in_first, in_second), seen(out_first, out_second))), counts + i);
    }
  }

 private:
  HWY_INLINE static Change bits(M in, M out) {
    uint64_t of_in = 0, of_out = 0;
    hn::StoreMaskBits(d, in, reinterpret_cast<uint8_t*>(&of_in));
    hn::StoreMaskBits(d, out, reinterpret_cast<uint8_t*>(&of_out));
    return of_in | of_out << kBlock;
  }

  static constexpr int kHalf = 16;  // columns, as many as a word has bits
  static constexpr int kPlaces = 2 * kCambiMargin + 2 * kBlock;
  static_assert(kBlock == 2 * kHalf);

  const int radius_;
  /* Bits for the columns of a block's first half that are in a window, from kHalf before the first such window on. */
  uint16_t seen_[kPlaces];
};

#else

/* With 1, 0 or -1 for each column of a block, sums up to each of them. */
class BlockCounts {
  using DBytes = hn::Rebind<int8_t, DBlock>;

 public:
  using Change = hn::Vec<DBytes>;

  explicit BlockCounts(int radius) : radius_(radius) {
    const int first = (2 * radius + 1) % kBlock;  // that leaves
    for (int i = 0; i < kBlock; i++) {
      leaving_[0][i] = static_cast<int8_t>(i < first ? -1 : i - first);
      leaving_[1][i] = static_cast<int8_t>(std::min(kBlock + i - first, kBlock - 1));
    }
  }

  /* f(cell, change) for each cell. */
  template <class F>
  HWY_INLINE static void each(const uint16_t* gained, const uint16_t* lost, const F& f) {
    const hn::RebindToUnsigned<DBlock> d16;
    const DBlock di;
    const auto none = hn::Set(d16, kCambiNoCell);
    const auto in = hn::LoadU(d16, gained), out = hn::LoadU(d16, lost);
    const auto moved = hn::Ne(in, out);
    auto left_in = hn::And(moved, hn::Ne(in, none)), left_out = hn::And(moved, hn::Ne(out, none));
    for (;;) {
      int cell;
      if (!hn::AllFalse(d16, left_in)) cell = gained[hn::FindFirstTrue(d16, left_in)];
      else if (!hn::AllFalse(d16, left_out)) cell = lost[hn::FindFirstTrue(d16, left_out)];
      else break;
      const auto now = hn::Set(d16, static_cast<uint16_t>(cell));
      const auto gains = hn::And(hn::Eq(in, now), left_in), loses = hn::And(hn::Eq(out, now), left_out);
      left_in = hn::AndNot(gains, left_in);
      left_out = hn::AndNot(loses, left_out);
      const auto change =
          hn::Sub(hn::BitCast(di, hn::VecFromMask(d16, loses)), hn::BitCast(di, hn::VecFromMask(d16, gains)));
      f(cell, running_sums(hn::DemoteTo(DBytes(), change)));
    }
  }

  /* `counts`: of the first column whose window has one of the block. 2 r + 1 columns later it is in no window any
   * more. */
  HWY_INLINE void add(Change sums, uint16_t* counts) const {
    const DBytes d8;
    const DBlock di;
    const auto words = [di](Change v) HWY_ATTR { return hn::PromoteTo(di, v); };
    const auto total = words(hn::TableLookupBytes(sums, hn::Set(d8, kBlock - 1)));
    auto* const to = reinterpret_cast<int16_t*>(counts);
    const int late = (2 * radius_ + 1) / kBlock, vectors = (2 * radius_ + 2 * kBlock - 1) / kBlock;
    for (int i = 0; i < vectors; i++) {
      auto now = hn::LoadU(di, to + i * kBlock);
      now = hn::Add(now, i == 0 ? words(sums) : total);
      if (i >= late) now = hn::Sub(now, words(hn::TableLookupBytesOr0(sums, hn::LoadU(d8, leaving_[i > late]))));
      hn::StoreU(now, di, to + i * kBlock);
    }
  }

 private:
  static HWY_INLINE Change running_sums(Change v) {
    const DBytes d8;
    v = hn::Add(v, hn::ShiftLeftLanes<1>(d8, v));
    v = hn::Add(v, hn::ShiftLeftLanes<2>(d8, v));
    v = hn::Add(v, hn::ShiftLeftLanes<4>(d8, v));
    if constexpr (kBlock == 16) v = hn::Add(v, hn::ShiftLeftLanes<8>(d8, v));
    return v;
  }

  const int radius_;
  /* A mask of the sums of columns that have left: in the vector where the first one has, and after it. */
  int8_t leaving_[2][kBlock];
};

#endif

class Counts {
 public:
  Counts(const CambiMemory& memory, const CambiCells& cells, int radius)
      : memory_(memory), cells_(cells), radius_(radius), block_counts_(radius) {}

  /* The window leaves one row of cells and gains another. */
  void move(const uint16_t* gained, const uint16_t* lost, int w) const {
    find_bounds(gained, lost, w);
    int begin = 0;
    const auto move_to = [&](int end) HWY_ATTR {
      if (end > begin) move_run(gained[begin], lost[begin], begin, end);
      begin = end;
    };
    for (int x = 0; x < w; x += 64) {
      uint64_t bits;
      std::memcpy(&bits, memory_.bounds + x / 8, sizeof bits);
      for (int at = x; bits; at += kBlock, bits >>= kBlock) {
        uint64_t here = bits & ((uint64_t{1} << kBlock) - 1);
        if (at + kBlock <= w && std::popcount(here) >= kShortRuns) {
          move_to(at);
          move_block(gained + at, lost + at, at);
          begin = at + kBlock;
          continue;
        }
        for (; here; here &= here - 1) {
          const int end = at + std::countr_zero(here);
          if (end < w) move_to(end);
        }
      }
    }
    move_to(w);
  }

 private:
  /* A bit where a row has another cell than in the column before. */
  void find_bounds(const uint16_t* gained, const uint16_t* lost, int w) const {
    uint8_t* bits = memory_.bounds;
    for (int x = 0; x < w; x += lanes()) {
      const M changes =
          hn::Or(hn::Ne(load(gained + x), load(gained + x - 1)), hn::Ne(load(lost + x), load(lost + x - 1)));
      bits += hn::StoreMaskBits(d, changes, bits);
    }
    std::memset(bits, 0, sizeof(uint64_t));
  }

  void move_run(int gained, int lost, int begin, int end) const {
    if (gained == lost) return;
    if (gained != kCambiNoCell) add_run(gained, begin, end, all(0));
    if (lost != kCambiNoCell) add_run(lost, begin, end, all(0xffff));
  }

  /* To each column, how many of the run are in its window, or with `sign` all ones, less that. */
  void add_run(int cell, int begin, int end, V sign) const {
    if (memory_.ready[cell] < kAround) clear_around(cell);
    const hn::RebindToSigned<D> di;
    const int n = end - begin, length = n + 2 * radius_;
    const auto most = hn::Set(di, static_cast<int16_t>(std::min(n, 2 * radius_ + 1)));
    uint16_t* const counts = memory_.counts.row(cell) + begin - radius_;
    auto rising = hn::Iota(di, 1), falling = hn::Sub(hn::Set(di, static_cast<int16_t>(length + 1)), rising);
    const auto step = hn::Set(di, static_cast<int16_t>(lanes()));
    for (int x = 0; x < length; x += lanes()) {
      const V part = hn::BitCast(d, hn::Max(hn::Zero(di), hn::Min(most, hn::Min(rising, falling))));
      store(hn::Add(load(counts + x), hn::Sub(hn::Xor(part, sign), sign)), counts + x);
      rising = hn::Add(rising, step);
      falling = hn::Sub(falling, step);
    }
  }

  /* Does the work of move_run() for a block of columns with several runs: cell by cell. */
  void move_block(const uint16_t* gained, const uint16_t* lost, int x) const {
    BlockCounts::each(gained, lost, [&](int cell, BlockCounts::Change change) HWY_ATTR {
      if (memory_.ready[cell] < kAround) clear_around(cell);
      block_counts_.add(change, memory_.counts.row(cell) + x - radius_);
    });
  }

  void clear_around(int cell) const {
    for (int i = cell - cells_.diffs; i <= cell + cells_.diffs; i++) {
      uint16_t* const counts = memory_.counts.row(i);
      if (memory_.ready[i]) continue;
      std::memset(counts - kCambiMargin, 0, sizeof(uint16_t) * cambi_row_words(memory_.plane[0].w));
      memory_.ready[i] = kAlone;
    }
    memory_.ready[cell] = kAround;
  }

  /* The counts that are cleared: a cell's own, and also those of its neighbors. */
  static constexpr uint8_t kAlone = 1, kAround = 2;
  static constexpr int kShortRuns = kBlock == 32 ? 5 : 3;  // that begin in a block

  const CambiMemory& memory_;
  const CambiCells& cells_;
  const int radius_;
  const BlockCounts block_counts_;
};

/* -- Keys ---------------------------------------------------------------------------------------------------------- */

HWY_INLINE Real lower(V counts) {
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LowerHalf(hn::Half<D>(), counts)));
}
HWY_INLINE Real upper(V counts) {
  return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::UpperHalf(hn::Half<D>(), counts)));
}

/* The largest quotient so far, without dividing: a / b > c / d where a · d > c · b. If they are so close that rounding
 * decides which step's c is larger, `close` says so. */
struct Largest {
  Real weighted, total;  // weight · p(±d), p(0) + p(±d)
  Mask close;
};
HWY_INLINE Largest no_step() { return {Real(0.f), Real(1.f), Mask{hn::FirstN(DF(), 0)}}; }

HWY_INLINE Largest larger(Largest best, Real weight, Real center, Real beside) {
  const Real weighted = weight * beside, total = center + beside;
  const Real here = weighted * best.total, there = best.weighted * total;
  const Mask more = here > there, close = absolute(here - there) < here * Real(0x1p-20f);
  return {select(more, weighted, best.weighted), select(more, total, best.total), best.close | close};
}

/* How often a level d away is in the window of each column, for the steps d that count at the column's own cell; of the
 * levels above and below, the one that is there more often. take() sets the columns of one cell; each(f) calls
 * f(weight, counts). The usual four lie in registers. */
class FourSteps {
 public:
  explicit FourSteps(int) {}
  template <class Beside>
  HWY_INLINE void take(uint32_t steps, M same, const Beside& beside) {
    if (steps & 1) first_ = hn::IfThenElse(same, beside(0), first_);
    if (steps & 2) second_ = hn::IfThenElse(same, beside(1), second_);
    if (steps & 4) third_ = hn::IfThenElse(same, beside(2), third_);
    if (steps & 8) fourth_ = hn::IfThenElse(same, beside(3), fourth_);
  }
  template <class F>
  HWY_INLINE void each(const F& f) const {
    f(Real(kCambiWeights[0]), first_);
    f(Real(kCambiWeights[1]), second_);
    f(Real(kCambiWeights[2]), third_);
    f(Real(kCambiWeights[3]), fourth_);
  }

 private:
  V first_ = hn::Zero(d), second_ = hn::Zero(d), third_ = hn::Zero(d), fourth_ = hn::Zero(d);
};

class ManySteps {
 public:
  explicit ManySteps(int count) : count_(count) {
    for (int i = 0; i < count; i++) counts_[i] = hn::Zero(d);
  }
  template <class Beside>
  HWY_INLINE void take(uint32_t steps, M same, const Beside& beside) {
    for (uint32_t left = steps; left; left &= left - 1) {
      const int i = std::countr_zero(left);
      counts_[i] = hn::IfThenElse(same, beside(i), counts_[i]);
    }
  }
  template <class F>
  HWY_INLINE void each(const F& f) const {
    for (int i = 0; i < count_; i++) f(Real(kCambiWeights[i]), counts_[i]);
  }

 private:
  const int count_;
  V counts_[kCambiMostDiffs];
};

/* Keys of the largest c of the steps, in the columns of which half() takes the counts. If quotients alone do not tell
 * the largest, all c are rounded. */
template <class Steps, class Half>
HWY_INLINE VI keys_of(const Steps& steps, V own, const Half& half, bool tabulated) {
  const Real center = half(own);
  Largest best = no_step();
  steps.each([&](Real weight, V beside) HWY_ATTR { best = larger(best, weight, center, half(beside)); });
  if (!any(best.close))
    return cambi_key(cambi_contrast(best.weighted, center, cambi_reciprocal(best.total, tabulated))).v;
  Real c(0.f);
  steps.each(
      [&](Real weight, V beside) HWY_ATTR { c = maximum(cambi_step(weight, center, half(beside), tabulated), c); });
  return cambi_key(c).v;
}

class Keys {
 public:
  Keys(const CambiMemory& memory, const CambiCells& cells, const CambiLevels& levels, int window)
      : memory_(memory), diffs_(cells.diffs), tabulated_(cambi_is_tabulated(window)) {
    for (int cell = 0; cell < cells.count; cell++) {
      uint32_t steps = 0;
      for (int i = 0; i < levels.diffs; i++)
        steps |= static_cast<uint32_t>(cells.level(cell) >= levels.lowest[i] && cells.level(cell) <= levels.highest[i])
                 << i;
      memory.steps[cell] = steps;
    }
  }

  /* Appends the row's keys that are not 0 to the list, and writes all of them into key_row() if `dense`. */
  size_t add_row(const uint16_t* row, int w, bool dense, size_t count) const {
    return diffs_ == kUsualSteps ? add<FourSteps>(row, w, dense, count) : add<ManySteps>(row, w, dense, count);
  }

 private:
  template <class Steps>
  size_t add(const uint16_t* row, int w, bool dense, size_t count) const {
    const DI di;
    for (int x = 0; x < w; x += lanes()) {
      Steps steps(diffs_);
      const V own = take_counts(row, x, steps);
      V some = hn::Zero(d);
      steps.each([&](Real, V counts) HWY_ATTR { some = hn::Or(some, counts); });
      VI low = hn::Zero(di), high = hn::Zero(di);
      if (!hn::AllTrue(d, hn::Eq(some, hn::Zero(d)))) {
        low = keys_of(steps, own, lower, tabulated_);
        high = keys_of(steps, own, upper, tabulated_);
        count = append(low, count);
        count = append(high, count);
      }
      if (dense) {
        hn::StoreU(low, di, memory_.key_row + x);
        hn::StoreU(high, di, memory_.key_row + x + lanes() / 2);
      }
    }
    return count;
  }

  /* Takes the counts of a vector of columns, one cell after the other: how often a column's own level is in its window;
   * and `steps`. */
  template <class Steps>
  HWY_INLINE V take_counts(const uint16_t* row, int x, Steps& steps) const {
    const V cells = load(row + x);
    V own = hn::Zero(d);
    for (M left = hn::Ne(cells, all(kCambiNoCell)); !hn::AllFalse(d, left);) {
      const int cell = row[x + hn::FindFirstTrue(d, left)];
      const M same = hn::Eq(cells, all(cell));
      left = hn::AndNot(same, left);
      own = hn::IfThenElse(same, counts(cell, x), own);
      steps.take(memory_.steps[cell], same,
                 [&](int i) HWY_ATTR { return hn::Max(counts(cell + i + 1, x), counts(cell - i - 1, x)); });
    }
    return own;
  }

  HWY_INLINE V counts(int cell, int x) const { return load(memory_.counts.row(cell) + x); }

  size_t append(VI keys, size_t count) const {
    const DI di;
    const auto some = hn::Gt(keys, hn::Zero(di));
    if (hn::AllFalse(di, some)) return count;
    /* Compressing straight into memory takes Zen 4 a hundred cycles. */
    hn::StoreU(hn::Compress(keys, some), di, reinterpret_cast<int32_t*>(memory_.keys + count));
    return count + hn::CountTrue(di, some);
  }

  static constexpr int kUsualSteps = 4;

  const CambiMemory& memory_;
  const int diffs_;
  const bool tabulated_;
};

/* -- The largest keys ---------------------------------------------------------------------------------------------- */

/* cambi_split(). */
size_t split(std::span<uint32_t> keys, uint32_t digit, int shift, int sum_bits, CambiScaleSums& sums) {
  if (sum_bits != kSumBits) return cambi_split(keys, digit, shift, sum_bits, sums);
  const DI di;
  const VI values = hn::Set(di, kCambiDigitValues - 1), wanted = hn::Set(di, static_cast<int32_t>(digit));
  const size_t step = hn::Lanes(di), whole = keys.size() / step * step;
  auto* const data = reinterpret_cast<int32_t*>(keys.data());
  FixedSum<kSumBits> above;
  size_t kept = 0;
  for (size_t i = 0; i < whole; i += step) {
    const VI key = hn::LoadU(di, data + i), here = hn::And(hn::ShiftRightSame(key, shift), values);
    const auto is_above = hn::Gt(here, wanted), is_at = hn::Eq(here, wanted);
    const VI c = hn::IfThenElseZero(is_above, hn::Add(key, hn::Set(di, static_cast<int32_t>(kCambiNoKey))));
    above.add(Real(hn::BitCast(DF(), c)));
    sums.above_count += hn::CountTrue(di, is_above);
    if (hn::AllFalse(di, is_at)) continue;
    hn::StoreU(hn::Compress(key, is_at), di, data + kept); /* no further than what was loaded */
    kept += hn::CountTrue(di, is_at);
  }
  sums.above += static_cast<uint64_t>(above.total());
  const size_t more = cambi_split(keys.subspan(whole), digit, shift, sum_bits, sums);
  std::memmove(data + kept, data + whole, more * sizeof *data);
  return kept + more;
}

/* -- All of it ----------------------------------------------------------------------------------------------------- */

CambiScaleSums scale_sums(const CambiParams& params, const CambiView& view, const CambiMemory& memory,
                          const CambiCells& cells, const Keys& keys, int scale, const CambiRowSink& rows) {
  const Plane<uint16_t> plane = memory.plane[scale];
  const int radius = view.window / 2, w = plane.w, h = plane.h;
  const Counts counts(memory, cells, radius);
  const auto row = [&](int y) HWY_ATTR { return y >= 0 && y < h ? plane.row(y) : memory.none; };
  size_t count = 0;
  for (int y = -radius; y <= h + radius; y++) {
    const int gained = y + radius, lost = y - radius - 1;
    if (gained < h || (lost >= 0 && lost < h)) counts.move(row(gained), row(lost), w);
    if (y < 0 || y >= h) continue;
    count = keys.add_row(plane.row(y), w, static_cast<bool>(rows), count);
    if (rows) rows(scale, y, {memory.key_row, static_cast<size_t>(w)});
  }
  return cambi_largest({memory.keys, count}, int64_t{w} * h, params.topk, view.window, split);
}

void cambi(const CambiParams& params, const CambiView& view, const SamplePlane& luma, std::byte* scratch,
           const CambiRowSink& rows, CambiScaleSums* sums) {
  const CambiMemory memory(params, view, scratch);
  const CambiCells cells(params.levels);
  if (params.bpc == 8) Preparation<uint8_t>(params, view, luma.as<uint8_t>(), memory).run();
  else Preparation<uint16_t>(params, view, luma.as<uint16_t>(), memory).run();
  std::memset(memory.none - kCambiMargin, 0xff, sizeof(uint16_t) * cambi_row_words(view.w));
  std::memset(memory.ready, 0, cells.count);
  const Keys keys(memory, cells, params.levels, view.window);
  for (int scale = 0; scale < kCambiScales; scale++) {
    filter(memory, cells, scale);
    sums[scale] = scale_sums(params, view, memory, cells, keys, scale, rows);
  }
}

#endif

}  // namespace
}  // namespace vmafx::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx {

HWY_EXPORT(cambi);

size_t cambi_scratch_bytes(const CambiParams& params, const CambiView& view) {
  return std::max(CambiMemory(params, view, nullptr).bytes, cambi_plain_scratch_bytes(view));
}

void cambi_simd(const CambiParams& params, const CambiView& view, const SamplePlane& luma, std::byte* scratch,
                const CambiRowSink& rows, CambiScaleSums* sums) {
  HWY_DYNAMIC_DISPATCH(cambi)(params, view, luma, scratch, rows, sums);
}

}  // namespace vmafx
#endif
