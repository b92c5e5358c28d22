/* Owners of memory, allocated when a session opens and never in the frame loop. Freeing may block until the device
 * is idle, so a stream that uses the memory is declared after it and drains first. */
#ifndef VMAFX_HIP_MEMORY_H
#define VMAFX_HIP_MEMORY_H

#include <cstddef>
#include <span>
#include <utility>

#include "hip/context.h"
#include "hip/device_ptr.h"

namespace vmafx::hip {

/* `count` elements in device memory, not initialized. */
template <class T>
class DeviceBuffer {
 public:
  static StatusOr<DeviceBuffer> create(ContextPtr context, size_t count) {
    DeviceBuffer buffer;
    if (count == 0) return buffer;
    VMAFX_TRY(
        context->call("Malloc", [&](const Functions& f) { return f.Malloc(&buffer.address_, count * sizeof(T)); }));
    buffer.context_ = std::move(context);
    buffer.size_ = count;
    return buffer;
  }

  DeviceBuffer() = default;  // owns nothing
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer() {
    if (context_) context_->dispose("Free", [&](const Functions& f) { return f.Free(address_); });
  }

  DevicePtr<T> ptr() const { return DevicePtr<T>::from_address(address_); }
  size_t size() const { return size_; }

 private:
  void swap(DeviceBuffer& other) {
    std::swap(context_, other.context_);
    std::swap(address_, other.address_);
    std::swap(size_, other.size_);
  }

  ContextPtr context_;  // null when there is nothing to free
  Address address_ = 0;
  size_t size_ = 0;
};

/* `count` elements of page-locked host memory, which the device copies from and to without the CPU. Not initialized. */
template <class T>
class PinnedBuffer {
 public:
  static StatusOr<PinnedBuffer> create(ContextPtr context, size_t count) {
    PinnedBuffer buffer;
    if (count == 0) return buffer;
    void* host = nullptr;
    VMAFX_TRY(
        context->call("HostMalloc", [&](const Functions& f) { return f.HostMalloc(&host, count * sizeof(T), 0); }));
    buffer.context_ = std::move(context);
    buffer.data_ = static_cast<T*>(host);
    buffer.size_ = count;
    return buffer;
  }

  PinnedBuffer() = default;  // owns nothing
  PinnedBuffer(PinnedBuffer&& other) noexcept { swap(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PinnedBuffer() {
    if (context_) context_->dispose("HostFree", [&](const Functions& f) { return f.HostFree(data_); });
  }

  T* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<T> span() const { return {data_, size_}; }

 private:
  void swap(PinnedBuffer& other) {
    std::swap(context_, other.context_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  ContextPtr context_;  // null when there is nothing to free
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace vmafx::hip

#endif
