/* A fixed set of threads that run jobs in the order they were given.
 *
 * Twenty-five lines of our own instead of a task library: each session owns exactly the threads it was asked for (a
 * process may hold several sessions), oldest frame first, gone when the session closes, and visible to ThreadSanitizer.
 */
#ifndef VMAFX_ENGINE_FRAMES_WORKERS_H
#define VMAFX_ENGINE_FRAMES_WORKERS_H

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "engine/frames/fifo.h"

namespace vmafx {

/* A job. Its owner keeps it until it has run, and may then give it again. */
struct Job {
  virtual ~Job() = default;

  /* `worker` is the number of the running thread, 0 .. threads-1: its key to per-thread memory. */
  virtual void run(int worker) noexcept = 0;

  Job* next = nullptr;  // used by the queue
};

class Workers {
 public:
  Workers() = default;
  ~Workers();  // runs what is still queued, then joins

  /* ENOMEM when the system gives no thread at all; fewer than asked for is fine. */
  Status start(int threads);
  void add(Job& job) noexcept;
  void add_first(Job& job) noexcept;  // before all that waits

  /* While it holds, no thread begins a job; the end of this object lets them go on. */
  void hold(bool holds) noexcept;

  /* Takes back the jobs that no thread has begun, in their order. */
  Fifo<Job> take_waiting() noexcept;
  bool has_waiting();
  double seconds() const { return 1e-9 * static_cast<double>(nanoseconds_.load()); }  // of processors, in jobs so far
  int threads() const { return static_cast<int>(threads_.size()); }

 private:
  void run(int worker);

  Mutex mutex_;
  Condition wake_;
  Fifo<Job> queue_ VMAFX_GUARDED_BY(mutex_);
  std::atomic<int64_t> nanoseconds_ = 0;
  bool holds_ VMAFX_GUARDED_BY(mutex_) = false, closing_ VMAFX_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace vmafx

#endif
