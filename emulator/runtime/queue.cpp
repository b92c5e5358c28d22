#include "emulator/runtime/queue.h"

#include <random>
#include <vector>

#include "emulator/runtime/memory.h"
#include "emulator/runtime/settings.h"

namespace vmafx::emulator {
namespace {

std::mt19937_64& dice() {
  static auto& random = *new std::mt19937_64(settings().seed);
  return random;
}

/* One per device, made at its first use. */
Stream& null_stream(int device) {
  static auto& all = *new std::deque<Stream>;
  while (all.size() <= static_cast<size_t>(device)) all.push_back({static_cast<int>(all.size()), true, {}});
  return all[device];
}

std::vector<Stream*> all_streams() {
  std::vector<Stream*> all;
  for (size_t device = 0; device < settings().devices.size(); device++)
    all.push_back(&null_stream(static_cast<int>(device)));
  for (auto& [handle, stream] : streams()) all.push_back(stream.get());
  return all;
}

/* Runs the first piece of work, after what it waits for in other streams. False: that never ends. */
bool advance(Stream& stream) {
  Work& first = stream.work.front();
  if (first.never_ends || (first.is_due && !first.is_due())) return false;
  if (first.waits_for && !advance_to(*first.waits_for)) return false;
  if (first.run) {
    DeviceMemory::get().open();  // closed when the call ends
    first.run();
  }
  if (first.passes) {
    first.passes->time = std::chrono::steady_clock::now();
    first.passes->is_passed = true;
  }
  stream.work.pop_front();
  return true;
}

}  // namespace

Handles<std::unique_ptr<Stream>>& streams() {
  static auto& all = *new Handles<std::unique_ptr<Stream>>("stream");
  return all;
}

Handles<Event>& events() {
  static auto& all = *new Handles<Event>("event");
  return all;
}

Stream* find_stream(const Call& call, void* handle) {
  if (!handle) return &null_stream(current_device());
  std::unique_ptr<Stream>* stream = streams().find(call, handle);
  return stream ? stream->get() : nullptr;
}

/* Blocking streams and their device's null stream wait for each other. */
void enqueue(Stream& stream, Work work) {
  Stream& null = null_stream(stream.device);
  if (&stream == &null) {
    for (auto& [handle, other] : streams())
      if (other->device == stream.device && other->is_blocking) drain(*other);
  } else if (stream.is_blocking) {
    drain(null);
  }
  work.never_ends = is_hung();
  stream.work.push_back(std::move(work));
}

bool drain(Stream& stream) {
  while (!stream.work.empty())
    if (!advance(stream)) return false;
  return true;
}

bool drain_device(int device) {
  bool ended = true;
  for (Stream* stream : all_streams())
    if (stream->device == device) ended = drain(*stream) && ended;
  return ended;
}

bool advance_to(const Marker& marker) {
  while (!marker.is_passed)
    if (!advance(*marker.stream)) return false;
  return true;
}

int wait_for_device(const Call& call, int device) {
  if (lost_error() || drain_device(device)) return kSuccess;
  return call.misuse(kUnknown, "would never return: the device hangs");
}

void advance_by_chance(Stream& stream) {
  for (uint64_t pieces = 1 + dice()() % 4; pieces > 0 && !stream.work.empty(); pieces--)
    if (!advance(stream)) return;
}

void advance_anything() {
  constexpr int kOneIn = 8;
  if (dice()() % kOneIn) return;
  const std::vector<Stream*> all = all_streams();
  if (all.empty()) return;
  Stream& stream = *all[dice()() % all.size()];
  if (!stream.work.empty()) advance(stream);
}

}  // namespace vmafx::emulator
