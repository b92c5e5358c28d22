/* Agreements between the host and the kernels, for each `<metric>_work.h`: which kernels exist, where they leave their
 * sums, and how planes lie in scratch memory.
 *
 *   VMAFX_DECLARE_KERNEL(name, Work, x[, y[, z]]);
 *       A kernel that takes a Work and runs in blocks of x * y * z threads. gpu.h says how it is defined.
 *   VMAFX_DECLARE_SAMPLE_KERNELS(name, Work, x[, y[, z]]);
 *       Two of them: for samples that are bytes, and for those that are 16-bit words.
 *
 * The host finds one as `kernels::name`, or as `kernels::name.of(bpc)`, and starts it by device_twin.h. Both sides take
 * the name, the type of the parameter and the size of a block from here. */
#ifndef VMAFX_KERNELS_GPU_WORK_H
#define VMAFX_KERNELS_GPU_WORK_H

#include <stdint.h>

#include "hip/frame_planes.h"
#include "kernels/gpu/device.h"

namespace vmafx {

template <class Work>
struct KernelDeclaration {
  using Parameter = Work;

  const char* name;
  unsigned x, y = 1, z = 1;  // threads of a block

  constexpr unsigned threads() const { return x * y * z; }
};

template <class Work>
struct SampleKernelDeclarations {
  using Parameter = Work;

  KernelDeclaration<Work> bytes, words;

  constexpr const KernelDeclaration<Work>& of(int bpc) const { return bpc == 8 ? bytes : words; }
};

#define VMAFX_DECLARE_KERNEL(name, Work, ...)                                             \
  namespace kernels {                                                                     \
  inline constexpr ::vmafx::KernelDeclaration<Work> name = {"vmafx_" #name, __VA_ARGS__}; \
  }                                                                                       \
  static_assert(true)
#define VMAFX_DECLARE_SAMPLE_KERNELS(name, Work, ...)                                                    \
  namespace kernels {                                                                                    \
  inline constexpr ::vmafx::SampleKernelDeclarations<Work> name = {{"vmafx_" #name "_8", __VA_ARGS__},   \
                                                                   {"vmafx_" #name "_16", __VA_ARGS__}}; \
  }                                                                                                      \
  static_assert(true)

/* The raw sums of the frames of a batch. */
template <class Sums>
struct BatchSums {
  hip::DevicePtr<uint8_t> first;  // the first frame's
  uint64_t stride = 0;            // bytes to those of the next one

#if defined(VMAFX_KERNEL_CODE) || defined(__HIP__) || defined(__CUDACC__)
  VMAFX_HD Sums& operator[](unsigned frame) const { return *reinterpret_cast<Sums*>(first.get() + frame * stride); }
#endif
};

#if defined(VMAFX_KERNEL_CODE) || defined(__HIP__) || defined(__CUDACC__)
/* Row y of a plane of samples. */
template <class T>
VMAFX_HD const T* row_of(const hip::DevicePlane& plane, int y) {
  return reinterpret_cast<const T*>(plane.data.get() + y * plane.stride);
}
#endif

/* The frames of a batch in groups, one after the other. All frames of a group have the same reference picture, as
 * encodes of one reference have: a block works on all of them, and computes once what depends on that picture alone. */
struct FrameGroups {
  int32_t count = 0;
  uint8_t first[hip::kMostBatch + 1] = {};  // frame of each group; then how many frames there are
  /* For each frame the first one with its reference: results for the reference alone lie in that frame's planes in
   * scratch memory. */
  uint8_t picture[hip::kMostBatch] = {};
};

/* A picture of a metric that reads pictures as it converts them (Reads::converted), and the place in the metric's
 * memory where its kernels are to leave what they make of it. */
struct PictureToConvert {
  hip::DevicePlane plane[3];
  int32_t place = 0;
};

inline constexpr int kMostToConvert = 2 * hip::kMostBatch;  // in a batch

/* The places of what such kernels read: of each side first the pictures before the first frame, the oldest one first,
 * then those of the frames. */
inline constexpr int kMostConverted = 128;
struct ConvertedPlaces {
  int32_t earlier = 0;
  uint16_t ref[kMostConverted + hip::kMostBatch] = {}, dist[kMostConverted + hip::kMostBatch] = {};
};

/* Planes of T in scratch memory: of each frame that of ref, then that of dist. */
template <class T>
struct PlanePairs {
  hip::DevicePtr<T> first;
  int64_t stride = 0, size = 0;  // from row to row, from plane to plane; in T

#if defined(VMAFX_KERNEL_CODE) || defined(__HIP__) || defined(__CUDACC__)
  /* picture: 0 for ref, 1 for dist. */
  VMAFX_HD T* plane(unsigned frame, unsigned picture) const { return first.get() + (2 * frame + picture) * size; }
#endif
};

}  // namespace vmafx

#endif
