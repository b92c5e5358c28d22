/* Work beside the program's own that nobody has to wait for: a call into a driver may take long, or never come back, so
 * the code that wants its result may give up on it at any time. This file keeps that safe. The library stays loaded
 * under the thread. And the end of the program waits for the thread: the handlers that a driver has run then meet no
 * call of it that is under way. */
#ifndef VMAFX_BASE_BACKGROUND_H
#define VMAFX_BASE_BACKGROUND_H

#include <atomic>
#include <chrono>
#include <functional>

#include "base/mutex.h"
#include "base/status.h"

namespace vmafx {

/* Connects a thread in the background with the code that wants its result; each side has a pointer to it. */
class Interest {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /* Nobody wants the result any more, or the program ends: the thread is to end soon. Never after keep(). */
  bool left() const;
  bool kept() const { return kept_; }

  void leave();
  void keep();  // the result is taken

  /* Until `done()`, `end` or left(); whoever makes done() true says changed(). Any thread. */
  template <class Done>
  void wait(Done done, Time end) const {
    const MutexLock lock(mutex());
    while (!done() && !left() && std::chrono::steady_clock::now() < end) wait_for_change(end);
  }
  static void changed();

 private:
  static Mutex& mutex();
  static void wait_for_change(Time end) VMAFX_REQUIRES(mutex());

  std::atomic<bool> left_ = false, kept_ = false;
};

/* True once the program is ending. Destructors may then leave resources to the system. */
bool program_ends();

/* Runs `work`, which must not throw, in a thread that nobody joins. It must end soon once its Interest has left().
 * ENOMEM: the system gives no thread. */
Status run_in_background(std::function<void()> work);

/* To be called when a driver has been loaded and when it has been initialized: handlers run in the reverse of the order
 * in which they are registered, and the one that waits for the threads has to run before the driver's. */
void wait_at_exit();

}  // namespace vmafx

#endif
