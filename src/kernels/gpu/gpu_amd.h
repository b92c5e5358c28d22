/* The primitives of gpu.h for AMD. Compiler builtins: neither HIP's headers nor the device libraries are needed. */
#ifndef VMAFX_KERNELS_GPU_GPU_AMD_H
#define VMAFX_KERNELS_GPU_GPU_AMD_H

#define VMAFX_DEVICE __attribute__((device)) __attribute__((always_inline)) inline  // a call would need scratch memory
#define VMAFX_KERNEL(name, threads, parameters) \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, threads))) void name parameters
#define VMAFX_DENSE_KERNEL(name, threads, blocks, parameters) VMAFX_KERNEL(name, threads, parameters)
#define VMAFX_SHARED(type, name, dims) __attribute__((shared)) type name dims
#define VMAFX_ROLLED _Pragma("unroll 1")

namespace vmafx::gpu {

VMAFX_DEVICE Dim3 thread_id() {
  return {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z()};
}
VMAFX_DEVICE Dim3 block_id() {
  return {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z()};
}
VMAFX_DEVICE Dim3 block_size() {
  return {__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
          __builtin_amdgcn_workgroup_size_z()};
}
/* The hardware counts the grid in threads; launches give it in whole blocks. */
VMAFX_DEVICE Dim3 grid_size() {
  const Dim3 block = block_size();
  return {__builtin_amdgcn_grid_size_x() / block.x, __builtin_amdgcn_grid_size_y() / block.y,
          __builtin_amdgcn_grid_size_z() / block.z};
}

#if __has_builtin(__builtin_amdgcn_wavefrontsize)
VMAFX_DEVICE unsigned wave_size() { return __builtin_amdgcn_wavefrontsize(); }
#else  // before LLVM 18; newer ones refuse the macro
VMAFX_DEVICE unsigned wave_size() { return __AMDGCN_WAVEFRONT_SIZE; }
#endif
VMAFX_DEVICE unsigned lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }

VMAFX_DEVICE void block_sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* ds_bpermute takes the lane as a byte address. */
VMAFX_DEVICE uint32_t shuffle_xor(uint32_t value, unsigned mask) {
  return __builtin_amdgcn_ds_bpermute((lane_id() ^ mask) * 4, value);
}
VMAFX_DEVICE uint64_t shuffle_xor(uint64_t value, unsigned mask) {
  const uint32_t low = shuffle_xor(static_cast<uint32_t>(value), mask);
  const uint32_t high = shuffle_xor(static_cast<uint32_t>(value >> 32), mask);
  return uint64_t{high} << 32 | low;
}

VMAFX_DEVICE void atomic_add(uint64_t* address, uint64_t value) {
  __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

VMAFX_DEVICE void add_shared(uint32_t* address, uint32_t value) {
  __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
VMAFX_DEVICE uint32_t add_bytes(uint32_t four, uint32_t sum) { return __builtin_amdgcn_sad_u8(four, 0, sum); }
VMAFX_DEVICE uint32_t add_bytes_of(uint32_t four, uint32_t mask, uint32_t sum) { return add_bytes(four & mask, sum); }

VMAFX_DEVICE float near_inverse(float x) { return __builtin_amdgcn_rcpf(x); }

VMAFX_DEVICE float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
VMAFX_DEVICE double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }
VMAFX_DEVICE double divide(double a, double b) { return a / b; }

VMAFX_DEVICE float float_toward_zero(uint32_t value) { return cut_to_float(value); }
VMAFX_DEVICE float float_toward_zero(uint64_t value) { return cut_to_float(value); }

/* Half the rate of float or all of it on gfx906, gfx908, gfx90a and gfx942, a 16th or less on others. */
VMAFX_DEVICE constexpr bool double_is_fast() {
#if defined(__GFX9__)
  return true;
#else
  return false;
#endif
}

VMAFX_DEVICE constexpr bool scalars_are_many() { return false; }
VMAFX_DEVICE constexpr bool shared_memory_is_scarce() { return true; }

VMAFX_DEVICE unsigned anew(unsigned value) {
  asm volatile("" : "+v"(value));
  return value;
}
VMAFX_DEVICE unsigned anew_of_block(unsigned value) {
  asm volatile("" : "+s"(value));
  return value;
}

VMAFX_DEVICE uint32_t forget_range(uint32_t value) { return value; }  // it would lose 24-bit products

template <class T>
VMAFX_DEVICE T* kept_shared(T* pointer) {
  return pointer;
}

VMAFX_DEVICE void check_alignment(const void*, unsigned long) {}  // only the emulator does

}  // namespace vmafx::gpu

#endif
