/* Frame pairs for the GPU, in page-locked host memory and again in device memory: more than its caches hold. */
#ifndef VMAFX_BENCH_DEVICE_FRAMES_H
#define VMAFX_BENCH_DEVICE_FRAMES_H

#include <cstddef>
#include <cstdint>

#include "base/picture.h"
#include "hip/frame_pool.h"
#include "hip/memory.h"

namespace bench {

class DeviceFrames {
 public:
  DeviceFrames(vmafx::hip::ContextPtr context, const vmafx::VideoFormat& format);

  const vmafx::VideoFormat& format() const { return format_; }
  int count() const { return count_; }

  /* Frames repeat: `frame` may be any number from 0 on. */
  vmafx::Picture picture(vmafx::hip::Side side, int64_t frame) const;
  vmafx::hip::DevicePlane device_plane(vmafx::hip::Side side, int64_t frame, int plane) const;

  /* Names frame `frame` to the pool, where it lies in pinned or in device memory. */
  void use_pinned(vmafx::hip::PoolFrame& pool_frame, int64_t frame) const;
  void use_device(vmafx::hip::PoolFrame& pool_frame, int64_t frame) const;

 private:
  size_t row_bytes(int plane) const { return static_cast<size_t>(format_.plane_w(plane)) * sample_bytes(); }
  size_t stride(int plane) const;
  size_t plane_bytes(int plane) const;
  size_t sample_bytes() const { return format_.bpc > 8 ? 2 : 1; }
  size_t offset(vmafx::hip::Side side, int64_t frame, int plane) const;
  void fill(vmafx::hip::Side side);

  const vmafx::VideoFormat format_;
  size_t picture_bytes_ = 0;  // all planes of one side of one frame
  int count_ = 0;
  vmafx::hip::PinnedBuffer<std::byte> pinned_;
  vmafx::hip::DeviceBuffer<std::byte> device_;
};

}  // namespace bench

#endif
