/* LookThread: the thread on which a session's pictures are looked at, so that the one that scores does not wait for it.
 * Pairs are handed over in memory of their own, and looked at several at a time, in their order. A thread that looks at
 * fewer pairs than come holds up whoever brings more. Where the system gives no thread, add() looks at the pair. */
#ifndef VMAFX_ENGINE_LOOK_THREAD_H
#define VMAFX_ENGINE_LOOK_THREAD_H

#include <cstdint>
#include <memory>
#include <thread>

#include "base/mutex.h"
#include "base/status.h"
#include "engine/look/look.h"
#include "kernels/signature/signature_math.h"

namespace vmafx {

class LookThread {
 public:
  LookThread() = default;
  LookThread(const LookThread&) = delete;
  LookThread& operator=(const LookThread&) = delete;
  ~LookThread();  // pairs that still wait are left out

  /* ENOMEM: there is no memory. Before the first pair. */
  Status start();

  /* Memory for the sums of the next pair, which has those of an earlier pair. Waits while none is free. */
  SignatureSums& next();

  /* Has `look`, which must outlive the thread, take the pair of next(). */
  void add(look::Look& look, int64_t frame) noexcept;

  /* Waits until all pairs were looked at: nobody else may use their looks before. ENOMEM: a look had no memory. */
  Status drain();

 private:
  struct Pair {
    look::Look* look = nullptr;
    int64_t frame = 0;
    SignatureSums sums;
  };
  /* Half of the pairs are looked at while the other half is filled. A GPU brings a batch of up to 16 at once. */
  static constexpr int64_t kPairs = 32, kAtATime = kPairs / 2;

  void run() noexcept;
  int64_t waiting() const VMAFX_REQUIRES(mutex_) { return added_ - looked_; }
  Pair& at(int64_t count) const { return pairs_[count % kPairs]; }
  void look_at(int64_t first, int64_t end) noexcept;

  std::unique_ptr<Pair[]> pairs_;  // a ring
  Mutex mutex_;
  Condition changed_;
  int64_t added_ VMAFX_GUARDED_BY(mutex_) = 0, looked_ VMAFX_GUARDED_BY(mutex_) = 0;  // since start()
  bool draining_ VMAFX_GUARDED_BY(mutex_) = false;
  bool closing_ VMAFX_GUARDED_BY(mutex_) = false;
  Status failure_;  // of the thread, until it is drained
  std::thread thread_;
};

}  // namespace vmafx

#endif
