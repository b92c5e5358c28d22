/* The known answer of the kernel vmafx_self_test, for the kernel and for the host that checks it. */
#ifndef VMAFX_HIP_SELF_TEST_H
#define VMAFX_HIP_SELF_TEST_H

#include <stdint.h>

namespace vmafx::hip {

inline constexpr unsigned kSelfTestThreads = 256;
inline constexpr unsigned kSelfTestBlocks = 3;
inline constexpr unsigned kSelfTestWords = kSelfTestThreads * kSelfTestBlocks;  // one more holds the wave size

/* The word that thread number `place` of the grid contributes. */
constexpr uint32_t self_test_word(uint32_t place, uint32_t seed) { return (place + seed) * 2654435761u; }

/* The expected result at words[place]: its block's words mirrored, then neighbors exchanged. */
constexpr uint32_t self_test_answer(uint32_t place, uint32_t seed) {
  const uint32_t block = place / kSelfTestThreads, thread = (place % kSelfTestThreads) ^ 1;
  return self_test_word(block * kSelfTestThreads + kSelfTestThreads - 1 - thread, seed);
}

}  // namespace vmafx::hip

#endif
