/* The frames in flight: a ring of slots, each a frame pair with room for the raw sums of every extractor.
 *
 * The owner's thread adds frames at one end and takes finished ones, in order, from the other; the workers run one job
 * per frame and extractor, and extractors with kernels run in the HIP lane once there is one. The ring's size bounds the memory:
 * add() may only be called when full() is false, and take(true) waits for the oldest frame. */
#ifndef VMAFX_ENGINE_PIPELINE_H
#define VMAFX_ENGINE_PIPELINE_H

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/mutex.h"
#include "engine/hip_lane.h"
#include "engine/pictures.h"
#include "engine/workers.h"
#include "kernels/extractor.h"
#include "report/run_facts.h"

namespace vmafx {

/* A frame whose raw sums are complete. sums[i] is of extractor i, nullptr where it did not run. Valid until the next add(). */
struct FinishedFrame {
  int64_t index;
  bool scored;
  std::span<const std::byte* const> sums;
};

/* The largest difference of two arrays of 64-bit sums, word by word, relative to the larger of the two; 0: they are equal. */
double largest_difference(const std::byte* a, const std::byte* b, size_t bytes);

class Pipeline {
 public:
  using Held = std::shared_ptr<HeldPicture>;
  static constexpr int kMostHistory = std::size(FrameSet().earlier_ref);

  Pipeline() = default;
  ~Pipeline();  // waits for what is in flight

  /* Allocates everything. `frames_ahead`: how many frames may be in flight beyond one for each thread. */
  Status start(std::vector<Extractor*> extractors, int threads, int frames_ahead);

  /* From now on the extractors that have kernels run on the device. Before the first frame. `surfaces`: see HipLane::start().
   * `verify`: every how many frames their CPU twins run too; 0: never. After a failure the pipeline is as before. */
  Status add_lane(const hip::OpenedDevice& device, const VideoFormat& format, bool surfaces, int verify);

  bool full() const { return next_ - oldest_ == slots_.size(); }
  bool empty() const { return next_ == oldest_; }
  int threads() const { return workers_.threads(); }
  bool on_device(size_t extractor) const { return lane_ && extractors_[extractor]->device_twin(); }

  /* Fails when a picture in the GPU's memory that a CPU twin is to read cannot be downloaded; the frame is then none. Takes no
   * memory of its own: a frame that is on its way comes out at the other end. */
  Status add(bool scored, Held ref, Held dist);

  /* The oldest frame if it is finished (or, with `wait`, once it is); false when there is none. */
  bool take(bool wait, FinishedFrame* finished);

  /* Whether the device failed. The sums of frames from then on are the CPU twins'. */
  std::optional<Handover> handover() const;
  /* Why frames that the device did not finish could not be scored elsewhere. */
  Status failure() const;
  FrameCounts counts(hip::Side side) const { return lane_ ? lane_->counts(side) : FrameCounts(); }
  const Verification& verification() const { return verification_; }

 private:
  struct Slot;

  /* A CPU twin fills its part of a slot's memory. */
  struct Task final : Job {
    void run(int worker) noexcept override { pipeline->run(*this, worker); }
    Pipeline* pipeline = nullptr;
    Slot* slot = nullptr;
    size_t extractor = 0;
    std::byte* sums = nullptr;
  };

  struct Slot {
    int64_t index = 0;
    bool scored = false;
    bool verified = false;  // `check` holds what the CPU twins say of the lane's extractors
    FrameSet frames;
    Held held[2][1 + kMostHistory];  // of ref and dist: this one and the earlier ones. Let go when the last job ends
    AlignedBytes memory;             // the sums of all extractors
    AlignedBytes check;
    std::vector<const std::byte*> sums;
    std::vector<Task> tasks, checks;  // of each extractor
    std::vector<std::byte*> lane_sums;
    LaneFrame lane;
  };

  void make_slots(size_t count);
  std::vector<Task> make_tasks(Slot& slot, std::byte* memory);
  int& pending(const Slot& slot) VMAFX_REQUIRES(mutex_) { return pending_[&slot - slots_.data()]; }
  void hold_pictures(Slot& slot, Held ref, Held dist);
  void let_go(Slot& slot);
  void show_pictures(Slot& slot);
  Status bring_to_host(Slot& slot);
  void clear_sums(Slot& slot);
  void start_task(Task& task) noexcept;
  void run(Task& task, int worker) noexcept;
  void job_done(Slot& slot) noexcept;
  void lane_done(Slot& slot, const Status& status) noexcept;
  void fail(Status status) noexcept;
  bool is_done(const Slot& slot, bool wait);
  void compare(const Slot& slot);
  bool runs(size_t extractor, bool scored) const { return scored || extractors_[extractor]->reads().every_frame; }

  std::vector<Extractor*> extractors_;
  int history_[2] = {};              // earlier pictures that some extractor reads, of ref and of dist
  std::vector<size_t> sums_offset_;  // of each extractor in Slot::memory
  size_t sums_bytes_ = 0;
  int verify_ = 0;
  std::vector<Slot> slots_;
  std::vector<AlignedBytes> scratch_;  // per worker
  Held earlier_[2][kMostHistory];      // of ref and dist, the last one first
  size_t next_ = 0, oldest_ = 0;       // frame counts; slot = count % slots_.size()
  int frames_ahead_ = 0;
  Verification verification_;

  mutable Mutex mutex_;
  Condition done_;
  std::vector<int> pending_ VMAFX_GUARDED_BY(mutex_);  // of each slot: jobs still running; the lane is one
  std::optional<Handover> handover_ VMAFX_GUARDED_BY(mutex_);
  Status failure_ VMAFX_GUARDED_BY(mutex_);
  Workers workers_;                // joined before what its jobs use goes away
  std::unique_ptr<HipLane> lane_;  // last: gives jobs to the workers
};

}  // namespace vmafx

#endif
