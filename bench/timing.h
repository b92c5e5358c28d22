/* Time, and what comes of timing. */
#ifndef VMAFX_BENCH_TIMING_H
#define VMAFX_BENCH_TIMING_H

#include <ctime>

#include <map>
#include <string>
#include <vector>

namespace bench {

/* Milliseconds since it was made: of time, or of processor time of this process. */
class Stopwatch {
 public:
  explicit Stopwatch(bool cpu_time) : clock_(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC), start_(now()) {}
  double elapsed() const { return now() - start_; }

 private:
  double now() const {
    timespec t;
    clock_gettime(clock_, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
  }
  clockid_t clock_;
  double start_;
};

/* Microseconds per frame: by the clock, and of this process' processor time. */
struct Pace {
  double wall, cpu;
};

/* Frame by frame: key -> score. */
using FrameScores = std::vector<std::map<std::string, double>>;

}  // namespace bench

#endif
