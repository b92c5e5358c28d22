/* The HIP lane: frame pairs on their way through the GPU, driven by a thread of its own.
 *
 *     add() -> queue -> staged (the workers copy the samples into pinned memory) -> sent (upload, kernels, sums back) -> done
 *
 * The lane's thread is the only one that uses the frame pool. It keeps the device busy first: a batch goes off when it is full,
 * or when the device has nothing else to do, so that the last frames and a slow decoder's wait for nobody. When the device fails,
 * every frame that is not done comes back with the reason, in order, and so does every later one: the pipeline's CPU twins take
 * them over. */
#ifndef VMAFX_ENGINE_HIP_LANE_H
#define VMAFX_ENGINE_HIP_LANE_H

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "engine/pictures.h"
#include "engine/workers.h"
#include "hip/device.h"
#include "hip/frame_pool.h"
#include "kernels/device_twin.h"
#include "kernels/extractor.h"
#include "kernels/steps/unpack_hip.h"
#include "report/run_facts.h"

namespace vmafx {

/* A frame pair in the lane. */
struct LaneFrame {
  bool scored = false;
  HeldPicture *ref = nullptr, *dist = nullptr;  // held by who adds the frame, until it is done
  std::span<std::byte* const> sums;  // where those of each of the lane's extractors go; nullptr: it does not run
  std::function<void(const Status&)>
      done;  // called once, from the lane's thread: the sums are there, or why they are not
};

class HipLane {
 public:
  /* Allocates all that it will ever need on the device. `extractors`, each with a device twin, and `workers` must outlive the
   * lane. `surfaces`: an input's frames are in a GPU's memory. ENOMEM and others: the device's words. */
  static StatusOr<std::unique_ptr<HipLane>> start(const hip::OpenedDevice& device, std::vector<Extractor*> extractors,
                                                  const VideoFormat& format, bool surfaces, Workers& workers);
  ~HipLane();  // all frames must be done
  HipLane(const HipLane&) = delete;
  HipLane& operator=(const HipLane&) = delete;

  /* How many frames keep the device and the staging busy. */
  int frames_in_flight() const { return pool_->batch_size() * (kBatchesInFlight + 1); }

  /* In stream order. Never blocks: whoever adds bounds the number of frames. */
  void add(LaneFrame frame);

  /* Of those that came to the kernels so far. */
  FrameCounts counts(hip::Side side) const { return {imported_[index(side)], uploaded_[index(side)]}; }

 private:
  using Frames = std::vector<LaneFrame>;
  static constexpr int kBatchesInFlight = 3;

  struct Metric {  // an extractor, as the lane sees it
    DeviceTwin* twin;
    Reads reads;
    size_t sums_bytes;
    size_t sums;  // where they begin in those of a frame
  };

  struct Unpack {  // a plane of a picture on the device that kernels cannot read as it is
    int frame;     // of the batch
    hip::Side side;
    int plane;
    UnpackPlane work;
  };
  static int index(hip::Side side) { return side == hip::Side::kRef ? 0 : 1; }

  HipLane(const hip::OpenedDevice& device, Workers& workers) : device_(device), workers_(workers) {}

  /* `batch`: frames in a launch; 0: as many as suit their size. */
  Status create_pool(const std::vector<Extractor*>& extractors, const VideoFormat& format, bool surfaces,
                     int batch = 0);
  void run();
  Status guarded_step() VMAFX_REQUIRES(mutex_);
  Status step() VMAFX_REQUIRES(mutex_);
  Status stage() VMAFX_REQUIRES(mutex_);
  Status send();
  Status collect();
  void give_back(const Status& reason) VMAFX_REQUIRES(mutex_);

  void fill(hip::PoolFrame& slot, hip::Side side, const HostPicture& picture);
  Status place(hip::PoolFrame& slot, hip::Side side, const DevicePicture& picture);
  Status unpack(const hip::Batch& batch);
  Status launch(const hip::Batch& batch, const Metric& metric) const;
  bool runs(const Metric& metric, const LaneFrame& frame) const { return frame.scored || metric.reads.every_frame; }
  bool is_read(hip::Side side, bool scored) const;

  const hip::OpenedDevice device_;
  Workers& workers_;
  std::vector<Metric> metrics_;
  std::unique_ptr<hip::FramePool> pool_;

  Unpacker unpacker_;

  Frames staged_;                // of the batch being filled
  std::vector<Unpack> unpacks_;  // likewise
  std::deque<Frames> sent_;      // batches on the device
  Status failure_;               // the first one; it stays
  std::array<std::atomic<int64_t>, 2> imported_{}, uploaded_{};

  Mutex mutex_;
  Condition wake_;
  std::deque<LaneFrame> queue_ VMAFX_GUARDED_BY(mutex_);
  int fills_ VMAFX_GUARDED_BY(mutex_) = 0;  // copies into the staging that the workers have yet to do
  bool closing_ VMAFX_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace vmafx

#endif
