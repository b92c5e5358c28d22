/* The mean of the largest keys: from the keys to the sums of one scale. */
#include <algorithm>
#include <array>

#include "kernels/cambi/cambi.h"

namespace vmafx {
namespace {

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

}  // namespace vmafx
