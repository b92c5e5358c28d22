/* Kernels of cambi: where the largest keys begin, by the digits of their order. */
#ifndef VMAFX_KERNELS_CAMBI_CAMBI_RANK_HIP
#define VMAFX_KERNELS_CAMBI_CAMBI_RANK_HIP

#include "kernels/cambi/cambi_words.hip"

namespace vmafx::cambi {

struct Digit {
  uint32_t digit, wanted;  // of that rank, 1 for the largest; its rank among those with that digit
};

/* Where the key of rank `wanted` is among these counts. Every thread must come to it. */
VMAFX_DEVICE Digit find_digit(const uint64_t* digits, uint32_t wanted) {
  constexpr int kEach = kCambiDigits / kCambiRankThreads;
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

/* step 0: counts high digits. 1: low digits of keys with the right high one. 2: changes the sums. */
template <int step>
VMAFX_DEVICE void rank(const CambiWork& work) {
  const Picture picture(work);
  const CambiSide& side = picture.side;
  const int block = static_cast<int>(gpu::block_id().x), thread = static_cast<int>(gpu::thread_id().x);
  if (block >= side.rank_blocks) return;
  int scale = 0;
  while (scale + 1 < kCambiScales && block >= side.scale[scale + 1].first_rank_block) scale++;
  const CambiScalePlanes& planes = side.scale[scale];
  uint64_t* const high_digits = picture.digits(work, scale, 0);
  uint64_t* const low_digits = picture.digits(work, scale, 1);

  Digit high = {}, low = {};
  if constexpr (step == 2) {
    /* Other blocks change the sums in this launch; the counts of digits say the same. */
    VMAFX_SHARED(uint32_t, any, [1]);
    if (thread == 0) any[0] = 0;
    gpu::block_sync();
    uint32_t total = 0;
    for (int i = thread; i < kCambiDigits; i += kCambiRankThreads) total |= high_digits[i] != 0;
    if (total) gpu::add_shared(&any[0], 1);
    gpu::block_sync();
    if (!any[0]) return;
  } else {
    if (picture.sums(work, scale)[1] < planes.wanted) return;
  }
  if constexpr (step > 0) high = find_digit(high_digits, planes.wanted);
  if constexpr (step > 1) low = find_digit(low_digits, high.wanted);
  const uint32_t threshold = high.digit << kCambiDigitBits | low.digit;

  const uint32_t* const keys = picture.keys(work, scale);
  const int64_t count = int64_t{planes.w} * planes.h;
  const int64_t first = int64_t{block - planes.first_rank_block} * (kCambiRankThreads * kCambiRankKeys) + thread;
  if constexpr (step < 2) {
    VMAFX_SHARED(uint32_t, digits, [kCambiDigits]);
    for (int i = thread; i < kCambiDigits; i += kCambiRankThreads) digits[i] = 0;
    gpu::block_sync();
    for (int i = 0; i < kCambiRankKeys; i++) {
      const int64_t at = first + int64_t{i} * kCambiRankThreads;
      const uint32_t rank = at < count ? keys[at] >> kCambiFineBits : 0, upper = rank >> kCambiDigitBits;
      if (rank && (step == 0 || upper == high.digit))
        gpu::add_shared(&digits[step == 0 ? upper : rank % kCambiDigits], 1);
    }
    gpu::block_sync();
    uint64_t* const to = step == 0 ? high_digits : low_digits;
    for (int i = thread; i < kCambiDigits; i += kCambiRankThreads)
      if (digits[i]) gpu::atomic_add(&to[i], digits[i]);
  } else {
    int64_t changes[4] = {};
    for (int i = 0; i < kCambiRankKeys; i++) {
      const int64_t at = first + int64_t{i} * kCambiRankThreads;
      if (at >= count) break;
      const int64_t key = keys[at];
      const uint32_t rank = static_cast<uint32_t>(key >> kCambiFineBits);
      const bool was_above = rank > 0, is_above = rank > threshold, is_at = rank == threshold;
      changes[0] += (is_above - was_above) * key;
      changes[1] += is_above - was_above;
      changes[2] += (is_at - !was_above) * key;
      changes[3] += is_at - !was_above;
    }
    gpu::add_block(picture.sums(work, scale), changes);
  }
}

}  // namespace vmafx::cambi

#endif
