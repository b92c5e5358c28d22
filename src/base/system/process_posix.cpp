#include "base/system/process.h"

#include <time.h>
#include <unistd.h>

namespace vmafx::system {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  return clock_gettime(clock, &time) ? 0 : static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

long process_id() { return getpid(); }

double process_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

double thread_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

bool other_threads_are_gone() { return false; }

}  // namespace vmafx::system
