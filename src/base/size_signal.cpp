#include "base/size_signal.h"

#include <pthread.h>

#include <cerrno>
#include <ctime>

namespace vmafx {

SizeSignalHeld::SizeSignalHeld() {
  sigset_t pending;
  sigemptyset(&signal_);
  sigaddset(&signal_, SIGXFSZ);
  was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  pthread_sigmask(SIG_BLOCK, &signal_, &before_);
}

/* A signal that had been pending before is the application's. */
SizeSignalHeld::~SizeSignalHeld() {
  const int kept = errno;
  const timespec at_once = {};
  while (!was_pending_ && sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) {}
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = kept;
}

}  // namespace vmafx
