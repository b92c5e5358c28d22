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
#include "engine/frames/workers.h"
#include "kernels/extractor.h"

namespace vmafx {

/* A frame pair whose raw sums are complete: sums[i] are those of extractor i, null if it did not run. Valid until the
 * next add(). */
struct FinishedFrame {
  int encode;
  int64_t index;  // the pair's number in that encode
  bool scored;
  std::span<const std::byte* const> sums;
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

  /* Has the GPU run the extractors that have kernels, from the next frame on. Only if empty(). `extractors`, of which
   * the queue was made, take the places of those given to start(); a null one leaves the metric to the CPU. Every
   * `verify`th frame the CPU twins run too; 0: never. After a failure the pipeline is as before. */
  Status add_device_queue(std::unique_ptr<DeviceQueue> queue, std::vector<const Extractor*> extractors, int verify);

  /* Makes a queue of the pipeline's own extractors, and adds it; see DeviceQueue::create(). */
  Status add_device_queue(const hip::OpenedDevice& device, const VideoFormat& format,
                          std::optional<uint64_t> spare_pictures, int verify, const Recolorers& recolorers = {});

  /* Takes the CPU's sums of extractor i from kept[i] if it has them, else leaves them there; null: neither. Before the
   * first frame. The pictures of the reference must outlive the pipeline. */
  void keep_sums(std::vector<std::shared_ptr<KeptSums>> kept) { kept_ = std::move(kept); }

  bool full() const { return next_ - oldest_ == ring_.size(); }
  bool empty() const { return next_ == oldest_; }
  int threads() const { return workers_.threads(); }
  bool on_device(size_t extractor) const { return queue_ && extractors_[extractor]->device_twin(); }

  /* Adds the next picture of the reference with those of its encodes, at least one, and each encode once. Fails, and
   * adds nothing, if a CPU twin is to read a picture in a GPU's memory that cannot be downloaded. Takes no memory of
   * its own: a frame that was added comes out at the other end. */
  Status add(Held ref, std::span<EncodeFrame> encodes);

  /* Takes the oldest frame pair if it is finished (or, with `wait`, once it is); false: there is none. Pairs of one
   * picture of the reference come in the order in which they were added. */
  bool take(bool wait, FinishedFrame* finished);

  /* The device's failure, if it failed: the CPU twins compute the sums of frames from then on. */
  std::optional<Handover> handover() const;

  /* Why frames that the device did not finish could not be scored elsewhere. */
  Status failure() const;

  FrameCounts counts(hip::Side side) const { return queue_ ? queue_->counts(side) : FrameCounts(); }
  const Verification& verification() const { return verification_; }

 private:
  using Part = InFlight::Part;
  using Task = InFlight::Task;
  friend struct InFlight::Task;  // which runs run()

  /* A pair from before the device queue's first frame; it gives the queue the earlier pictures. */
  struct LeadingPair {
    Held ref, dist;  // let go when the queue is done with them
    QueuedFrame queued;
  };

  void make_ring(size_t count);
  std::vector<Task> make_tasks(InFlight& in_flight, bool checks);
  int& pending(const InFlight& in_flight) VMAFX_REQUIRES(mutex_) { return pending_[&in_flight - ring_.data()]; }
  void clear_sums(InFlight& in_flight);
  bool in_device_queue(size_t extractor, const InFlight& in_flight) const;
  bool is_read_in_host(const InFlight& in_flight) const;
  void start_twins(InFlight& in_flight);
  KeptSums* kept_sums(size_t extractor) const { return kept_.empty() ? nullptr : kept_[extractor].get(); }
  KeptSums::Pictures kept_pictures(const InFlight& in_flight, size_t part, size_t extractor) const;
  bool take_kept_sums(InFlight& in_flight, size_t extractor) const;
  void keep_sums_of(const Task& task) const;
  void start_device_queue(InFlight& in_flight);
  void gather_leading_pairs();
  void start_leading_pairs();
  void start_tasks(InFlight& in_flight, std::vector<Task>& tasks, size_t extractor) noexcept;
  void start_task(Task& task, size_t first, size_t end) noexcept;
  void run(Task& task, int worker) noexcept;
  void extract(const Task& task, int worker) const;
  void extract_converted(const Task& task, size_t converting, std::byte* scratch, std::span<void* const> sums) const;
  void job_done(InFlight& in_flight) noexcept;
  void device_done(InFlight& in_flight, size_t part, const Status& status) noexcept;
  void fail(Status status) noexcept;
  bool is_done(const InFlight& in_flight, bool wait);
  void compare(const InFlight& in_flight);
  bool runs(size_t extractor, bool scored) const { return scored || extractors_[extractor]->reads().every_frame; }
  size_t parts_of(size_t extractor, const InFlight& in_flight) const {
    return extractors_[extractor]->reads().every_frame ? in_flight.count : in_flight.scored;
  }
  std::byte* sums_at(const AlignedBytes& memory, size_t extractor, size_t part) const {
    return memory.get() + part * sums_bytes_ + sums_offset_[extractor];
  }

  std::vector<const Extractor*> extractors_;
  std::vector<std::shared_ptr<KeptSums>> kept_;  // for each extractor; empty: none
  History history_;
  std::vector<size_t> sums_offset_;  // of each extractor in a part's memory
  size_t sums_bytes_ = 0;            // of a part
  size_t encodes_ = 1;
  size_t encodes_per_task_ = 1;
  int verify_ = 0;
  std::vector<InFlight> ring_;
  std::vector<AlignedBytes> scratch_;  // of each worker
  size_t next_ = 0, oldest_ = 0;       // counts of frames; count % ring_.size() is the place in the ring
  size_t taken_ = 0;                   // parts of the oldest frame
  int frames_ahead_ = 0;
  std::vector<std::vector<LeadingPair>> leading_pairs_;  // of each picture of the reference, oldest first
  bool device_queue_began_ = false;                      // it has the leading pairs
  Verification verification_;

  mutable Mutex mutex_;
  Condition done_;

  /* Jobs that still run, for each place in the ring; the device queue counts as one per part. */
  std::vector<int> pending_ VMAFX_GUARDED_BY(mutex_);
  std::optional<Handover> handover_ VMAFX_GUARDED_BY(mutex_);
  Status failure_ VMAFX_GUARDED_BY(mutex_);
  Workers workers_;                     // joined before the memory that its jobs use goes away
  std::unique_ptr<DeviceQueue> queue_;  // last: gives jobs to the workers
};

}  // namespace vmafx

#endif
