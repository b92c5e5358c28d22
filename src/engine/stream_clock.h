/* StreamClock: how long a stream's pairs take, and how much of that the application needs to bring them. */
#ifndef VMAFX_ENGINE_STREAM_CLOCK_H
#define VMAFX_ENGINE_STREAM_CLOCK_H

#include <chrono>
#include <cstdint>

namespace vmafx {

/* Used by the application's thread. Times are in seconds. */
class StreamClock {
 public:
  /* The application is in a call of the library while this object lives. */
  class Call {
   public:
    explicit Call(StreamClock& clock) : clock_(clock) { clock_.enter(); }
    ~Call() { clock_.leave(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    StreamClock& clock_;
  };

  /* Begins to measure anew. */
  void restart();

  void submitted() { submitted_++; }

  double elapsed() const { return seconds_since(begin_); }
  int64_t pairs_submitted() const { return submitted_; }

  /* The time between calls of the library, for each pair; 0: not known yet. */
  double source_pair() const { return submitted_ > 1 ? outside_ / static_cast<double>(submitted_ - 1) : 0; }

  /* The share of the processors' time that the whole process has taken. */
  double busy(int processors) const;

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  }
  void enter();
  void leave();

  Clock::time_point begin_{}, left_{};
  double outside_ = 0;
  double processor_seconds_ = 0;  // of the process, at the begin
  int64_t submitted_ = 0;
  int depth_ = 0;
};

}  // namespace vmafx

#endif
