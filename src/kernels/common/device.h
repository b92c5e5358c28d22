/* What lets one line of arithmetic compile for the host and for the device. */
#ifndef VMAFX_KERNELS_COMMON_DEVICE_H
#define VMAFX_KERNELS_COMMON_DEVICE_H

/* Marks a per-sample function of a `<metric>_math.h`: called by the definition, the kernels, and where it fits the SIMD twin. */
#if defined(__HIPCC__) || defined(__HIP__) || defined(__CUDACC__)
#define VMAFX_HD __host__ __device__ inline
#else
#define VMAFX_HD inline
#endif

#endif
