#include <csignal>

#include "base/system/size_signal_kernel.h"

namespace vmafx::system {

void take_pending(const sigset_t& signals) {
  sigset_t pending;
  int taken;
  if (sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1) sigwait(&signals, &taken);
}

}  // namespace vmafx::system
