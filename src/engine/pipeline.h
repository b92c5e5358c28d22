/* The frames in flight: a ring of slots, each a frame pair with room for the raw sums of every extractor.
 *
 * The owner's thread adds frames at one end and takes finished ones, in order, from the other; the workers run one job
 * per frame and extractor. The ring's size bounds the memory: add() may only be called when full() is false, and take(true)
 * waits for the oldest frame. */
#ifndef VMAFX_ENGINE_PIPELINE_H
#define VMAFX_ENGINE_PIPELINE_H

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "engine/pictures.h"
#include "engine/workers.h"
#include "kernels/extractor.h"

namespace vmafx {

/* A frame whose raw sums are complete. sums[i] is of extractor i, nullptr where it did not run. Valid until the next add(). */
struct FinishedFrame {
  int64_t index;
  bool scored;
  std::span<const std::byte* const> sums;
};

class Pipeline {
 public:
  using Held = std::shared_ptr<const HeldPicture>;

  Pipeline() = default;
  ~Pipeline();  // waits for what is in flight

  /* Allocates everything. `runs_always[i]`: extractor i runs on frames that are not scored, too. */
  Status start(std::vector<const Extractor*> extractors, std::vector<bool> runs_always, int history, int threads,
               int max_in_flight);

  bool full() const { return next_ - oldest_ == slots_.size(); }
  bool empty() const { return next_ == oldest_; }
  int threads() const { return workers_.threads(); }

  void add(bool scored, Held ref, Held dist);

  /* The oldest frame if it is finished (or, with `wait`, once it is); false when there is none. */
  bool take(bool wait, FinishedFrame* finished);

 private:
  struct Slot {
    int64_t index = 0;
    bool scored = false;
    int pending = 0;     // jobs still running; guarded by mutex_
    FrameSet frames;
    Held held[4];        // ref, dist, the two earlier refs: let go when the last job ends
    AlignedBytes memory; // the sums of all extractors
    std::vector<const std::byte*> sums;
  };

  void run(Slot& slot, size_t extractor, int worker);
  bool runs(size_t extractor, bool scored) const { return scored || runs_always_[extractor]; }

  std::vector<const Extractor*> extractors_;
  std::vector<bool> runs_always_;
  int history_ = 0;
  std::vector<size_t> sums_offset_;  // of each extractor in Slot::memory
  size_t sums_bytes_ = 0;
  std::vector<Slot> slots_;
  std::vector<AlignedBytes> scratch_;  // per worker
  Held earlier_[2];
  size_t next_ = 0, oldest_ = 0;  // frame counts; slot = count % slots_.size()

  std::mutex mutex_;
  std::condition_variable done_;
  Workers workers_;  // last: joined before what its jobs use goes away
};

}  // namespace vmafx

#endif
