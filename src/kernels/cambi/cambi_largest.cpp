/* The mean of the largest keys: from the keys to the sums of one scale. */
#include <algorithm>
#include <functional>

#include "kernels/cambi/cambi.h"

namespace vmafx {

int64_t cambi_wanted(int64_t n, double topk) {
  return std::clamp<int64_t>(static_cast<int64_t>(topk * static_cast<double>(n)), 1, n);
}

CambiScaleSums cambi_largest(std::span<uint32_t> keys, int64_t n, double topk) {
  const int64_t wanted = cambi_wanted(n, topk);
  uint32_t threshold = 0;
  if (static_cast<int64_t>(keys.size()) >= wanted) {
    const auto last = keys.begin() + (wanted - 1);
    std::ranges::nth_element(keys, last, std::ranges::greater());
    threshold = *last >> kCambiFineBits;
  }
  CambiScaleSums sums = {};
  for (const uint32_t key : keys) {
    const uint32_t rank = key >> kCambiFineBits;
    if (rank < threshold) continue;
    (rank > threshold ? sums.above : sums.at) += key;
    (rank > threshold ? sums.above_count : sums.at_count)++;
  }
  if (threshold == 0) sums.at_count += static_cast<uint64_t>(n) - keys.size();
  return sums;
}

}  // namespace vmafx
