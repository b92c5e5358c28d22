/* The kernels of cambi. The blocks of a grid's z are pictures: the distorted ones of all frames, then the references.
 *
 *   prepare   words: a level, and whether it is masked
 *   filter    the words of a scale, from those of the one before; a launch for each
 *   keys      of all scales, and the sums as they are where fewer samples than wanted have a key
 *   rank      Only where more have: how many keys have each value of the first digit; how many of those with the wanted
 *             one each of the second, and likewise of the third; what the sums change by, given all.
 *
 * keys is what takes time. A block counts levels by column, a byte for each: sums of words of four columns are what is
 * in a window.
 *
 * On an NVIDIA H200, 1920x1080 of 8 bit, eight frames in a launch, without cambi_high_res_speedup: prepare 5 us a
 * frame, filter 10, keys 37, rank 2; 47 in all with two batches at once. They issue 169 million instructions of a wave
 * for the eight frames, 20 us a frame where each multiprocessor issues four a cycle: keys 106, prepare 22, filter 37.
 * keys waits for shared memory and at its barriers, two for a row: the blocks that it has room for are 40 % of the
 * warps, and issue in 38 % of the cycles. With 10 bit neighbors' levels lie in the same bank more often. The bytes
 * through memory, 27 MB a frame, are 6 us. */
#include "kernels/cambi/cambi_math-inl.h"
#include "kernels/cambi/cambi_words.hip"
#include "kernels/cambi/cambi_work.h"
#include "kernels/gpu/gpu.h"

namespace vmafx::cambi {

/* -- keys ---------------------------------------------------------------------------------------------------------- */

/* The scale that a block works on. */
VMAFX_DEVICE int scale_of(const CambiSide& side, int block, int32_t CambiScalePlanes::* first) {
  int scale = 0;
  while (scale + 1 < kCambiScales && block >= side.scale[scale + 1].*first) scale++;
  return scale;
}

/* Words with a key that a walk over rows finds: a bit for each row that has one, the least word, the largest. */
struct Scan {
  uint32_t rows, least, most;

  VMAFX_DEVICE void add(const Scan& other) {
    rows |= other.rows;
    least = other.least < least ? other.least : least;
    most = other.most > most ? other.most : most;
  }
};
inline constexpr Scan kNothing = {0, ~0u, 0};

/* Combines the scans of all threads' columns; every thread gets the result. */
template <int threads>
VMAFX_DEVICE Scan over_block(Scan scan) {
  VMAFX_SHARED(Scan, parts, [threads / 32]);
  for (unsigned mask = gpu::wave_size() / 2; mask > 0; mask /= 2)
    scan.add(
        {gpu::shuffle_xor(scan.rows, mask), gpu::shuffle_xor(scan.least, mask), gpu::shuffle_xor(scan.most, mask)});
  const unsigned rank = gpu::thread_rank(), waves = gpu::thread_count() / gpu::wave_size();
  if (gpu::lane_id() == 0) parts[rank / gpu::wave_size()] = scan;
  gpu::block_sync();
  for (unsigned w = 0; w < waves; w++) scan.add(parts[w]);
  gpu::block_sync();
  return scan;
}

/* With a threshold of 0. */
VMAFX_DEVICE void add_key(uint32_t key, int sum_bits, CambiScaleSums& sums) {
  sums.above += cambi_counted(key, sum_bits);
  sums.above_count += key > 0;
  sums.at_count += key == 0;
}

/* The shape of the tiles of the kernel for windows of at most so much; 0: any. */
VMAFX_HD constexpr CambiKeysShape shape_for(int window) {
  return window == kCambiKeys33.most_window   ? kCambiKeys33
         : window == kCambiKeys65.most_window ? kCambiKeys65
                                              : kCambiKeysAny;
}

/* Counts of levels by column, a byte each, in words of four columns. */
template <int window>
struct Tile {
  static constexpr CambiKeysShape kShape = shape_for(window);
  static constexpr bool kKnown = window > 0;

  const CambiWork& work;
  const CambiSide& side;
  const uint16_t* words;
  uint32_t* keys;
  uint32_t* counts;
  int w, h, x0, y0, rows;

  VMAFX_DEVICE int diffs() const { return kKnown ? kCambiKnownDiffs : work.params.levels.diffs; }
  VMAFX_DEVICE int pitch() const { return kKnown ? kShape.pitch : side.pitch; }
  VMAFX_DEVICE int first_level() const { return static_cast<int>(kMasked) + work.params.levels.first_asked; }

  /* Whether the thread has a column with keys. */
  VMAFX_DEVICE bool has_keys(int thread) const { return thread < kShape.w && x0 + thread < w; }
  VMAFX_DEVICE int64_t place(int thread, int y) const { return static_cast<int64_t>(y) * w + x0 + thread; }

  /* Whether any step counts for a masked word. */
  VMAFX_DEVICE bool is_asked(uint32_t word) const {
    return static_cast<int>(word) >= first_level() &&
           static_cast<int>(word) <= static_cast<int>(kMasked) + work.params.levels.last_asked && word >= kMasked;
  }

  /* Looks at the thread's column. Words for which no step counts have no key. */
  VMAFX_DEVICE Scan first_look(int thread, CambiScaleSums& sums) const {
    Scan scan = kNothing;
    if (!has_keys(thread)) return scan;
    int64_t at = place(thread, y0);
    for (int y = 0; y < rows; y++, at += w) {
      const uint32_t word = words[at];
      const bool asked = is_asked(word);
      scan.rows |= static_cast<uint32_t>(asked) << y;
      scan.least = asked && word < scan.least ? word : scan.least;
      scan.most = asked && word > scan.most ? word : scan.most;
      if (!asked) keys[at] = 0;
      sums.at_count += !asked;
    }
    return scan;
  }

  /* The rows of the thread's column that have a word of the sweep from `base` on, and the words behind it. */
  VMAFX_DEVICE Scan look(int thread, uint32_t base) const {
    Scan scan = kNothing;
    if (!has_keys(thread)) return scan;
    int64_t at = place(thread, y0);
    const uint32_t end = base + static_cast<uint32_t>(side.levels);
    for (int y = 0; y < rows; y++, at += w) {
      const uint32_t word = words[at];
      const bool asked = word >= base && is_asked(word);
      scan.rows |= static_cast<uint32_t>(asked && word < end) << y;
      scan.least = asked && word >= end && word < scan.least ? word : scan.least;
    }
    return scan;
  }

  /* The thread's column number k of those that are counted. `levels`: 0 outside of the picture. */
  struct Column {
    const uint16_t* row;
    uint8_t* counts;
    uint32_t levels;
  };
  VMAFX_DEVICE Column column(int thread, int k, int y, uint32_t levels) const {
    const int c = thread + k * kShape.threads, x = x0 - side.reach + c;
    const bool is_there = c < kShape.w + 2 * side.reach && x >= 0 && x < w;
    return {words + static_cast<int64_t>(y) * w + (is_there ? x : 0), reinterpret_cast<uint8_t*>(counts) + c,
            is_there ? levels : 0};
  }
  VMAFX_DEVICE void count_word(const Column& column, uint32_t word, uint32_t least, int change) const {
    const uint32_t level = word - least; /* those that are not masked are far below the least */
    if (level < column.levels) column.counts[static_cast<int>(level) * pitch() * 4] += static_cast<uint8_t>(change);
  }

  /* Keys of the words from `base` on, as many levels as there is room for, in `rows_with_keys`. */
  VMAFX_DEVICE void sweep(int thread, uint32_t base, uint32_t rows_with_keys, CambiScaleSums& sums) const {
    const uint32_t least = base - static_cast<uint32_t>(diffs()); /* of those that are counted */
    const uint32_t levels = static_cast<uint32_t>(side.levels + 2 * diffs());
    const int size = static_cast<int>(levels) * pitch();
    for (int i = 4 * thread; i < size; i += 4 * kShape.threads) gpu::store_pack(counts + i, gpu::Pack<uint32_t, 4>{});
    gpu::block_sync();
    /* Rows before the first one with a key and behind the last one need no windows. */
    const int skipped = __builtin_popcount((rows_with_keys & -rows_with_keys) - 1), y0 = this->y0 + skipped;
    uint32_t with_keys = rows_with_keys >> skipped;
    const int rows = 32 - __builtin_clz(with_keys);

    /* The first window, but for its last row. */
    const int radius = side.radius, top = y0 - radius > 0 ? y0 - radius : 0, end = y0 + radius < h ? y0 + radius : h;
    VMAFX_UNROLL
    for (int k = 0; k < kColumns; k++) {
      Column column = this->column(thread, k, top, levels);
      int y = top;
      for (; y + kAhead <= end; y += kAhead) {
        uint32_t ahead[kAhead];
        VMAFX_UNROLL
        for (int j = 0; j < kAhead; j++, column.row += w) ahead[j] = *column.row;
        VMAFX_UNROLL
        for (int j = 0; j < kAhead; j++) count_word(column, ahead[j], least, 1);
      }
      for (; y < end; y++, column.row += w) count_word(column, *column.row, least, 1);
    }

    Column in[kColumns];
    const uint16_t* out[kColumns];
    uint32_t gained[kColumns], lost[kColumns];
    VMAFX_UNROLL
    for (int k = 0; k < kColumns; k++) {
      in[k] = column(thread, k, y0 + radius, levels);
      out[k] = in[k].row - static_cast<int64_t>(2 * radius + 1) * w;
      gained[k] = y0 + radius < h ? *in[k].row : 0;
      lost[k] = 0; /* the row above the first window was not counted */
    }
    int64_t at = place(thread, y0);
    const Span span = this->span(thread);
    for (int y = y0; y < y0 + rows; y++, at += w, with_keys >>= 1) {
      VMAFX_UNROLL
      for (int k = 0; k < kColumns; k++) {
        const uint32_t more = gained[k], less = lost[k];
        in[k].row += w; /* the next round's are loaded while this one counts */
        out[k] += w;
        gained[k] = y + 1 + radius < h ? *in[k].row : 0;
        lost[k] = y >= radius ? *out[k] : 0;
        if (more == less) continue;
        count_word(in[k], more, least, 1);
        count_word(in[k], less, least, -1);
      }
      if (!(with_keys & 1)) continue;
      const uint32_t word = has_keys(thread) ? words[at] : 0;
      gpu::block_sync(); /* so far each thread has its own bytes */
      if (word - base < static_cast<uint32_t>(side.levels) && is_asked(word)) {
        const uint32_t key = sample_key(span, static_cast<int>(word - kMasked), static_cast<int>(word - base));
        keys[at] = key;
        add_key(key, side.sum_bits, sums);
      }
      gpu::block_sync();
    }
  }

  /* The words of counts that the window of a thread's column is in, of which the first and the last are in it in
   * part. */
  struct Span {
    int first, steps;  // from the first to the last
    uint32_t first_mask, last_mask;
  };
  VMAFX_DEVICE Span span(int thread) const {
    const int begin = thread + side.reach - side.radius, end = thread + side.reach + side.radius;
    const uint32_t from = ~0u << 8 * (begin % 4), to = ~0u >> 8 * (3 - end % 4);
    const bool one = begin / 4 == end / 4;
    return {begin / 4, end / 4 - begin / 4, one ? from & to : from, one ? 0 : to};
  }
  VMAFX_DEVICE bool step_counts(int level, int i) const {
    return level >= work.params.levels.lowest[i] && level <= work.params.levels.highest[i];
  }

  /* Samples of the window that have each of n levels, whose rows of counts are so far behind `of`, the window's first
   * word of a row. */
  template <int n>
  VMAFX_DEVICE void count_rows(const Span& span, const uint32_t* of, const int (&row)[n], uint32_t (&sums)[n]) const {
    /* Counts are at most the window: a byte holds the sum of so many words' counts, or of all between the first and
     * the last. */
    constexpr bool kAllFit = kKnown && (window - 2) / 4 * window < 256;
    constexpr int kTogether = kAllFit ? 2 : kKnown ? 3 : 1;
    static_assert(kTogether * kShape.most_window < 256);
    VMAFX_UNROLL
    for (int j = 0; j < n; j++) sums[j] = 0;
    int k = 1;
    for (; k + kTogether <= span.steps; k += kTogether) {
      VMAFX_UNROLL
      for (int j = 0; j < n; j++) {
        uint32_t four = 0;
        VMAFX_UNROLL
        for (int i = 0; i < kTogether; i++) four += of[row[j] * pitch() + k + i];
        sums[j] = kAllFit ? sums[j] + four : gpu::add_bytes(four, sums[j]);
      }
    }
    VMAFX_UNROLL
    for (int j = 0; j < n; j++) {
      const uint32_t* const words = of + row[j] * pitch();
      uint32_t four = kAllFit ? sums[j] : 0;
      VMAFX_UNROLL
      for (int i = 0; i < kTogether - 1; i++) four += words[k + i] & (k + i < span.steps ? ~0u : 0);
      sums[j] = gpu::add_bytes(four, kAllFit ? 0 : sums[j]);
      sums[j] = gpu::add_bytes_of(words[0], span.first_mask, sums[j]);
      sums[j] = gpu::add_bytes_of(words[span.steps], span.last_mask, sums[j]);
    }
  }

  /* `row`: of the level, after as many others as there are steps. */
  VMAFX_DEVICE uint32_t sample_key(const Span& span, int level, int row) const {
    static_assert(!kKnown || window <= kCambiTabulatedWindow);
    const uint32_t* const of = counts + (row + diffs()) * pitch() + span.first;
    uint32_t center[1];
    count_rows(span, of, {0}, center);
    float c = 0;
    const auto take_step = [&](int i) {
      if (!step_counts(level, i)) return; /* bright levels have few: words of the others are not read */
      uint32_t sums[2];
      count_rows(span, of, {i + 1, -i - 1}, sums);
      const uint32_t beside = sums[0] > sums[1] ? sums[0] : sums[1], total = center[0] + beside;
      const float reciprocal = kKnown || side.tabulated ? kCambiReciprocalOf.of[total] : 1 / static_cast<float>(total);
      c = maximum(
          c, cambi_contrast(kCambiWeights[i] * static_cast<float>(beside), static_cast<float>(center[0]), reciprocal));
    };
    if constexpr (kKnown) {
      VMAFX_UNROLL
      for (int i = 0; i < kCambiKnownDiffs; i++) take_step(i);
    } else {
      for (int i = 0; i < diffs(); i++) take_step(i);
    }
    return static_cast<uint32_t>(cambi_key(c));
  }

 private:
  static constexpr int kColumns = kKnown ? 1 : 3;  // most columns of a thread
  static constexpr int kAhead = 8;                 // rows that are loaded at once
};

template <int window>
VMAFX_DEVICE void make_keys(const CambiWork& work) {
  using Four = gpu::Pack<uint32_t, 4>;
  VMAFX_SHARED(Four, fours, [Tile<window>::kShape.words / 4]);
  uint32_t* const counts = gpu::kept_shared(fours[0].v);
  const Picture picture(work);
  const CambiSide& side = picture.side;
  const int block = static_cast<int>(gpu::block_id().x), thread = static_cast<int>(gpu::thread_id().x);
  if (block >= side.tiles) return;
  const int scale = scale_of(side, block, &CambiScalePlanes::first_tile);
  const CambiScalePlanes& planes = side.scale[scale];
  const int number = block - planes.first_tile;
  const int x0 = number % planes.tiles_x * Tile<window>::kShape.w, y0 = number / planes.tiles_x * side.tile_rows;
  const int rows = planes.h - y0 < side.tile_rows ? planes.h - y0 : side.tile_rows;
  const Tile<window> tile = {
      work, side, picture.words(work, scale), picture.keys(work, scale), counts, planes.w, planes.h, x0, y0, rows};
  CambiScaleSums sums = {};
  const Scan all = over_block<Tile<window>::kShape.threads>(tile.first_look(thread, sums));
  Scan next = all;
  while (next.least != kNothing.least) {
    const uint32_t base = next.least;
    /* The last sweep needs no look: that of the first one tells all rows. */
    const bool is_last = all.most - base < static_cast<uint32_t>(side.levels);
    next = is_last ? kNothing : over_block<Tile<window>::kShape.threads>(tile.look(thread, base));
    tile.sweep(thread, base, is_last ? all.rows : next.rows, sums);
  }
  gpu::add_block(picture.sums(work, scale), sums);
}

VMAFX_DEFINE_DENSE_KERNEL(cambi_keys_33, 7, work) { make_keys<kCambiKeys33.most_window>(work); }
VMAFX_DEFINE_DENSE_KERNEL(cambi_keys_65, 4, work) { make_keys<kCambiKeys65.most_window>(work); }
VMAFX_DEFINE_DENSE_KERNEL(cambi_keys, 5, work) { make_keys<0>(work); }

/* -- rank: where the largest keys begin, by the digits of their order ---------------------------------------------- */

struct Digit {
  uint32_t digit, wanted;  // the digit of that rank, 1 for the largest; its rank among the keys with that digit
};

/* Finds the digit of the key of rank `wanted` among these counts. Every thread must come to it. */
VMAFX_DEVICE Digit find_digit(const uint64_t* digits, uint32_t wanted) {
  constexpr int kEach = kCambiDigitValues / kCambiRankThreads;
  VMAFX_SHARED(uint32_t, sums, [kCambiRankThreads]);
  VMAFX_SHARED(uint32_t, found, [2]);
  const int thread = static_cast<int>(gpu::thread_id().x);
  const uint64_t* const mine = digits + thread * kEach;
  uint32_t own = 0;
  for (int i = 0; i < kEach; i++) own += static_cast<uint32_t>(mine[i]);
  uint32_t sum = own; /* of this thread's counts and all larger ones */
  for (int step = 1; step < kCambiRankThreads; step *= 2) {
    sums[thread] = sum;
    gpu::block_sync();
    if (thread + step < kCambiRankThreads) sum += sums[thread + step];
    gpu::block_sync();
  }
  if (sum >= wanted && sum - own < wanted) {
    uint32_t left = wanted - (sum - own);
    int i = kEach - 1;
    for (; i > 0 && mine[i] < left; i--) left -= static_cast<uint32_t>(mine[i]);
    found[0] = static_cast<uint32_t>(thread * kEach + i);
    found[1] = left;
  }
  gpu::block_sync();
  const Digit digit = {found[0], found[1]};
  gpu::block_sync();
  return digit;
}

/* step 0, 1, 2: counts that digit, of keys with the right ones before it. 3: changes the sums. */
template <int step>
VMAFX_DEVICE void rank(const CambiWork& work) {
  const Picture picture(work);
  const CambiSide& side = picture.side;
  const int block = static_cast<int>(gpu::block_id().x), thread = static_cast<int>(gpu::thread_id().x);
  if (block >= side.rank_blocks) return;
  const int scale = scale_of(side, block, &CambiScalePlanes::first_rank_block);
  const CambiScalePlanes& planes = side.scale[scale];

  if constexpr (step == kCambiKeyDigits) {
    /* Other blocks change the sums in this launch; the counts of digits say the same. */
    VMAFX_SHARED(uint32_t, any, [1]);
    if (thread == 0) any[0] = 0;
    gpu::block_sync();
    uint32_t total = 0;
    for (int i = thread; i < kCambiDigitValues; i += kCambiRankThreads) total |= picture.digits(work, scale, 0)[i] != 0;
    if (total) gpu::add_shared(&any[0], 1);
    gpu::block_sync();
    if (!any[0]) return;
  } else {
    if (picture.sums(work, scale).above_count < planes.wanted) return;
  }
  /* The threshold as far as it is known. */
  Digit digit = {0, planes.wanted};
  uint32_t threshold = 0;
  VMAFX_UNROLL
  for (int i = 0; i < step; i++) {
    digit = find_digit(picture.digits(work, scale, i), digit.wanted);
    threshold |= digit.digit << cambi_digit_shift(i);
  }

  const uint32_t* const keys = picture.keys(work, scale);
  const int64_t count = int64_t{planes.w} * planes.h;
  const int64_t first = int64_t{block - planes.first_rank_block} * (kCambiRankThreads * kCambiRankKeys) + thread;
  if constexpr (step < kCambiKeyDigits) {
    constexpr int kShift = cambi_digit_shift(step), kBefore = step > 0 ? cambi_digit_shift(step - 1) : 31;
    VMAFX_SHARED(uint32_t, digits, [kCambiDigitValues]);
    for (int i = thread; i < kCambiDigitValues; i += kCambiRankThreads) digits[i] = 0;
    gpu::block_sync();
    for (int i = 0; i < kCambiRankKeys; i++) {
      const int64_t at = first + int64_t{i} * kCambiRankThreads;
      const uint32_t key = at < count ? keys[at] : 0;
      if (key && key >> kBefore == threshold >> kBefore) gpu::add_shared(&digits[cambi_digit(key, kShift)], 1);
    }
    gpu::block_sync();
    uint64_t* const to = picture.digits(work, scale, step);
    for (int i = thread; i < kCambiDigitValues; i += kCambiRankThreads)
      if (digits[i]) gpu::atomic_add(&to[i], digits[i]);
  } else {
    CambiScaleSums changes = {};  // modulo 2^64
    for (int i = 0; i < kCambiRankKeys; i++) {
      const int64_t at = first + int64_t{i} * kCambiRankThreads;
      if (at >= count) break;
      const uint32_t key = keys[at];
      const uint64_t counted = cambi_counted(key, side.sum_bits);
      const bool was_above = key > 0, is_above = key > threshold, is_at = key == threshold;
      changes.above += static_cast<uint64_t>(is_above - was_above) * counted;
      changes.above_count += static_cast<uint64_t>(is_above - was_above);
      changes.at += is_at * counted;
      changes.at_count += static_cast<uint64_t>(is_at - !was_above);
    }
    gpu::add_block(picture.sums(work, scale), changes);
  }
}

VMAFX_DEFINE_KERNEL(cambi_digits_0, work) { rank<0>(work); }
VMAFX_DEFINE_KERNEL(cambi_digits_1, work) { rank<1>(work); }
VMAFX_DEFINE_KERNEL(cambi_digits_2, work) { rank<2>(work); }
VMAFX_DEFINE_KERNEL(cambi_largest, work) { rank<3>(work); }

/* -- maps ---------------------------------------------------------------------------------------------------------- */

VMAFX_DEFINE_KERNEL(cambi_blocks, work) {
  const gpu::Dim3 block = gpu::block_id();
  const int n = static_cast<int>(block.x), scale = static_cast<int>(block.y), frame = static_cast<int>(block.z);
  const CambiSide& side = work.side[0];
  const CambiScalePlanes& planes = side.scale[scale];
  const auto* const keys =
      reinterpret_cast<const uint32_t*>(work.scratch + side.first_picture + frame * side.picture_bytes + planes.keys);
  const uint64_t threshold = cambi_threshold(work.sums[block.z].dist[scale]);
  const int cells = kCambiBlockSide >> (scale + work.params.halved);  // on each side, at least one
  const int left = n % work.blocks_across * cells, top = n / work.blocks_across * cells;
  CambiBlockSums sums = {};
  for (int i = static_cast<int>(gpu::thread_id().x); i < cells * cells; i += kCambiBlockThreads) {
    const int x = left + i % cells, y = top + i / cells;
    const uint32_t key = x < planes.w && y < planes.h ? keys[int64_t{y} * planes.w + x] : 0;
    if (key) cambi_add_to_block(cambi_counted(key, side.sum_bits), threshold, sums);
  }
  gpu::add_block((&work.blocks[block.z])[static_cast<int>(block.y) * work.blocks_of_scale + n], sums);
}

}  // namespace vmafx::cambi
