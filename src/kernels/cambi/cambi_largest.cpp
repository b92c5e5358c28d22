/* The mean of the largest keys: from the keys to the sums of one scale. */
#include <algorithm>

#include "kernels/cambi/cambi.h"

namespace vmafx {
namespace {

/* The order of a key is found in two steps of so many bits. */
constexpr int kDigitBits = (kCambiRankBits + 1) / 2;
constexpr uint32_t kDigits = 1u << kDigitBits;

uint32_t high_digit(uint32_t key) { return key >> kCambiFineBits >> kDigitBits; }
uint32_t low_digit(uint32_t key) { return (key >> kCambiFineBits) % kDigits; }

/* The digit that the one of rank `wanted` has, 1 for the largest; and `wanted` among those with that digit. 0 where there are fewer. */
uint32_t find_digit(const uint32_t (&counts)[kDigits], int64_t& wanted) {
  uint32_t digit = kDigits - 1;
  for (; digit > 0 && counts[digit] < wanted; digit--) wanted -= counts[digit];
  return digit;
}

}  // namespace

int64_t cambi_wanted(int64_t n, double topk) {
  return std::clamp<int64_t>(static_cast<int64_t>(topk * static_cast<double>(n)), 1, n);
}

CambiScaleSums cambi_largest(std::span<uint32_t> keys, int64_t n, double topk) {
  int64_t wanted = cambi_wanted(n, topk);
  CambiScaleSums sums = {};
  uint32_t threshold = 0, high = 0;
  if (static_cast<int64_t>(keys.size()) >= wanted) {
    uint32_t counts[kDigits] = {};
    for (const uint32_t key : keys) counts[high_digit(key)]++;
    high = find_digit(counts, wanted);
    std::ranges::fill(counts, 0);
    for (const uint32_t key : keys)
      if (high_digit(key) == high) counts[low_digit(key)]++;
    threshold = high * kDigits + find_digit(counts, wanted);
  }
  for (const uint32_t key : keys) {
    const uint32_t rank = key >> kCambiFineBits;
    const uint64_t above = rank > threshold, at = rank == threshold;
    sums.above += key & -above;
    sums.above_count += above;
    sums.at += key & -at;
    sums.at_count += at;
  }
  if (threshold == 0) sums.at_count += static_cast<uint64_t>(n) - keys.size();
  return sums;
}

}  // namespace vmafx
