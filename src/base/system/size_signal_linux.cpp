#include <cerrno>
#include <ctime>

#include "base/system/size_signal_kernel.h"

namespace vmafx::system {

void take_pending(const sigset_t& signals) {
  const timespec at_once = {};
  while (sigtimedwait(&signals, nullptr, &at_once) < 0 && errno == EINTR) {}
}

}  // namespace vmafx::system
