/* Streams and events. */
#include "emulator/runtime/queue.h"

using namespace vmafx::emulator;

EMULATOR_API int hipStreamCreateWithFlags(void** stream, unsigned flags) {
  const Call call("hipStreamCreateWithFlags");
  if (call.error()) return call.error();
  if (flags & ~kStreamNonBlocking) return call.misuse(kInvalidValue, text("flags 0x%x", flags));
  streams().add(stream, std::make_unique<Stream>(Stream{current_device(), !(flags & kStreamNonBlocking), {}}));
  return kSuccess;
}

EMULATOR_API int hipStreamDestroy(void* handle) {
  const Call call("hipStreamDestroy");
  std::unique_ptr<Stream>* stream = streams().find(call, handle);
  if (!stream) return kInvalidHandle;
  if (!lost_error() && !drain(**stream)) return call.misuse(kUnknown, "would never return: the device hangs");
  for (auto& [other, event] : events())
    if (event.last && event.last->stream == stream->get())
      event.last->is_passed = true;  // on a lost device it may not be
  streams().remove(handle);
  return call.error();
}

EMULATOR_API int hipStreamSynchronize(void* handle) {
  const Call call("hipStreamSynchronize");
  if (call.error()) return call.error();
  Stream* stream = find_stream(call, handle);
  if (!stream) return kInvalidHandle;
  return drain(*stream) ? lost_error() : call.misuse(kUnknown, "would never return: the device hangs");
}

EMULATOR_API int hipStreamQuery(void* handle) {
  const Call call("hipStreamQuery");
  if (call.error()) return call.error();
  Stream* stream = find_stream(call, handle);
  if (!stream) return kInvalidHandle;
  advance_by_chance(*stream);
  return lost_error() ? lost_error() : stream->work.empty() ? kSuccess : kNotReady;
}

EMULATOR_API int hipStreamWaitEvent(void* handle, void* event_handle, unsigned flags) {
  const Call call("hipStreamWaitEvent");
  if (call.error()) return call.error();
  Stream* stream = find_stream(call, handle);
  const Event* event = events().find(call, event_handle);
  if (!stream || !event) return kInvalidHandle;
  if (flags) return call.misuse(kInvalidValue, text("flags 0x%x", flags));
  if (event->last) enqueue(*stream, {nullptr, nullptr, event->last});
  return kSuccess;
}

EMULATOR_API int hipEventCreateWithFlags(void** event, unsigned flags) {
  const Call call("hipEventCreateWithFlags");
  if (call.error()) return call.error();
  events().add(event, {current_device(), !(flags & kEventDisableTiming), nullptr});
  return kSuccess;
}

EMULATOR_API int hipEventDestroy(void* handle) {
  const Call call("hipEventDestroy");
  if (!events().find(call, handle)) return kInvalidHandle;
  events().remove(handle);
  return call.error();
}

EMULATOR_API int hipEventRecord(void* handle, void* stream_handle) {
  const Call call("hipEventRecord");
  if (call.error()) return call.error();
  Event* event = events().find(call, handle);
  Stream* stream = find_stream(call, stream_handle);
  if (!stream || !event) return kInvalidHandle;
  if (event->device != stream->device)
    return call.misuse(kInvalidHandle,
                       text("the event is of device %d, the stream of device %d", event->device, stream->device));
  event->last = std::make_shared<Marker>(Marker{stream});
  enqueue(*stream, {nullptr, event->last, nullptr});
  return kSuccess;
}

EMULATOR_API int hipEventQuery(void* handle) {
  const Call call("hipEventQuery");
  if (call.error()) return call.error();
  const Event* event = events().find(call, handle);
  if (!event) return kInvalidHandle;
  if (event->last && !event->last->is_passed) advance_by_chance(*event->last->stream);
  return lost_error() ? lost_error() : !event->last || event->last->is_passed ? kSuccess : kNotReady;
}

EMULATOR_API int hipEventSynchronize(void* handle) {
  const Call call("hipEventSynchronize");
  if (call.error()) return call.error();
  const Event* event = events().find(call, handle);
  if (!event) return kInvalidHandle;
  if (!event->last || event->last->is_passed || advance_to(*event->last)) return lost_error();
  return call.misuse(kUnknown, "would never return: the device hangs");
}

EMULATOR_API int hipEventElapsedTime(float* milliseconds, void* start_handle, void* end_handle) {
  const Call call("hipEventElapsedTime");
  if (call.error()) return call.error();
  const Event* start = events().find(call, start_handle);
  const Event* end = events().find(call, end_handle);
  if (!start || !end || !start->last || !end->last || !start->has_time || !end->has_time) return kInvalidHandle;
  if (!start->last->is_passed || !end->last->is_passed) return kNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(end->last->time - start->last->time).count();
  return kSuccess;
}
