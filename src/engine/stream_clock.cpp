#include "engine/stream_clock.h"

#include "base/system/process.h"

namespace vmafx {

void StreamClock::restart() {
  begin_ = left_ = Clock::now();
  outside_ = 0;
  processor_seconds_ = system::process_seconds();
  submitted_ = 0;
}

double StreamClock::busy(int processors) const {
  const double all = elapsed() * processors;
  return all > 0 ? (system::process_seconds() - processor_seconds_) / all : 0;
}

void StreamClock::enter() {
  if (depth_++ == 0 && submitted_) outside_ += seconds_since(left_);
}

void StreamClock::leave() {
  if (--depth_ == 0) left_ = Clock::now();
}

}  // namespace vmafx
