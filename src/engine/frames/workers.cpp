#include "engine/frames/workers.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/system/process.h"

namespace vmafx {

Workers::~Workers() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status Workers::start(int threads) {
  for (int i = 0; i < threads; i++) {
    try {
      threads_.emplace_back([this, i] { run(i); });
    } catch (const std::system_error& failure) {
      if (i > 0) break;
      return error(ENOMEM, "cannot start a worker thread (%s): the system or a limit allows no more threads",
                   failure.what());
    }
  }
  return {};
}

void Workers::add(Job& job) noexcept {
  {
    const MutexLock lock(mutex_);
    queue_.push_back(job);
  }
  wake_.notify_one();
}

void Workers::add_first(Job& job) noexcept {
  {
    const MutexLock lock(mutex_);
    queue_.push_front(job);
  }
  wake_.notify_one();
}

void Workers::hold(bool holds) noexcept {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(holds_, holds) == holds) return;
  }
  if (!holds) wake_.notify_all();
}

Fifo<Job> Workers::take_waiting() noexcept {
  const MutexLock lock(mutex_);
  return std::exchange(queue_, {});
}

bool Workers::has_waiting() {
  const MutexLock lock(mutex_);
  return !queue_.empty();
}

void Workers::run(int worker) {
  double before = system::thread_seconds();
  for (;;) {
    Job* job;
    {
      const MutexLock lock(mutex_);
      while (!closing_ && (holds_ || queue_.empty())) wake_.wait(mutex_);
      if (queue_.empty()) return;
      job = &queue_.pop_front();
    }
    job->run(worker);
    const double now = system::thread_seconds();
    nanoseconds_ += static_cast<int64_t>((now - std::exchange(before, now)) * 1e9);
  }
}

}  // namespace vmafx
