/* The device queue: frame pairs on their way through the GPU, driven by a thread of its own.
 *
 *     add() -> queue -> staged (the workers copy the samples into pinned memory) -> sent (upload, kernels, sums back) -> done
 *
 * The queue's thread is the only one that uses the frame pool. It keeps the device busy first: a batch goes off when it is full,
 * or when the device has nothing else to do, so that the last frames and a slow decoder's wait for nobody. When the device fails,
 * every frame that is not done comes back with the reason, in order, and so does every later one: the pipeline's CPU twins take
 * them over. */
#ifndef VMAFX_ENGINE_DEVICE_QUEUE_H
#define VMAFX_ENGINE_DEVICE_QUEUE_H

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/fifo.h"
#include "base/mutex.h"
#include "base/status.h"
#include "engine/pictures.h"
#include "engine/workers.h"
#include "hip/device.h"
#include "hip/frame_pool.h"
#include "kernels/device_conversions.h"
#include "kernels/device_twin.h"
#include "kernels/extractor.h"
#include "kernels/steps/unpack_hip.h"
#include "report/run_facts.h"

namespace vmafx {

/* A frame pair in the queue, kept by who adds it until it is done. */
struct QueuedFrame {
  int encode = 0;
  int place = 0, of = 1;  // among the pairs of one picture of the reference, which are added together
  bool scored = false;
  int leads =
      0;  // it is only read as an earlier frame, so many before the first one that has sums; 0: it has sums itself
  HeldPicture *ref = nullptr, *dist = nullptr;  // kept likewise
  std::span<std::byte* const> sums;  // where those of each of the queue's extractors go; nullptr: it does not run
  /* Called once, from the queue's thread: the sums are there, or why they are not. Must not throw. */
  std::function<void(const Status&)> done;
  QueuedFrame* next = nullptr;  // the queue's
};

class DeviceQueue {
 public:
  /* Allocates all that it will ever need on the device, which takes long: any thread may do it. `extractors`, each with a device twin,
   * must outlive the queue. spare_pictures: of an input whose frames are in a GPU's memory (VmafxFormat), the fewest; nullopt: there is none. ENOMEM
   * and others: the device's words. */
  static StatusOr<std::unique_ptr<DeviceQueue>> create(const hip::OpenedDevice& device,
                                                       const std::vector<Extractor*>& extractors,
                                                       const VideoFormat& format,
                                                       std::optional<uint64_t> spare_pictures, int encodes);

  /* Before the first frame. `workers`, who copy samples, must outlive the queue. ENOMEM: there is no thread to drive the device. */
  Status start(Workers& workers);
  ~DeviceQueue();  // all frames must be done; not to be called if is_abandoned()
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  /* How many frames keep the device and the staging busy. */
  int frames_in_flight() const { return pool_->batch_size() * (kBatchesInFlight + 1); }

  /* The pairs of a picture of the reference, in stream order. Never blocks: whoever adds bounds the number of frames. Where extractors
   * read earlier frames, those are the frames that the queue had before of the same encode. */
  void add(Fifo<QueuedFrame> frames) noexcept;

  /* To be asked now and then by who waits for frames: whether the queue's thread is in a call that does not come back. All frames are
   * then given back, and those that still come; the thread keeps the queue, so that nobody may destroy it. */
  bool is_abandoned();

  /* Of those that came to the kernels so far. */
  FrameCounts counts(hip::Side side) const { return {imported_[index(side)], uploaded_[index(side)]}; }

 private:
  using Frames = Fifo<QueuedFrame>;
  static constexpr int kBatchesInFlight = 3;

  struct Metric {  // an extractor, as the queue sees it
    DeviceTwin* twin;
    Reads reads;
    size_t sums_bytes;
    PoolMemory memory;
    std::optional<DeviceConversions> conversions;
  };

  struct Fill final : Job {  // some rows of a picture, to be copied into the staging
    void run(int worker) noexcept override;
    DeviceQueue* queue = nullptr;
    hip::PoolFrame::Staging to;
    SamplePlane from;
    size_t first = 0, end = 0;
  };

  struct Unpack {  // a plane of a picture on the device that kernels cannot read as it is
    int frame;     // of the batch
    hip::Side side;
    int plane;
    UnpackPlane work;
  };
  struct Copy {  // a plane that was uploaded, to be left for later sessions
    int frame;   // of the batch
    int plane;
    HeldPicture* picture;
    UnpackPlane work;
    std::unique_ptr<DeviceCopy> to{};
  };
  struct Sent {
    Frames frames;
    std::vector<Copy> copies;
  };
  static int index(hip::Side side) { return side == hip::Side::kRef ? 0 : 1; }

  /* The numbers of frames that came before, the last one first; -1: there was none. */
  struct Before {
    int64_t number[hip::kMostHistory] = {-1, -1};
    void add(int64_t latest) {
      std::copy_backward(number, std::end(number) - 1, std::end(number));
      number[0] = latest;
    }
  };
  struct Staged {      // a frame of the batch
    Before in_ref;     // with the pictures of the reference before its own
    Before in_encode;  // of its encode
  };

  /* How a metric takes the frames of a batch, and where their sums lie. */
  struct Arrangement {
    int count = 0;
    int order[hip::kMostBatch];  // frames, in the order of their sums
    int sums[hip::kMostBatch];   // of each frame: where in that order its sums are; -1: it has none
  };

  DeviceQueue(const hip::OpenedDevice& device, int encodes)
      : device_(device), encodes_(encodes), of_encode_(static_cast<size_t>(encodes)),
        may_copy_(device.context->owned()) {}

  /* `batch`: frames in a launch; 0: as many as suit their size. */
  Status create_pool(const std::vector<Extractor*>& extractors, const VideoFormat& format,
                     std::optional<uint64_t> spare_pictures, int batch = 0);
  bool batch_closed() const VMAFX_REQUIRES(mutex_);
  void run();
  Status step() VMAFX_REQUIRES(mutex_);
  Status stage(const QueuedFrame& frame);
  void remember(const QueuedFrame& frame, int64_t number);
  Status send();
  Status collect();
  static void give_back(Frames& frames, const Status& status);
  void give_up() VMAFX_REQUIRES(mutex_);

  void fill(hip::PoolFrame& pool_frame, hip::Side side, HeldPicture& held);
  void fill_plane(const hip::PoolFrame::Staging& staging, const SamplePlane& plane);
  Status place(hip::PoolFrame& pool_frame, hip::Side side, const DevicePicture& picture);
  Status unpack(const hip::Batch& batch);
  void plan_copy(HeldPicture& picture, int p, const SamplePlane& plane, size_t row_bytes);
  Status copy(const hip::Batch& batch);
  Status convert(const hip::Batch& batch, Metric& metric) const;
  Status launch(const hip::Batch& batch, const Metric& metric) const;
  Status launch(const hip::Batch& batch, const Metric& metric, std::span<const int> order, int first_sums) const;
  Arrangement arrange(const Metric& metric, const Frames& frames) const;
  bool takes_each_encode(const Metric& metric) const {
    return encodes_ > 1 && (metric.reads.history > 0 || metric.conversions) && metric.reads.dist;
  }
  bool takes_references(const Metric& metric) const { return encodes_ > 1 && !metric.reads.dist; }
  void set_earlier(DeviceBatch& work, const Metric& metric, const Staged& first) const;
  bool runs(const Metric& metric, const QueuedFrame& frame) const {
    return !frame.leads && (frame.scored || metric.reads.every_frame);
  }
  bool is_read(const QueuedFrame& frame, hip::Side side) const;

  const hip::OpenedDevice device_;
  const int encodes_;
  Workers* workers_ = nullptr;
  std::vector<Metric> metrics_;
  std::unique_ptr<hip::FramePool> pool_;

  Unpacker unpacker_;

  Frames staged_;         // of the batch being filled
  int staged_count_ = 0;  // how many they are
  Staged before_[hip::kMostBatch];
  const QueuedFrame* last_staged_ = nullptr;  // of the batch being filled
  int64_t last_ref_ = -1;                     // the first frame with the last picture of the reference
  Before before_last_ref_;
  std::vector<Before> of_encode_;
  std::vector<Fill> fills_;      // as many as a batch can need
  size_t fills_given_ = 0;       // of the batch being filled
  std::vector<Unpack> unpacks_;  // likewise
  std::vector<Copy> copies_;     // likewise
  bool may_copy_;                // until there is no room left
  std::deque<Sent> sent_;        // batches on the device
  std::array<std::atomic<int64_t>, 2> imported_{}, uploaded_{};

  Mutex mutex_;
  Condition wake_;
  Frames queue_ VMAFX_GUARDED_BY(mutex_);
  Status failure_ VMAFX_GUARDED_BY(mutex_);   // the first one; it stays
  int filling_ VMAFX_GUARDED_BY(mutex_) = 0;  // fills that the workers have yet to do
  bool closing_ VMAFX_GUARDED_BY(mutex_) = false;
  bool abandoned_ VMAFX_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace vmafx

#endif
