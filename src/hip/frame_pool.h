/* Frames on their way through the device: a fixed ring of batches, filled, uploaded, worked on and read back, all at
 * once.
 *
 *   open      FramePool::create()              all memory there will ever be
 *   per frame PoolFrame& frame = pool.next();  while !pool.full(); fill frame.staging() or name other memory
 *   per batch Batch batch = pool.upload();     after batch_size() frames, or fewer
 *             … the metrics launch on batch.stream …
 *             pool.read_back();
 *             pool.collect(wait)               the oldest batch that is done: its sums; then pool.release()
 *
 * Streams overlap: copies to the device, kernels of two batches, sums back to the host; events order them, the host
 * waits only in collect(), when the ring is full. The pool knows sizes and no metric. It numbers its frames from 0 in
 * the order of next(). Used by one thread at a time; only filling the staging of frames may be spread over threads,
 * before upload(). */
#ifndef VMAFX_HIP_FRAME_POOL_H
#define VMAFX_HIP_FRAME_POOL_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "hip/frame_planes.h"
#include "hip/memory.h"
#include "hip/stream.h"

namespace vmafx::hip {

enum class Side { kRef, kDist };

/* Planes of a side of a frame: the three that metrics read, and from kSourcePlane on those of the picture that the
 * caller makes them of, on the device, where they are not those of the input. */
inline constexpr int kSourcePlane = 3, kPoolPlanes = 6;

/* The most scratch memory of a batch that lets its kernels run beside those of another batch, which has as much. */
inline constexpr size_t kMostScratchToOverlap = size_t{768} << 20;

struct PoolLayout {
  struct PlaneSize {
    size_t row_bytes = 0;  // 0: nobody reads this plane
    size_t rows = 0;
  };
  PlaneSize ref[kPoolPlanes], dist[kPoolPlanes];
  size_t sums_bytes = 0;     // raw sums of one frame, all metrics together
  size_t scratch_bytes = 0;  // the kernels' working memory for one batch
  size_t kept_bytes = 0;     // memory that kernels fill for later batches
  int history = 0;           // earlier frames that are read, up to kMostHistory
  int batch = 1;             // frames in one launch, up to kMostBatch
  int batches_in_flight = 3;
  int encodes = 1;  // frames that follow one another may share a picture of the reference, so many at most
};

/* A frame that is being filled. Each plane that is read comes from the staging unless other memory is named. */
class PoolFrame {
 public:
  struct Staging {
    std::byte* data = nullptr;  // nullptr: nobody reads this plane
    size_t stride = 0, row_bytes = 0, rows = 0;
  };
  const Staging& staging(Side side, int plane) const { return staging_[index(side)][plane]; }

  /* This frame has a smaller plane than the pool has room for; the stride stays. */
  void shrink(Side side, int plane, size_t row_bytes, size_t rows) {
    staging_[index(side)][plane].row_bytes = row_bytes;
    staging_[index(side)][plane].rows = rows;
  }

  /* Rows in page-locked memory of the application, uploaded from there. They must stay until the frame's batch is
   * collected. */
  void use_pinned(Side side, int plane, const void* data, size_t stride) {
    pinned_[index(side)][plane] = {data, stride};
  }

  /* Rows in device memory, read where they lie. They must stay until batches of `history` more frames are collected. */
  void use_device(Side side, int plane, DevicePlane rows) { device_[index(side)][plane] = rows; }

  /* Rows that the caller writes after upload(), in the batch's stream, to where Batch::planes says. */
  void fill_on_device(Side side, int plane) { filled_later_[index(side)][plane] = true; }

  /* Nobody reads that plane of this frame (the distorted one of a frame that is not scored): it is not uploaded. */
  void skip(Side side, int plane) { skipped_[index(side)][plane] = true; }
  void read(Side side, int plane) { skipped_[index(side)][plane] = false; }
  bool is_skipped(Side side, int plane) const { return skipped_[index(side)][plane]; }

  /* The reference is that of the frame before, which is of the same batch. */
  void share_reference() { shares_reference_ = true; }

  int64_t number() const { return number_; }

 private:
  friend class FramePool;
  struct Pinned {
    const void* data = nullptr;
    size_t stride = 0;
  };
  static int index(Side side) { return side == Side::kRef ? 0 : 1; }
  bool is_staged(int side, int plane) const {
    return staging_[side][plane].data && !skipped_[side][plane] && !pinned_[side][plane].data &&
           !device_[side][plane].data && !filled_later_[side][plane];
  }
  bool is_filled_later() const {
    return std::ranges::any_of(filled_later_, [](const auto& side) { return side[0] || side[1] || side[2]; });
  }

  int64_t number_ = -1;
  Staging staging_[2][kPoolPlanes];
  Pinned pinned_[2][kPoolPlanes];
  DevicePlane device_[2][kPoolPlanes];
  bool filled_later_[2][kPoolPlanes] = {};
  bool skipped_[2][kPoolPlanes] = {};
  bool shares_reference_ = false;
};

/* A batch as its kernels see it. */
struct Batch {
  int64_t first = 0;  // number of its first frame
  int count = 0;      // frames
  Stream* stream = nullptr;
  DevicePtr<std::byte> sums;     // the first frame's, zeroed
  size_t sums_stride = 0;        // bytes from one frame's sums to the next's
  DevicePtr<std::byte> scratch;  // shared by all batches of the stream, which keeps them apart; not initialized
  DevicePtr<std::byte> kept;  // shared by all, which then have one stream; what a batch leaves there the next one finds
  BatchPlanes planes[3];
};

/* A batch that is done. Valid until release(). */
struct CollectedBatch {
  int64_t first = 0;
  int count = 0;
  const std::byte* sums = nullptr;
  size_t sums_stride = 0;
};

class FramePool {
 public:
  /* ENOMEM when the device has not the memory, with how much it takes. */
  static StatusOr<std::unique_ptr<FramePool>> create(ContextPtr context, const PoolLayout& layout);

  int batch_size() const { return layout_.batch; }

  /* The ring has no free batch: collect and release one first. */
  bool full() const { return filling_ - oldest_ >= layout_.batches_in_flight; }
  /* The batch being filled has all its frames: upload it. */
  bool batch_full() const { return filled_ == layout_.batch; }
  /* Frames that the batch being filled still has room for. */
  int room() const { return layout_.batch - filled_; }
  /* Nothing is in flight, and nothing waits for upload. */
  bool empty() const { return filling_ == oldest_ && filled_ == 0; }

  /* The next frame to fill. Only when neither full() nor batch_full(). */
  PoolFrame& next();

  /* Makes the frames filled from now on start after `event` of another stream (the producer of device frames). */
  Status wait_for(const Event& event);

  /* Sends off the frames since the last upload(), at least one. The kernels come next. */
  StatusOr<Batch> upload();
  /* Sends the sums back. After the kernels of the last upload(). */
  Status read_back();

  /* The oldest batch in flight if it is done (or, with `wait`, once it is); nullopt when there is none. */
  StatusOr<std::optional<CollectedBatch>> collect(bool wait);
  void release() { oldest_++; }

  /* The place of a frame's plane on the device, after its upload(). Null if its memory was given to another frame, or
   * may be given to one before the next upload() is done. */
  DevicePlane plane_of(Side side, int64_t number, int plane) const;

  /* Frames from this number on may still be read by the device. */
  int64_t oldest_needed() const;

 private:
  struct BatchInFlight {
    BatchInFlight(Event uploaded, Event computed, Event read)
        : uploaded(std::move(uploaded)), computed(std::move(computed)), read(std::move(read)) {}
    int64_t first = 0;
    int count = 0;
    Event uploaded, computed, read;
  };
  struct Planes {  // a frame's, on the device
    int64_t number = -1;
    int64_t batch = -1;
    DevicePlane side[2][kPoolPlanes];
  };

  FramePool(ContextPtr context, const PoolLayout& layout) : context_(std::move(context)), layout_(layout) {}

  size_t kernel_streams() const;
  size_t kernel_turn() const { return static_cast<size_t>(filling_) % kernel_streams(); }
  Stream& kernel_stream();  // the one of the batch being filled
  Status check() const;
  void place_planes();
  Status allocate();
  Status create_streams();
  Status wait_for_fills();
  Status upload_planes();
  Status upload_staged(size_t begin, size_t end);
  Status upload_pinned(const PoolFrame::Staging& plane, const PoolFrame::Pinned& from, DevicePtr<std::byte> to);
  void fill_batch(Batch* batch);
  DevicePlane earlier(Side side, int64_t number, int plane) const;

  /* Batches whose memory stays, behind the one being filled: those with the earlier pictures, of all encodes, and what
   * came before in the batches of this picture. */
  int kept_batches() const {
    const int of_picture = (layout_.encodes + layout_.batch - 1) / layout_.batch;
    return layout_.history ? layout_.history * of_picture + of_picture - 1 : 0;
  }
  int device_batches() const { return layout_.batches_in_flight + kept_batches(); }
  BatchInFlight& batch_in_flight(int64_t batch) { return in_flight_[batch % layout_.batches_in_flight]; }
  size_t staging_base(int64_t batch) const { return batch % layout_.batches_in_flight * batch_bytes_; }
  size_t device_base(int64_t batch) const { return batch % device_batches() * batch_bytes_; }
  DevicePtr<std::byte> sums_of(int64_t batch) const;

  ContextPtr context_;
  PoolLayout layout_;
  size_t stride_[2][kPoolPlanes] = {}, offset_[2][kPoolPlanes] = {};  // for each side and plane, in a frame's block
  size_t frame_bytes_ = 0, batch_bytes_ = 0, sums_stride_ = 0, batch_sums_bytes_ = 0, device_bytes_ = 0;

  DeviceBuffer<std::byte> device_, device_sums_, scratch_, kept_;
  PinnedBuffer<std::byte> staging_, host_sums_;
  std::vector<BatchInFlight> in_flight_;
  std::vector<Planes> planes_;    // frames on the device, by number modulo their count
  PoolFrame frames_[kMostBatch];  // frames of the batch being filled

  int64_t next_number_ = 0;
  int filled_ = 0;                    // frames of the batch being filled
  int64_t filling_ = 0, oldest_ = 0;  // batches
  bool fills_on_device_ = false;      // the caller did, of a batch before
  std::vector<Stream> streams_;       // last, so drained before the memory goes: copies, sums, kernels
};

}  // namespace vmafx::hip

#endif
