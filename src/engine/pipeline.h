/* The frames in flight: a ring, each entry (InFlight) a picture of the reference and those of its encodes, with room for the raw sums of every
 * extractor.
 *
 * The owner's thread adds frames at one end and takes finished ones, in order, from the other; the workers run one job
 * per entry and extractor (for many encodes several), and extractors with kernels run in the device queue once there is one. The ring's size
 * bounds the memory: add() may only be called when full() is false, and take(true) waits for the oldest frame.
 *
 * What extractors see of an encode is what they would see of it alone: each encode has its own frame numbers and earlier pictures. Only
 * where those of the reference are the same are encodes given to an extractor together. */
#ifndef VMAFX_ENGINE_PIPELINE_H
#define VMAFX_ENGINE_PIPELINE_H

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/mutex.h"
#include "engine/conversions.h"
#include "engine/device/device_queue.h"
#include "engine/kept_sums.h"
#include "engine/pictures.h"
#include "engine/workers.h"
#include "kernels/extractor.h"
#include "report/run_facts.h"

namespace vmafx {

/* A frame pair whose raw sums are complete. sums[i] is of extractor i, nullptr where it did not run. Valid until the next add(). */
struct FinishedFrame {
  int encode;
  int64_t index;  // its number in that encode
  bool scored;
  std::span<const std::byte* const> sums;
};

/* The largest difference of two arrays of 64-bit sums, word by word, relative to the larger of the two; 0: they are equal. */
double largest_difference(const std::byte* a, const std::byte* b, size_t bytes);

class Pipeline {
 public:
  using Held = std::shared_ptr<HeldPicture>;
  static constexpr int kMostHistory = std::size(FrameSet().earlier_ref);

  /* A picture of an encode, to be added with its reference. */
  struct EncodeFrame {
    int encode = 0;
    int64_t index = 0;  // the number of the pair in that encode: one more than that before
    bool scored = true;
    Held dist;
  };

  Pipeline() = default;
  ~Pipeline();  // waits for what is in flight

  /* Allocates everything. `frames_ahead`: how many frames may be in flight beyond five for each four threads. */
  Status start(std::vector<Extractor*> extractors, int threads, int frames_ahead, int encodes = 1);

  /* Whether a queue may come when there have been frames: the pictures that its metrics would then read as earlier ones are held. */
  void expect_device_queue(bool expected) { expects_device_queue_ = expected; }

  /* From now on the extractors that have kernels run on the device. Only when empty(): before the first frame or later. `extractors`, of
   * which the queue was made, take the places of those given to start(); where one is null, that one goes on without kernels. `verify`:
   * every how many frames the CPU twins run too; 0: never. After a failure the pipeline is as before. */
  Status add_device_queue(std::unique_ptr<DeviceQueue> queue, std::vector<Extractor*> extractors, int verify);

  /* The same with a queue of the pipeline's own extractors; see DeviceQueue::create(). */
  Status add_device_queue(const hip::OpenedDevice& device, const VideoFormat& format,
                          std::optional<uint64_t> spare_pictures, int verify);

  /* The CPU's sums of extractor i are taken from kept[i] where it has them, and kept there; null: not. Before the first frame. The pictures of
   * the reference must outlive the pipeline. */
  void keep_sums(std::vector<std::shared_ptr<KeptSums>> kept) { kept_ = std::move(kept); }

  bool full() const { return next_ - oldest_ == ring_.size(); }
  bool empty() const { return next_ == oldest_; }
  int threads() const { return workers_.threads(); }
  bool on_device(size_t extractor) const { return queue_ && extractors_[extractor]->device_twin(); }

  /* The next picture of the reference with those of its encodes, at least one and each once. Fails when a picture in the GPU's memory
   * that a CPU twin is to read cannot be downloaded; the frames are then none. Takes no memory of its own: a frame that is on its way
   * comes out at the other end. */
  Status add(Held ref, std::span<EncodeFrame> encodes);

  /* The oldest frame pair if it is finished (or, with `wait`, once it is); false when there is none. Those of one reference come in the
   * order in which they were added. */
  bool take(bool wait, FinishedFrame* finished);

  /* Whether the device failed. The sums of frames from then on are the CPU twins'. */
  std::optional<Handover> handover() const;
  /* Why frames that the device did not finish could not be scored elsewhere. */
  Status failure() const;
  FrameCounts counts(hip::Side side) const { return queue_ ? queue_->counts(side) : FrameCounts(); }
  const Verification& verification() const { return verification_; }

 private:
  struct InFlight;

  /* A CPU twin fills its part of the memory of a frame in flight, for encodes first .. end-1. */
  struct Task final : Job {
    void run(int worker) noexcept override { pipeline->run(*this, worker); }
    Pipeline* pipeline = nullptr;
    InFlight* in_flight = nullptr;
    size_t extractor = 0;
    size_t first = 0, end = 0;
    bool checks = false;  // what the queue says
  };

  /* One encode's part of a in_flight. */
  struct Part {
    int encode = 0;
    int64_t index = 0;
    bool scored = false;
    Held dist[1 + kMostHistory], earlier_ref[kMostHistory];  // let go when the last job ends
    std::vector<ConvertedHistory> converted;                 // of each converting extractor; likewise
    std::vector<const std::byte*> sums;                      // of each extractor
    std::vector<std::byte*> device_sums;
    QueuedFrame queued;
  };

  struct InFlight {
    int64_t number = 0;
    size_t count = 0, scored = 0;  // parts; the scored ones come first
    bool verified = false;         // `check` holds what the CPU twins say of the queue's extractors
    bool one_history = false;      // the earlier pictures of the reference are the same for all parts
    bool goes_on = false;          // and they are those of the frames before this one
    bool one_conversion = false, conversions_go_on = false;  // likewise of the converted pictures of the reference
    Held ref;
    std::vector<Part> parts;
    std::vector<FrameSet> frames[2];  // of each part: [Reads::whole_chroma]
    AlignedBytes memory, check;       // the sums of all extractors, part by part
    std::vector<Task> tasks, checks;  // of each extractor, as many as there are parts
  };

  /* A pair from before the queue's first one, which the queue is given so that it has the earlier pictures. */
  struct LeadingPair {
    Held ref, dist;  // let go when the queue is done with them
    QueuedFrame queued;
  };

  /* The last pictures, the last one first. */
  struct Earlier {
    Held ref[kMostHistory], dist[kMostHistory];
    std::vector<ConvertedHistory> converted;  // of each converting extractor, with those of the last frame
  };

  /* An extractor that reads converted pictures. */
  struct Converting {
    size_t extractor;
    std::unique_ptr<Reuse<AlignedBytes>> memory;
    SharedConversion ref;  // of the frames that are being added, like those of their encodes
    std::vector<SharedConversion> dists;
  };

  void make_ring(size_t count);
  std::vector<Task> make_tasks(InFlight& in_flight, bool checks);
  int& pending(const InFlight& in_flight) VMAFX_REQUIRES(mutex_) { return pending_[&in_flight - ring_.data()]; }
  std::vector<ConvertedHistory> empty_histories() const;
  void start_conversions(const Held& ref, std::span<const EncodeFrame> encodes);
  void hold_conversions(Part& part);
  void hold_pictures(InFlight& in_flight, Held ref, std::span<EncodeFrame> encodes);
  void hold_part(InFlight& in_flight, Part& part, EncodeFrame& encode);
  void compare_histories(InFlight& in_flight);
  void let_go(InFlight& in_flight);
  void show_part(InFlight& in_flight, size_t part);
  Status bring_to_host(InFlight& in_flight, size_t part);
  void clear_sums(InFlight& in_flight);
  bool in_device_queue(size_t extractor, const InFlight& in_flight) const;
  void start_twins(InFlight& in_flight);
  KeptSums* kept_sums(size_t extractor) const { return kept_.empty() ? nullptr : kept_[extractor].get(); }
  KeptSums::Pictures kept_pictures(const InFlight& in_flight, size_t part, size_t extractor) const;
  bool take_kept_sums(InFlight& in_flight, size_t extractor) const;
  void keep_sums_of(const Task& task) const;
  void start_device_queue(InFlight& in_flight);
  int leading_pairs() const;
  LeadingPair leading_pair(size_t encode, size_t back) const;
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

  std::vector<Extractor*> extractors_;
  std::vector<std::shared_ptr<KeptSums>> kept_;  // of each extractor, or none
  int history_[2] = {};                          // earlier pictures that some extractor reads, of ref and of dist
  std::vector<Converting> converting_;
  std::vector<size_t> sums_offset_;  // of each extractor in a part's memory
  size_t sums_bytes_ = 0;            // of a part
  size_t encodes_ = 1;
  size_t encodes_per_task_ = 1;
  int verify_ = 0;
  std::vector<InFlight> ring_;
  std::vector<AlignedBytes> scratch_;                // per worker
  std::vector<Earlier> earlier_;                     // of each encode
  Held last_refs_[kMostHistory];                     // of the frames in flight, the last one first
  std::vector<ConvertedPictures> last_conversions_;  // likewise, of each converting extractor
  size_t next_ = 0, oldest_ = 0;                     // counts of frames; count % ring_.size() is the place in the ring
  size_t taken_ = 0;                                 // parts of the oldest frame
  int frames_ahead_ = 0;
  std::vector<std::vector<LeadingPair>> leading_pairs_;  // of each picture of the reference, oldest first
  bool expects_device_queue_ = false;
  bool device_queue_began_ = false;  // it has them
  Verification verification_;

  mutable Mutex mutex_;
  Condition done_;
  std::vector<int> pending_
      VMAFX_GUARDED_BY(mutex_);  // of each place in the ring: jobs still running; the device queue is one
  std::optional<Handover> handover_ VMAFX_GUARDED_BY(mutex_);
  Status failure_ VMAFX_GUARDED_BY(mutex_);
  Workers workers_;                     // joined before what its jobs use goes away
  std::unique_ptr<DeviceQueue> queue_;  // last: gives jobs to the workers
};

}  // namespace vmafx

#endif
