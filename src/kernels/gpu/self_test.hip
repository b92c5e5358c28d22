/* The kernel that a device must answer before it is used: the pattern goes through shared memory, a barrier, the
 * lanes of a wave, a reduction and an atomic, so that a device, driver or code object that does not compute is found
 * at once. */
#include "hip/self_test.h"
#include "kernels/gpu/gpu.h"

VMAFX_KERNEL(vmafx_self_test, vmafx::hip::kSelfTestThreads, (uint32_t* words, uint64_t* sum, uint32_t seed)) {
  using namespace vmafx::gpu;
  VMAFX_SHARED(uint32_t, mirrored, [vmafx::hip::kSelfTestThreads]);
  const unsigned thread = thread_id().x, place = block_id().x * vmafx::hip::kSelfTestThreads + thread;
  mirrored[vmafx::hip::kSelfTestThreads - 1 - thread] = vmafx::hip::self_test_word(place, seed);
  block_sync();
  const uint32_t word = mirrored[thread];
  words[place] = shuffle_xor(word, 1);
  add_block(*sum, word);
  if (place == 0) words[vmafx::hip::kSelfTestWords] = wave_size();
}
