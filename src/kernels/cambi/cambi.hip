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
 * On an NVIDIA H200, 1920x1080 of 8 bit, eight frames in a launch, without cambi_high_res_speedup: prepare 14 us a
 * frame, filter 10, keys 53, rank 2; 65 in all with two batches at once. They issue 307 million instructions of a wave
 * for the eight frames, 37 us a frame where each multiprocessor issues four a cycle: keys 185, prepare 81, filter 37.
 * The bytes through memory, 27 MB a frame, are 6 us. */
#include "kernels/cambi/cambi_math-inl.h"
#include "kernels/cambi/cambi_words.hip"
#include "kernels/cambi/cambi_work.h"
#include "kernels/gpu/gpu.h"

namespace vmafx::cambi {

/* -- keys ---------------------------------------------------------------------------------------------------------- */

inline constexpr uint32_t kNoLevel = ~0u;

/* The scale that a block works on. */
VMAFX_DEVICE int scale_of(const CambiSide& side, int block, int32_t CambiScalePlanes::* first) {
  int scale = 0;
  while (scale + 1 < kCambiScales && block >= side.scale[scale + 1].*first) scale++;
  return scale;
}

/* The result of a sweep: a bit for each row that has a key in it, and the least word with a key behind it. */
struct Scan {
  uint32_t rows, next;

  VMAFX_DEVICE void add(const Scan& other) {
    rows |= other.rows;
    next = other.next < next ? other.next : next;
  }
};

/* Combines the scans of all threads' columns; every thread gets the result. */
VMAFX_DEVICE Scan over_block(Scan scan) {
  VMAFX_SHARED(Scan, parts, [kCambiKeysW / 32]);
  for (unsigned mask = gpu::wave_size() / 2; mask > 0; mask /= 2)
    scan.add({gpu::shuffle_xor(scan.rows, mask), gpu::shuffle_xor(scan.next, mask)});
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

/* A column of the thread's, as it comes into the window and leaves it. */
struct Column {
  const uint16_t* word;  // in the row that comes in next
  bool is_there;

  VMAFX_DEVICE uint32_t at(bool row_is_there, int64_t offset) const {
    return is_there && row_is_there ? word[offset] : 0;
  }
};

/* Counts of levels by column, a byte each, in words of four columns. `diffs`: as many steps, or 0: not known before;
 * `pitch` likewise: words from the counts of one level to those of the next. */
template <int known_diffs, int known_pitch>
struct Tile {
  const CambiWork& work;
  const CambiSide& side;
  const uint16_t* words;
  uint32_t* keys;
  uint32_t* counts;
  int w, h, x0, y0, rows;

  VMAFX_DEVICE int diffs() const { return known_diffs ? known_diffs : work.params.levels.diffs; }
  VMAFX_DEVICE int pitch() const { return known_pitch ? known_pitch : side.pitch; }
  VMAFX_DEVICE int first_level() const { return static_cast<int>(kMasked) + work.params.levels.first_asked; }

  /* Whether any step counts for a masked word. */
  VMAFX_DEVICE bool is_asked(uint32_t word) const {
    return static_cast<int>(word) >= first_level() &&
           static_cast<int>(word) <= static_cast<int>(kMasked) + work.params.levels.last_asked && word >= kMasked;
  }

  VMAFX_DEVICE bool is_swept(uint32_t word, uint32_t base) const {
    return word - base < static_cast<uint32_t>(side.levels) && is_asked(word);
  }
  /* The thread's column, for a sweep from `base` on. */
  VMAFX_DEVICE Scan scan(int thread, uint32_t base) const {
    Scan scan = {0, kNoLevel};
    if (x0 + thread >= w) return scan;
    const uint16_t* column = words + static_cast<int64_t>(y0) * w + x0 + thread;
    const uint32_t end = base + static_cast<uint32_t>(side.levels);
    for (int y = 0; y < rows; y++, column += w) {
      const uint32_t word = *column;
      const bool asked = is_asked(word);
      scan.rows |= static_cast<uint32_t>(asked && word >= base && word < end) << y;
      if (asked && word >= end && word < scan.next) scan.next = word;
    }
    return scan;
  }

  /* The least word of the thread's column that has a key; kNoLevel: none. Words for which no step counts have no
   * key. */
  VMAFX_DEVICE uint32_t first_word(int thread, CambiScaleSums& sums) const {
    uint32_t least = kNoLevel;
    if (x0 + thread >= w) return least;
    int64_t at = static_cast<int64_t>(y0) * w + x0 + thread;
    for (int y = 0; y < rows; y++, at += w) {
      const uint32_t word = words[at];
      if (is_asked(word)) {
        least = word < least ? word : least;
      } else {
        keys[at] = 0;
        sums.at_count++;
      }
    }
    return least;
  }

  /* Keys of the words from `base` on, as many levels as there is room for. Returns where the next sweep begins. */
  VMAFX_DEVICE uint32_t sweep(int thread, uint32_t base, CambiScaleSums& sums) const {
    const uint32_t least = base - static_cast<uint32_t>(diffs()); /* of those that are counted */
    const uint32_t levels = static_cast<uint32_t>(side.levels + 2 * diffs());
    const int size = static_cast<int>(levels) * pitch();
    for (int i = 4 * thread; i < size; i += 4 * kCambiKeysW) gpu::store_pack(counts + i, gpu::Pack<uint32_t, 4>{});
    const Scan found = over_block(scan(thread, base)); /* orders the counts, too */
    /* Rows before the first one with a key and behind the last one need no windows. */
    const int skipped = __builtin_popcount((found.rows & -found.rows) - 1), y0 = this->y0 + skipped;
    uint32_t with_keys = found.rows >> skipped;
    const int rows = 32 - __builtin_clz(with_keys);

    const int diameter = 2 * side.radius;
    Column column[kColumns];
    uint32_t in[kColumns], out[kColumns];
    VMAFX_UNROLL
    for (int k = 0; k < kColumns; k++) {
      const int c = thread + k * kCambiKeysW, x = x0 - side.reach + c;
      column[k] = {words + (y0 - side.radius) * static_cast<int64_t>(w) + x,
                   c < kCambiKeysW + 2 * side.reach && x >= 0 && x < w};
      in[k] = column[k].at(y0 - side.radius >= 0, 0);
      out[k] = 0;
    }
    uint8_t* const bytes = reinterpret_cast<uint8_t*>(counts) + thread;
    const uint16_t* own = words + static_cast<int64_t>(y0) * w + x0 + thread;
    uint32_t* key = keys + static_cast<int64_t>(y0) * w + x0 + thread;
    const int64_t back = static_cast<int64_t>(diameter + 1) * w;
    for (int i = 0; i < rows + diameter; i++) {
      const int next = y0 - side.radius + i + 1;
      VMAFX_UNROLL
      for (int k = 0; k < kColumns; k++) {
        if (!column[k].is_there) continue;
        const uint32_t gained = in[k], lost = out[k];
        column[k].word += w; /* the next round's are loaded while this one counts */
        in[k] = column[k].at(next >= 0 && next < h, 0);
        out[k] = column[k].at(i + 1 > diameter && next - diameter - 1 >= 0, -back);
        if (gained == lost) continue;
        if (gained - least < levels && gained >= kMasked) bytes[(gained - least) * pitch() * 4 + k * kCambiKeysW]++;
        if (lost - least < levels && lost >= kMasked) bytes[(lost - least) * pitch() * 4 + k * kCambiKeysW]--;
      }
      if (i < diameter) continue; /* so far each thread has its own bytes */
      const bool has_keys = with_keys & 1;
      with_keys >>= 1;
      if (has_keys) {
        const uint32_t word = x0 + thread < w ? *own : 0;
        gpu::block_sync();
        if (is_swept(word, base)) {
          const uint32_t result = sample_key(thread, static_cast<int>(word - kMasked), static_cast<int>(word - base));
          *key = result;
          add_key(result, side.sum_bits, sums);
        }
        gpu::block_sync();
      }
      own += w;
      key += w;
    }
    return found.next;
  }

  /* Words of the window of a column. */
  struct Span {
    int first, last;
    uint32_t first_mask, last_mask;
  };
  VMAFX_DEVICE Span span(int thread) const {
    const int begin = thread + side.reach - side.radius, end = thread + side.reach + side.radius;
    const uint32_t from = ~0u << 8 * (begin % 4), to = ~0u >> 8 * (3 - end % 4);
    const bool one = begin / 4 == end / 4;
    return {begin / 4, end / 4, one ? from & to : from, one ? 0 : to};
  }
  VMAFX_DEVICE uint32_t count(const Span& span, int row) const {
    const uint32_t* const of = counts + row * pitch();
    uint32_t sum = gpu::add_bytes(of[span.first] & span.first_mask, 0);
    for (int k = span.first + 1; k < span.last; k++) sum = gpu::add_bytes(of[k], sum);
    return gpu::add_bytes(of[span.last] & span.last_mask, sum);
  }
  VMAFX_DEVICE bool step_counts(int level, int i) const {
    return level >= work.params.levels.lowest[i] && level <= work.params.levels.highest[i];
  }

  VMAFX_DEVICE void add_step(int i, float center, uint32_t beside, float& c) const {
    c = maximum(c, cambi_step(kCambiWeights[i], center, static_cast<float>(beside), side.tabulated));
  }

  /* `row`: of the level, after as many others as there are steps. */
  VMAFX_DEVICE uint32_t sample_key(int thread, int level, int row) const {
    const Span span = this->span(thread);
    float center, c = 0;
    if constexpr (known_diffs > 0) {
      constexpr int kRows = 2 * known_diffs + 1;
      uint32_t sums[kRows];
      const uint32_t* const of = counts + row * pitch();
      VMAFX_UNROLL
      for (int j = 0; j < kRows; j++) sums[j] = 0;
      /* Bytes of as many words do not overflow: counts are at most the window, 33 here. */
      static_assert(known_pitch == kCambiPitch && (33 - 2) / 4 * 33 < 256);
      int k = span.first + 1;
      for (; k + 1 < span.last; k += 2) {
        VMAFX_UNROLL
        for (int j = 0; j < kRows; j++) sums[j] += of[j * pitch() + k] + of[j * pitch() + k + 1];
      }
      const uint32_t odd_mask = k < span.last ? ~0u : 0;
      VMAFX_UNROLL
      for (int j = 0; j < kRows; j++) {
        sums[j] += of[j * pitch() + k] & odd_mask;
        sums[j] = gpu::add_bytes(of[j * pitch() + span.first] & span.first_mask, gpu::add_bytes(sums[j], 0));
        sums[j] = gpu::add_bytes(of[j * pitch() + span.last] & span.last_mask, sums[j]);
      }
      center = static_cast<float>(sums[known_diffs]);
      VMAFX_UNROLL
      for (int i = 0; i < known_diffs; i++) {
        const uint32_t up = sums[known_diffs + i + 1], down = sums[known_diffs - i - 1], more = up > down ? up : down;
        if (step_counts(level, i)) add_step(i, center, more, c);
      }
    } else {
      const int middle = row + diffs();
      center = static_cast<float>(count(span, middle));
      for (int i = 0; i < diffs(); i++) {
        if (!step_counts(level, i)) continue;
        const uint32_t up = count(span, middle + i + 1), down = count(span, middle - i - 1),
                       more = up > down ? up : down;
        add_step(i, center, more, c);
      }
    }
    return static_cast<uint32_t>(cambi_key(c));
  }

 private:
  static constexpr int kColumns = known_pitch == kCambiPitch ? 2 : 3;  // most columns of a thread
};

template <int diffs, int pitch>
VMAFX_DEVICE void make_keys(const CambiWork& work) {
  using Four = gpu::Pack<uint32_t, 4>;
  VMAFX_SHARED(Four, fours, [kCambiCountWords / 4]);
  uint32_t* const counts = fours[0].v;
  const Picture picture(work);
  const CambiSide& side = picture.side;
  const int block = static_cast<int>(gpu::block_id().x), thread = static_cast<int>(gpu::thread_id().x);
  if (block >= side.tiles) return;
  const int scale = scale_of(side, block, &CambiScalePlanes::first_tile);
  const CambiScalePlanes& planes = side.scale[scale];
  const int tile = block - planes.first_tile;
  const int x0 = tile % planes.tiles_x * kCambiKeysW, y0 = tile / planes.tiles_x * side.tile_rows;
  const int rows = planes.h - y0 < side.tile_rows ? planes.h - y0 : side.tile_rows;
  const Tile<diffs, pitch> columns = {
      work, side, picture.words(work, scale), picture.keys(work, scale), counts, planes.w, planes.h, x0, y0, rows};
  CambiScaleSums sums = {};
  uint32_t base = over_block(Scan{0, columns.first_word(thread, sums)}).next;
  while (base != kNoLevel) base = columns.sweep(thread, base, sums);
  gpu::add_block(picture.sums(work, scale), sums);
}

VMAFX_DEFINE_DENSE_KERNEL(cambi_keys_4, 7, work) { make_keys<4, kCambiPitch>(work); }
VMAFX_DEFINE_DENSE_KERNEL(cambi_keys, 6, work) { make_keys<0, 0>(work); }

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
