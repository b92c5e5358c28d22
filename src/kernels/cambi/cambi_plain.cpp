/* The definition of cambi. */
#include <algorithm>
#include <array>

#include "kernels/cambi/cambi.h"
#include "kernels/cambi/cambi_math-inl.h"
#include "kernels/steps/scratch.h"

namespace vmafx {
namespace {

using Image = Plane<uint16_t>;
using Flags = Plane<uint8_t>;

template <class T>
void resample(const CambiParams& params, const CambiView& view, const Plane<const T>& luma, const Image& image) {
  for (int y = 0; y < image.h; y++) {
    const T* from = luma.row(view.rows.empty() ? y : view.rows[y]);
    for (int x = 0; x < image.w; x++)
      image.row(y)[x] =
          static_cast<uint16_t>(cambi_ten_bits(from[view.columns.empty() ? x : view.columns[x]], params.bpc));
  }
}

/* In place: what is read lies behind what is written. The last row and column average two samples, the corner one. */
void average_2x2(const Image& image) {
  for (int y = 0; y < image.h; y++) {
    uint16_t* row = image.row(y);
    for (int x = 0; x < image.w; x++) {
      int sum = row[x], n = 1;
      if (x + 1 < image.w) sum += row[x + 1], n++;
      if (y + 1 < image.h) sum += image.row(y + 1)[x], n++;
      if (n == 3) sum += image.row(y + 1)[x + 1], n++;
      row[x] = static_cast<uint16_t>(sum / n);
    }
  }
}

bool is_flat(const Image& image, int x, int y) {
  const int v = image.row(y)[x];
  return (x + 1 == image.w || image.row(y)[x + 1] == v) && (y + 1 == image.h || image.row(y + 1)[x] == v);
}

void make_mask(const Image& image, int mask_above, const Flags& flat, const Flags& mask) {
  for (int y = 0; y < image.h; y++)
    for (int x = 0; x < image.w; x++) flat.row(y)[x] = is_flat(image, x, y);
  constexpr int r = kCambiMaskRadius;
  for (int y = 0; y < image.h; y++)
    for (int x = 0; x < image.w; x++) {
      int sum = 0;
      for (int j = std::max(y - r, 0); j <= std::min(y + r, image.h - 1); j++)
        for (int i = std::max(x - r, 0); i <= std::min(x + r, image.w - 1); i++) sum += flat.row(j)[i];
      mask.row(y)[x] = sum > mask_above;
    }
}

/* The even rows and columns, at the beginning of the same plane. */
template <class T>
void halve(Plane<T>& plane) {
  plane.w = cambi_scaled(plane.w, 1);
  plane.h = cambi_scaled(plane.h, 1);
  for (int y = 0; y < plane.h; y++)
    for (int x = 0; x < plane.w; x++) plane.row(y)[x] = plane.row(2 * y)[2 * x];
}

/* Filters along rows, then down columns; the first and last samples stay as they are. */
void mode_filter(const Image& image, const Image& filtered) {
  const int w = image.w, h = image.h;
  for (int y = 0; y < h; y++) {
    const uint16_t* from = image.row(y);
    for (int x = 0; x < w; x++)
      filtered.row(y)[x] =
          static_cast<uint16_t>(x > 0 && x < w - 1 ? cambi_mode(from[x - 1], from[x], from[x + 1]) : from[x]);
  }
  for (int y = 1; y < h - 1; y++)
    for (int x = 0; x < w; x++)
      image.row(y)[x] =
          static_cast<uint16_t>(cambi_mode(filtered.row(y - 1)[x], filtered.row(y)[x], filtered.row(y + 1)[x]));
}

/* How many masked samples of the window have each level. */
class Window {
 public:
  Window(const Image& image, const Flags& mask, int radius) : image_(image), mask_(mask), radius_(radius) {}

  /* To the first column of a row. */
  void start(int y) {
    std::ranges::fill(counts_, 0);
    y_ = y;
    for (int x = 0; x < radius_; x++) add_column(x, 1);
  }
  /* To column x of the row, after x - 1. */
  void move_to(int x) {
    add_column(x + radius_, 1);
    add_column(x - radius_ - 1, -1);
  }
  bool is_tabulated() const { return cambi_is_tabulated(2 * radius_ + 1); }
  int count(int level) const { return level < 0 || level > kCambiMostLevel ? 0 : counts_[level]; }

 private:
  void add_column(int x, int sign) {
    if (x < 0 || x >= image_.w) return;
    for (int y = std::max(y_ - radius_, 0); y <= std::min(y_ + radius_, image_.h - 1); y++)
      if (mask_.row(y)[x]) counts_[image_.row(y)[x]] += sign;
  }

  const Image& image_;
  const Flags& mask_;
  const int radius_;
  int y_ = 0;
  int counts_[kCambiMostLevel + 1] = {};
};

int32_t sample_key(const CambiLevels& levels, const Window& window, int v) {
  const auto center = static_cast<float>(window.count(v));
  float c = 0;
  for (int i = 0; i < levels.diffs; i++) {
    if (v < levels.lowest[i] || v > levels.highest[i]) continue;
    const int beside = std::max(window.count(v + i + 1), window.count(v - i - 1));
    c = std::max(c, cambi_step(kCambiWeights[i], center, static_cast<float>(beside), window.is_tabulated()));
  }
  return cambi_key(c);
}

/* The keys of a row. */
void row_of_keys(const CambiParams& params, const Image& image, const Flags& mask, int y, Window& window,
                 int32_t* keys) {
  window.start(y);
  for (int x = 0; x < image.w; x++) {
    window.move_to(x);
    keys[x] = mask.row(y)[x] ? sample_key(params.levels, window, image.row(y)[x]) : 0;
  }
}

struct Memory {
  Image image, filtered;
  Flags flat, mask;
  uint32_t* keys;  // that are not 0
  int32_t* row;    // a row of keys
  size_t bytes;

  Memory(const CambiView& view, std::byte* memory) {
    Scratch scratch(memory);
    image = scratch.take_plane<uint16_t>(view.w, view.h);
    filtered = scratch.take_plane<uint16_t>(view.w, view.h);
    flat = scratch.take_plane<uint8_t>(view.w, view.h);
    mask = scratch.take_plane<uint8_t>(view.w, view.h);
    keys = scratch.take<uint32_t>(static_cast<size_t>(view.w) * view.h);
    row = scratch.take<int32_t>(view.w);
    bytes = scratch.bytes();
  }
};

/* -- The mean of the largest keys: from the keys to the sums of one scale ------------------------------------------ */

using Counts = std::array<uint32_t, kCambiDigitValues>;

/* The digit that the one of rank `wanted` has, 1 for the largest, and `wanted` among those with that digit. There are
 * as many. */
uint32_t find_digit(const Counts& counts, int64_t& wanted) {
  uint32_t digit = kCambiDigitValues - 1;
  for (; counts[digit] < wanted; digit--) wanted -= counts[digit];
  return digit;
}

Counts count_digits(std::span<const uint32_t> keys, int shift) {
  constexpr size_t kTables = 4;  // neighbors are often equal, and one would wait for the other
  std::array<Counts, kTables> counts = {};
  size_t i = 0;
  for (; i + kTables <= keys.size(); i += kTables)
    for (size_t k = 0; k < kTables; k++) counts[k][cambi_digit(keys[i + k], shift)]++;
  for (; i < keys.size(); i++) counts[0][cambi_digit(keys[i], shift)]++;
  for (size_t k = 1; k < kTables; k++)
    for (int digit = 0; digit < kCambiDigitValues; digit++) counts[0][digit] += counts[k][digit];
  return counts[0];
}

}  // namespace

size_t cambi_split(std::span<uint32_t> keys, uint32_t digit, int shift, int sum_bits, CambiScaleSums& sums) {
  size_t kept = 0;
  for (const uint32_t key : keys) {
    const uint32_t here = cambi_digit(key, shift);
    const uint64_t above = here > digit;
    sums.above += cambi_counted(key, sum_bits) & -above;
    sums.above_count += above;
    keys[kept] = key;
    kept += here == digit;
  }
  return kept;
}

int64_t cambi_wanted(int64_t n, double topk) {
  return std::clamp<int64_t>(static_cast<int64_t>(topk * static_cast<double>(n)), 1, n);
}

CambiScaleSums cambi_largest(std::span<uint32_t> keys, int64_t n, double topk, int window, CambiSplit split) {
  int64_t wanted = cambi_wanted(n, topk);
  const int sum_bits = cambi_sum_bits(window);
  CambiScaleSums sums = {};
  if (static_cast<int64_t>(keys.size()) < wanted) {
    for (const uint32_t key : keys) sums.above += cambi_counted(key, sum_bits);
    sums.above_count = keys.size();
    sums.at_count = static_cast<uint64_t>(n) - keys.size();
    return sums;
  }
  for (int i = 0; i < kCambiKeyDigits; i++) {
    const int shift = cambi_digit_shift(i);
    const uint32_t digit = find_digit(count_digits(keys, shift), wanted);
    keys = keys.first(split(keys, digit, shift, sum_bits, sums));
  }
  sums.at = cambi_counted(keys[0], sum_bits) * keys.size();
  sums.at_count = keys.size();
  return sums;
}

size_t cambi_plain_scratch_bytes(const CambiView& view) { return Memory(view, nullptr).bytes; }

void cambi_plain(const CambiParams& params, const CambiView& view, const SamplePlane& luma, std::byte* scratch,
                 const CambiRowSink& rows, CambiScaleSums* sums) {
  const Memory memory(view, scratch);
  Image image = memory.image;
  Flags mask = memory.mask;
  if (params.bpc == 8) resample(params, view, luma.as<uint8_t>(), image);
  else resample(params, view, luma.as<uint16_t>(), image);
  if (params.anti_dither) average_2x2(image);
  make_mask(image, view.mask_above, memory.flat, mask);

  for (int scale = 0; scale < kCambiScales; scale++) {
    if (scale > 0 || params.halved) {
      halve(image);
      halve(mask);
    }
    mode_filter(image, memory.filtered);
    Window window(image, mask, view.window / 2);
    size_t count = 0;
    for (int y = 0; y < image.h; y++) {
      row_of_keys(params, image, mask, y, window, memory.row);
      const std::span keys(memory.row, image.w);
      if (rows) rows(scale, y, keys);
      for (const int32_t key : keys)
        if (key) memory.keys[count++] = static_cast<uint32_t>(key);
    }
    sums[scale] =
        cambi_largest({memory.keys, count}, int64_t{image.w} * image.h, params.topk, view.window, cambi_split);
  }
}

}  // namespace vmafx
