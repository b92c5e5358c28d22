/* The language of the kernels: all that a .hip file may use beyond plain C++.
 *
 * One source, three compilers: clang or hipcc for AMD (compiler builtins only: no HIP header, no device library), nvcc
 * for NVIDIA, and the host's C++ compiler for emulator. The primitives of each are in gpu_amd.h, gpu_cuda.h
 * and gpu_host.h, under the same names, in namespace vmafx::gpu:
 *
 *   VMAFX_KERNEL(name, threads, (parameters)) { ... }
 *       A kernel, launched by that name with at most `threads` threads in a block. Names are unique in the whole
 *       program. Parameters are numbers, device pointers and trivially copyable structs of them, by value. A kernel is
 *       no template; it may call one.
 *   VMAFX_DENSE_KERNEL(name, threads, blocks, (parameters)) { ... }
 *       The same, in so few registers that `blocks` blocks share a multiprocessor of NVIDIA's. For AMD the compiler
 *       decides.
 *   VMAFX_DEFINE_KERNEL(name, work) { ... }
 *   VMAFX_DEFINE_DENSE_KERNEL(name, blocks, work) { ... }
 *       The kernel that a `<metric>_work.h` declares by this name (work.h). `work` is its parameter.
 *   VMAFX_DEFINE_SAMPLE_KERNELS(name, T, work) { ... }
 *   VMAFX_DEFINE_DENSE_SAMPLE_KERNELS(name, blocks_of_8, blocks_of_16, T, work) { ... }
 *       The two that it declares for samples: T is uint8_t in one and uint16_t in the other.
 *   VMAFX_DEVICE
 *       Begins a function for kernels only; inline, never recursive. VMAFX_HD (device.h) begins one for the host, too.
 *   VMAFX_SHARED(type, name, [n]...);
 *       In a kernel or such a function: an array in the memory of the block, uninitialized; 48 KiB in all.
 *   VMAFX_CONSTANT type name[n] = {...};
 *       A table, at namespace scope (device.h); 64 KiB in all. Larger ones go into a buffer.
 *   VMAFX_UNROLL
 *       Before a loop of few, constant rounds: unroll it, so that local arrays become registers (device.h).
 *   VMAFX_ROLLED
 *       Before a loop that seldom runs: keep it small.
 *
 *   Dim3 thread_id(), block_id()     this thread in its block, this block in the grid
 *   Dim3 block_size(), grid_size()   in threads; in blocks
 *   unsigned thread_rank()           this thread in its block, x fastest
 *   unsigned thread_count()          of the block
 *   unsigned wave_size()             32 or 64, known at run time only: never write 32, 31 or 5 for it
 *   unsigned lane_id()               this thread in its wave: thread_rank() % wave_size()
 *   void block_sync()
 *       A barrier for the block, which also orders its shared memory. Every thread must come to it: none behind a
 *       `return` or in a branch that only some threads take. Nothing less orders shared memory, not even within a
 *       wave.
 *   T shuffle_xor(T value, mask)
 *       The value of lane (lane_id() ^ mask), mask < wave_size(), T = uint32_t or uint64_t. Every lane of the wave
 *       must come to it. Kernels that use it or what follows run in blocks of whole waves: multiples of 64 threads.
 *   int64_t wave_add(int64_t), int32_t wave_add(int32_t)
 *       The sum over the wave, in every lane. 32 bits are faster.
 *   void add_block(Sums& sums, Sums values), add_waves(Sums& sums, Sums of_wave)
 *       The way to return sums: adds `values`, a 64-bit integer or a struct of them, summed over the block, to `sums`
 *       in device memory, which a memset cleared. Every thread must come to it, at a uniform place like a barrier.
 *       add_waves() takes what the kernel has already summed over the wave by wave_add(), in 32 bits where that is
 *       enough.
 *   int64_t block_add(int64_t)
 *       The sum over the block, in every thread. Every thread must come to it, as above.
 *   void atomic_add(uint64_t*, uint64_t)
 *       In device memory. Nothing else may touch that word in the same launch.
 *   void add_shared(uint32_t*, uint32_t)
 *       The same in shared memory. Between two barriers nothing else may touch that word.
 *   uint32_t add_bytes(uint32_t four, uint32_t sum)
 *       `sum` and the four bytes.
 *   uint32_t add_bytes_of(uint32_t four, uint32_t mask, uint32_t sum)
 *       `sum` and those of the four bytes whose byte of the mask is 255; the others of the mask are 0.
 *   Pack<T, n> load_pack<n>(const T*), void store_pack(T*, Pack<T, n>)
 *       n neighboring values at once, pack.v[0 to n-1]: 2, 4, 8 or 16 bytes, at an address that is a multiple of
 *       that.
 *   float, double multiply_add(a, b, c)
 *       a * b + c, rounded once or twice, whatever is fastest: where that makes no difference.
 *   double divide(a, b)
 *       a / b, rounded as on the host. a is 0 or, like b and a / b, far from the ends of double's range.
 *   float float_toward_zero(uint32_t or uint64_t)
 *       The value, cut off after 24 bits.
 *   bool double_is_fast()
 *       Whether sums of 33 to 53 bits are best made in double. Known when a kernel is compiled; the emulator says yes
 *       with waves of 64 lanes, so that tests see both ways.
 *   bool scalars_are_many()
 *       Whether what is the same for all threads needs no registers, however much it is: a kernel's parameter is part
 *       of NVIDIA's instructions. Known when a kernel is compiled; false in the emulator.
 *   bool shared_memory_is_scarce()
 *       Whether the blocks of a multiprocessor have 64 KiB for all of them and many registers, as on AMD: what takes
 *       registers, or a barrier more, in place of shared memory then lets more blocks run at once. Known when a kernel
 *       is compiled; the emulator says yes with waves of 64 lanes.
 *   uint32_t forget_range(uint32_t value)
 *       The value, of which nvcc then does not know how small it is. It makes dot products of sums of products of
 *       bytes, and packs them anew for each, which is slower where the products are used several times.
 *   T* kept_shared(T*)
 *       The same address, of shared memory, in a register: nvcc makes that of an array anew for each use, which takes
 *       three instructions from sm_90 on.
 *   unsigned anew(unsigned value), anew_of_block(unsigned value)
 *       The value, which the compiler takes for another one each time: what a loop makes of it is made in the loop, and
 *       not kept in registers from before. anew_of_block() takes one that all threads of a block have.
 *   float near_inverse(float x)
 *       1 / x by one instruction, for x in [1, 2^24], with a relative error of at most 2^-21. It is not the same on
 *       every device: integers that are made with it must be put right.
 *
 * Within a launch nothing orders the blocks: a block may not read what another one wrote, nor write where another one
 * did.
 *
 * Numbers. Integers of 8 to 64 bits with all operators (64-bit division is slow). float and double with + - * / only,
 * comparisons and conversions; nothing is contracted or reassociated, so each operation rounds as on the host. No
 * libm, whose last bits differ; square_root() of real.h. A conversion to an integer must be in range. Sums of
 * floating-point values are made in integers, by fixed.h, and so do not depend on tiles and lanes; where a score shows
 * the order of additions, by row_sums_hip.h in the one order.
 *
 * A `<metric>_math-inl.h` is shared with the SIMD twin, too: twin-inl.h. A `<metric>_math.h` that kernels include may
 * use <cstdint>, <array> and <limits>; of <bit> what is constexpr; nothing of <algorithm>, which clang wraps for HIP's
 * own headers; __builtin_clz, __builtin_clzll, __builtin_popcount; constexpr numbers by value; VMAFX_CONSTANT or
 * VMAFX_TABLE for each table that is indexed (nvcc cannot reach an `inline constexpr` array, even in an unrolled loop);
 * VMAFX_HD functions. Not: allocation, exceptions, virtual functions, static variables.
 *
 * Speed. Loads are fastest when the lanes of a wave read neighboring addresses, 4 to 16 bytes each. Local arrays must
 * vanish into registers (constant indices after VMAFX_UNROLL): the check of the code objects refuses scratch memory.
 * Mark pointer parameters __restrict__ where nothing else in the kernel points there.
 *
 * Compiled with -O3 -std=c++20 and for AMD -ffp-contract=off, for NVIDIA -fmad=false --expt-relaxed-constexpr. */
#ifndef VMAFX_KERNELS_GPU_GPU_H
#define VMAFX_KERNELS_GPU_GPU_H

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels/gpu/device.h"

namespace vmafx::gpu {

struct Dim3 {
  unsigned x, y, z;
};

/* float_toward_zero() without a rounding mode: what a float cannot hold is cleared first. */
VMAFX_HD float cut_to_float(uint32_t value) { return static_cast<float>(value & ~(0xffu >> __builtin_clz(value | 1))); }
VMAFX_HD float cut_to_float(uint64_t value) {
  const int excess = 40 - __builtin_clzll(value | 1), shift = excess > 0 ? excess : 0;
  return static_cast<float>(static_cast<uint32_t>(value >> shift)) * std::bit_cast<float>((127u + shift) << 23);
}

}  // namespace vmafx::gpu

#if defined(__CUDACC__)
#include "kernels/gpu/gpu_cuda.h"
#elif defined(__HIP__)
#include "kernels/gpu/gpu_amd.h"
#else
#include "kernels/gpu/gpu_host.h"
#endif

#define VMAFX_PARAMETER_OF(name) decltype(::vmafx::kernels::name)::Parameter
#define VMAFX_DEFINE_KERNEL(name, work) \
  VMAFX_KERNEL(vmafx_##name, ::vmafx::kernels::name.threads(), (VMAFX_PARAMETER_OF(name) work))
#define VMAFX_DEFINE_DENSE_KERNEL(name, blocks, work) \
  VMAFX_DENSE_KERNEL(vmafx_##name, ::vmafx::kernels::name.threads(), blocks, (VMAFX_PARAMETER_OF(name) work))

/* The two kernels for samples of 8 and of 16 bits run one template, whose body follows. */
#define VMAFX_SAMPLE_KERNEL_BODY(name, T, work) \
  template <class T>                            \
  VMAFX_DEVICE void name##_of(const VMAFX_PARAMETER_OF(name) & work)
#define VMAFX_DEFINE_SAMPLE_KERNELS(name, T, work)                                                           \
  VMAFX_SAMPLE_KERNEL_BODY(name, T, work);                                                                   \
  VMAFX_KERNEL(vmafx_##name##_8, ::vmafx::kernels::name.bytes.threads(), (VMAFX_PARAMETER_OF(name) work)) {  \
    name##_of<uint8_t>(work);                                                                                \
  }                                                                                                          \
  VMAFX_KERNEL(vmafx_##name##_16, ::vmafx::kernels::name.words.threads(), (VMAFX_PARAMETER_OF(name) work)) { \
    name##_of<uint16_t>(work);                                                                               \
  }                                                                                                          \
  VMAFX_SAMPLE_KERNEL_BODY(name, T, work)
#define VMAFX_DEFINE_DENSE_SAMPLE_KERNELS(name, blocks_of_8, blocks_of_16, T, work)           \
  VMAFX_SAMPLE_KERNEL_BODY(name, T, work);                                                    \
  VMAFX_DENSE_KERNEL(vmafx_##name##_8, ::vmafx::kernels::name.bytes.threads(), blocks_of_8,   \
                     (VMAFX_PARAMETER_OF(name) work)) {                                       \
    name##_of<uint8_t>(work);                                                                 \
  }                                                                                           \
  VMAFX_DENSE_KERNEL(vmafx_##name##_16, ::vmafx::kernels::name.words.threads(), blocks_of_16, \
                     (VMAFX_PARAMETER_OF(name) work)) {                                       \
    name##_of<uint16_t>(work);                                                                \
  }                                                                                           \
  VMAFX_SAMPLE_KERNEL_BODY(name, T, work)

namespace vmafx::gpu {

inline constexpr unsigned kMaxThreads = 1024;  // in a block
inline constexpr unsigned kMaxWaves = kMaxThreads / 32;

template <class T, int n>
struct alignas(sizeof(T) * n) Pack {
  static_assert(sizeof(T) * n <= 16, "no load is wider");
  T v[n];
};

template <int n, class T>
VMAFX_DEVICE Pack<T, n> load_pack(const T* from) {
  check_alignment(from, alignof(Pack<T, n>));
  return *reinterpret_cast<const Pack<T, n>*>(from);
}

template <class T, int n>
VMAFX_DEVICE void store_pack(T* to, const Pack<T, n>& pack) {
  check_alignment(to, alignof(Pack<T, n>));
  *reinterpret_cast<Pack<T, n>*>(to) = pack;
}

VMAFX_DEVICE unsigned thread_rank() {
  const Dim3 id = thread_id(), size = block_size();
  return (id.z * size.y + id.y) * size.x + id.x;
}

VMAFX_DEVICE unsigned thread_count() {
  const Dim3 size = block_size();
  return size.x * size.y * size.z;
}

template <class T>
VMAFX_DEVICE T wave_add(T value) {
  auto sum = static_cast<std::make_unsigned_t<T>>(value);
  for (unsigned mask = wave_size() / 2; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
  return static_cast<T>(sum);
}

VMAFX_DEVICE int64_t block_add(int64_t value) {
  VMAFX_SHARED(int64_t, parts, [kMaxWaves]);
  const int64_t wave_sum = wave_add(value);
  block_sync();  // `parts` of the last call have been read
  if (lane_id() == 0) parts[thread_rank() / wave_size()] = wave_sum;
  block_sync();
  int64_t sum = 0;
  for (unsigned w = 0; w < thread_count() / wave_size(); w++) sum += parts[w];
  return sum;
}

/* Sums over the waves of a block, one row for each sum, added up by a thread each; one atomic per block and sum. Sums
 * wrap as int64_t. Begins and ends like a barrier: `parts` may be filled again. */
template <int n>
VMAFX_DEVICE void add_parts(uint64_t* sums, const int64_t (&parts)[n][kMaxWaves]) {
  static_assert(n <= 64, "a thread per sum, in the smallest block");
  const unsigned rank = thread_rank(), waves = thread_count() / wave_size();
  block_sync();
  if (rank < n) {
    int64_t sum = 0;
    for (unsigned w = 0; w < waves; w++) sum += parts[rank][w];
    atomic_add(&sums[rank], static_cast<uint64_t>(sum));
  }
  block_sync();
}

/* kept[0] becomes one of `count` sums over `count` neighboring lanes, `*index` tells which: in each step a lane keeps
 * half of what it has and hands over the other half. A step a function, so that arrays stay registers with every
 * compiler. */
template <int count, int half>
VMAFX_DEVICE void share_out(uint64_t (&kept)[count], unsigned* index) {
  if constexpr (half > 0) {
    constexpr unsigned mask = count / 2 / half;
    const bool upper = lane_id() & mask;
    if (upper) *index += half;
    VMAFX_UNROLL
    for (int i = 0; i < half; i++) {
      const uint64_t low = kept[i], high = kept[i + half], given = upper ? low : high;
      kept[i] = (low + high - given) + shuffle_xor(given, mask);
    }
    share_out<count, half / 2>(kept, index);
  }
}

/* Fills this wave's column of `parts`, from row `first` on. Several sums at once, a power of two: as many shuffles as
 * sums, where each alone would take log2 of the wave. */
template <int first, int n>
VMAFX_DEVICE void add_wave(const int64_t (&values)[n], int64_t (&parts)[n][kMaxWaves]) {
  constexpr int kMost = 32;  // lanes of the smallest wave
  constexpr int count = n - first < kMost ? static_cast<int>(std::bit_floor(static_cast<unsigned>(n - first))) : kMost;
  uint64_t kept[count];
  VMAFX_UNROLL
  for (int i = 0; i < count; i++) kept[i] = static_cast<uint64_t>(values[first + i]);
  unsigned index = 0;
  share_out<count, count / 2>(kept, &index);
  for (unsigned mask = count; mask < wave_size(); mask *= 2) kept[0] += shuffle_xor(kept[0], mask);
  if (lane_id() < count) parts[first + index][thread_rank() / wave_size()] = static_cast<int64_t>(kept[0]);
  if constexpr (first + count < n) add_wave<first + count>(values, parts);
}

/* 64-bit words, as which sums are added. */
template <class Sums>
struct WordsOf {
  static constexpr int kCount = sizeof(Sums) / sizeof(int64_t);
  static_assert(sizeof(Sums) % sizeof(int64_t) == 0 && alignof(Sums) == alignof(int64_t));
  int64_t v[kCount];
};

template <class Sums>
VMAFX_DEVICE void add_block(Sums& sums, const std::type_identity_t<Sums>& values) {
  using Words = WordsOf<Sums>;
  VMAFX_SHARED(int64_t, parts, [Words::kCount][kMaxWaves]);
  add_wave<0>(std::bit_cast<Words>(values).v, parts);
  add_parts(reinterpret_cast<uint64_t*>(&sums), parts);
}

template <class Sums>
VMAFX_DEVICE void add_waves(Sums& sums, const std::type_identity_t<Sums>& of_wave) {
  using Words = WordsOf<Sums>;
  VMAFX_SHARED(int64_t, parts, [Words::kCount][kMaxWaves]);
  const Words words = std::bit_cast<Words>(of_wave);
  if (lane_id() == 0) {
    VMAFX_UNROLL
    for (int i = 0; i < Words::kCount; i++) parts[i][thread_rank() / wave_size()] = words.v[i];
  }
  add_parts(reinterpret_cast<uint64_t*>(&sums), parts);
}

}  // namespace vmafx::gpu

#endif
