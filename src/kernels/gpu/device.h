/* Macros that let one line of arithmetic compile for the host and for the device. */
#ifndef VMAFX_KERNELS_GPU_DEVICE_H
#define VMAFX_KERNELS_GPU_DEVICE_H

/* VMAFX_HD marks a per-sample function of a `<metric>_math.h`: called by the definition, the kernels, and where it fits
 * the SIMD twin. VMAFX_CONSTANT begins a table at namespace scope that such a function indexes:
 *   VMAFX_CONSTANT int32_t kTaps[4] = {...};
 * and VMAFX_TABLE one of which the lanes of a wave each read another entry. gpu.h lists what else such a header may
 * use. */
#if defined(__CUDACC__)
#define VMAFX_HD __host__ __device__ inline
#define VMAFX_CONSTANT static __constant__ constexpr
#define VMAFX_TABLE static __device__ constexpr
#elif defined(__HIP__)
#define VMAFX_HD __attribute__((host)) __attribute__((device)) __attribute__((always_inline)) inline  // as VMAFX_DEVICE
#define VMAFX_CONSTANT static constexpr
#define VMAFX_TABLE static constexpr
#else
#define VMAFX_HD inline
#define VMAFX_CONSTANT static constexpr
#define VMAFX_TABLE static constexpr
#endif

/* Before a loop of few, constant rounds: unroll it, so that local arrays become registers. */
#if defined(__CUDACC__) || defined(__clang__)
#define VMAFX_UNROLL _Pragma("unroll")
#else
#define VMAFX_UNROLL _Pragma("GCC unroll 64")
#endif

#endif
