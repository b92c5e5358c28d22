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
  int scale = 0;
  while (scale + 1 < kCambiScales && block >= side.scale[scale + 1].first_rank_block) scale++;
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

}  // namespace vmafx::cambi

#endif
