/* Work in order on the device, and marks in it. */
#ifndef VMAFX_HIP_STREAM_H
#define VMAFX_HIP_STREAM_H

#include <utility>

#include "hip/context.h"
#include "hip/memory.h"

namespace vmafx::hip {

enum class Timing : bool { kOff, kOn };

class Stream;

/* A mark in a stream: done when all that was before it is. */
class Event {
 public:
  static StatusOr<Event> create(ContextPtr context, Timing timing = Timing::kOff);
  Event(Event&& other) noexcept : context_(std::move(other.context_)), native_(std::exchange(other.native_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(native_, other.native_);
    return *this;
  }
  ~Event();

  /* Places it after what is in the stream now; waits of other streams and the host then mean this place. */
  Status record(Stream& stream);

  /* Records it in a stream of the application; null is its default stream. */
  Status record(NativeStream stream);

  StatusOr<bool> done() const;

  /* Until it is done: a short spin, then sleeps. ETIMEDOUT at the context's deadline, and the device is lost. */
  Status wait() const;

  /* Time between two events, both with Timing::kOn, and done. */
  StatusOr<double> microseconds_since(const Event& start) const;

  NativeEvent native() const { return native_; }

 private:
  Event(ContextPtr context, NativeEvent native) : context_(std::move(context)), native_(native) {}

  ContextPtr context_;
  NativeEvent native_ = nullptr;
};

class Stream {
 public:
  static StatusOr<Stream> create(ContextPtr context);

  /* The application's stream, which stays its owner. EINVAL for null. */
  static StatusOr<Stream> adopt(ContextPtr context, NativeStream native);

  Stream(Stream&& other) noexcept
      : context_(std::move(other.context_)), native_(std::exchange(other.native_, nullptr)), owned_(other.owned_),
        drained_(std::move(other.drained_)) {}
  Stream& operator=(Stream&&) = delete;

  /* Waits for what is in it, so that memory declared before the stream may be freed after it. */
  ~Stream();

  /* Makes later work in this stream start after `event`. */
  Status wait_for(const Event& event);

  /* Waits on the host until all that is in it is done. Not for the frame loop. */
  Status drain();

  /* Copies of `count` elements. Host memory must be pinned and stay as it is until the copy is done. */
  template <class T>
  Status upload(DevicePtr<T> to, const T* from, size_t count) {
    return upload_bytes(to.address(), from, count * sizeof(T));
  }
  template <class T>
  Status download(T* to, DevicePtr<const T> from, size_t count) {
    return download_bytes(to, from.address(), count * sizeof(T));
  }

  /* `rows` rows of `row_bytes`; strides in bytes. */
  Status upload_rows(DevicePtr<std::byte> to, size_t to_stride, const void* from, size_t from_stride, size_t row_bytes,
                     size_t rows);
  Status download_rows(void* to, size_t to_stride, DevicePtr<const std::byte> from, size_t from_stride,
                       size_t row_bytes, size_t rows);
  Status copy_rows(DevicePtr<std::byte> to, size_t to_stride, DevicePtr<const std::byte> from, size_t from_stride,
                   size_t row_bytes, size_t rows);

  /* Zeroes `bytes`, a multiple of 4. */
  Status clear(DevicePtr<std::byte> to, size_t bytes);

  Context& context() const { return *context_; }
  NativeStream native() const { return native_; }

 private:
  Stream(ContextPtr context, NativeStream native, bool owned, Event drained)
      : context_(std::move(context)), native_(native), owned_(owned), drained_(std::move(drained)) {}

  Status upload_bytes(Address to, const void* from, size_t bytes);
  Status download_bytes(void* to, Address from, size_t bytes);

  ContextPtr context_;
  NativeStream native_ = nullptr;
  bool owned_ = false;
  Event drained_;
};

}  // namespace vmafx::hip

#endif
