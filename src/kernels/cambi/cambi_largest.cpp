/* The mean of the largest keys: from the keys to the sums of one scale. */
#include <algorithm>
#include <array>

#include "kernels/cambi/cambi.h"

namespace vmafx {
namespace {

/* The order of a key is found in two steps of so many bits. */
constexpr int kDigitBits = (kCambiRankBits + 1) / 2;
constexpr uint32_t kDigits = 1u << kDigitBits;

uint32_t high_digit(uint32_t key) { return key >> kCambiFineBits >> kDigitBits; }
uint32_t low_digit(uint32_t key) { return (key >> kCambiFineBits) % kDigits; }

using Counts = std::array<uint32_t, kDigits>;

/* The digit that the one of rank `wanted` has, 1 for the largest, and `wanted` among those with that digit; 0 where
 * there are fewer. */
uint32_t find_digit(const Counts& counts, int64_t& wanted) {
  uint32_t digit = kDigits - 1;
  for (; digit > 0 && counts[digit] < wanted; digit--) wanted -= counts[digit];
  return digit;
}

Counts count_high_digits(std::span<const uint32_t> keys) {
  Counts even = {}, odd = {};  // neighbours are often equal, and one would wait for the other
  for (size_t i = 0; i + 1 < keys.size(); i += 2) {
    even[high_digit(keys[i])]++;
    odd[high_digit(keys[i + 1])]++;
  }
  if (keys.size() % 2) even[high_digit(keys.back())]++;
  for (uint32_t i = 0; i < kDigits; i++) even[i] += odd[i];
  return even;
}

/* Adds up the keys with larger high digits, and moves those with this one to the front. */
std::span<uint32_t> split(std::span<uint32_t> keys, uint32_t high, CambiScaleSums& sums) {
  size_t kept = 0;
  for (const uint32_t key : keys) {
    const uint32_t digit = high_digit(key);
    const uint64_t above = digit > high;
    sums.above += key & -above;
    sums.above_count += above;
    keys[kept] = key;
    kept += digit == high;
  }
  return keys.first(kept);
}

}  // namespace

int64_t cambi_wanted(int64_t n, double topk) {
  return std::clamp<int64_t>(static_cast<int64_t>(topk * static_cast<double>(n)), 1, n);
}

CambiScaleSums cambi_largest(std::span<uint32_t> keys, int64_t n, double topk) {
  int64_t wanted = cambi_wanted(n, topk);
  CambiScaleSums sums = {};
  const bool enough = static_cast<int64_t>(keys.size()) >= wanted;
  const uint32_t high = enough ? find_digit(count_high_digits(keys), wanted) : 0;
  const std::span<uint32_t> rest = split(keys, high, sums);
  uint32_t low = 0;
  if (enough) {
    Counts counts = {};
    for (const uint32_t key : rest) counts[low_digit(key)]++;
    low = find_digit(counts, wanted);
  }
  for (const uint32_t key : rest) {
    if (low_digit(key) < low) continue;
    const bool above = low_digit(key) > low;
    (above ? sums.above : sums.at) += key;
    (above ? sums.above_count : sums.at_count)++;
  }
  if (high == 0 && low == 0) sums.at_count += static_cast<uint64_t>(n) - keys.size();
  return sums;
}

}  // namespace vmafx
