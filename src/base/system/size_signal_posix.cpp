#include "base/system/size_signal.h"

#include <pthread.h>

#include <cerrno>
#include <csignal>

#include "base/system/size_signal_kernel.h"

namespace vmafx {
namespace {

sigset_t size_signal() {
  sigset_t signal;
  sigemptyset(&signal);
  sigaddset(&signal, SIGXFSZ);
  return signal;
}

}  // namespace

SizeSignalHeld::SizeSignalHeld() {
  const sigset_t signal = size_signal();
  sigset_t pending, before;
  was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  was_held_ = pthread_sigmask(SIG_BLOCK, &signal, &before) == 0 && sigismember(&before, SIGXFSZ) == 1;
}

/* A signal that had been pending before is the application's. */
SizeSignalHeld::~SizeSignalHeld() {
  const int kept = errno;
  const sigset_t signal = size_signal();
  if (!was_pending_) system::take_pending(signal);
  if (!was_held_) pthread_sigmask(SIG_UNBLOCK, &signal, nullptr);
  errno = kept;
}

}  // namespace vmafx
