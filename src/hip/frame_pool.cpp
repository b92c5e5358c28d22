#include "hip/frame_pool.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/rounding.h"
#include "hip/device.h"

namespace vmafx::hip {
namespace {

/* The indices of streams; those of kernels come last. */
enum StreamRole { kCopies, kSums, kKernels };

/* While a batch ends, or has work for few blocks, the next one fills the device. */
constexpr size_t kKernelStreams = 2;

/* Rows begin at a multiple of what the widest load of a kernel takes, and 1920 and 3840 need no padding. */
constexpr size_t kRowAlignment = 64;
/* A plane and a block of sums begin at what any device's memory transactions align to. */
constexpr size_t kBlockAlignment = 256;

}  // namespace

StatusOr<std::unique_ptr<FramePool>> FramePool::create(ContextPtr context, const PoolLayout& layout) {
  std::unique_ptr<FramePool> pool(new FramePool(std::move(context), layout));
  VMAFX_TRY(pool->check());
  pool->place_planes();
  if (Status status = pool->allocate(); !status.ok())
    return error(status.code(), "the frames take %zu MiB of device memory: %s", (pool->device_bytes_ >> 20) + 1,
                 status.message().c_str());
  VMAFX_TRY(pool->create_streams());
  return pool;
}

Stream& FramePool::kernel_stream() { return streams_[kKernels + kernel_turn()]; }

size_t FramePool::kernel_streams() const {
  const bool may_overlap = layout_.kept_bytes == 0 && layout_.batches_in_flight > 1;
  return may_overlap && layout_.scratch_bytes <= kMostScratchToOverlap ? kKernelStreams : 1;
}

Status FramePool::check() const {
  if (layout_.batch < 1 || layout_.batch > kMostBatch || layout_.history < 0 || layout_.history > kMostHistory ||
      layout_.batches_in_flight < 1)
    return error(EINVAL, "a pool of %d batches of %d frames with %d earlier ones is out of range",
                 layout_.batches_in_flight, layout_.batch, layout_.history);
  return {};
}

void FramePool::place_planes() {
  for (int side = 0; side < 2; side++)
    for (int p = 0; p < kPoolPlanes; p++) {
      const PoolLayout::PlaneSize& size = side ? layout_.dist[p] : layout_.ref[p];
      stride_[side][p] = round_up(size.row_bytes, kRowAlignment);
      offset_[side][p] = frame_bytes_;
      frame_bytes_ += round_up(stride_[side][p] * size.rows, kBlockAlignment);
    }
  batch_bytes_ = frame_bytes_ * layout_.batch;
  sums_stride_ = round_up(layout_.sums_bytes, kBlockAlignment);
  layout_.scratch_bytes = round_up(layout_.scratch_bytes, kBlockAlignment);
  batch_sums_bytes_ = sums_stride_ * layout_.batch;
  device_bytes_ = batch_bytes_ * device_batches() + batch_sums_bytes_ * layout_.batches_in_flight +
                  kernel_streams() * layout_.scratch_bytes + layout_.kept_bytes;
}

Status FramePool::allocate() {
  VMAFX_ASSIGN(device_, DeviceBuffer<std::byte>::create(context_, batch_bytes_ * device_batches()));
  VMAFX_ASSIGN(device_sums_, DeviceBuffer<std::byte>::create(context_, batch_sums_bytes_ * layout_.batches_in_flight));
  VMAFX_ASSIGN(scratch_, DeviceBuffer<std::byte>::create(context_, kernel_streams() * layout_.scratch_bytes));
  VMAFX_ASSIGN(kept_, DeviceBuffer<std::byte>::create(context_, layout_.kept_bytes));
  VMAFX_TRY(still_wanted(context_));  // page-locking takes long
  VMAFX_ASSIGN(staging_, PinnedBuffer<std::byte>::create(context_, batch_bytes_ * layout_.batches_in_flight));
  VMAFX_ASSIGN(host_sums_, PinnedBuffer<std::byte>::create(context_, batch_sums_bytes_ * layout_.batches_in_flight));
  if (staging_.size()) std::memset(staging_.data(), 0, staging_.size());  // the padding of rows is uploaded, too
  planes_.resize(static_cast<size_t>(layout_.batch) * device_batches());
  return {};
}

Status FramePool::create_streams() {
  for (int i = 0; i < layout_.batches_in_flight; i++) {
    VMAFX_ASSIGN(Event uploaded, Event::create(context_));
    VMAFX_ASSIGN(Event computed, Event::create(context_));
    VMAFX_ASSIGN(Event read, Event::create(context_));
    in_flight_.emplace_back(std::move(uploaded), std::move(computed), std::move(read));
  }
  const size_t count = kKernels + kernel_streams();
  streams_.reserve(count);
  for (size_t i = 0; i < count; i++) {
    VMAFX_ASSIGN(Stream stream, Stream::create(context_));
    streams_.push_back(std::move(stream));
  }
  return {};
}

PoolFrame& FramePool::next() {
  const size_t base = staging_base(filling_) + filled_ * frame_bytes_;
  PoolFrame& frame = frames_[filled_++];
  frame = PoolFrame();
  frame.number_ = next_number_++;
  for (int side = 0; side < 2; side++)
    for (int p = 0; p < kPoolPlanes; p++) {
      const PoolLayout::PlaneSize& size = side ? layout_.dist[p] : layout_.ref[p];
      if (size.row_bytes)
        frame.staging_[side][p] = {staging_.data() + base + offset_[side][p], stride_[side][p], size.row_bytes,
                                   size.rows};
    }
  return frame;
}

Status FramePool::wait_for(const Event& event) {
  VMAFX_TRY(streams_[kCopies].wait_for(event));
  for (size_t i = kKernels; i < streams_.size(); i++) VMAFX_TRY(streams_[i].wait_for(event));
  return {};
}

StatusOr<Batch> FramePool::upload() {
  const Context::Scope scope(*context_);
  BatchInFlight& in_flight = batch_in_flight(filling_);
  in_flight.first = frames_[0].number_;
  in_flight.count = filled_;
  /* No need to wait for readers of what is overwritten here: the batches that had this memory are collected. */
  VMAFX_TRY(upload_planes());
  VMAFX_TRY(in_flight.uploaded.record(streams_[kCopies]));
  VMAFX_TRY(kernel_stream().wait_for(in_flight.uploaded));
  VMAFX_TRY(wait_for_fills());
  /* A clear takes blocks of the device: among the copies it would hold up the next ones while kernels have all of
   * them. */
  if (sums_stride_) VMAFX_TRY(kernel_stream().clear(sums_of(filling_), sums_stride_ * filled_));
  Batch batch;
  fill_batch(&batch);
  return batch;
}

/* Earlier pictures that the caller fills on the device are filled in the stream of their own batch. */
Status FramePool::wait_for_fills() {
  if (fills_on_device_ && layout_.history > 0)
    VMAFX_TRY(kernel_stream().wait_for(batch_in_flight(filling_ - 1).computed));
  for (int i = 0; i < filled_; i++) fills_on_device_ |= frames_[i].is_filled_later();
  return {};
}

/* Planes from the staging lie there as they lie on the device: neighbors travel in one copy. */
Status FramePool::upload_planes() {
  const DevicePtr<std::byte> base = device_.ptr().as<std::byte>(static_cast<ptrdiff_t>(device_base(filling_)));
  size_t begin = 0, end = 0;  // staged bytes seen and not copied yet
  for (int i = 0; i < filled_; i++) {
    const PoolFrame& frame = frames_[i];
    Planes& planes = planes_[frame.number_ % planes_.size()];
    planes = {};
    planes.number = frame.number_;
    planes.batch = filling_;
    for (int side = 0; side < 2; side++)
      for (int p = 0; p < kPoolPlanes; p++) {
        const PoolFrame::Staging& staging = frame.staging_[side][p];
        if (!staging.data || frame.skipped_[side][p]) continue;
        if (side == 0 && frame.shares_reference_) {
          planes.side[0][p] = planes_[(frame.number_ - 1) % planes_.size()].side[0][p];
          continue;
        }
        const size_t offset = i * frame_bytes_ + offset_[side][p];
        DevicePlane& plane = planes.side[side][p];
        plane = {base.as<const uint8_t>(static_cast<ptrdiff_t>(offset)), static_cast<int64_t>(staging.stride)};
        if (frame.is_staged(side, p)) {
          if (offset != end) {
            VMAFX_TRY(upload_staged(begin, end));
            begin = offset;
          }
          end = offset + round_up(staging.stride * staging.rows, kBlockAlignment);
        } else if (const auto& pinned = frame.pinned_[side][p]; pinned.data) {
          VMAFX_TRY(upload_pinned(staging, pinned, base + static_cast<ptrdiff_t>(offset)));
        } else if (frame.device_[side][p].data) {
          plane = frame.device_[side][p];
        }
      }
  }
  return upload_staged(begin, end);
}

Status FramePool::upload_staged(size_t begin, size_t end) {
  if (begin == end) return {};
  return streams_[kCopies].upload(device_.ptr() + static_cast<ptrdiff_t>(device_base(filling_) + begin),
                                  static_cast<const std::byte*>(staging_.data()) + staging_base(filling_) + begin,
                                  end - begin);
}

/* Rows that lie as the device's do go in one piece, which is some 5 % faster. */
Status FramePool::upload_pinned(const PoolFrame::Staging& plane, const PoolFrame::Pinned& from,
                                DevicePtr<std::byte> to) {
  if (from.stride != plane.stride)
    return streams_[kCopies].upload_rows(to, plane.stride, from.data, from.stride, plane.row_bytes, plane.rows);
  return streams_[kCopies].upload(to, static_cast<const std::byte*>(from.data),
                                  plane.stride * (plane.rows - 1) + plane.row_bytes);
}

void FramePool::fill_batch(Batch* batch) {
  batch->first = frames_[0].number_;
  batch->count = filled_;
  batch->stream = &kernel_stream();
  batch->sums = sums_of(filling_);
  batch->sums_stride = sums_stride_;
  batch->scratch = scratch_.ptr() + static_cast<ptrdiff_t>(kernel_turn() * layout_.scratch_bytes);
  batch->kept = kept_.ptr();
  for (int p = 0; p < 3; p++) {
    for (int back = layout_.history; back > 0; back--) {
      batch->planes[p].ref[ref_index(0, back)] = earlier(Side::kRef, batch->first - back, p);
      batch->planes[p].earlier_dist[kMostHistory - back] = earlier(Side::kDist, batch->first - back, p);
    }
    for (int i = 0; i < filled_; i++) {
      const Planes& planes = planes_[(batch->first + i) % planes_.size()];
      batch->planes[p].ref[ref_index(i)] = planes.side[0][p];
      batch->planes[p].dist[i] = planes.side[1][p];
    }
  }
}

DevicePlane FramePool::plane_of(Side side, int64_t number, int plane) const {
  if (number < 0) return {};
  const Planes& planes = planes_[number % planes_.size()];
  if (planes.number != number || filling_ - planes.batch > kept_batches()) return {};
  return planes.side[PoolFrame::index(side)][plane];
}

DevicePlane FramePool::earlier(Side side, int64_t number, int plane) const {
  if (number < 0) return {};
  return planes_[number % planes_.size()].side[PoolFrame::index(side)][plane];
}

DevicePtr<std::byte> FramePool::sums_of(int64_t batch) const {
  return device_sums_.ptr() + static_cast<ptrdiff_t>(batch % layout_.batches_in_flight * batch_sums_bytes_);
}

Status FramePool::read_back() {
  const Context::Scope scope(*context_);
  BatchInFlight& in_flight = batch_in_flight(filling_);
  VMAFX_TRY(in_flight.computed.record(kernel_stream()));
  VMAFX_TRY(streams_[kSums].wait_for(in_flight.computed));
  if (sums_stride_)
    VMAFX_TRY(streams_[kSums].download(host_sums_.data() + filling_ % layout_.batches_in_flight * batch_sums_bytes_,
                                       DevicePtr<const std::byte>(sums_of(filling_)), sums_stride_ * in_flight.count));
  VMAFX_TRY(in_flight.read.record(streams_[kSums]));
  filling_++;
  filled_ = 0;
  return {};
}

StatusOr<std::optional<CollectedBatch>> FramePool::collect(bool wait) {
  if (oldest_ == filling_) return std::optional<CollectedBatch>();
  const BatchInFlight& in_flight = batch_in_flight(oldest_);
  if (wait) {
    VMAFX_TRY(in_flight.read.wait());
  } else {
    VMAFX_ASSIGN(const bool done, in_flight.read.done());
    if (!done) return std::optional<CollectedBatch>();
  }
  return std::optional(CollectedBatch{in_flight.first, in_flight.count,
                                      host_sums_.data() + oldest_ % layout_.batches_in_flight * batch_sums_bytes_,
                                      sums_stride_});
}

int64_t FramePool::oldest_needed() const {
  const int64_t first =
      oldest_ < filling_ ? in_flight_[oldest_ % layout_.batches_in_flight].first : next_number_ - filled_;
  return std::max<int64_t>(0, first - int64_t{layout_.history} * layout_.encodes);
}

}  // namespace vmafx::hip
