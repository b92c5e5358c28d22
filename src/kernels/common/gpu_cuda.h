/* The primitives of gpu.h for NVIDIA. */
#ifndef VMAFX_KERNELS_COMMON_GPU_CUDA_H
#define VMAFX_KERNELS_COMMON_GPU_CUDA_H

#define VMAFX_DEVICE __device__ inline
#define VMAFX_KERNEL(name, threads, parameters) extern "C" __global__ void __launch_bounds__(threads) name parameters
#define VMAFX_SHARED(type, name, dims) __shared__ type name dims
#define VMAFX_UNROLL _Pragma("unroll")

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

VMAFX_DEVICE float near_inverse(float x) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
}

VMAFX_DEVICE void check_alignment(const void*, unsigned long) {}  // only the emulator does

}  // namespace vmafx::gpu

#endif
