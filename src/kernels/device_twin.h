/* DeviceTwin: the kernels of a metric, as the engine drives them.
 *
 * A HIP twin is an Extractor that has one of these (Extractor::device_twin()): its kernels fill the same struct of raw
 * sums that extract() fills on the CPU, to the last bit, for several frames in one go. `<metric>_hip.cpp` decides which
 * kernels run, on what planes, in which order. */
#ifndef VMAFX_KERNELS_DEVICE_TWIN_H
#define VMAFX_KERNELS_DEVICE_TWIN_H

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "base/picture.h"
#include "base/rounding.h"
#include "base/status.h"
#include "hip/device_ptr.h"
#include "hip/frame_planes.h"
#include "hip/frame_pool.h"
#include "hip/module.h"
#include "hip/stream.h"
#include "kernels/extractor.h"
#include "kernels/gpu/work.h"

namespace vmafx {

/* Frames to work on, in device memory. Planes are as in Picture: planar, 8 bit as bytes, above as 16-bit words, samples
 * in the low bits. Rows begin at multiples of 16 bytes; nothing past the last sample of a row may be read. Only what
 * Reads names is there; where there is no earlier reference frame, its data is null and the frame's sums stay as they
 * are. The sums are the metric's own, 64-byte aligned; the scratch memory is scratch_bytes(count), 256-byte aligned. */
struct DeviceBatch : hip::Batch {
  /* Blocks that keep the largest GPUs busy a few times over, so that the last ones do not wait long for each other. */
  unsigned enough_blocks = 1024;

  int64_t numbers[hip::kMostBatch] = {};  // FrameSet::number of each frame

  /* Converted pictures of a metric with Reads::converted: places of converted_bytes() each, a multiple of 256, one
   * behind the other. */
  hip::DevicePtr<std::byte> converted;
  ConvertedPlaces places;  // the places that launch() reads

  /* The metric's struct, or what begins at that byte of it. */
  template <class Sums>
  BatchSums<Sums> sums_of(size_t offset = 0) const {
    return {sums.as<uint8_t>(static_cast<ptrdiff_t>(offset)), sums_stride};
  }

  /* x times y blocks for each frame. */
  hip::Dim grid(unsigned x, unsigned y = 1) const { return {x, y, static_cast<unsigned>(count)}; }

  /* The frames by their reference, in groups as large as leaves enough blocks, where a group takes `blocks`. */
  FrameGroups groups(unsigned blocks) const;

  /* x times y blocks for each group. */
  static hip::Dim grid(const FrameGroups& groups, unsigned x, unsigned y = 1) {
    return {x, y, static_cast<unsigned>(groups.count)};
  }

 private:
  bool same_reference(int frame, int other) const;
};

/* Rounds up to the alignment of scratch memory, so that a second object there begins as aligned as the first. */
constexpr size_t scratch_aligned(size_t bytes) { return round_up(bytes, 256); }

/* Objects in a twin's scratch memory, one behind the other. Laid out from no address, it gives the size. */
class ScratchLayout {
 public:
  explicit ScratchLayout(hip::DevicePtr<std::byte> from = {}) : from_(from) {}

  /* Reserves so many bytes; returns their offset. */
  size_t reserve(size_t bytes) { return std::exchange(bytes_, bytes_ + scratch_aligned(bytes)); }

  template <class T>
  hip::DevicePtr<T> take(size_t count) {
    return from_.as<T>(static_cast<ptrdiff_t>(reserve(count * sizeof(T))));
  }

  /* Planes of h rows for each of `frames`; each begins at a multiple of 256 bytes. */
  template <class T>
  PlanePairs<T> take_pairs(size_t stride, int h, int frames) {
    const size_t size = scratch_aligned(stride * h * sizeof(T)) / sizeof(T);
    return {take<T>(2 * size * frames), static_cast<int64_t>(stride), static_cast<int64_t>(size)};
  }

  size_t bytes() const { return bytes_; }

 private:
  hip::DevicePtr<std::byte> from_;
  size_t bytes_ = 0;
};

/* A kernel of a KernelList. */
template <class Work>
class TwinKernel;

/* The kernels that a twin, and the steps in it, start. */
class KernelList {
 public:
  /* The kernel, to be launched after load(). */
  template <class Work>
  TwinKernel<Work> add(const KernelDeclaration<Work>& declared) {
    kernels_.push_back({.name = declared.name, .block = {declared.x, declared.y, declared.z}});
    return TwinKernel<Work>(kernels_.back());
  }

  Status load(const hip::Module& module);

  struct Kernel {
    const char* name = "";
    hip::Dim block = {};
    hip::NativeFunction function = nullptr;
  };

 private:
  std::deque<Kernel> kernels_;  // a deque, so that kernels keep their addresses
};

template <class Work>
class TwinKernel {
 public:
  TwinKernel() = default;  // none; launching it is an error
  explicit TwinKernel(const KernelList::Kernel& kernel) : kernel_(&kernel) {}

  Status launch(const DeviceBatch& batch, hip::Dim grid, const Work& work) const {
    const hip::Kernel<Work> native(kernel_->function, kernel_->name);
    return hip::launch(*batch.stream, native, grid, kernel_->block, 0, work);
  }

 private:
  static constexpr KernelList::Kernel kNone = {};
  const KernelList::Kernel* kernel_ = &kNone;
};

class DeviceTwin {
 public:
  virtual ~DeviceTwin() = default;
  DeviceTwin() = default;
  DeviceTwin(const DeviceTwin&) = delete;
  DeviceTwin& operator=(const DeviceTwin&) = delete;

  /* Device memory that launch() works in, for a batch of `frames`. Nobody else touches it while its kernels run. */
  virtual size_t scratch_bytes([[maybe_unused]] int frames) const { return 0; }

  /* Device memory for a converted picture, of a metric with Reads::converted. */
  virtual size_t converted_bytes() const { return 0; }

  /* Queues the conversion of these pictures, kMostToConvert of them at most, each into its place in batch.converted. */
  virtual Status convert(const DeviceBatch&, [[maybe_unused]] std::span<const PictureToConvert> pictures) const {
    return {};
  }

  /* Finds the kernels, once, before the first launch(). */
  Status load(const hip::Module& module) { return kernels_.load(module); }

  /* Queues the kernels of a batch on its stream. No allocation, no wait. */
  virtual Status launch(const DeviceBatch& batch) const = 0;

 protected:
  KernelList kernels_;
};

/* A twin, as <metric>_hip() makes it: a struct, so that a metric's own header can name it without <memory>
 * (kernels/forward.h). */
struct OwnedDeviceTwin {
  std::unique_ptr<DeviceTwin> twin;
};

/* Has a pool for frames of `format` hold what `reads` names. */
void add_reads(const Reads& reads, const VideoFormat& format, hip::PoolLayout& layout);

/* The offsets of a metric's memory in that of a pool. */
struct PoolMemory {
  size_t sums = 0;       // in those of a frame
  size_t converted = 0;  // in what stays from batch to batch
};

/* Has the pool, whose layout.batch and layout.encodes are said, hold the sums, the converted pictures and the scratch
 * memory of an extractor that has a twin. Scratch memory all metrics have in one place: on the batch's stream their
 * kernels run one metric after the other. */
PoolMemory add_memory(const Extractor& extractor, hip::PoolLayout& layout);

/* A pool's batch for the metric that has this memory. */
DeviceBatch device_batch(const hip::Batch& batch, const PoolMemory& memory);

}  // namespace vmafx

#endif
