#include "hip/stream.h"

#include <cerrno>
#include <thread>

namespace vmafx::hip {
namespace {

using Clock = std::chrono::steady_clock;

/* Work that is nearly done is caught by spinning; for longer waits, sleeping leaves the core to the decoder. Several
 * batches are in flight, so that the device has work while the host oversleeps. */
constexpr auto kSpin = std::chrono::microseconds(5);
constexpr auto kShortestSleep = std::chrono::microseconds(20);
constexpr auto kLongestSleep = std::chrono::microseconds(200);

}  // namespace

StatusOr<Event> Event::create(ContextPtr context, Timing timing) {
  NativeEvent native = nullptr;
  const unsigned flags = kEventBlockingSync | (timing == Timing::kOn ? 0 : kEventDisableTiming);
  VMAFX_TRY(context->call("EventCreate", [&](const Functions& f) { return f.EventCreateWithFlags(&native, flags); }));
  return Event(std::move(context), native);
}

Event::~Event() {
  if (native_) context_->dispose("EventDestroy", [&](const Functions& f) { return f.EventDestroy(native_); });
}

Status Event::record(Stream& stream) { return record(stream.native()); }

Status Event::record(NativeStream stream) {
  return context_->call("EventRecord", [&](const Functions& f) { return f.EventRecord(native_, stream); });
}

StatusOr<bool> Event::done() const {
  bool ready = false;
  VMAFX_TRY(context_->call("EventQuery", [&](const Functions& f) {
    const Error code = f.EventQuery(native_);
    ready = code == kSuccess;
    return code == kErrorNotReady ? kSuccess : code;
  }));
  return ready;
}

Status Event::wait() const {
  const auto start = Clock::now();
  auto sleep = kShortestSleep;
  for (;;) {
    VMAFX_ASSIGN(const bool ready, done());
    if (ready) return {};
    const auto waited = Clock::now() - start;
    if (waited >= context_->deadline()) {
      const std::string reason =
          format_text("it did not answer within %lld ms", static_cast<long long>(context_->deadline().count()));
      context_->lose(reason);
      return error(ETIMEDOUT, "the device %s is lost: %s", context_->device().name.c_str(), reason.c_str());
    }
    if (waited < kSpin) continue;
    std::this_thread::sleep_for(sleep);
    sleep = std::min(sleep * 2, kLongestSleep);
  }
}

StatusOr<double> Event::microseconds_since(const Event& start) const {
  float milliseconds = 0;
  VMAFX_TRY(context_->call("EventElapsedTime", [&](const Functions& f) {
    return f.EventElapsedTime(&milliseconds, start.native_, native_);
  }));
  return milliseconds * 1e3;
}

StatusOr<Stream> Stream::create(ContextPtr context) {
  VMAFX_ASSIGN(Event drained, Event::create(context));
  NativeStream native = nullptr;
  VMAFX_TRY(context->call("StreamCreate",
                          [&](const Functions& f) { return f.StreamCreateWithFlags(&native, kStreamNonBlocking); }));
  return Stream(std::move(context), native, true, std::move(drained));
}

StatusOr<Stream> Stream::adopt(ContextPtr context, NativeStream native) {
  if (!native) return error(EINVAL, "the stream handed in is null");
  VMAFX_ASSIGN(Event drained, Event::create(context));
  return Stream(std::move(context), native, false, std::move(drained));
}

Stream::~Stream() {
  if (!native_) return;
  Status drained = drain();
  if (!drained.ok() && !context_->lost()) drained = drain();
  /* Work that cannot be waited for: memory that it uses cannot be freed, so the device counts as lost. */
  if (!drained.ok()) context_->lose(drained.message());
  if (owned_) context_->dispose("StreamDestroy", [&](const Functions& f) { return f.StreamDestroy(native_); });
}

Status Stream::wait_for(const Event& event) {
  return context_->call("StreamWaitEvent",
                        [&](const Functions& f) { return f.StreamWaitEvent(native_, event.native(), 0); });
}

Status Stream::drain() {
  VMAFX_TRY(drained_.record(*this));
  return drained_.wait();
}

Status Stream::upload_bytes(Address to, const void* from, size_t bytes) {
  return context_->call("MemcpyHtoDAsync",
                        [&](const Functions& f) { return f.MemcpyHtoDAsync(to, from, bytes, native_); });
}

Status Stream::download_bytes(void* to, Address from, size_t bytes) {
  return context_->call("MemcpyDtoHAsync",
                        [&](const Functions& f) { return f.MemcpyDtoHAsync(to, from, bytes, native_); });
}

Status Stream::upload_rows(DevicePtr<std::byte> to, size_t to_stride, const void* from, size_t from_stride,
                           size_t row_bytes, size_t rows) {
  return context_->call("Memcpy2DAsync", [&](const Functions& f) {
    return f.Memcpy2DAsync(reinterpret_cast<void*>(to.address()), to_stride, from, from_stride, row_bytes, rows,
                           kCopyToDevice, native_);
  });
}

Status Stream::download_rows(void* to, size_t to_stride, DevicePtr<const std::byte> from, size_t from_stride,
                             size_t row_bytes, size_t rows) {
  return context_->call("Memcpy2DAsync", [&](const Functions& f) {
    return f.Memcpy2DAsync(to, to_stride, reinterpret_cast<const void*>(from.address()), from_stride, row_bytes, rows,
                           kCopyToHost, native_);
  });
}

Status Stream::copy_rows(DevicePtr<std::byte> to, size_t to_stride, DevicePtr<const std::byte> from, size_t from_stride,
                         size_t row_bytes, size_t rows) {
  return context_->call("Memcpy2DAsync", [&](const Functions& f) {
    return f.Memcpy2DAsync(reinterpret_cast<void*>(to.address()), to_stride,
                           reinterpret_cast<const void*>(from.address()), from_stride, row_bytes, rows, kCopyOnDevice,
                           native_);
  });
}

Status Stream::clear(DevicePtr<std::byte> to, size_t bytes) {
  return context_->call("MemsetD32Async",
                        [&](const Functions& f) { return f.MemsetD32Async(to.address(), 0, bytes / 4, native_); });
}

}  // namespace vmafx::hip
