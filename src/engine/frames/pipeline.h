/* Pipeline: a ring of frames in flight, from pictures to raw sums.
 *
 * The owner's thread adds frames at one end and takes finished ones, in order, from the other. The workers run one job
 * per frame and extractor (several for many encodes); extractors with kernels run in the device queue once there is
 * one. The ring's size bounds the memory: add() may only be called when full() is false, and take(true) waits for the
 * oldest frame.
 *
 * An extractor sees of an encode what it would see of it alone: each encode has its own frame numbers and earlier
 * pictures. An extractor is given several encodes together only where the reference's pictures are the same. */
#ifndef VMAFX_ENGINE_FRAMES_PIPELINE_H
#define VMAFX_ENGINE_FRAMES_PIPELINE_H

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/mutex.h"
#include "engine/frames/device_queue.h"
#include "engine/frames/history.h"
#include "engine/frames/in_flight.h"
#include "engine/frames/kept_sums.h"
#include "engine/frames/reuse.h"
#include "engine/frames/workers.h"
#include "kernels/extractor.h"

namespace vmafx {

/* A frame pair whose raw sums are complete: sums[i] are those of extractor i, null if it did not run. Valid until the
 * next add(), and of a pipeline that lends them as long as somebody has `memory`. */
struct FinishedFrame {
  int encode;
  int64_t index;  // the pair's number in that encode
  bool scored;
  std::span<const std::byte* const> sums;
  std::shared_ptr<const AlignedBytes> memory = nullptr;
};

/* The failure of the GPU in mid-stream: the CPU scores this frame of this encode and later ones. */
struct Handover {
  int64_t frame;
  Status reason;
  int encode = 0;
};

/* How the CPU twins judged the GPU's sums. */
struct Verification {
  int64_t frames = 0;
  double largest_difference = 0;  // between two raw sums, relative to the larger
};

/* The largest difference between two arrays of 64-bit sums, word by word, relative to the larger word; 0: they are
 * equal. */
double largest_difference(const std::byte* a, const std::byte* b, size_t bytes);

class Pipeline {
 public:
  using Held = vmafx::Held;
  using EncodeFrame = vmafx::EncodeFrame;

  Pipeline() = default;
  ~Pipeline();  // waits for the frames in flight

  /* Allocates everything. `frames_ahead`: how many frames may be in flight beyond five for each four threads. The
   * extractors must outlive the pipeline. */
  Status start(std::vector<const Extractor*> extractors, int threads, int frames_ahead, int encodes = 1);

  /* A GPU may join in mid-stream: keeps the pictures that its metrics look back on. */
  void expect_device_queue(bool expected) { history_.expect_device_queue(expected); }

  /* While it holds, no worker begins a job: frames wait for a GPU that is to join. */
  void hold_cpu(bool holds) { workers_.hold(holds); }

  /* Has the GPU run the extractors that have kernels, from the next frame on, and what no worker has begun of the
   * frames in flight. `extractors`, of which the queue was made, take the places of those given to start(); a null one
   * leaves the metric to the CPU. Of every `verify`th frame from the next on the CPU twins run too; 0: never. After a
   * failure the pipeline is as before. */
  Status add_device_queue(std::unique_ptr<DeviceQueue> queue, std::vector<const Extractor*> extractors, int verify);

  /* Makes a queue of the pipeline's own extractors, and adds it; see DeviceQueue::create(). */
  Status add_device_queue(const hip::OpenedDevice& device, const VideoFormat& format,
                          std::optional<uint64_t> spare_pictures, int verify, const Recolorers& recolorers = {});

  /* Takes the CPU's sums of extractor i from kept[i] if it has them, else leaves them there; null: neither. Before the
   * first frame. The pictures of the reference must outlive the pipeline. */
  void keep_sums(std::vector<std::shared_ptr<KeptSums>> kept) { kept_ = std::move(kept); }

  /* Has finished frames own their sums (FinishedFrame::memory): add() then takes memory for them. After start(), before
   * the first frame. */
  void lend_sums() { lends_sums_ = true; }

  /* Whether add() has to wait. */
  bool full() const;
  /* Whether the GPU has as many frames as it needs to be busy, while the CPU has none. */
  bool cpu_could_help() const;

  /* The fewest frames in a row that keep the CPU busy and are worth that it looks back on those before, and the most
   * frames that the GPU may finish meanwhile. */
  int fewest_for_cpu() const { return std::max(threads(), kWorthLookingBack * history_.pairs_needed(extractors_)); }
  int64_t room() const { return static_cast<int64_t>(ring_.size() - in_flight()); }

  /* Has the CPU score the next frames, so many in a row, beside the GPU. For one encode, without `verify`. */
  void give_cpu(int frames) { for_cpu_ = frames; }

  /* The frames that the CPU scored beside the GPU. */
  int64_t beside_gpu() const { return beside_gpu_; }

  bool empty() const { return next_ == oldest_; }
  size_t in_flight() const { return next_ - oldest_; }   // frames
  bool has_waiting() { return workers_.has_waiting(); }  // jobs that no worker has begun
  int threads() const { return workers_.threads(); }
  double worker_seconds() const { return workers_.seconds(); }
  bool on_device(size_t extractor) const { return queue_ && extractors_[extractor]->device_twin(); }

  /* Adds the next picture of the reference with those of its encodes, at least one, and each encode once. Fails, and
   * adds nothing, if a CPU twin is to read a picture in a GPU's memory that cannot be downloaded. Takes no memory of
   * its own: a frame that was added comes out at the other end. */
  Status add(Held ref, std::span<EncodeFrame> encodes);

  /* Takes the oldest frame pair if it is finished (or, with `wait`, once it is); false: there is none. Pairs of one
   * picture of the reference come in the order in which they were added. */
  bool take(bool wait, FinishedFrame* finished);

  /* Waits until the oldest frame is finished, or, with `for_room`, until full() is false, but no longer than `most`. */
  void wait(bool for_room, std::chrono::milliseconds most);

  /* The device's failure, if it failed: the CPU twins compute the sums of frames from then on. */
  std::optional<Handover> handover() const;

  /* Why frames that the device did not finish could not be scored elsewhere. */
  Status failure() const;

  /* The frames in flight of which a GPU that joined got a part. */
  size_t given_to_device() const { return given_to_device_; }

  FrameCounts counts(hip::Side side) const { return queue_ ? queue_->counts(side) : FrameCounts(); }
  const Verification& verification() const { return verification_; }

 private:
  using Part = InFlight::Part;
  using Task = InFlight::Task;
  friend struct InFlight::Task;  // which runs run()

  /* A pair from before the device queue's first frame; it gives the queue the earlier pictures. */
  struct LeadingPair {
    Held ref, dist;  // let go when the queue is done with them
    QueuedFrame queued{};
  };

  static constexpr int kWorthLookingBack = 4;

  size_t room_behind_cpu() const;
  InFlight& in_ring(size_t count) const { return *ring_[count % ring_.size()]; }
  void make_ring(size_t count);
  void make_ring_of_device();
  std::unique_ptr<InFlight> make_in_flight(size_t place);
  void prepare_for_device(InFlight& in_flight);
  std::vector<Task> make_tasks(InFlight& in_flight, bool checks);
  int& pending(const InFlight& in_flight) VMAFX_REQUIRES(mutex_) { return pending_[in_flight.place]; }
  bool has_room() const VMAFX_REQUIRES(mutex_);
  Status renew_memory(InFlight& in_flight);
  void clear_sums(InFlight& in_flight);
  void show_sums_to_device(InFlight& in_flight);
  bool goes_to_device(size_t extractor, const InFlight& in_flight) const;
  bool is_read_in_host(const InFlight& in_flight) const;
  void start_twins(InFlight& in_flight);
  KeptSums* kept_sums(size_t extractor) const { return kept_.empty() ? nullptr : kept_[extractor].get(); }
  KeptSums::Pictures kept_pictures(const InFlight& in_flight, size_t part, size_t extractor) const;
  bool take_kept_sums(InFlight& in_flight, size_t extractor) const;
  void keep_sums_of(const Task& task) const;
  void start_device_queue(InFlight& in_flight, bool even_without_sums);
  void gather_leading_pairs(const InFlight* first);
  void start_leading_pairs();
  void count_waiting(const Fifo<Job>& tasks);
  bool is_waiting(size_t extractor, const InFlight& in_flight) const;
  size_t find_first_to_give() const;
  void give_to_device(InFlight& in_flight);
  Status give_waiting_to_device();
  void start_tasks(InFlight& in_flight, std::vector<Task>& tasks, size_t extractor) noexcept;
  void start_task(Task& task, size_t first, size_t end) noexcept;
  void run(Task& task, int worker) noexcept;
  void extract(const Task& task, int worker) const;
  void extract_converted(const Task& task, size_t converting, std::byte* scratch, std::span<void* const> sums) const;
  void job_done(InFlight& in_flight) noexcept;
  void device_done(InFlight& in_flight, size_t part, const Status& status) noexcept;
  void fail(Status status) noexcept;
  void compare(const InFlight& in_flight);
  bool runs(size_t extractor, bool scored) const { return scored || extractors_[extractor]->reads().every_frame; }
  size_t parts_of(size_t extractor, const InFlight& in_flight) const {
    return extractors_[extractor]->reads().every_frame ? in_flight.count : in_flight.scored;
  }
  size_t tasks_of(size_t extractor, const InFlight& in_flight) const {
    return (parts_of(extractor, in_flight) + encodes_per_task_ - 1) / encodes_per_task_;
  }
  std::byte* sums_at(const AlignedBytes& memory, size_t extractor, size_t part) const {
    return memory.get() + part * sums_bytes_ + sums_offset_[extractor];
  }

  std::vector<const Extractor*> extractors_;
  std::vector<const Extractor*> first_extractors_;  // those before a GPU joined, which frames in flight may still use
  std::vector<std::shared_ptr<KeptSums>> kept_;     // for each extractor; empty: none
  History history_;
  std::vector<size_t> sums_offset_;  // of each extractor in a part's memory
  size_t sums_bytes_ = 0;            // of a part
  bool lends_sums_ = false;
  Reuse<AlignedBytes> sums_;  // of all parts
  size_t encodes_ = 1;
  size_t encodes_per_task_ = 1;
  int verify_ = 0;
  std::vector<std::unique_ptr<InFlight>> ring_;
  std::vector<AlignedBytes> scratch_;  // of each worker
  size_t next_ = 0, oldest_ = 0;       // counts of frames; count % ring_.size() is the place in the ring
  size_t taken_ = 0;                   // parts of the oldest frame
  int frames_ahead_ = 0;
  std::vector<std::vector<LeadingPair>> leading_pairs_;  // of each picture of the reference, oldest first
  size_t given_to_device_ = 0;
  int for_cpu_ = 0;  // of the next frames
  int64_t beside_gpu_ = 0;
  bool device_queue_began_ = false;  // it has the leading pairs
  Verification verification_;

  mutable Mutex mutex_;
  Condition done_;

  /* Jobs that still run, for each InFlight::place; the device queue counts as one per part. */
  std::vector<int> pending_ VMAFX_GUARDED_BY(mutex_);
  size_t unfinished_ VMAFX_GUARDED_BY(mutex_) = 0;       // frames in flight with jobs that still run
  size_t on_cpu_ VMAFX_GUARDED_BY(mutex_) = 0;           // those of them that the CPU scores beside the GPU
  size_t in_device_queue_ VMAFX_GUARDED_BY(mutex_) = 0;  // pairs
  size_t keep_device_busy_ = 0, most_unfinished_ = 0;    // frames; the latter besides those on_cpu_
  std::optional<Handover> handover_ VMAFX_GUARDED_BY(mutex_);
  Status failure_ VMAFX_GUARDED_BY(mutex_);
  Workers workers_;                     // joined before the memory that its jobs use goes away
  std::unique_ptr<DeviceQueue> queue_;  // last: gives jobs to the workers
};

}  // namespace vmafx

#endif
