/* The primitives of gpu.h for NVIDIA. */
#ifndef VMAFX_KERNELS_GPU_GPU_CUDA_H
#define VMAFX_KERNELS_GPU_GPU_CUDA_H

#define VMAFX_DEVICE __device__ inline
#define VMAFX_KERNEL(name, threads, parameters) extern "C" __global__ void __launch_bounds__(threads) name parameters
#define VMAFX_DENSE_KERNEL(name, threads, blocks, parameters) \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name parameters
#define VMAFX_SHARED(type, name, dims) __shared__ type name dims
#define VMAFX_ROLLED _Pragma("unroll 1")

namespace vmafx::gpu {

VMAFX_DEVICE Dim3 thread_id() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
VMAFX_DEVICE Dim3 block_id() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
VMAFX_DEVICE Dim3 block_size() { return {blockDim.x, blockDim.y, blockDim.z}; }
VMAFX_DEVICE Dim3 grid_size() { return {gridDim.x, gridDim.y, gridDim.z}; }

VMAFX_DEVICE unsigned wave_size() { return 32; }
VMAFX_DEVICE unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

VMAFX_DEVICE void block_sync() { __syncthreads(); }

VMAFX_DEVICE uint32_t shuffle_xor(uint32_t value, unsigned mask) { return __shfl_xor_sync(~0u, value, mask); }
VMAFX_DEVICE uint64_t shuffle_xor(uint64_t value, unsigned mask) {
  return __shfl_xor_sync(~0u, static_cast<unsigned long long>(value), mask);
}

VMAFX_DEVICE void atomic_add(uint64_t* address, uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value));
}

VMAFX_DEVICE void add_shared(uint32_t* address, uint32_t value) { atomicAdd(address, value); }
VMAFX_DEVICE uint32_t add_bytes(uint32_t four, uint32_t sum) { return __dp4a(four, 0x01010101u, sum); }
VMAFX_DEVICE uint32_t add_bytes_of(uint32_t four, uint32_t mask, uint32_t sum) {
  return __dp4a(four, mask & 0x01010101u, sum);
}

VMAFX_DEVICE float near_inverse(float x) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
}

VMAFX_DEVICE float multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
VMAFX_DEVICE double multiply_add(double a, double b, double c) { return __fma_rn(a, b, c); }

/* The instructions that nvcc makes of a / b, without its branch for subnormal and infinite numbers. */
VMAFX_DEVICE double divide(double a, double b) {
  double inverse;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(b));
  const double error = __fma_rn(-b, inverse, 1.0);
  inverse = __fma_rn(inverse, __fma_rn(error, error, error), inverse);
  inverse = __fma_rn(inverse, __fma_rn(-b, inverse, 1.0), inverse);
  const double quotient = a * inverse;
  return __fma_rn(inverse, __fma_rn(-b, quotient, a), quotient);
}

VMAFX_DEVICE float float_toward_zero(uint32_t value) { return __uint2float_rz(value); }
VMAFX_DEVICE float float_toward_zero(uint64_t value) { return __ull2float_rz(value); }

/* Half the rate of float on cards for data centers, a 32nd or 64th on others. */
VMAFX_DEVICE constexpr bool double_is_fast() {
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 700 || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900)
  return true;
#else
  return false;
#endif
}

VMAFX_DEVICE constexpr bool scalars_are_many() { return true; }
VMAFX_DEVICE constexpr bool shared_memory_is_scarce() { return false; }

VMAFX_DEVICE uint32_t forget_range(uint32_t value) {
  asm volatile("" : "+r"(value));
  return value;
}

template <class T>
VMAFX_DEVICE T* kept_shared(T* pointer) {
  return static_cast<T*>(
      __cvta_shared_to_generic(forget_range(static_cast<uint32_t>(__cvta_generic_to_shared(pointer)))));
}

VMAFX_DEVICE unsigned anew(unsigned value) { return forget_range(value); }
VMAFX_DEVICE unsigned anew_of_block(unsigned value) { return forget_range(value); }

VMAFX_DEVICE void check_alignment(const void*, unsigned long) {}  // only the emulator does

}  // namespace vmafx::gpu

#endif
