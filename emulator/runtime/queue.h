/* Streams and events. Work is only queued by a call, and runs late: when someone waits for it or asks after it, and now
 * and then by chance. So what a program forgets to wait for is not done when it looks. */
#ifndef VMAFX_EMULATOR_RUNTIME_QUEUE_H
#define VMAFX_EMULATOR_RUNTIME_QUEUE_H

#include <chrono>
#include <deque>
#include <functional>
#include <memory>

#include "emulator/runtime/calls.h"

namespace vmafx::emulator {

struct Stream;

/* A point in a stream. */
struct Marker {
  Stream* stream;
  bool is_passed = false;
  std::chrono::steady_clock::time_point time{};
};

struct Work {
  std::function<void()> run;          // or:
  std::shared_ptr<Marker> passes;     // a record of an event
  std::shared_ptr<Marker> waits_for;  // a marker of another stream
  bool never_ends = false;
  std::function<bool()> is_due{};  // of another interface; nullptr: at once
};

struct Stream {
  int device;
  bool is_blocking;  // against the null stream
  std::deque<Work> work;
};

struct Event {
  int device;
  bool has_time;
  std::shared_ptr<Marker> last;  // nullptr: not recorded yet
};

Handles<std::unique_ptr<Stream>>& streams();
Handles<Event>& events();

/* The stream behind a handle, nullptr for the null stream included; nullptr after complaining. */
Stream* find_stream(const Call& call, void* handle);

void enqueue(Stream& stream, Work work);

/* Runs all that was queued. False: it never ends. */
bool drain(Stream& stream);
bool drain_device(int device);
/* Runs the work before the marker and it. */
bool advance_to(const Marker& marker);

/* For a call that waits for the whole device before it gives something back. Nothing runs on a lost device. 0, or what
 * to return after complaining that the call would never come back. */
int wait_for_device(const Call& call, int device);

/* Runs a few pieces of a stream's work. */
void advance_by_chance(Stream& stream);
/* Runs a piece of some stream's work, or mostly not. */
void advance_anything();

}  // namespace vmafx::emulator

#endif
