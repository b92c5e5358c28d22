#include "base/background.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "base/system/library.h"
#include "base/system/process.h"

namespace vmafx {
namespace {

/* Longer than any call of a driver that is well; one that hangs does not keep the program. */
constexpr std::chrono::seconds kMostAtExit{3};

struct Threads {
  Mutex mutex;
  Condition changed;
  int running VMAFX_GUARDED_BY(mutex) = 0;
  long of VMAFX_GUARDED_BY(mutex) = 0;  // they run in this process, and in none that was forked from it
  std::atomic<bool> ending = false;
};

/* Never destroyed: a thread may outlive the program's other static objects. */
Threads& threads() {
  static auto& all = *new Threads;
  return all;
}

void end_threads() {
  if (system::other_threads_are_gone()) return;
  Threads& all = threads();
  const MutexLock lock(all.mutex);
  const bool first = !all.ending.exchange(true);
  all.changed.notify_all();
  const auto end = std::chrono::steady_clock::now() + kMostAtExit;
  while (first && all.running > 0 && all.of == system::process_id() && std::chrono::steady_clock::now() < end)
    all.changed.wait_for(all.mutex, std::chrono::duration_cast<std::chrono::milliseconds>(kMostAtExit));
}

void stay_loaded() {
  static const bool once = [] {
    system::keep_loaded(reinterpret_cast<const void*>(&stay_loaded));
    wait_at_exit();
    return true;
  }();
  (void)once;
}

void count(int change) {
  Threads& all = threads();
  const MutexLock lock(all.mutex);
  if (all.of != system::process_id()) all.running = 0;
  all.of = system::process_id();
  all.running += change;
  all.changed.notify_all();
}

}  // namespace

bool program_ends() { return threads().ending; }

bool Interest::left() const { return !kept_ && (left_ || program_ends()); }

void Interest::leave() {
  left_ = true;
  changed();
}

void Interest::keep() {
  kept_ = true;
  changed();
}

Mutex& Interest::mutex() { return threads().mutex; }

void Interest::changed() {
  const MutexLock lock(threads().mutex);
  threads().changed.notify_all();
}

void Interest::wait_for_change(Time end) {
  constexpr std::chrono::steady_clock::duration kMost =
      std::chrono::hours(1);  // later ends overflow in the system's clock
  const auto left = std::min(end - std::chrono::steady_clock::now(), kMost);
  threads().changed.wait_for(mutex(), std::chrono::ceil<std::chrono::milliseconds>(left));
}

Status run_in_background(std::function<void()> work) {
  stay_loaded();
  count(1);
  try {
    std::thread([work = std::move(work)]() mutable {
      work();
      work = nullptr;  // with what only it still has
      count(-1);
    }).detach();
  } catch (const std::system_error& failure) {
    count(-1);
    return error(ENOMEM, "cannot start a thread (%s)", failure.what());
  } catch (...) {
    count(-1);
    throw;
  }
  return {};
}

void wait_at_exit() { (void)std::atexit(end_threads); }

}  // namespace vmafx
