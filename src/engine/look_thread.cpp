#include "engine/look_thread.h"

#include <algorithm>
#include <system_error>

namespace vmafx {

LookThread::~LookThread() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status LookThread::start() {
  return guarded([this]() -> Status {
    pairs_ = std::make_unique_for_overwrite<Pair[]>(kPairs);
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      thread_ = {};  // the system or a limit allows no more threads: add() looks at the pair
    }
    return {};
  });
}

SignatureSums& LookThread::next() {
  const MutexLock lock(mutex_);
  while (waiting() == kPairs) changed_.wait(mutex_);
  return at(added_).sums;
}

void LookThread::add(look::Look& look, int64_t frame) noexcept {
  const MutexLock lock(mutex_);
  Pair& pair = at(added_++);
  pair.look = &look;
  pair.frame = frame;
  if (!thread_.joinable()) {
    look_at(looked_, added_);
    looked_ = added_;
  } else if (waiting() == kAtATime) {
    changed_.notify_all();
  }
}

Status LookThread::drain() {
  const MutexLock lock(mutex_);
  draining_ = true;
  changed_.notify_all();
  while (waiting()) changed_.wait(mutex_);
  draining_ = false;
  return failure_;
}

void LookThread::run() noexcept {
  const MutexLock lock(mutex_);
  while (!closing_) {
    if (waiting() < (draining_ ? 1 : kAtATime)) {
      changed_.wait(mutex_);
      continue;
    }
    const int64_t first = looked_, end = first + std::min(waiting(), kAtATime);
    {
      const MutexUnlock unlocked(mutex_);
      look_at(first, end);
    }
    looked_ = end;
    changed_.notify_all();
  }
}

void LookThread::look_at(int64_t first, int64_t end) noexcept {
  for (int64_t i = first; i < end && failure_.ok(); i++) {
    Pair& pair = at(i);
    failure_ = guarded([&]() -> Status {
      pair.look->add(pair.frame, pair.sums);
      return {};
    });
  }
}

}  // namespace vmafx
