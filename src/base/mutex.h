/* A mutex whose use clang checks: `clang++ -fsyntax-only -Wthread-safety`. Other compilers see std::mutex. */
#ifndef VMAFX_BASE_MUTEX_H
#define VMAFX_BASE_MUTEX_H

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define VMAFX_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define VMAFX_THREAD_SAFETY(attribute)
#endif

/* GUARDED_BY: a member that is touched only while the mutex is held. REQUIRES: a function that is called only while it
 * is held. */
#define VMAFX_GUARDED_BY(mutex) VMAFX_THREAD_SAFETY(guarded_by(mutex))
#define VMAFX_REQUIRES(mutex) VMAFX_THREAD_SAFETY(requires_capability(mutex))

namespace vmafx {

class VMAFX_THREAD_SAFETY(capability("mutex")) Mutex {
 public:
  void lock() VMAFX_THREAD_SAFETY(acquire_capability()) { mutex_.lock(); }
  void unlock() VMAFX_THREAD_SAFETY(release_capability()) { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

/* Held while it lives. */
class VMAFX_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) VMAFX_THREAD_SAFETY(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() VMAFX_THREAD_SAFETY(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/* Let go while it lives, by who holds it. */
class VMAFX_THREAD_SAFETY(scoped_lockable) MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) VMAFX_THREAD_SAFETY(release_capability(mutex)) : mutex_(mutex) { mutex_.unlock(); }
  ~MutexUnlock() VMAFX_THREAD_SAFETY(release_capability()) { mutex_.lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex& mutex_;
};

class Condition {
 public:
  /* May return for no reason: to be called in a loop that looks at what is waited for. */
  void wait(Mutex& mutex) VMAFX_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  /* The same, for so long at most. */
  void wait_for(Mutex& mutex, std::chrono::milliseconds most) VMAFX_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_for(lock, most);
    lock.release();
  }
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace vmafx

#endif
