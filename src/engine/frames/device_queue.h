/* DeviceQueue: frame pairs on their way through the GPU, driven by a thread of its own.
 *
 *     add() -> queue -> staged (the workers copy the samples into pinned memory)
 *                    -> sent (upload, kernels, sums back) -> done
 *
 * The queue's thread is the only one that uses the frame pool. Its first aim is to keep the device busy: a batch goes
 * off when it is full, or when the device has nothing else to do, so that the last frames and those of a slow decoder
 * do not wait. If the device fails, every frame that is not done comes back with the reason, in order, and so does
 * every later one: the pipeline's CPU twins take them over. */
#ifndef VMAFX_ENGINE_FRAMES_DEVICE_QUEUE_H
#define VMAFX_ENGINE_FRAMES_DEVICE_QUEUE_H

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

#include "base/mutex.h"
#include "base/status.h"
#include "engine/frames/fifo.h"
#include "engine/frames/pictures.h"
#include "engine/frames/workers.h"
#include "hip/device.h"
#include "hip/frame_pool.h"
#include "kernels/device_conversions.h"
#include "kernels/device_twin.h"
#include "kernels/extractor.h"
#include "kernels/recolor/recolor_hip.h"
#include "kernels/steps/unpack_hip.h"

namespace vmafx {

/* How the pictures of one side came to the kernels. */
struct FrameCounts {
  int64_t imported = 0;  // read in the GPU's memory where they lay
  int64_t uploaded = 0;
};

/* A frame pair in the queue. The one who adds it keeps it until it is done. */
struct QueuedFrame {
  int encode = 0;
  int64_t number = 0;     // see FrameSet
  int place = 0, of = 1;  // number and count among the pairs of one picture of the reference, which are added together
  bool scored = false;
  int leads = 0;                                // n > 0: context only, n frames before the next scored one
  HeldPicture *ref = nullptr, *dist = nullptr;  // kept until it is done, like the frame itself
  std::span<std::byte* const> sums;             // for each of the queue's extractors; null: it does not run

  /* Called once, from the queue's thread, when the sums are there, or with the reason why they are not. Must not throw.
   * The caller may reuse the frame as soon as it runs. */
  std::function<void(const Status&)> done;
  QueuedFrame* next = nullptr;  // used by the queue
};

class DeviceQueue {
 public:
  /* Allocates everything on the device, which takes long; any thread may do it. `extractors`, each with a device twin,
   * must outlive the queue. spare_pictures: the fewest VmafxFormat::spare_pictures of any input in GPU memory; nullopt:
   * there is no such input. recolorers: convert pictures on the device that come unconverted; empty: none does. ENOMEM
   * and others: the device failed, in its own words. */
  static StatusOr<std::unique_ptr<DeviceQueue>> create(const hip::OpenedDevice& device,
                                                       const std::vector<const Extractor*>& extractors,
                                                       const VideoFormat& format,
                                                       std::optional<uint64_t> spare_pictures, int encodes,
                                                       const Recolorers& recolorers = {});

  /* Starts the queue's thread, before the first frame. `workers` copy samples, and must outlive the queue. ENOMEM:
   * there is no thread to drive the device. */
  Status start(Workers& workers);
  ~DeviceQueue();  // all frames must be done; must not run if is_abandoned()
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  /* The number of frames that keep the device and the staging busy. */
  int frames_in_flight() const { return pool_->batch_size() * (kBatchesInFlight + 1); }

  /* Adds the pairs of a picture of the reference, in stream order. Never blocks: the caller bounds the number of
   * frames. Extractors that read earlier frames see those that were added before for the same encode. */
  void add(Fifo<QueuedFrame> frames) noexcept;

  /* Whether the queue's thread is in a call that does not come back; the one who waits for frames asks now and then. If
   * so, all frames are given back, and later ones, too; the thread keeps the queue, so nobody may destroy it. */
  bool is_abandoned();

  /* The pictures that came to the kernels so far. */
  FrameCounts counts(hip::Side side) const { return {imported_[index(side)], uploaded_[index(side)]}; }

 private:
  using Frames = Fifo<QueuedFrame>;
  static constexpr int kBatchesInFlight = 3;

  struct Metric {  // the queue's view of an extractor
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
    int plane;  // of the pool
    UnpackPlane work;
  };
  struct Recolored {  // a picture that is converted
    int frame;        // of the batch
    hip::Side side;
    size_t input;
    unsigned planes;  // that metrics read
  };
  struct Copy {  // an uploaded plane, to be left on the device for later sessions
    int frame;   // of the batch
    int plane;   // of the picture
    int pool_plane;
    HeldPicture* picture;
    UnpackPlane work;
    std::unique_ptr<DeviceCopy> to{};
  };
  struct Sent {
    Frames frames;
    std::vector<Copy> copies;
  };
  static int index(hip::Side side) { return side == hip::Side::kRef ? 0 : 1; }
  static size_t input_of(const QueuedFrame& frame, hip::Side side) {
    return side == hip::Side::kRef ? 0 : static_cast<size_t>(frame.encode) + 1;
  }

  /* The numbers of earlier frames, the latest first; -1: there was none. */
  struct Before {
    int64_t number[hip::kMostHistory] = {-1, -1};
    void add(int64_t latest) {
      std::copy_backward(number, std::end(number) - 1, std::end(number));
      number[0] = latest;
    }
  };
  struct Staged {      // a frame of the batch
    Before in_ref;     // the frames with the pictures of the reference before its own
    Before in_encode;  // the frames of its encode
    int64_t number;    // its own; see FrameSet
  };

  /* The order in which a metric takes the frames of a batch, and the places of their sums. */
  struct Arrangement {
    int count = 0;
    int order[hip::kMostBatch];  // frames, in the order of their sums
    int sums[hip::kMostBatch];   // of each frame: the place of its sums in that order; -1: it has none
  };

  DeviceQueue(const hip::OpenedDevice& device, int encodes)
      : device_(device), encodes_(encodes), of_encode_(static_cast<size_t>(encodes)),
        may_copy_(device.context->owned()) {}

  Status load_recolorers(const Recolorers& recolorers);

  /* `batch`: frames in a launch; 0: the best number for their size. */
  Status create_pool(const std::vector<const Extractor*>& extractors, const VideoFormat& format,
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

  Status stage_picture(hip::PoolFrame& pool_frame, hip::Side side, const QueuedFrame& frame, unsigned planes);
  void plan_recoloring(hip::PoolFrame& pool_frame, const Recolored& planned);
  void fill(hip::PoolFrame& pool_frame, hip::Side side, HeldPicture& held, int first_plane);
  void fill_plane(const hip::PoolFrame::Staging& staging, const SamplePlane& plane);
  Status place(hip::PoolFrame& pool_frame, hip::Side side, const DevicePicture& picture, int first_plane);
  Status unpack(const hip::Batch& batch);
  Status recolor(const hip::Batch& batch);
  RecolorPicture recolor_work(const hip::Batch& batch, const Recolored& planned) const;
  void plan_copy(const Copy& planned, const SamplePlane& plane, size_t row_bytes);
  Status copy(const hip::Batch& batch);
  Status convert(const hip::Batch& batch, Metric& metric) const;
  Status launch(const hip::Batch& batch, const Metric& metric) const;
  Status launch(const hip::Batch& batch, const Metric& metric, std::span<const int> order, int first_sums) const;
  Arrangement arrange(const Metric& metric, const Frames& frames) const;
  bool takes_each_encode(const Metric& metric) const {
    return encodes_ > 1 && (metric.reads.history > 0 || metric.conversions) && metric.reads.dist;
  }
  bool takes_references(const Metric& metric) const { return encodes_ > 1 && !metric.reads.dist; }
  bool go_on(const Metric& metric, const QueuedFrame* const frames[], int before, int next) const;
  void set_earlier(DeviceBatch& work, const Metric& metric, const Staged& first) const;
  bool runs(const Metric& metric, const QueuedFrame& frame) const {
    return !frame.leads && (frame.scored || metric.reads.every_frame);
  }
  unsigned planes_read(const QueuedFrame& frame, hip::Side side) const;

  const hip::OpenedDevice device_;
  const int encodes_;
  Workers* workers_ = nullptr;
  std::vector<Metric> metrics_;
  std::unique_ptr<hip::FramePool> pool_;

  Unpacker unpacker_;
  std::vector<std::optional<DeviceRecolorer>> recolorers_;  // by input; see Recolorers
  hip::PoolLayout::PlaneSize source_planes_[2][3];          // the largest that any of them reads, of each side

  Frames staged_;         // of the batch being filled
  int staged_count_ = 0;  // frames in staged_
  Staged before_[hip::kMostBatch];
  const QueuedFrame* last_staged_ = nullptr;  // of the batch being filled
  unsigned last_ref_planes_ = 0;              // planes of its picture of the reference that were staged
  int64_t last_ref_ = -1;                     // the first frame with the last picture of the reference
  Before before_last_ref_;
  std::vector<Before> of_encode_;
  std::vector<Fill> fills_;           // as many as a batch can need
  size_t fills_given_ = 0;            // of the batch being filled
  std::vector<Unpack> unpacks_;       // of the batch being filled
  std::vector<Recolored> recolored_;  // of the batch being filled
  std::vector<Copy> copies_;          // of the batch being filled
  bool may_copy_;                     // false once the device has no room for copies
  std::deque<Sent> sent_;             // batches on the device
  std::array<std::atomic<int64_t>, 2> imported_{}, uploaded_{};

  Mutex mutex_;
  Condition wake_;
  Frames queue_ VMAFX_GUARDED_BY(mutex_);
  Status failure_ VMAFX_GUARDED_BY(mutex_);   // the first failure; the queue stays failed
  int filling_ VMAFX_GUARDED_BY(mutex_) = 0;  // fills that the workers have yet to do
  bool closing_ VMAFX_GUARDED_BY(mutex_) = false;
  bool abandoned_ VMAFX_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace vmafx

#endif
